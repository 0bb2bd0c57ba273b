import { IconAlertTriangle, IconCircleCheck, IconHelpCircle } from '../components/icons.tsx'
import type { ReactNode } from 'react'
import classes from './mail.module.css'

/** `open`: not known yet, or not a fault. */
export type Tone = 'good' | 'bad' | 'open'

const ICONS = { good: IconCircleCheck, bad: IconAlertTriangle, open: IconHelpCircle }
const COLOURS = { good: 'accent', bad: 'amber', open: 'soft' }

type Props = { tone: Tone; name: string; children: ReactNode }

/** One line of "Does it work?": an icon, what was checked, and the result in words. */
export function StateLine({ tone, name, children }: Props) {
  const Icon = ICONS[tone]
  return (
    <li className={classes.line}>
      <Icon size={18} stroke={1.7} className={COLOURS[tone]} aria-hidden />
      <b className="strong">{name}</b>
      <div className={classes.result}>{children}</div>
    </li>
  )
}
