import { useTranslation } from '../texts/translate.ts'
import type { Appointment } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { Mark } from '../components/mark.tsx'
import classes from './calendar.module.css'

/** The label of a status of appointments, as the business calls it. */
export const statusLabel = (setup: Setup, status: string) =>
  setup.statuses.find((one) => one.objectType === 'CALENDAR' && one.status === status)?.label ??
  status

const NOT_EXPECTED = new Set(['CANCELLED', 'LATE_CANCELLED', 'MISSED'])

/** The style of an appointment: booked, confirmed or no longer expected. */
export function lookOf({ status }: { status: string }, setup: Setup) {
  const known = setup.statuses.find((one) => one.objectType === 'CALENDAR' && one.status === status)
  if (status === 'OPEN') return 'open'
  return known && !NOT_EXPECTED.has(known.outcome) ? 'confirmed' : 'off'
}

/** "Sports massage with Elena García, Zürich Altstadt" */
export function useVisitDetails() {
  const { t } = useTranslation()
  return ({ reasonName, professionalName, locationName }: Appointment) =>
    t('appointment.details', {
      service: reasonName ?? '',
      staff: professionalName ?? '',
      location: locationName ?? '',
    })
}

/** Hollow marks for scheduled messages, and a diamond if one failed. */
export function VisitMarks({ visit }: { visit: Pick<Appointment, 'messages'> }) {
  const { t } = useTranslation()
  const { SCHEDULED: waiting = 0, FAILED: failed = 0 } = visit.messages ?? {}
  if (waiting + failed === 0) return null
  const label = [
    ...(waiting > 0 ? [t('calendar.waiting', { count: waiting })] : []),
    ...(failed > 0 ? [t('calendar.failed', { count: failed })] : []),
  ].join(', ')
  return (
    <span className={`${classes.marks} numbers`} title={label}>
      {failed > 0 && <Mark mark="failed" size={8} />}
      {waiting > 0 && (
        <>
          <Mark mark="waiting" size={8} />
          <span aria-hidden>{waiting}</span>
        </>
      )}
      <span className="visually-hidden">{label}</span>
    </span>
  )
}
