import type {
  Frequency,
  ReportRange,
  ReportSchedule,
  ScheduleFields,
} from '../api/report-schedules.ts'
import type { Translate } from '../texts/translate.ts'
import { longName } from '../setup/weekdays.ts'
import type { Period } from './search.ts'

type Timing = Pick<ScheduleFields, 'frequency' | 'weekday' | 'dayOfMonth' | 'timeOfDay'>

/** "every Monday at 07:00" */
export const whenInWords = ({ frequency, weekday, dayOfMonth, timeOfDay }: Timing, t: Translate) =>
  t(`reports.mail.when.${frequency ?? 'DAILY'}`, {
    weekday: weekday ? longName(weekday) : '',
    day: dayOfMonth ?? '',
    time: timeOfDay,
  })

/** Why the last run, or the one that is tried again, did not reach everybody; undefined if it did. */
export function problemOf({ delivery }: ReportSchedule, t: Translate) {
  const { attempts, lastError, runs } = delivery
  if (attempts > 0) return t('reports.mail.retrying', { reason: lastError ?? '' })
  const [last] = runs
  if (!last) return undefined
  if (last.status === 'PARTIAL' || last.status === 'FAILED') {
    return t(`reports.mail.outcome.${last.status}`, { reason: last.statusReason ?? '' })
  }
  const refused = last.recipients.filter(({ emailStatus }) => REFUSED.has(emailStatus ?? ''))
  if (refused.length === 0) return undefined
  const names = refused.map(({ username }) => username).join(', ')
  return t('reports.mail.outcome.refused', { names })
}

const REFUSED = new Set(['FAILED', 'SUPPRESSED', 'UNCERTAIN'])

export const FREQUENCIES: Frequency[] = ['DAILY', 'WEEKLY', 'MONTHLY']

export const SCHEDULE_FORMATS: ReportSchedule['format'][] = ['pdf', 'xlsx', 'csv', 'html', 'json']

export const RANGES: ReportRange[] = [
  'TODAY',
  'YESTERDAY',
  'TOMORROW',
  'LAST_7_DAYS',
  'LAST_30_DAYS',
  'LAST_WEEK',
  'LAST_MONTH',
  'LAST_QUARTER',
  'LAST_YEAR',
  'WEEK_TO_DATE',
  'MONTH_TO_DATE',
  'YEAR_TO_DATE',
  'NEXT_7_DAYS',
  'NEXT_WEEK',
  'NEXT_MONTH',
]

/** The range that is nearest to a period of the page. */
export const RANGE_OF_PERIOD: Record<Period, ReportRange> = {
  thisMonth: 'MONTH_TO_DATE',
  lastMonth: 'LAST_MONTH',
  last30Days: 'LAST_30_DAYS',
  next30Days: 'NEXT_MONTH',
  thisYear: 'YEAR_TO_DATE',
}
