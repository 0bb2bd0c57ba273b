import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { forbidden, invalid, type Fault } from '../errors.ts'
import {
  COMPARED_PERIODS,
  DIMENSIONS,
  type ComparedPeriod,
  type DimensionName,
} from '../contract/report.ts'
import { SOURCES_WITHOUT_NO_SHOWS } from '../contract/feed.ts'
import { isId } from '../contract/json.ts'
import { NOT_A_DAY, readDay } from '../contract/schema.ts'
import { mayPrint, REPORTS, showsMoney, visibleTo } from './catalog/catalog.ts'
import { comparedRange } from './comparison.ts'
import { findCurrencies } from './currencies.ts'
import {
  appliedFilters,
  checkAgainstReport,
  describeFilters,
  describeLocations,
  findFilterNames,
  readFilters,
  refuseUnknownIds,
  refuseUnknownTags,
  type AddFault,
  type Filters,
} from './filters.ts'
import { canGroupBy, groupReport } from './grouping.ts'
import { leaveOutMeaningless } from './meaningless.ts'
import type { AppliedFilters, DateRange, Report, Scope, StatusOutcomes } from './report.ts'
import { boundsOf, withRange, zonesOf, type LocationZone } from './zones.ts'
import { chooseLocale, wordsOf } from './words.ts'

/** A request to print, not yet checked. */
export type PrintRequest = {
  reportId?: unknown
  reportFileName?: unknown
  startDate?: unknown
  endDate?: unknown
  locationId?: unknown
  filters?: unknown
  groupBy?: unknown
  compareWith?: unknown
}

/** The person or key that prints: its functions, and the part of the business that it may see. */
export type Reader = {
  businessId: number
  functions: ReadonlySet<string>
  locationIds: number[] | null
  professionalIds: number[] | null
  /** The languages that the reader prefers, best first; then that of the business. */
  locales?: string[]
}

/** A checked request: everything that printing needs. */
export type PrintJob = {
  report: Report
  scope: Scope
  locationId: number | null
  businessName: string
  /** The locale of the reader, else of the business. */
  locale: string
  accentColor: string | null
  locationName: string | null
  filters: AppliedFilters
  groupBy: DimensionName[]
  compareWith: ComparedPeriod
  appliedFilters: [label: string, value: string][]
  notes: string[]
}

/** Checks a request against the database. Throws with all faults at once. */
export async function checkPrintRequest(
  db: Db,
  request: PrintRequest,
  reader: Reader,
  now: Temporal.Instant,
): Promise<PrintJob> {
  const faults: Fault[] = []
  const addFault = (pointer: string, detail: string) => void faults.push({ pointer, detail })

  const { businessId } = reader
  const report = findReport(request, addFault)
  const days = readRange(request, addFault)
  const groupBy = readGroupBy(request.groupBy, report, addFault)
  const compareWith = readCompareWith(request.compareWith, addFault)
  const filters = readFilters(request.filters, addFault)
  const { locations, outcomes, unratedFeeds, ...business } = await findBusiness(db, businessId)
  const locale = chooseLocale([...(reader.locales ?? []), business.language])
  const words = wordsOf(locale)
  const location = findLocation(request.locationId, locations, reader, addFault)
  const requested = days ?? monthOf(now, location ?? business)
  const ids = visibleIds(reader, filters, location)
  const names = await findFilterNames(db, businessId, {
    ...ids,
    professionalIds: union(ids.professionalIds, filters.professionalIdList),
  })
  refuseUnknownIds(names, filters, addFault)
  await refuseUnknownTags(db, businessId, filters.tags, addFault)
  if (report) checkAgainstReport(report, filters, outcomes, addFault)

  if (faults.length > 0 || !report) throw invalid(faults)
  refuseForbidden(report, reader)
  const range = report.rangeOf?.(requested) ?? requested
  const visible = locations.filter(({ locationId }) => includes(ids.locationIds, locationId))
  const { timeZone, zones } = zonesOf(range, visible, business)
  const scope: Scope = {
    businessId,
    ...range,
    timeZone,
    zones,
    ...boundsOf(zones),
    ...ids,
    statuses: filters.statusList,
    tags: filters.tags,
    outcomes,
    currencies: [],
    unratedFeeds: unratedFeeds.map(({ feedId, until }) => ({
      feedId,
      until: until === null ? null : Temporal.Instant.from(until),
    })),
    now,
  }
  return makeJob(db, {
    report,
    scope,
    groupBy,
    compareWith,
    reader,
    businessName: business.name,
    locale,
    accentColor: business.accentColor,
    locationId: location?.locationId ?? null,
    locationName: location?.name ?? describeLocations(ids.locationIds, names, words),
    filters: appliedFilters(filters),
    appliedFilters: describeFilters(scope, names, words),
  })
}

type Checked = Omit<PrintJob, 'notes' | 'groupBy'> & {
  groupBy: DimensionName[] | null
  reader: Reader
}

/** Adapts the report to what the reader may see, to the range and to the filters. */
async function makeJob(db: Db, checked: Checked): Promise<PrintJob> {
  const { report, scope, groupBy: wanted, reader, ...rest } = checked
  const words = wordsOf(rest.locale)
  const shown = visibleTo(report, reader.functions)
  const groupBy = wanted ?? report.groupedBy?.(scope) ?? []
  const grouped = groupBy.length > 0 ? groupReport(shown, groupBy) : shown
  const { report: meaningful, notes } = leaveOutMeaningless(grouped, scope, rest.filters, words)
  const currencies = showsMoney(meaningful)
    ? await findCurrencies(db, report, [
        scope,
        ...rangesOf(report, scope, rest.compareWith).map((range) => withRange(scope, range)),
      ])
    : []
  const grouping: [string, string][] = wanted
    ? [[words.say('Grouped by'), wanted.map((name) => words.say(name)).join(', ')]]
    : []
  return {
    ...rest,
    report: meaningful,
    scope: { ...scope, currencies },
    groupBy,
    appliedFilters: [...rest.appliedFilters, ...grouping],
    notes,
  }
}

/** All ranges that a report reads in addition to its own. */
const rangesOf = (
  { otherRanges }: Report,
  scope: Scope,
  compareWith: ComparedPeriod,
): DateRange[] => [
  ...(compareWith === 'NONE' ? [] : [comparedRange(scope, compareWith)]),
  ...(otherRanges?.(scope) ?? []),
]

const includes = (ids: number[] | null, id: number) => !ids || ids.includes(id)

const union = (a: number[] | null, b: number[] | null) =>
  a || b ? [...(a ?? []), ...(b ?? [])] : null

/** The filters within the part of the business that the reader may see. */
function visibleIds(reader: Reader, filters: Filters, location: Location | undefined) {
  const locationIds = intersect(reader.locationIds, filters.locationIdList)
  return {
    locationIds: location ? intersect(locationIds, [location.locationId]) : locationIds,
    professionalIds: intersect(reader.professionalIds, filters.professionalIdList),
    reasonIds: filters.reasonIdList,
    clientIds: filters.clientIdList,
  }
}

export function refuseForbidden(report: Report, reader: Reader) {
  if (mayPrint(report, reader.functions)) return
  const missing = report.securityFunctions.filter((name) => !reader.functions.has(name))
  throw forbidden(`This report needs the function ${missing.join(', ')}. Ask an owner for it.`)
}

function readGroupBy(value: unknown, report: Report | undefined, addFault: AddFault) {
  if (value === undefined || value === null) return null
  const isKnown = (name: unknown): name is DimensionName => DIMENSIONS.some((one) => one === name)
  if (!Array.isArray(value) || value.length > 2 || new Set(value).size < value.length) {
    addFault('/groupBy', 'must be an array of one or two different names')
    return null
  }
  value.forEach((name, i) => {
    if (!isKnown(name)) addFault(`/groupBy/${i}`, `must be one of ${DIMENSIONS.join(', ')}`)
    else if (report && !canGroupBy(report, name)) {
      addFault(`/groupBy/${i}`, 'this report cannot be grouped by it')
    }
  })
  return value.length > 0 ? value.filter(isKnown) : null
}

function readCompareWith(value: unknown, addFault: AddFault): ComparedPeriod {
  const known = COMPARED_PERIODS.find((one) => one === (value || 'PREVIOUS_PERIOD'))
  if (!known) addFault('?compareWith', `must be one of ${COMPARED_PERIODS.join(', ')}`)
  return known ?? 'PREVIOUS_PERIOD'
}

/** The report that the id or the file name names. If both are given, they must name the same. */
export function findReport(
  { reportId, reportFileName }: Pick<PrintRequest, 'reportId' | 'reportFileName'>,
  addFault: AddFault,
) {
  const isGiven = (name: unknown) => name !== undefined && name !== null
  if (!isGiven(reportId) && !isGiven(reportFileName)) {
    addFault('/reportId', 'is required; or send reportFileName')
    return undefined
  }
  const byId = REPORTS.find((report) => report.reportId === reportId)
  const byName = REPORTS.find((report) => report.reportFileName === reportFileName)
  if (isGiven(reportId) && !byId) addFault('/reportId', 'there is no such report')
  if (isGiven(reportFileName) && !byName) addFault('/reportFileName', 'there is no such report')
  if (byId && byName && byId !== byName) {
    addFault(
      '/reportFileName',
      `must be ${byId.reportFileName}, the name of report ${byId.reportId}`,
    )
  }
  return byId ?? byName
}

/** Ten years. */
const MAX_DAYS = 3_653

/** Undefined if the request names no days. */
function readRange(request: PrintRequest, addFault: AddFault): DateRange | undefined {
  const isAbsent = (value: unknown) => value === undefined || value === null || value === ''
  if (isAbsent(request.startDate) && isAbsent(request.endDate)) return undefined
  const read = (name: 'startDate' | 'endDate') => {
    const value = request[name]
    const day = readDay(value)
    if (!day) addFault(`?${name}`, isAbsent(value) ? 'is required' : NOT_A_DAY)
    return day
  }
  const startDate = read('startDate')
  const endDate = read('endDate')
  if (!startDate || !endDate) return undefined
  const days = startDate.until(endDate, { largestUnit: 'days' }).days + 1
  if (days < 1) addFault('?endDate', 'must not be before startDate')
  if (days > MAX_DAYS) addFault('?endDate', 'must be at most ten years after startDate')
  return { startDate, endDate }
}

function monthOf(now: Temporal.Instant, { timeZone }: { timeZone: string }): DateRange {
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate()
  return { startDate: today.with({ day: 1 }), endDate: today.with({ day: today.daysInMonth }) }
}

const intersect = (own: number[] | null, wanted: number[] | null) =>
  own && wanted ? wanted.filter((id) => own.includes(id)) : (own ?? wanted)

type Location = LocationZone & { name: string }
type Business = {
  name: string
  timeZone: string
  language: string | null
  accentColor: string | null
  locations: Location[]
  outcomes: StatusOutcomes[]
  unratedFeeds: { feedId: number; until: string | null }[]
}

/** The settings of a business that a report depends on. */
const findBusiness = (db: Db, businessId: number): Promise<Business> =>
  db.getRow<Business>(sql`
    select b.name, b.time_zone as "timeZone", b.language, b.accent_color as "accentColor",
           (select coalesce(json_agg(json_build_object('locationId', l.location_id, 'name', l.name,
                                                       'timeZone', coalesce(l.time_zone, b.time_zone))
                                     order by l.location_id), '[]')
            from location l where l.business_id = b.business_id) as locations,
           (select coalesce(json_agg(json_build_object('objectType', s.object_type, 'outcome', s.outcome,
                                                       'statuses', s.statuses)), '[]')
            from (select object_type, outcome, array_agg(status order by status) as statuses
                  from status where business_id = b.business_id group by 1, 2) s) as outcomes,
           (select coalesce(json_agg(json_build_object('feedId', f.feed_id, 'until', (
                     select min(c.start_time) from calendar c
                     join status s on (s.business_id, s.object_type, s.status, s.outcome)
                       = (c.business_id, 'CALENDAR', c.status, 'MISSED')
                     where c.business_id = f.business_id and c.feed_id = f.feed_id and c.active))), '[]')
            from feed f
            where f.business_id = b.business_id and f.close_after_hours is not null
              and f.source = any (${SOURCES_WITHOUT_NO_SHOWS}::text[])) as "unratedFeeds"
    from business b where b.business_id = ${businessId}`)

function findLocation(
  wanted: unknown,
  locations: Location[],
  reader: Reader,
  addFault: AddFault,
): Location | undefined {
  if (wanted === undefined || wanted === null) return undefined
  const locationId = Number(wanted)
  if (!/^\d{1,16}$/.test(String(wanted)) || !isId(locationId)) {
    addFault('?locationId', 'must be the id of a location')
    return undefined
  }
  const location = locations.find((one) => one.locationId === locationId)
  if (location && includes(reader.locationIds, locationId)) return location
  addFault('?locationId', 'there is no such location')
  return undefined
}
