import type { ComparedPeriod, DimensionName } from '../../src/contract/report.ts'
import type { PrintRequest, ReportFilters } from '../api/reports.ts'
import { addDays } from '../components/days.ts'
import { day, id, oneOf, readSearch, text } from '../components/search.ts'

export const PERIODS = ['thisMonth', 'lastMonth', 'last30Days', 'next30Days', 'thisYear'] as const
export type Period = (typeof PERIODS)[number]
export const DEFAULT_PERIOD: Period = 'last30Days'

/** The period, filters and grouping of a report in its URL. */
export type ReportSearch = {
  period?: Period
  /** The first and the last day of a free range: "2026-11-17". They replace the period. */
  from?: string
  to?: string
  /** What the figures are compared with, if it is not the period before. */
  compare?: ComparedPeriod
  location?: number
  staff?: number
  service?: number
  status?: string
  groupBy?: DimensionName
  thenBy?: DimensionName
  /** Filters that have no field on the page: several staff, clients, tags. */
  more?: ReportFilters
}

/** What the figures can be compared with; the first one is the default. */
export const DEFAULT_COMPARED: ComparedPeriod = 'PREVIOUS_PERIOD'
export const COMPARED: ComparedPeriod[] = [DEFAULT_COMPARED, 'LAST_YEAR', 'NONE']

/** An object, so that the compiler names a dimension that is missing here. */
const DIMENSIONS: Record<DimensionName, true> = {
  staff: true,
  location: true,
  service: true,
  client: true,
  day: true,
  week: true,
  month: true,
  weekday: true,
}
const dimension = oneOf(Object.keys(DIMENSIONS) as DimensionName[])

/** A day, or an empty text while the field of the day is empty. */
const dayOrEmpty = (given: unknown) => (given === '' ? '' : day(given))

const isFilters = (given: unknown): given is ReportFilters =>
  typeof given === 'object' &&
  given !== null &&
  Object.values(given).every((list) => Array.isArray(list))

export const readReportSearch: (given: Record<string, unknown>) => ReportSearch = readSearch({
  period: oneOf(PERIODS),
  from: dayOrEmpty,
  to: dayOrEmpty,
  compare: oneOf(COMPARED.slice(1)),
  location: id,
  staff: id,
  service: id,
  status: text,
  groupBy: dimension,
  thenBy: dimension,
  more: (given: unknown) => (isFilters(given) ? given : undefined),
})

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

const firstOfMonth = (day: string, months: number) =>
  Temporal.PlainDate.from(day).with({ day: 1 }).add({ months }).toString()

/** The search as the service expects it. */
export function requestOf(reportId: number, search: ReportSearch, today: string): PrintRequest {
  const { from, to } = daysOf(search, today)
  const { compare, location, staff, service, status, groupBy, thenBy, more } = search
  return {
    reportId,
    days: { startDate: from, endDate: to, locationId: location, compareWith: compare },
    filters: {
      ...more,
      ...(staff && { professionalIdList: [staff] }),
      ...(service && { reasonIdList: [service] }),
      ...(status && { statusList: [status] }),
    },
    groupBy: [groupBy, thenBy].filter((name) => name !== undefined),
  }
}

/** Filters, grouping and comparison as schedules and saved views store them. */
export type StoredFilters = {
  filters: Record<string, unknown> | null
  groupBy: string[] | null
  compareWith?: ComparedPeriod
  locationId: number | null
}

/** The filters, the grouping and the comparison of the page, to be stored. */
export function storedOf({ filters, groupBy, days: { locationId, compareWith } }: PrintRequest) {
  return {
    filters: Object.keys(filters).length > 0 ? filters : null,
    groupBy: groupBy.length > 0 ? groupBy : null,
    compareWith: compareWith ?? DEFAULT_COMPARED,
    locationId: locationId ?? null,
  }
}

/** The search that shows a report with stored filters. */
export function searchOf({
  filters,
  groupBy,
  compareWith,
  locationId,
}: StoredFilters): ReportSearch {
  const { professionalIdList, reasonIdList, statusList, ...others } = (filters ??
    {}) as ReportFilters
  const [first, second] = (groupBy ?? []) as DimensionName[]
  const more = withoutUndefined({
    ...others,
    professionalIdList: severalOf(professionalIdList),
    reasonIdList: severalOf(reasonIdList),
    statusList: severalOf(statusList),
  })
  return withoutUndefined({
    location: locationId ?? undefined,
    staff: onlyOf(professionalIdList),
    service: onlyOf(reasonIdList),
    status: onlyOf(statusList),
    compare: compareWith === DEFAULT_COMPARED ? undefined : compareWith,
    groupBy: first,
    thenBy: second,
    more: Object.keys(more).length > 0 ? more : undefined,
  })
}

const onlyOf = <T>(list: T[] | undefined) => (list?.length === 1 ? list[0] : undefined)
const severalOf = <T>(list: T[] | undefined) => (list && list.length > 1 ? list : undefined)

/** An undefined value removes a parameter from the URL. */
export const withoutUndefined = <T extends object>(search: T) =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }
