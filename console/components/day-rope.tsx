import { useTranslation } from 'react-i18next'
import { BellShape } from './bell.tsx'
import { MarkShape, type MarkName } from './mark.tsx'

/** The number of messages of one state in a quarter of an hour. */
export type QuarterHour = { hour: number; mark: MarkName; count: number }

const WIDTH = 1100
const HEIGHT = 168
const PADDING = 14
const BASE = HEIGHT - 34
const STEP = 14
const MAX_STACK = 8

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
  const [from, to] = rangeOf(quarters, now)
  const x = (hour: number) => PADDING + ((hour - from) / (to - from)) * (WIDTH - 2 * PADDING)
  const passedUntil = Math.min(Math.max(now ?? from, from), to)
  const hours = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  return (
    <>
      <svg
        width="100%"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        style={{ display: 'block', overflow: 'visible' }}
        role="img"
        aria-label={label}
      >
        {hours.map((hour) => (
          <g key={hour}>
            <path
              d={`M${x(hour)} ${BASE - 4} V${BASE + 4}`}
              stroke="var(--line-strong)"
              opacity=".55"
            />
            <text
              x={x(hour)}
              y={BASE + 24}
              textAnchor="middle"
              fontSize="12"
              fill="var(--faint)"
              className="numbers"
            >
              {String(hour).padStart(2, '0')}
            </text>
          </g>
        ))}
        <path
          d={`M${x(passedUntil)} ${BASE} H${x(to)}`}
          stroke="var(--line-strong)"
          strokeWidth="1.5"
          strokeDasharray="1 5"
          strokeLinecap="round"
        />
        {now !== undefined && (
          <path
            d={`M${x(from)} ${BASE} H${x(passedUntil)}`}
            stroke="var(--mark)"
            strokeWidth="2.5"
            strokeLinecap="round"
          />
        )}
        {stacksOf(quarters).map((stack) => (
          <Stack key={stack.hour} x={x(stack.hour)} marks={stack.marks} />
        ))}
        {now !== undefined && <Now x={x(passedUntil)} label={nowLabel ?? ''} />}
      </svg>
      <QuarterTable quarters={quarters} label={label} />
    </>
  )
}

type Stacked = { hour: number; marks: MarkName[] }

function stacksOf(quarters: QuarterHour[]): Stacked[] {
  const byHour = Map.groupBy(quarters, ({ hour }) => hour)
  return [...byHour].map(([hour, some]) => ({
    hour,
    marks: some
      .toSorted((a, b) => STACK_ORDER.indexOf(a.mark) - STACK_ORDER.indexOf(b.mark))
      .flatMap(({ mark, count }) => Array<MarkName>(count).fill(mark)),
  }))
}

/** A stack that is too high ends with the number of hidden marks. */
function Stack({ x, marks }: { x: number; marks: MarkName[] }) {
  const isHigh = marks.length > MAX_STACK
  const shown = isHigh ? marks.slice(0, MAX_STACK - 1) : marks
  const y = (place: number) => BASE - STEP - place * STEP
  return (
    <g>
      {shown.map((mark, place) => (
        <MarkShape key={place} mark={mark} x={x} y={y(place)} r={5.5} />
      ))}
      {isHigh && (
        <text
          x={x}
          y={y(shown.length) + 4}
          textAnchor="middle"
          fontSize="11"
          fill="var(--soft)"
          className="numbers"
        >
          +{marks.length - shown.length}
        </text>
      )}
    </g>
  )
}

function Now({ x, label }: { x: number; label: string }) {
  return (
    <g>
      <path d={`M${x} 30 V${BASE + 6}`} stroke="var(--brass-edge)" strokeWidth="1.5" />
      <g transform={`translate(${x - 15} 2) scale(.94)`}>
        <BellShape body="var(--brass)" strap="var(--brass-edge)" />
      </g>
      <text x={x + 16} y={21} fontSize="13" fontWeight="600" fill="var(--ink)" className="numbers">
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
