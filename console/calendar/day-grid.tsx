import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import { clockAt } from '../components/days.ts'
import { useTimeFormat } from '../components/time.ts'
import classes from './calendar.module.css'
import { columnKey, keyOf, staffName, zoneOf, type Column } from './columns.ts'
import { TimeGrid, type GridProps, type Lane } from './time-grid.tsx'
import { shiftsOn } from './working-time.ts'

const HOUR_NS = 3_600_000_000_000

type Props = GridProps & { day: string; columns: Column[] }

/** A day with one column per member of staff. */
export function DayGrid({ day, columns, ...props }: Props) {
  const { t } = useTranslation()
  const { business } = useSession()
  const { visits, ghost } = props
  const lanes = columns.map((column) => ({
    column,
    shifts: shiftsOn(column, day, zoneOf(column, business)),
  }))
  const inUse = new Set([...visits, ...(ghost ? [ghost] : [])].map(columnKey))
  const busy = lanes.filter(({ column, shifts }) => shifts.length > 0 || inUse.has(keyOf(column)))
  // On a day on which nobody works, everybody has a column.
  const shown = busy.length > 0 ? busy : lanes
  return (
    <TimeGrid
      {...props}
      label={t('calendar.grid')}
      maxTracks={Number.POSITIVE_INFINITY}
      lanes={shown.map(({ column, shifts }, index): Lane => {
        const { location, professional } = column
        return {
          key: keyOf(column),
          day,
          shifts,
          place: {
            professionalId: professional.professionalId,
            locationId: location.locationId,
          },
          startsGroup: location !== shown[index - 1]?.column.location,
        }
      })}
      head={(template) => (
        <GridHead day={day} columns={shown.map(({ column }) => column)} template={template} />
      )}
    />
  )
}

type HeadProps = { day: string; columns: Column[]; template: string }

/** Locations above the names of their staff. */
function GridHead({ day, columns, template }: HeadProps) {
  return (
    <div className={classes.gridHead} style={{ gridTemplateColumns: template }}>
      <span />
      {groupByLocation(columns).map(({ location, count }) => (
        <span
          key={location.locationId}
          className={classes.location}
          style={{ gridColumn: `span ${count}` }}
        >
          <span className="ellipsis">{location.name}</span>
          <ZoneDifference day={day} location={location} />
        </span>
      ))}
      <span />
      {columns.map((column, place) => (
        <span
          key={keyOf(column)}
          className={`ellipsis ${classes.staff}`}
          data-first={column.location !== columns[place - 1]?.location || undefined}
          title={staffName(column.professional)}
          dir="auto"
        >
          {column.professional.firstName}{' '}
          <span className="soft">{column.professional.lastName.slice(0, 1)}.</span>
        </span>
      ))}
    </div>
  )
}

function groupByLocation(columns: Column[]) {
  const groups = Map.groupBy(columns, ({ location }) => location.locationId)
  return [...groups.values()].map((some) => ({ location: some[0]!.location, count: some.length }))
}

/** "1 h behind": the difference between the time zone of the location and the chosen one. */
function ZoneDifference({ day, location }: { day: string; location: Column['location'] }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { business } = useSession()
  const offsetAt = (zone: string) => clockAt(Date.parse(`${day}T12:00:00Z`), zone).offsetNanoseconds
  const hours = (offsetAt(zoneOf({ location }, business)) - offsetAt(format.timeZone)) / HOUR_NS
  if (hours === 0) return null
  const key = hours > 0 ? 'calendar.ahead' : 'calendar.behind'
  return <span className="amber">&nbsp;· {t(key, { hours: Math.abs(hours) })}</span>
}
