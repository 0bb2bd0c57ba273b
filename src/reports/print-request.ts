import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { forbidden, invalid, type Fault } from '../errors.ts'
import { mayPrint, REPORTS, showsMoney, visibleTo, withoutSums } from './catalog/catalog.ts'
import { appointmentsIn } from './catalog/conditions.ts'
import {
  findFilterNames,
  describeLocations,
  describeFilters,
  type Named,
  type Names,
} from './filter-names.ts'
import type { Report, Scope } from './report.ts'

/** A request to print, not yet checked. */
export type PrintRequest = {
  reportId?: unknown
  reportFileName?: unknown
  startDate?: unknown
  endDate?: unknown
  locationId?: unknown
  filters?: unknown
}

/** The person or key that prints: its functions, and the part of the business that it may see. */
export type Reader = {
  businessId: number
  functions: ReadonlySet<string>
  locationIds: number[] | null
  professionalIds: number[] | null
}

/** A checked request: everything that printing needs. */
export type PrintJob = {
  report: Report
  scope: Scope
  locationId: number | null
  businessName: string
  locationName: string | null
  appliedFilters: [label: string, value: string][]
  /** The currency of all prices; `undefined` if there are several, which cannot be added up. */
  currency: string | null | undefined
}

/** Checks a request against the database. Throws with all faults at once. */
export async function checkPrintRequest(
  db: Db,
  request: PrintRequest,
  reader: Reader,
  now: Temporal.Instant,
) {
  const faults: Fault[] = []
  const addFault = (pointer: string, detail: string) => void faults.push({ pointer, detail })

  const report = findReport(request, addFault)
  const range = readRange(request, addFault)
  const filters = readFilters(request.filters, addFault)
  const business = await findBusiness(db, reader.businessId)
  const location = await findLocation(db, request.locationId, reader, addFault)
  const professionalIds = intersect(reader.professionalIds, filters.professionalIdList)
  const names = await findFilterNames(db, reader, { professionalIds, ...filters })
  refuseUnknown(names, filters, addFault)

  if (faults.length > 0 || !report || !range) throw invalid(faults)
  if (!mayPrint(report, reader.functions)) {
    const lacking = report.securityFunctions.filter((name) => !reader.functions.has(name))
    throw forbidden(`This report needs the function ${lacking.join(', ')}. Ask an owner for it.`)
  }
  const timeZone = location?.timeZone ?? business.timeZone
  const scope: Scope = {
    businessId: reader.businessId,
    ...range,
    ...instantsOf(range, timeZone),
    timeZone,
    locationIds: location ? [location.locationId] : reader.locationIds,
    professionalIds,
    reasonIds: filters.reasonIdList,
    statuses: filters.statusList,
    now,
  }
  const shown = visibleTo(report, reader.functions)
  const currency = showsMoney(shown) ? await findCurrency(db, scope) : null
  const job: PrintJob = {
    report: currency === undefined ? withoutSums(shown) : shown,
    scope,
    locationId: location?.locationId ?? null,
    businessName: business.name,
    locationName: location?.name ?? describeLocations(reader, names),
    appliedFilters: describeFilters({ professionalIds, ...filters }, names),
    currency,
  }
  return job
}

type AddFault = (pointer: string, detail: string) => void

function findReport({ reportId, reportFileName }: PrintRequest, addFault: AddFault) {
  if (reportId === undefined || reportId === null) {
    if (reportFileName === undefined || reportFileName === null) {
      addFault('/reportId', 'is required; or send reportFileName')
      return undefined
    }
    const report = REPORTS.find((report) => report.reportFileName === reportFileName)
    if (!report) addFault('/reportFileName', 'there is no such report')
    return report
  }
  const report = REPORTS.find((report) => report.reportId === reportId)
  if (!report) addFault('/reportId', 'there is no such report')
  return report
}

type Range = { startDate: Temporal.PlainDate; endDate: Temporal.PlainDate }

/** Ten years. */
const MAX_DAYS = 3_653

function readRange(request: PrintRequest, addFault: AddFault): Range | undefined {
  const startDate = readDate('startDate', request.startDate, addFault)
  const endDate = readDate('endDate', request.endDate, addFault)
  if (!startDate || !endDate) return undefined
  const days = startDate.until(endDate, { largestUnit: 'days' }).days + 1
  if (days < 1) addFault('?endDate', 'must not be before startDate')
  if (days > MAX_DAYS) addFault('?endDate', 'must be at most ten years after startDate')
  return { startDate, endDate }
}

function readDate(name: string, value: unknown, addFault: AddFault) {
  if (value === undefined || value === '') {
    addFault(`?${name}`, 'is required')
    return undefined
  }
  try {
    if (!/^\d{4}-\d\d-\d\d$/.test(String(value))) throw new RangeError()
    const date = Temporal.PlainDate.from(String(value), { overflow: 'reject' })
    if (date.year < 1900 || date.year > 2199) throw new RangeError()
    return date
  } catch {
    addFault(`?${name}`, 'must be a date, YYYY-MM-DD, from 1900 to 2199')
    return undefined
  }
}

/** From the start of the first day to the end of the last one, which can have 23 or 25 hours. */
const instantsOf = ({ startDate, endDate }: Range, timeZone: string) => ({
  from: startDate.toZonedDateTime(timeZone).toInstant(),
  until: endDate.add({ days: 1 }).toZonedDateTime(timeZone).toInstant(),
})

/** The preceding range of the same length, for comparison. */
export function previousRange(scope: Scope): Scope {
  const days = scope.startDate.until(scope.endDate, { largestUnit: 'days' }).days + 1
  const range = {
    startDate: scope.startDate.subtract({ days }),
    endDate: scope.startDate.subtract({ days: 1 }),
  }
  return { ...scope, ...range, ...instantsOf(range, scope.timeZone) }
}

type Filters = {
  professionalIdList: number[] | null
  reasonIdList: number[] | null
  statusList: string[] | null
}

function readFilters(value: unknown, addFault: AddFault): Filters {
  const none: Filters = { professionalIdList: null, reasonIdList: null, statusList: null }
  if (value === undefined || value === null) return none
  if (typeof value !== 'object' || Array.isArray(value)) {
    addFault('/filters', 'must be an object')
    return none
  }
  const given = value as Record<string, unknown>
  const list = <T>(name: string, isRight: (item: unknown) => item is T, what: string) => {
    const items = given[name]
    if (items === undefined || items === null) return null
    if (Array.isArray(items) && items.length <= 1_000 && items.every(isRight)) {
      return items.length > 0 ? (items as T[]) : null
    }
    addFault(`/filters/${name}`, `must be an array of at most 1,000 ${what}`)
    return null
  }
  return {
    professionalIdList: list('professionalIdList', isId, 'ids'),
    reasonIdList: list('reasonIdList', isId, 'ids'),
    statusList: list('statusList', isStatus, 'statuses'),
  }
}

const isId = (item: unknown): item is number => Number.isSafeInteger(item) && (item as number) > 0
const isStatus = (item: unknown): item is string =>
  typeof item === 'string' && item.length <= 100 && !item.includes('\0')

const intersect = (own: number[] | null, wanted: number[] | null) =>
  own && wanted ? wanted.filter((id) => own.includes(id)) : (own ?? wanted)

async function findBusiness(db: Db, businessId: number) {
  const [business] = await db.query<{ name: string; timeZone: string }>(sql`
    select name, time_zone as "timeZone" from business where business_id = ${businessId}`)
  return business!
}

/** The currency of the appointments in the range and in the previous one. */
async function findCurrency(db: Db, scope: Scope): Promise<PrintJob['currency']> {
  const { from } = previousRange(scope)
  const currencies = await db.query<{ currency: string }>(sql`
    select distinct c.currency from calendar c
    where ${appointmentsIn({ ...scope, from })} and c.price is not null and c.currency is not null
    limit 2`)
  return currencies.length > 1 ? undefined : (currencies[0]?.currency ?? null)
}

async function findLocation(db: Db, wanted: unknown, reader: Reader, addFault: AddFault) {
  if (wanted === undefined || wanted === null || wanted === '') return undefined
  const locationId = Number(wanted)
  const isValid = /^\d{1,16}$/.test(String(wanted)) && isId(locationId)
  if (!isValid) {
    addFault('?locationId', 'must be the id of a location')
    return undefined
  }
  const [location] = await db.query<{
    locationId: number
    name: string
    timeZone: string | null
  }>(sql`
    select location_id as "locationId", name, time_zone as "timeZone"
    from location
    where business_id = ${reader.businessId} and location_id = ${locationId}`)
  if (location && (!reader.locationIds || reader.locationIds.includes(locationId))) return location
  addFault('?locationId', 'there is no such location')
  return undefined
}

function refuseUnknown(
  { staff, reasons }: Names,
  { professionalIdList, reasonIdList }: Filters,
  addFault: AddFault,
) {
  const check = (name: string, ids: number[] | null, known: Named[], what: string) =>
    ids?.forEach((id, i) => {
      if (!known.some((one) => one.id === id)) {
        addFault(`/filters/${name}/${i}`, `there is no such ${what}`)
      }
    })
  check('professionalIdList', professionalIdList, staff, 'professional')
  check('reasonIdList', reasonIdList, reasons, 'reason')
}
