import { useQuery } from '@tanstack/react-query'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import { appointmentHistoryQuery, type HistoryEntry } from '../api/calendar.ts'
import type { Setup } from '../api/setup.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { statusLabel } from './visit.tsx'

/** Who booked and changed the appointment. */
export function AppointmentHistory({ calendarId, setup }: { calendarId: number; setup: Setup }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data, error, refetch } = useQuery(appointmentHistoryQuery(calendarId))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  return (
    <ol className="column" style={{ margin: 0, padding: 0, listStyle: 'none', gap: 10 }}>
      {data.items.map((entry) => (
        <li key={`${entry.time} ${entry.change}`} className="small">
          <Trans
            i18nKey={`appointment.historyEntry.${entry.change}`}
            values={{
              user: nameOfUser(entry.user, t),
              fields: fieldsOf(entry)
                .map((field) => t(`appointment.fields.${field}`))
                .join(', '),
            }}
            components={{ b: <b /> }}
          />{' '}
          <span className="faint numbers">{format.moment(entry.time)}</span>
          <HistoryDetails entry={entry} setup={setup} />
        </li>
      ))}
    </ol>
  )
}

/** The old and the new status and start, if they changed. */
function HistoryDetails({ entry, setup }: { entry: HistoryEntry; setup: Setup }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { before, after } = entry
  const changes: { from: string; to: string }[] = []
  if (typeof before?.startTime === 'number' && typeof after.startTime === 'number') {
    changes.push({ from: format.moment(before.startTime), to: format.moment(after.startTime) })
  }
  if (typeof before?.status === 'string' && typeof after.status === 'string') {
    changes.push({ from: statusLabel(setup, before.status), to: statusLabel(setup, after.status) })
  }
  return changes
    .filter(({ from, to }) => from !== to)
    .map(({ from, to }) => (
      <div key={from} className="soft">
        {t('appointment.fromTo', { from, to })}
      </div>
    ))
}

const SHOWN_FIELDS = [
  'startTime',
  'endTime',
  'status',
  'professionalId',
  'locationId',
  'reasonId',
  'clientId',
  'note',
  'changeNote',
  'tags',
  'price',
] as const

function fieldsOf({ before, after }: HistoryEntry) {
  const changed = SHOWN_FIELDS.filter(
    (field) => JSON.stringify(before?.[field]) !== JSON.stringify(after[field]),
  )
  return changed.length > 0 ? changed : (['other'] as const)
}
