import { useTranslation } from '../texts/translate.ts'
import type { MarkName } from '../components/mark.tsx'
import { BAR_FILL, baseOf, byStackOrder, Rope, useRopeSize } from './rope.tsx'

/** The messages of one day, by state. */
export type WeekDay = { label: string; messages: { mark: MarkName; count: number }[] }

type Props = {
  days: WeekDay[]
  /** Days since the start of the week, as a fraction. */
  now: number
  nowLabel: string
  label: string
}

const BAR_ROOM = 84

/** The week as a line with a bar for each day. */
export function WeekRope({ days, now, nowLabel, label }: Props) {
  const size = useRopeSize()
  const width = size.width / days.length
  const maxTotal = Math.max(1, ...days.map(totalOf))
  return (
    <>
      <Rope
        size={size}
        label={label}
        from={0}
        to={size.width}
        passedUntil={now * width}
        nowLabel={nowLabel}
      >
        {days.map((day, i) => (
          <DayBar
            key={day.label}
            day={day}
            maxTotal={maxTotal}
            base={baseOf(size)}
            x={i * width}
            width={width}
          />
        ))}
      </Rope>
      <WeekTable days={days} label={label} />
    </>
  )
}

const totalOf = ({ messages }: WeekDay) => messages.reduce((sum, { count }) => sum + count, 0)

type DayBarProps = { day: WeekDay; maxTotal: number; base: number; x: number; width: number }

function DayBar({ day, maxTotal, base, x, width }: DayBarProps) {
  const middle = { x: x + width / 2, textAnchor: 'middle', className: 'numbers' } as const
  const total = totalOf(day)
  let top = base - 3
  return (
    <g>
      {day.messages.toSorted(byStackOrder).map(({ mark, count }) => {
        const height = (count / maxTotal) * BAR_ROOM
        top -= height
        return (
          <rect
            key={mark}
            x={x + width * 0.24}
            y={top}
            width={width * 0.52}
            height={height}
            fill={BAR_FILL[mark]}
          />
        )
      })}
      {total > 0 && (
        <text
          {...middle}
          y={top - 6}
          fontSize="12"
          fill="var(--soft)"
          stroke="var(--card)"
          strokeWidth="4"
          paintOrder="stroke"
        >
          {total}
        </text>
      )}
      <text {...middle} y={base + 24} fontSize="12" fill="var(--faint)">
        {day.label}
      </text>
    </g>
  )
}

/** The same for screen readers. */
function WeekTable({ days, label }: Pick<Props, 'days' | 'label'>) {
  const { t } = useTranslation()
  return (
    <div className="visually-hidden">
      <table>
        <caption>{label}</caption>
        <tbody>
          {days.map((day) => (
            <tr key={day.label}>
              <th scope="row">{day.label}</th>
              <td>
                {day.messages
                  .map(({ mark, count }) => `${count} ${t(`status.${mark}`)}`)
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
