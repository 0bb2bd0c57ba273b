import { useTranslation } from '../texts/translate.ts'
import { MarkShape, type MarkName } from '../components/mark.tsx'
import { BAR_FILL, baseOf, byStackOrder, Rope, useRopeSize, type RopeSize } from './rope.tsx'

/** The number of messages of one state in a quarter of an hour. */
type QuarterHour = { hour: number; mark: MarkName; count: number }

const PADDING = 14
const MAX_STACK = 8
/** With more messages a day, bars by hour are drawn instead of marks. */
const MAX_MARKS = 300

type Props = {
  quarters: QuarterHour[]
  /** Hours since midnight; undefined if the day is not today. */
  now: number | undefined
  nowLabel: string
  label: string
}

/** The day as a line with a mark for each message. */
export function DayRope({ quarters, now, nowLabel, label }: Props) {
  const size = useRopeSize()
  const [from, to] = rangeOf(quarters, now)
  const x = (hour: number) => PADDING + ((hour - from) / (to - from)) * (size.width - 2 * PADDING)
  const total = quarters.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <Rope
        size={size}
        label={label}
        from={x(from)}
        to={x(to)}
        passedUntil={x(Math.min(now ?? from, to))}
        nowLabel={now === undefined ? undefined : nowLabel}
      >
        <Hours from={from} to={to} x={x} size={size} />
        {total > MAX_MARKS ? (
          <HourBars quarters={quarters} x={x} size={size} />
        ) : (
          stacksOf(quarters, size.stackHours).map((stack) => (
            <Stack key={stack.hour} x={x(stack.hour)} marks={stack.marks} size={size} />
          ))
        )}
      </Rope>
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

function stacksOf(quarters: QuarterHour[], stackHours: number): Stacked[] {
  const byHour = Map.groupBy(quarters, ({ hour }) => Math.floor(hour / stackHours) * stackHours)
  return [...byHour].map(([hour, some]) => ({
    hour,
    marks: some
      .toSorted(byStackOrder)
      .flatMap(({ mark, count }) => Array<MarkName>(count).fill(mark)),
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

function HourBars({ quarters, x, size }: Scale & { quarters: QuarterHour[] }) {
  const hours = [...Map.groupBy(quarters, ({ hour }) => Math.floor(hour))].map(([hour, some]) => ({
    hour,
    parts: some.toSorted(byStackOrder),
    total: some.reduce((sum, { count }) => sum + count, 0),
  }))
  const maxTotal = Math.max(...hours.map(({ total }) => total))
  const room = size.step * MAX_STACK
  return hours.map(({ hour, parts, total }) => {
    let top = baseOf(size) - 3
    const width = x(hour + 1) - x(hour)
    return (
      <g key={hour}>
        {parts.map(({ hour: quarter, mark, count }) => {
          const height = (count / maxTotal) * room
          top -= height
          return (
            <rect
              key={`${quarter} ${mark}`}
              x={x(hour) + width * 0.12}
              y={top}
              width={width * 0.76}
              height={height}
              fill={BAR_FILL[mark]}
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
    <div className="visually-hidden">
      <table>
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
    </div>
  )
}

const clockOf = (hour: number) =>
  `${String(Math.floor(hour)).padStart(2, '0')}:${String(Math.round((hour % 1) * 60)).padStart(2, '0')}`
