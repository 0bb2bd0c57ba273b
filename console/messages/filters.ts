import type { TriggerStatus } from '../../src/contract/event-trigger.ts'
import type { MessageFilters } from '../api/messages.ts'
import { MARK_OF_STATUS, type MarkName } from '../components/mark.tsx'
import { addDays } from '../components/days.ts'
import type { TimeFormat } from '../components/time.ts'
import type { ActivitySearch } from './search.ts'

export const STATUSES = Object.keys(MARK_OF_STATUS) as TriggerStatus[]

const statusesOf = (mark: MarkName) =>
  STATUSES.filter((status) => MARK_OF_STATUS[status] === mark).join(',')

/** Past messages; pending ones have their own tab. */
export const PAST = STATUSES.filter((status) => status !== 'SCHEDULED').join(',')

/** The filters as the API expects them. Days are in the time zone of the business. */
export function filtersOf(search: ActivitySearch, format: TimeFormat): MessageFilters {
  return {
    status: search.outcome ? statusesOf(search.outcome) : PAST,
    ...(search.text && { text: search.text }),
    ...(search.automation && { eventDefnId: search.automation }),
    ...(search.location && { locationId: search.location }),
    ...(search.client && { clientId: search.client }),
    ...momentsOf(search, format),
  }
}

/** The beginning of the first day and the end of the last one. */
export function momentsOf({ from, to }: Pick<ActivitySearch, 'from' | 'to'>, format: TimeFormat) {
  return {
    ...(from && { from: format.startOfDay(from) }),
    ...(to && { to: format.startOfDay(addDays(to, 1)) }),
  }
}

/** Whether a range of days is chosen. */
export const hasDays = ({ from, to }: ActivitySearch) => from !== undefined || to !== undefined

/**
 * The messages that the list shows. Without a chosen outcome it ends today: otherwise cancelled messages
 * of the future would fill its first pages.
 */
export function listFiltersOf(search: ActivitySearch, format: TimeFormat): MessageFilters {
  if (search.outcome || hasDays(search)) return filtersOf(search, format)
  return filtersOf({ ...search, to: format.isoDay(Date.now()) }, format)
}
