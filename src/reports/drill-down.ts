import { DIMENSIONS } from '../contract/report.ts'
import type { OBJECT_OUTCOMES, ObjectSums, SumKey } from '../contract/report-rows.ts'
import type { StatusOutcome } from '../contract/status.ts'
import type { Db } from '../database/database.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import { invalid, type Fault } from '../errors.ts'
import { roundAmount } from '../contract/currency-digits.ts'
import { canGroupBy } from './grouping.ts'
import { MEASURES } from './measures.ts'
import type { PrintJob } from './print-request.ts'
import {
  KEY_NAMES,
  type Column,
  type DrillDown,
  type DrillDownPaths,
  type KeyName,
  type KpiResult,
  type LineKeys,
  type MeasureName,
  type ObjectSum,
  type Report,
  type Scope,
} from './report.ts'

import { wordsOf } from './words.ts'

/*
 * From a figure to the objects that it counts. A measure is one condition and one sum: the report
 * aggregates with it, and `readObjects` lists with it, so that both have the same count and sum.
 */

/** A request for the objects behind a figure of a report, not yet checked. */
export type ObjectsRequest = LineKeys & { measure?: string; currency?: string }

export type CountedObject = {
  objectType: string | null
  objectId: number | null
  objectUUId: string | null
  eventTriggerId: number | null
  emailId: number | null
  clientId: number | null
  client: string | null
  professionalId: number | null
  staff: string | null
  reasonId: number | null
  locationId: number | null
  location: string | null
  name: string | null
  time: Temporal.Instant
  localTime: string
  status: string
  outcome: (typeof OBJECT_OUTCOMES)[number]
  amount: number
  currency: string | null
}

type Position = { time: string; key: string }

export type CountedObjects = {
  /** One more than `limit` if there are more. */
  objects: (CountedObject & { rowKey: string })[]
  count: number
  /** `null` if amounts are in several currencies. */
  sum: number | null
  sumByCurrency: Record<string, number> | null
}

/** A page of the objects: those after a position by time, or the newest ones. */
type Page = { after?: Position | undefined; limit: number; order?: 'asc' | 'desc' }

/** Reads the objects behind a figure, with the count and the sum of all of them. */
export async function readObjects(
  db: Db,
  { report, scope }: PrintJob,
  request: ObjectsRequest,
  page: Page,
): Promise<CountedObjects> {
  const drillDown = report.drillDown!
  const sum = checkRequest(report, scope, request)
  const isMoney = sum.isMoney ?? false
  const found = findObjects(drillDown, scope, request, sum)
  const amount = raw(`(${sum.of ?? '1'})`)
  return db.snapshot(async (tx) => {
    const sums = await tx.query<{ currency: string | null; count: number; sum: number }>(sql`
      select ${isMoney ? raw('o.currency') : raw('null')} as currency, count(*) as count,
             coalesce(sum(${amount}), 0)::float8 as sum
      from (${found}) o group by 1 order by 1`)
    const objects = await tx.query<CountedObject & { rowKey: string }>(
      listObjects(found, { scope, amount, isMoney, page }),
    )
    return { objects, ...addUp(sums, isMoney) }
  })
}

function addUp(
  sums: { currency: string | null; count: number; sum: number }[],
  isMoney: boolean,
): Omit<CountedObjects, 'objects'> {
  const count = sums.reduce((all, one) => all + one.count, 0)
  const priced = isMoney ? sums.filter(({ sum }) => sum !== 0) : sums
  return {
    count,
    sum: priced.length > 1 ? null : roundSum(priced[0]),
    sumByCurrency: isMoney
      ? Object.fromEntries(priced.map((one) => [one.currency, roundSum(one)]))
      : null,
  }
}

/** With the digits of its currency. */
const roundSum = (one: { currency: string | null; sum: number } | undefined) =>
  one ? roundAmount(one.sum, one.currency) : 0

/** Counts the objects behind a figure by one or two of their properties, the largest groups first. */
export async function readSums(
  db: Db,
  { report, scope }: PrintJob,
  request: ObjectsRequest,
  { by, limit }: { by: SumKey[]; limit: number },
): Promise<ObjectSums['items']> {
  const sum = checkRequest(report, scope, request)
  const { currencies } = scope
  if (request.measure && sum.isMoney && !request.currency && currencies.length > 1) {
    const detail = `is needed: the amounts are in ${currencies.join(', ')}`
    throw invalid([{ pointer: '?currency', detail }])
  }
  const keys = by.map((key) => sql`(${KEY_VALUES[key](scope)})::text`)
  return db.query(sql`
    select keys, count, sum
    from (select array[${join(keys, ', ')}] as keys, count(*)::int as count,
                 coalesce(sum(${raw(`(${sum.of ?? '1'})`)}), 0)::float8 as sum
          from (${findObjects(report.drillDown!, scope, request, sum)}) o group by 1) s
    order by sum(count) over (partition by keys[1]) desc, keys limit ${limit}`)
}

const KEY_VALUES: Record<SumKey, (scope: Scope) => Sql> = {
  day: () => raw(`to_char(o.local_start, 'YYYY-MM-DD')`),
  weekday: () => raw('extract(isodow from o.local_start)'),
  hour: () => raw('extract(hour from o.local_start)'),
  staff: () => raw('o.professional_id'),
  location: () => raw('o.location_id'),
  service: () => raw('o.reason_id'),
  client: () => raw('o.client_id'),
  name: () => raw('o.name'),
  outcome: (scope) => outcomeOfObject(scope),
}

/** `o`: what the status of an object counts as. Those of triggers, emails and invitations are fixed. */
const outcomeOfObject = ({ outcomes }: Scope) => {
  const counts = (fixed: string[], ...wanted: StatusOutcome[]) =>
    join(
      [
        sql`(o.event_trigger_id is not null or o.email_id is not null or o.object_type = 'INVITATION') and o.status = any (${fixed}::text[])`,
        ...outcomes
          .filter(({ outcome }) => wanted.includes(outcome))
          .map(
            (one) =>
              sql`o.object_type = ${one.objectType} and o.status = any (${one.statuses}::text[])`,
          ),
      ],
      ' or ',
    )
  return sql`case
    when ${counts(['CANCELLED', 'SUPPRESSED', 'SKIPPED', 'EXPIRED', 'WITHDRAWN'], 'CANCELLED', 'LATE_CANCELLED')} then 'CANCELLED'
    when ${counts(['FAILED', 'BOUNCED'], 'MISSED')} then 'MISSED'
    when ${counts(['SENT', 'COMPLETED'], 'KEPT')} then 'KEPT' else 'PENDING' end`
}

/** The newest objects behind a figure in words, for a mail: when, with whom and where, without clients. */
export async function readEntries(
  db: Db,
  job: PrintJob,
  { name, currency }: KpiResult,
  limit: number,
): Promise<Entries> {
  const { report, scope } = job
  if (!report.drillDown) return NO_ENTRIES
  const sums = sumsOf(report)
  const kpi = report.kpis.find((one) => one.name === name)
  const measure = [kpi?.explainedBy, kpi?.measure, name].find((one) => one && sums.has(one))
  const isSplit = currency && scope.currencies.length > 1 && measure && sums.get(measure)!.isMoney
  const request = {
    ...(measure ? { measure } : {}),
    ...(isSplit ? { currency } : {}),
  }
  const { objects, count } = await readObjects(db, job, request, { limit, order: 'desc' })
  const { writeDate } = wordsOf(job.locale)
  const entries = objects
    .slice(0, limit)
    .map(({ localTime, staff, location }) =>
      [writeDate(localTime), staff, location].filter((part) => part !== null).join(' · '),
    )
  return { entries, count }
}

/** `count`: of all objects behind the figure. */
export type Entries = { entries: string[]; count: number }

export const NO_ENTRIES: Entries = { entries: [], count: 0 }

/** The objects of the request, each once. */
function findObjects(drillDown: DrillDown, scope: Scope, request: ObjectsRequest, sum: ObjectSum) {
  const keys = KEY_NAMES.flatMap((name) =>
    request[name] === undefined ? [] : [CONDITIONS[name](request[name])],
  )
  const conditions = [
    ...keys,
    ...(sum.where ? [raw(`(${sum.where})`)] : []),
    ...(request.currency === undefined ? [] : [sql`o.currency = ${request.currency}`]),
  ]
  const once = sum.oncePer ? raw(`distinct on (o.${sum.oncePer})`) : empty
  return sql`
    select ${once} o.* from (${drillDown.objects(scope, request)}) o
    ${conditions.length > 0 ? sql`where ${join(conditions, ' and ')}` : empty}
    ${sum.oncePer ? raw(`order by o.${sum.oncePer}, o.time, o.row_key`) : empty}`
}

type Listing = {
  scope: Scope
  amount: Sql
  isMoney: boolean
  page: Page
}

const listObjects = (found: Sql, { scope, amount, isMoney, page }: Listing) => {
  const order = raw(page.order ?? 'asc')
  return sql`
  select o.object_type as "objectType", o.object_id as "objectId", o.object_uuid as "objectUUId",
         o.event_trigger_id as "eventTriggerId", o.email_id as "emailId",
         o.client_id as "clientId", cl.first_name || ' ' || cl.last_name as client,
         o.professional_id as "professionalId", p.first_name || ' ' || p.last_name as staff,
         o.reason_id as "reasonId", o.location_id as "locationId", l.name as location,
         coalesce(o.name, r.name) as name, o.time, to_char(o.local_start, 'YYYY-MM-DD HH24:MI') as "localTime",
         o.status, ${outcomeOfObject(scope)} as outcome, o.amount, o.currency, o.row_key as "rowKey"
  from (select f.object_type, f.object_id, f.object_uuid, f.event_trigger_id, f.email_id, f.client_id,
               f.professional_id, f.reason_id, f.location_id, f.name, f.time, f.local_start, f.status, f.row_key,
               coalesce(${amount}, 0)::float8 as amount,
               ${isMoney ? raw('f.currency') : raw('null::text')} as currency
        from (${found}) f
        ${page.after ? sql`where (f.time, f.row_key) > (${page.after.time}::timestamptz, ${page.after.key})` : empty}
        order by f.time ${order}, f.row_key ${order} limit ${page.limit}) o
  left join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, o.client_id)
  left join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, o.professional_id)
  left join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, o.reason_id)
  left join location l on (l.business_id, l.location_id) = (${scope.businessId}, o.location_id)
  order by o.time ${order}, o.row_key ${order}`
}

/** An empty value selects the objects without one. */
const idIs = (column: string) => (value: string) =>
  value === '' ? raw(`o.${column} is null`) : sql`o.${raw(column)} = ${Number(value)}`

const stepIs = (step: 'day' | 'week' | 'month') => (value: string) =>
  sql`to_char(date_trunc('${raw(step)}', o.local_start), 'YYYY-MM-DD') = ${value}`

const CONDITIONS: Record<KeyName, (value: string) => Sql> = {
  staff: idIs('professional_id'),
  location: idIs('location_id'),
  service: idIs('reason_id'),
  client: idIs('client_id'),
  day: stepIs('day'),
  week: stepIs('week'),
  month: stepIs('month'),
  weekday: (value) => sql`extract(isodow from o.local_start) = ${Number(value)}::int`,
  hour: (value) => sql`extract(hour from o.local_start) = ${Number(value)}::int`,
  objectType: (value) => sql`o.object_type = ${value}`,
  objectId: idIs('object_id'),
  objectUUId: (value) => sql`o.object_uuid = ${value}`,
  eventTriggerId: idIs('event_trigger_id'),
  line: (value) => sql`o.line = ${value}`,
}

/** The sum of the request. Refuses keys and measures that the report does not have. */
function checkRequest(report: Report, scope: Scope, request: ObjectsRequest): ObjectSum {
  const { drillDown } = report
  const faults: Fault[] = []
  const keys = new Set<KeyName>([
    ...drillDown!.keys(scope),
    ...DIMENSIONS.filter((name) => canGroupBy(report, name)),
  ])
  for (const name of KEY_NAMES) {
    if (request[name] === undefined || keys.has(name)) continue
    const known = [...keys].join(', ')
    faults.push({ pointer: `?${name}`, detail: `this report has no lines by it, but by ${known}` })
  }
  const sums = sumsOf(report)
  const { measure, currency } = request
  const sum = measure === undefined ? listedSum(drillDown!) : sums.get(measure)
  if (!sum) {
    const known = [...sums.keys()].join(', ')
    faults.push({ pointer: '?measure', detail: `must be one of ${known || 'none'}` })
  }
  if (currency !== undefined && !sum?.isMoney) {
    faults.push({ pointer: '?currency', detail: 'needs a measure of money' })
  }
  if (faults.length > 0 || !sum) throw invalid(faults)
  return sum
}

const listedSum = ({ listed }: DrillDown): ObjectSum => (listed ? { where: listed } : {})

/** The figures of the report that are sums of objects, by the name of their measure. */
function sumsOf({ drillDown, columns, kpis, measures = [] }: Report): Map<string, ObjectSum> {
  const shown = [...columns, ...kpis].flatMap(({ measure }) => (measure ? [measure] : []))
  return new Map<string, ObjectSum>([
    ...[...shown, ...measures].flatMap((name) => {
      const sum = sumOfMeasure(name)
      return sum ? [[name, sum] as const] : []
    }),
    ...Object.entries(drillDown!.figures ?? {}),
  ])
}

const OF_CLASSES: readonly MeasureName[] = ['classes', 'students', 'places']

/** The sum of a measure. The objects may be of several types. */
function sumOfMeasure(name: MeasureName): ObjectSum | null {
  const { sum, unit } = MEASURES[name]
  if (!sum) return null
  const type = OF_CLASSES.includes(name) ? 'CLASS_SCHEDULE' : 'CALENDAR'
  return {
    of: sum.of,
    where: [`object_type = '${type}'`, ...(sum.where ? [sum.where] : [])].join(' and '),
    ...(unit === 'money' ? { isMoney: true } : {}),
  }
}

/** The requests for the objects of each figure of a printed report. */
export function drillDownPaths(
  { report, scope, locationId, filters }: PrintJob,
  columns: Column[],
  kpis: KpiResult[],
): DrillDownPaths | null {
  if (!report.drillDown) return null
  const sums = sumsOf(report)
  const hasFilters = Object.keys(filters).length > 0
  const query = new URLSearchParams({
    startDate: scope.startDate.toString(),
    endDate: scope.endDate.toString(),
    ...(locationId === null ? {} : { locationId: String(locationId) }),
    ...(hasFilters ? { filters: JSON.stringify(filters) } : {}),
    printedTime: String(scope.now.epochMilliseconds),
  })
  const queryOf = (name: string, measure: MeasureName | undefined, currency?: string | null) => {
    const found = [measure, report.drillDown?.figures?.[name] && name].find(
      (one) => one && sums.has(one),
    )
    if (!found) return null
    const isSplit = currency && scope.currencies.length > 1 && sums.get(found)!.isMoney
    return `measure=${found}${isSplit ? `&currency=${currency}` : ''}`
  }
  return {
    path: `/report/${report.reportId}/rows?${query}`,
    columns: columns.map(({ name, partOf, type, measure, currency }) =>
      type === 'percent' ? null : queryOf(partOf ?? name, measure, currency),
    ),
    kpis: kpis.map(({ name, unit, currency }) => {
      const measure = report.kpis.find((kpi) => kpi.name === name)?.measure
      return unit === 'percent' ? null : queryOf(name, measure, currency)
    }),
  }
}

/** The part of the request that selects the objects of a line. */
export function rowFilterOf({ report, scope }: Pick<PrintJob, 'report' | 'scope'>) {
  const keys = report.drillDown?.keys(scope) ?? []
  return (row: Record<string, unknown>) =>
    keys
      .map((name) => {
        const value = row[`key_${name}`]
        if (value === undefined) throw new Error(`the SQL of a report does not return key_${name}`)
        return `${name}=${encodeURIComponent(String(value ?? ''))}`
      })
      .join('&')
}
