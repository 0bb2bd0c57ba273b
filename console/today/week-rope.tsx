import { useMediaQuery } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import { byOrder, DESKTOP, FILL, Now, PHONE, baseOf } from '../components/day-rope.tsx'
import type { MarkName } from '../components/mark.tsx'

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

/** The week as a line with a bar for each day; the bell marks the current time. */
export function WeekRope({ days, now, nowLabel, label }: Props) {
  const isPhone = useMediaQuery('(max-width: 768px)', false, { getInitialValueInEffect: false })
  const size = isPhone ? PHONE : DESKTOP
  const base = baseOf(size)
  const width = size.width / days.length
  const most = Math.max(1, ...days.map(totalOf))
  return (
    <>
      <svg
        width="100%"
        viewBox={`0 0 ${size.width} ${size.height}`}
        style={{ display: 'block', overflow: 'visible' }}
        role="img"
        aria-label={label}
      >
        <path
          d={`M${now * width} ${base} H${size.width}`}
          stroke="var(--line-strong)"
          strokeWidth="1.5"
          strokeDasharray="1 5"
          strokeLinecap="round"
        />
        <path
          d={`M0 ${base} H${now * width}`}
          stroke="var(--mark)"
          strokeWidth="2.5"
          strokeLinecap="round"
        />
        <Now x={now * width} label={nowLabel} size={size} />
        {days.map((day, i) => (
          <DayBar key={day.label} day={day} most={most} base={base} x={i * width} width={width} />
        ))}
      </svg>
      <WeekTable days={days} label={label} />
    </>
  )
}

const totalOf = ({ messages }: WeekDay) => messages.reduce((sum, { count }) => sum + count, 0)

type DayBarProps = { day: WeekDay; most: number; base: number; x: number; width: number }

function DayBar({ day, most, base, x, width }: DayBarProps) {
  const middle = { x: x + width / 2, textAnchor: 'middle', className: 'numbers' } as const
  const total = totalOf(day)
  let top = base - 3
  return (
    <g>
      {day.messages.toSorted(byOrder).map(({ mark, count }) => {
        const height = (count / most) * BAR_ROOM
        top -= height
        return (
          <rect
            key={mark}
            x={x + width * 0.24}
            y={top}
            width={width * 0.52}
            height={height}
            fill={FILL[mark]}
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
    <table className="visually-hidden">
      <caption>{label}</caption>
      <tbody>
        {days.map((day) => (
          <tr key={day.label}>
            <th scope="row">{day.label}</th>
            <td>
              {day.messages.map(({ mark, count }) => `${count} ${t(`status.${mark}`)}`).join(', ')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
