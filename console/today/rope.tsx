import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { BellShape } from '../components/bell.tsx'
import type { MarkName } from '../components/mark.tsx'

export type RopeSize = {
  width: number
  height: number
  /** The hours of one stack of marks. */
  stackHours: number
  /** The hours between two labels of the line. */
  labelHours: number
  step: number
  radius: number
}

const DESKTOP: RopeSize = {
  width: 1100,
  height: 182,
  stackHours: 0.25,
  labelHours: 1,
  step: 14,
  radius: 5.5,
}
const PHONE: RopeSize = {
  width: 330,
  height: 170,
  stackHours: 0.5,
  labelHours: 2,
  step: 12,
  radius: 4.6,
}

export function useRopeSize(): RopeSize {
  const isPhone = useMediaQuery('(max-width: 768px)', false, { getInitialValueInEffect: false })
  return isPhone ? PHONE : DESKTOP
}

/** The height of the line in the picture. */
export const baseOf = ({ height }: RopeSize) => height - 34

type Props = {
  size: RopeSize
  label: string
  from: number
  to: number
  /** Where the line changes from past to future. */
  passedUntil: number
  /** The current time, at the bell; undefined if the line is only past or only future. */
  nowLabel: string | undefined
  children: ReactNode
}

/** Time as a line: solid in the past, dotted in the future; the bell marks the current time. */
export function Rope({ size, label, from, to, passedUntil, nowLabel, children }: Props) {
  const base = baseOf(size)
  return (
    <svg
      width="100%"
      viewBox={`0 0 ${size.width} ${size.height}`}
      style={{ display: 'block', overflow: 'visible' }}
      role="img"
      aria-label={label}
    >
      <path
        d={`M${passedUntil} ${base} H${to}`}
        stroke="var(--line-strong)"
        strokeWidth="1.5"
        strokeDasharray="1 5"
        strokeLinecap="round"
      />
      {nowLabel !== undefined && (
        <>
          <path
            d={`M${from} ${base} H${passedUntil}`}
            stroke="var(--mark)"
            strokeWidth="2.5"
            strokeLinecap="round"
          />
          <Now x={passedUntil} label={nowLabel} size={size} />
        </>
      )}
      {children}
    </svg>
  )
}

/** The time is shown to the left of the bell if it does not fit to its right. */
function Now({ x, label, size }: { x: number; label: string; size: RopeSize }) {
  const isAtEnd = x > size.width - 60
  return (
    <g>
      <path d={`M${x} 30 V${baseOf(size) + 6}`} stroke="var(--brass-edge)" strokeWidth="1.5" />
      <g transform={`translate(${x - 15} 2) scale(.94)`}>
        <BellShape body="var(--brass)" strap="var(--brass-edge)" />
      </g>
      <text
        x={isAtEnd ? x - 16 : x + 16}
        y={21}
        textAnchor={isAtEnd ? 'end' : 'start'}
        fontSize="13"
        fontWeight="600"
        fill="var(--ink)"
        className="numbers"
      >
        {label}
      </text>
    </g>
  )
}

/** From the bottom of a stack to its top. */
const STACK_ORDER: MarkName[] = [
  'sent',
  'captured',
  'skipped',
  'late',
  'cancelled',
  'waiting',
  'sending',
  'failed',
]

export const byStackOrder = (a: { mark: MarkName }, b: { mark: MarkName }) =>
  STACK_ORDER.indexOf(a.mark) - STACK_ORDER.indexOf(b.mark)

/** The colours of bars, which have no room for shapes. */
export const BAR_FILL: Record<MarkName, string> = {
  sent: 'var(--mark)',
  captured: 'var(--mark)',
  sending: 'var(--mark)',
  waiting: 'var(--accent-line)',
  failed: 'var(--clay)',
  skipped: 'var(--line-strong)',
  late: 'var(--amber)',
  cancelled: 'var(--line-strong)',
}
