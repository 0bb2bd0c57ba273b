import type { TriggerStatus } from '../../src/contract/event-trigger.ts'
import type { MessageFilters } from '../api/messages.ts'
import { MARK_OF_STATUS, type MarkName } from '../components/mark.tsx'
import type { TimeFormat } from '../components/time.ts'

/** The filters of the page Activity in its URL. */
export type ActivitySearch = {
  outcome?: MarkName
  text?: string
  automation?: number
  location?: number
  client?: number
  /** The first and the last day, both included: "2026-11-17". */
  from?: string
  to?: string
}

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
  const dayAfter = (day: string) => format.isoDay(format.startOfDay(day) + 36 * 3_600_000)
  return {
    ...(isDay(from) && { from: format.startOfDay(from) }),
    ...(isDay(to) && { to: format.startOfDay(dayAfter(to)) }),
  }
}

/** Whether a range of days is chosen. */
export const hasDays = ({ from, to }: ActivitySearch) => isDay(from) || isDay(to)

/**
 * The messages that the list shows. Without a chosen outcome it ends today: otherwise cancelled messages
 * of the future would fill its first pages.
 */
export function listFiltersOf(search: ActivitySearch, format: TimeFormat): MessageFilters {
  if (search.outcome || hasDays(search)) return filtersOf(search, format)
  return filtersOf({ ...search, to: format.isoDay(Date.now()) }, format)
}

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
