import { Link } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import { addDays, momentAt } from '../components/days.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './calendar.module.css'
import { zoneOf, type Column } from './columns.ts'
import { TimeGrid, type GridProps, type Lane } from './time-grid.tsx'
import { shiftsOn } from './working-time.ts'

/** A third of a column is still wide enough for the start of a name. */
const MAX_TRACKS = 3

type Props = GridProps & {
  /** The first of seven days. */
  day: string
  columns: Column[]
}

/** Seven days next to each other, with everybody who is shown in each. */
export function WeekGrid({ day, columns, ...props }: Props) {
  const { t } = useTranslation()
  const { business } = useSession()
  const format = useTimeFormat()
  const days = Array.from({ length: 7 }, (_, place) => addDays(day, place))
  const [only, ...others] = columns
  return (
    <TimeGrid
      {...props}
      label={t('desk.weekGrid')}
      maxTracks={MAX_TRACKS}
      lanes={days.map((one): Lane => ({
        key: one,
        day: one,
        shifts: columns.flatMap((column) => shiftsOn(column, one, zoneOf(column, business))),
      }))}
      onBook={(slot) =>
        props.onBook({
          ...slot,
          // Whom a click means is known if one person is shown.
          ...(only &&
            others.length === 0 && {
              professionalId: only.professional.professionalId,
              locationId: only.location.locationId,
            }),
        })
      }
      head={(template) => (
        <div className={classes.gridHead} style={{ gridTemplateColumns: template }}>
          <span />
          {days.map((one) => (
            <Link
              key={one}
              to="/calendar"
              search={(before) => ({ ...before, view: 'day', day: one })}
              className={`ellipsis ${classes.weekDay}`}
              data-today={one === format.isoDay(Date.now()) || undefined}
            >
              {format.day(momentAt(one, '12:00', format.timeZone))}
            </Link>
          ))}
        </div>
      )}
    />
  )
}
