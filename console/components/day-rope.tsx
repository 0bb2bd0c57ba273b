import { useMediaQuery } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import { BellShape } from './bell.tsx'
import { MarkShape, type MarkName } from './mark.tsx'

/** The number of messages of one state in a quarter of an hour. */
export type QuarterHour = { hour: number; mark: MarkName; count: number }

export type RopeSize = {
  width: number
  height: number
  /** The hours of one stack of marks. */
  stackHours: number
  /** Every how many hours the line has a label. */
  labelHours: number
  step: number
  radius: number
}

export const DESKTOP: RopeSize = {
  width: 1100,
  height: 182,
  stackHours: 0.25,
  labelHours: 1,
  step: 14,
  radius: 5.5,
}
export const PHONE: RopeSize = {
  width: 330,
  height: 170,
  stackHours: 0.5,
  labelHours: 2,
  step: 12,
  radius: 4.6,
}
const PADDING = 14
const MAX_STACK = 8
/** With more messages a day, bars by hour are drawn instead of marks. */
const MAX_MARKS = 300

export const baseOf = ({ height }: RopeSize) => height - 34

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

type Props = {
  quarters: QuarterHour[]
  /** Hours since midnight; undefined if the day is not today. */
  now: number | undefined
  nowLabel?: string
  label: string
}

/** The day as a line with a mark for each message; the bell marks the current time. */
export function DayRope({ quarters, now, nowLabel, label }: Props) {
  const isPhone = useMediaQuery('(max-width: 768px)', false, { getInitialValueInEffect: false })
  const size = isPhone ? PHONE : DESKTOP
  const [from, to] = rangeOf(quarters, now)
  const base = baseOf(size)
  const x = (hour: number) => PADDING + ((hour - from) / (to - from)) * (size.width - 2 * PADDING)
  const passedUntil = Math.min(Math.max(now ?? from, from), to)
  const total = quarters.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <svg
        width="100%"
        viewBox={`0 0 ${size.width} ${size.height}`}
        style={{ display: 'block', overflow: 'visible' }}
        role="img"
        aria-label={label}
      >
        <Hours from={from} to={to} x={x} size={size} />
        <path
          d={`M${x(passedUntil)} ${base} H${x(to)}`}
          stroke="var(--line-strong)"
          strokeWidth="1.5"
          strokeDasharray="1 5"
          strokeLinecap="round"
        />
        {now !== undefined && (
          <path
            d={`M${x(from)} ${base} H${x(passedUntil)}`}
            stroke="var(--mark)"
            strokeWidth="2.5"
            strokeLinecap="round"
          />
        )}
        {now !== undefined && <Now x={x(passedUntil)} label={nowLabel ?? ''} size={size} />}
        {total > MAX_MARKS ? (
          <HourBars quarters={quarters} x={x} size={size} />
        ) : (
          stacksOf(quarters, size.stackHours).map((stack) => (
            <Stack key={stack.hour} x={x(stack.hour)} marks={stack.marks} size={size} />
          ))
        )}
      </svg>
      <QuarterTable quarters={quarters} label={label} />
    </>
  )
}

type Scale = { x: (hour: number) => number; size: RopeSize }

function Hours({ from, to, x, size }: Scale & { from: number; to: number }) {
  const base = baseOf(size)
  const hours = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  return hours.map((hour) => (
    <g key={hour}>
      <path d={`M${x(hour)} ${base - 4} V${base + 4}`} stroke="var(--line-strong)" opacity=".55" />
      {(hour - from) % size.labelHours === 0 && (
        <text
          x={x(hour)}
          y={base + 24}
          textAnchor="middle"
          fontSize="12"
          fill="var(--faint)"
          className="numbers"
        >
          {String(hour).padStart(2, '0')}
        </text>
      )}
    </g>
  ))
}

type Stacked = { hour: number; marks: MarkName[] }

export const byOrder = (a: { mark: MarkName }, b: { mark: MarkName }) =>
  STACK_ORDER.indexOf(a.mark) - STACK_ORDER.indexOf(b.mark)

function stacksOf(quarters: QuarterHour[], stackHours: number): Stacked[] {
  const byHour = Map.groupBy(quarters, ({ hour }) => Math.floor(hour / stackHours) * stackHours)
  return [...byHour].map(([hour, some]) => ({
    hour,
    marks: some.toSorted(byOrder).flatMap(({ mark, count }) => Array<MarkName>(count).fill(mark)),
  }))
}

type StackProps = { x: number; marks: MarkName[]; size: RopeSize }

/** A stack that is too high ends with the number of hidden marks. */
function Stack({ x, marks, size }: StackProps) {
  const isHigh = marks.length > MAX_STACK
  const shown = isHigh ? marks.slice(0, MAX_STACK - 1) : marks
  const y = (place: number) => baseOf(size) - size.step * (place + 1)
  return (
    <g>
      {shown.map((mark, place) => (
        <MarkShape key={place} mark={mark} x={x} y={y(place)} r={size.radius} />
      ))}
      {isHigh && (
        <text
          x={x}
          y={y(shown.length) + 4}
          textAnchor="middle"
          fontSize="11"
          fill="var(--soft)"
          stroke="var(--card)"
          strokeWidth="4"
          paintOrder="stroke"
          className="numbers"
        >
          +{marks.length - shown.length}
        </text>
      )}
    </g>
  )
}

export const FILL: Record<MarkName, string> = {
  sent: 'var(--mark)',
  captured: 'var(--mark)',
  sending: 'var(--mark)',
  waiting: 'var(--accent-line)',
  failed: 'var(--clay)',
  skipped: 'var(--line-strong)',
  late: 'var(--amber)',
  cancelled: 'var(--line-strong)',
}

function HourBars({ quarters, x, size }: Scale & { quarters: QuarterHour[] }) {
  const hours = [...Map.groupBy(quarters, ({ hour }) => Math.floor(hour))].map(([hour, some]) => ({
    hour,
    parts: some.toSorted(byOrder),
    total: some.reduce((sum, { count }) => sum + count, 0),
  }))
  const most = Math.max(...hours.map(({ total }) => total))
  const room = size.step * MAX_STACK
  return hours.map(({ hour, parts, total }) => {
    let top = baseOf(size) - 3
    const width = x(hour + 1) - x(hour)
    return (
      <g key={hour}>
        {parts.map(({ hour: quarter, mark, count }) => {
          const height = (count / most) * room
          top -= height
          return (
            <rect
              key={`${quarter} ${mark}`}
              x={x(hour) + width * 0.12}
              y={top}
              width={width * 0.76}
              height={height}
              fill={FILL[mark]}
            />
          )
        })}
        <text
          x={x(hour) + width / 2}
          y={top - 5}
          textAnchor="middle"
          fontSize="11"
          fill="var(--soft)"
          className="numbers"
        >
          {total}
        </text>
      </g>
    )
  })
}

/** The time is shown to the left of the bell if there is no room to its right. */
export function Now({ x, label, size }: { x: number; label: string; size: RopeSize }) {
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

/** Working hours, extended if there are messages before or after. */
function rangeOf(quarters: QuarterHour[], now: number | undefined): [number, number] {
  const hours = [...quarters.map(({ hour }) => hour), ...(now === undefined ? [] : [now])]
  const from = Math.min(7, ...hours.map(Math.floor))
  const to = Math.max(19, ...hours.map((hour) => Math.ceil(hour + 0.01)))
  return [from, Math.min(24, to)]
}

/** The same for screen readers. */
function QuarterTable({ quarters, label }: { quarters: QuarterHour[]; label: string }) {
  const { t } = useTranslation()
  return (
    <table className="visually-hidden">
      <caption>{label}</caption>
      <tbody>
        {quarters.map(({ hour, mark, count }) => (
          <tr key={`${hour} ${mark}`}>
            <th scope="row">{clockOf(hour)}</th>
            <td>
              {count} {t(`status.${mark}`)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const clockOf = (hour: number) =>
  `${String(Math.floor(hour)).padStart(2, '0')}:${String(Math.round((hour % 1) * 60)).padStart(2, '0')}`
