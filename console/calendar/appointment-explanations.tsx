import { IconCheck, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Check } from '../../src/contract/check.ts'
import { explanationsQuery } from '../api/calendar.ts'
import { Failure, Loading } from '../components/states.tsx'
import { useTimeFormat } from '../components/time.ts'
import classes from './calendar.module.css'

/** Why each automation did, will or will not send a mail about the appointment. */
export function AppointmentExplanations({ calendarId }: { calendarId: number }) {
  const { t } = useTranslation()
  const format = useTimeFormat()
  const { data, error, refetch } = useQuery(explanationsQuery(calendarId))
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading lines={6} />
  if (data.length === 0) return <p className="soft small">{t('appointment.noAutomations')}</p>
  return (
    <div className="column" style={{ gap: 14 }}>
      {data.map(({ eventDefnId, description, outcome, scheduledTime, checks }) => (
        <details key={eventDefnId} open={outcome === 'NOT' ? undefined : true}>
          <summary>
            <b className="strong">{description ?? `#${eventDefnId}`}</b>{' '}
            <span className="soft small numbers">
              {outcome === 'NOT'
                ? checks.find(({ ok }) => !ok)?.reason
                : t(`appointment.outcome.${outcome}`)}
              {outcome !== 'NOT' && scheduledTime !== null && `, ${format.moment(scheduledTime)}`}
            </span>
          </summary>
          {checks.filter(isWorthSaying).map(({ check, ok, reason }) => (
            <div key={check} className={classes.check}>
              {ok ? (
                <IconCheck size={15} className="accent" aria-hidden />
              ) : (
                <IconX size={15} className="clay" aria-hidden />
              )}
              <span className={ok ? 'soft' : undefined}>{reason}</span>
            </div>
          ))}
        </details>
      ))}
    </div>
  )
}

/** Hides checks that every automation of appointments passes. */
const isWorthSaying = ({ check, ok }: Check) => !ok || !ALWAYS_PASSED.has(check)
const ALWAYS_PASSED = new Set(['business', 'event type', 'disclaimer form'])
