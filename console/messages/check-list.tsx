import { useTranslation } from '../texts/translate.ts'
import type { Check } from '../../src/contract/check.ts'
import { IconCheck, IconX } from '../components/icons.tsx'
import classes from './message.module.css'
import { useCheckWords } from './why.ts'

type Props = { deciding: Check[]; others: Check[]; label?: string }

/** The checks that decided; the others are folded. */
export function CheckList({ deciding, others, label }: Props) {
  const { t } = useTranslation()
  return (
    <>
      <Checks checks={deciding} label={label} />
      {others.length > 0 && (
        <details>
          <summary className="soft small">{t('why.others', { count: others.length })}</summary>
          <Checks checks={others} label={undefined} />
        </details>
      )}
    </>
  )
}

function Checks({ checks, label }: { checks: Check[]; label: string | undefined }) {
  const sayCheck = useCheckWords()
  return (
    <ul className={classes.checks} aria-label={label}>
      {checks.map((check) => (
        <li key={check.check} className={check.ok ? '' : 'clay'}>
          {check.ok ? (
            <IconCheck size={14} stroke={2.2} className="accent" aria-hidden />
          ) : (
            <IconX size={14} stroke={2.2} aria-hidden />
          )}
          <span dir="auto">{sayCheck(check)}</span>
        </li>
      ))}
    </ul>
  )
}
