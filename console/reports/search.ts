import type { DimensionName } from '../../src/contract/report.ts'
import type { PrintRequest } from '../api/reports.ts'
import { addDays } from '../calendar/days.ts'

export const PERIODS = ['thisMonth', 'lastMonth', 'last30Days', 'next30Days', 'thisYear'] as const
export type Period = (typeof PERIODS)[number]
export const DEFAULT_PERIOD: Period = 'last30Days'

/** The period, filters and grouping of a report in its URL. */
export type ReportSearch = {
  period?: Period
  /** The first and the last day of a free range: "2026-11-17". They replace the period. */
  from?: string
  to?: string
  location?: number
  staff?: number
  service?: number
  status?: string
  groupBy?: DimensionName
  thenBy?: DimensionName
}

type Days = { from: string; to: string }

/** The days that are shown; an empty text is a day that is not filled in. */
export function daysOf({ period, from, to }: ReportSearch, today: string): Days {
  if (from !== undefined || to !== undefined) return { from: from ?? '', to: to ?? '' }
  const known = PERIODS.find((one) => one === period) ?? DEFAULT_PERIOD
  return DAYS_OF_PERIOD[known](today)
}

const DAYS_OF_PERIOD: Record<Period, (today: string) => Days> = {
  thisMonth: (today) => ({ from: firstOfMonth(today, 0), to: addDays(firstOfMonth(today, 1), -1) }),
  lastMonth: (today) => ({
    from: firstOfMonth(today, -1),
    to: addDays(firstOfMonth(today, 0), -1),
  }),
  last30Days: (today) => ({ from: addDays(today, -29), to: today }),
  next30Days: (today) => ({ from: today, to: addDays(today, 29) }),
  thisYear: (today) => ({ from: `${today.slice(0, 4)}-01-01`, to: `${today.slice(0, 4)}-12-31` }),
}

function firstOfMonth(day: string, months: number) {
  const [year, month] = day.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
}

/** The search as the service expects it. */
export function requestOf(reportId: number, search: ReportSearch, today: string): PrintRequest {
  const { from, to } = daysOf(search, today)
  const { location, staff, service, status, groupBy, thenBy } = search
  return {
    reportId,
    days: { startDate: from, endDate: to, locationId: location },
    filters: {
      ...(staff && { professionalIdList: [staff] }),
      ...(service && { reasonIdList: [service] }),
      ...(status && { statusList: [status] }),
    },
    groupBy: [groupBy, thenBy].filter((name) => name !== undefined),
  }
}

type Loose<T> = { [Name in keyof T]?: T[Name] | undefined }

/** An undefined value removes a parameter from the URL. */
export const withoutUndefined = (search: Loose<ReportSearch>) =>
  Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined),
  ) as ReportSearch
