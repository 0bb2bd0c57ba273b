import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { forbidden, invalid, type Fault } from '../errors.ts'
import { mayPrint, REPORTS, showsMoney, visibleTo, withoutSums } from './catalog/catalog.ts'
import { appointmentsIn } from './catalog/narrow.ts'
import { findNames, locationsOf, narrowedTo, type Named, type Names } from './narrowed-to.ts'
import type { Report, Scope } from './report.ts'

/** What is asked for, as it came: nothing in it has been checked. */
export type Wish = {
  reportId?: unknown
  reportFileName?: unknown
  startDate?: unknown
  endDate?: unknown
  locationId?: unknown
  filters?: unknown
}

/** Who asks: the functions held, and the part of the business that is theirs to see. */
export type Reader = {
  businessId: number
  functions: ReadonlySet<string>
  locationIds: number[] | null
  professionalIds: number[] | null
}

/** A wish that can be printed. */
export type Order = {
  report: Report
  scope: Scope
  locationId: number | null
  businessName: string
  locationName: string | null
  narrowedTo: [label: string, value: string][]
  /** The one currency of the prices: `undefined` if there are several, which cannot be added up. */
  currency: string | null | undefined
}

/** Checks a wish against what there is, and refuses it with all of its faults at once. */
export async function takeOrder(db: Db, wish: Wish, reader: Reader, now: Temporal.Instant) {
  const faults: Fault[] = []
  const complain = (pointer: string, detail: string) => void faults.push({ pointer, detail })

  const report = findReport(wish, complain)
  const range = readRange(wish, complain)
  const filters = readFilters(wish.filters, complain)
  const business = await findBusiness(db, reader.businessId)
  const location = await findLocation(db, wish.locationId, reader, complain)
  const professionalIds = both(reader.professionalIds, filters.professionalIdList)
  const names = await findNames(db, reader, { professionalIds, ...filters })
  refuseUnknown(names, filters, complain)

  if (faults.length > 0 || !report || !range) throw invalid(faults)
  if (!mayPrint(report, reader.functions)) {
    const lacking = report.securityFunctions.filter((name) => !reader.functions.has(name))
    throw forbidden(`This report needs the function ${lacking.join(', ')}.`)
  }
  const timeZone = location?.timeZone ?? business.timeZone
  const scope: Scope = {
    businessId: reader.businessId,
    ...range,
    ...momentsOf(range, timeZone),
    timeZone,
    locationIds: location ? [location.locationId] : reader.locationIds,
    professionalIds,
    reasonIds: filters.reasonIdList,
    statuses: filters.statusList,
    now,
  }
  const shown = visibleTo(report, reader.functions)
  const currency = showsMoney(shown) ? await findCurrency(db, scope) : null
  const order: Order = {
    report: currency === undefined ? withoutSums(shown) : shown,
    scope,
    locationId: location?.locationId ?? null,
    businessName: business.name,
    locationName: location?.name ?? locationsOf(reader, names),
    narrowedTo: narrowedTo({ professionalIds, ...filters }, names),
    currency,
  }
  return order
}

type Complain = (pointer: string, detail: string) => void

function findReport({ reportId, reportFileName }: Wish, complain: Complain) {
  if (reportId === undefined || reportId === null) {
    if (reportFileName === undefined || reportFileName === null) {
      complain('/reportId', 'is required, or reportFileName')
      return undefined
    }
    const report = REPORTS.find((report) => report.reportFileName === reportFileName)
    if (!report) complain('/reportFileName', 'there is no such report')
    return report
  }
  const report = REPORTS.find((report) => report.reportId === reportId)
  if (!report) complain('/reportId', 'there is no such report')
  return report
}

type Range = { startDate: Temporal.PlainDate; endDate: Temporal.PlainDate }

/** Ten years: more is a mistake, or an export. */
const MOST_DAYS = 3_653

function readRange(wish: Wish, complain: Complain): Range | undefined {
  const startDate = readDate('startDate', wish.startDate, complain)
  const endDate = readDate('endDate', wish.endDate, complain)
  if (!startDate || !endDate) return undefined
  const days = startDate.until(endDate, { largestUnit: 'days' }).days + 1
  if (days < 1) complain('?endDate', 'lies before startDate')
  if (days > MOST_DAYS) complain('?endDate', 'lies more than ten years after startDate')
  return { startDate, endDate }
}

function readDate(name: string, value: unknown, complain: Complain) {
  if (value === undefined || value === '') {
    complain(`?${name}`, 'is required')
    return undefined
  }
  try {
    if (!/^\d{4}-\d\d-\d\d$/.test(String(value))) throw new RangeError()
    const date = Temporal.PlainDate.from(String(value), { overflow: 'reject' })
    if (date.year < 1900 || date.year > 2199) throw new RangeError()
    return date
  } catch {
    complain(`?${name}`, 'must be a day as YYYY-MM-DD, from 1900 to 2199')
    return undefined
  }
}

/** From the first moment of the first day to the last of the last, however many hours they have. */
const momentsOf = ({ startDate, endDate }: Range, timeZone: string) => ({
  from: startDate.toZonedDateTime(timeZone).toInstant(),
  until: endDate.add({ days: 1 }).toZonedDateTime(timeZone).toInstant(),
})

/** The range of equal length before this one, which figures are compared with. */
export function rangeBefore(scope: Scope): Scope {
  const days = scope.startDate.until(scope.endDate, { largestUnit: 'days' }).days + 1
  const range = {
    startDate: scope.startDate.subtract({ days }),
    endDate: scope.startDate.subtract({ days: 1 }),
  }
  return { ...scope, ...range, ...momentsOf(range, scope.timeZone) }
}

type Filters = {
  professionalIdList: number[] | null
  reasonIdList: number[] | null
  statusList: string[] | null
}

function readFilters(value: unknown, complain: Complain): Filters {
  const none: Filters = { professionalIdList: null, reasonIdList: null, statusList: null }
  if (value === undefined || value === null) return none
  if (typeof value !== 'object' || Array.isArray(value)) {
    complain('/filters', 'must be an object')
    return none
  }
  const given = value as Record<string, unknown>
  const list = <T>(name: string, isRight: (item: unknown) => item is T, what: string) => {
    const items = given[name]
    if (items === undefined || items === null) return null
    if (Array.isArray(items) && items.length <= 1_000 && items.every(isRight)) {
      return items.length > 0 ? (items as T[]) : null
    }
    complain(`/filters/${name}`, `must be an array of at most 1,000 ${what}`)
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

const both = (own: number[] | null, wanted: number[] | null) =>
  own && wanted ? wanted.filter((id) => own.includes(id)) : (own ?? wanted)

async function findBusiness(db: Db, businessId: number) {
  const [business] = await db.query<{ name: string; timeZone: string }>(sql`
    select name, time_zone as "timeZone" from business where business_id = ${businessId}`)
  return business!
}

/** Of the appointments in the range and in the range before, with which figures are compared. */
async function findCurrency(db: Db, scope: Scope): Promise<Order['currency']> {
  const { from } = rangeBefore(scope)
  const currencies = await db.query<{ currency: string }>(sql`
    select distinct c.currency from calendar c
    where ${appointmentsIn({ ...scope, from })} and c.price is not null and c.currency is not null
    limit 2`)
  return currencies.length > 1 ? undefined : (currencies[0]?.currency ?? null)
}

async function findLocation(db: Db, wanted: unknown, reader: Reader, complain: Complain) {
  if (wanted === undefined || wanted === null || wanted === '') return undefined
  const locationId = Number(wanted)
  const readable = /^\d{1,16}$/.test(String(wanted)) && isId(locationId)
  if (!readable) {
    complain('?locationId', 'must be the id of a location')
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
  complain('?locationId', 'there is no such location')
  return undefined
}

function refuseUnknown(
  { staff, reasons }: Names,
  { professionalIdList, reasonIdList }: Filters,
  complain: Complain,
) {
  const check = (name: string, ids: number[] | null, known: Named[], what: string) =>
    ids?.forEach((id, i) => {
      if (!known.some((one) => one.id === id)) {
        complain(`/filters/${name}/${i}`, `there is no such ${what}`)
      }
    })
  check('professionalIdList', professionalIdList, staff, 'professional')
  check('reasonIdList', reasonIdList, reasons, 'reason')
}
