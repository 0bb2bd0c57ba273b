import { IconAlertTriangle } from '../components/icons.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { overlapsQuery, type Appointment, type AppointmentFields } from '../api/calendar.ts'
import { useSession } from '../api/session.ts'
import type { Setup } from '../api/setup.ts'
import { useTimeFormat } from '../components/time.ts'
import { useNow } from '../shell/page-head.tsx'
import classes from './calendar.module.css'
import { columnKey, keyOf, staffName, zoneOf, type Column } from './columns.ts'
import { addDays, dayAt } from '../components/days.ts'
import { lookOf } from './visit.tsx'
import { covers, shiftsOn } from './working-time.ts'

type Props = {
  body: AppointmentFields & { calendarId?: number }
  setup: Setup
  columns: Column[]
  /** It is new, or its start changes. */
  isMoved: boolean
}

/** What speaks against this time; it can be booked anyway. */
export function BookingWarnings({ body, setup, columns, isMoved }: Props) {
  const { t } = useTranslation()
  const now = useNow()
  const overlaps = useOverlaps(body, setup)
  const hours = useHoursWarning(body, columns)
  const isPast = isMoved && body.startTime !== undefined && body.startTime < now
  const warnings = [...(isPast ? [t('desk.past')] : []), ...overlaps, ...hours]
  if (warnings.length === 0) return null
  return (
    <ul className={classes.warnings} data-warnings>
      {warnings.map((warning) => (
        <li key={warning}>
          <IconAlertTriangle size={15} aria-hidden />
          <span>{warning}</span>
        </li>
      ))}
    </ul>
  )
}

/** Appointments of the same member of staff or of the same client at this time. */
function useOverlaps(body: AppointmentFields & { calendarId?: number }, setup: Setup) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { calendarId, startTime, endTime, professionalId, clientId } = body
  const time = startTime !== undefined && endTime !== undefined ? { startTime, endTime } : undefined
  const ofStaff = useQuery({
    ...overlapsQuery(time, { professionalId }),
    placeholderData: keepPreviousData,
  })
  const ofClient = useQuery({
    ...overlapsQuery(time, { clientId }),
    placeholderData: keepPreviousData,
  })
  if (!time) return []
  const hasFailed = [ofStaff, ofClient].some(({ error, data }) => error && !data)
  const isInTheWay = (other: Appointment) =>
    other.calendarId !== calendarId &&
    other.startTime < time.endTime &&
    other.endTime > time.startTime &&
    lookOf(other, setup) !== 'off'
  const textOf = (other: Appointment, key: 'staffIsBooked' | 'clientIsBooked') =>
    t(`calendar.warnings.${key}`, {
      staff: other.professionalName ?? '',
      client: other.clientName ?? '',
      time: `${format.time(other.startTime)}–${format.time(other.endTime)}`,
    })
  const staffVisits = (ofStaff.data ?? []).filter(
    (other) => other.professionalId === professionalId && isInTheWay(other),
  )
  const clientVisits = (ofClient.data ?? []).filter(
    (other) =>
      other.clientId === clientId && other.professionalId !== professionalId && isInTheWay(other),
  )
  return [
    ...(hasFailed ? [t('calendar.warnings.notChecked')] : []),
    ...staffVisits.map((other) => textOf(other, 'staffIsBooked')),
    ...clientVisits.map((other) => textOf(other, 'clientIsBooked')),
  ]
}

function useHoursWarning(body: AppointmentFields, columns: Column[]) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { business } = useSession()
  const { startTime, endTime, professionalId, locationId } = body
  if (startTime === undefined || endTime === undefined) return []
  if (professionalId === undefined || locationId === undefined) return []
  const column = columns.find((one) => keyOf(one) === columnKey({ professionalId, locationId }))
  if (!column) return []
  const zone = zoneOf(column, business)
  const day = dayAt(startTime, zone)
  const shifts = shiftsOn(column, day, zone)
  const shiftsUntilNextDay = [...shifts, ...shiftsOn(column, addDays(day, 1), zone)]
  if (covers(shiftsUntilNextDay, { begin: startTime, end: endTime })) return []
  const staff = staffName(column.professional)
  if (shifts.length === 0) return [t('calendar.warnings.dayOff', { staff })]
  const hours = shifts
    .map(({ begin, end }) => `${format.time(begin)}–${format.time(end)}`)
    .join(', ')
  return [t('calendar.warnings.outsideHours', { staff, hours })]
}
