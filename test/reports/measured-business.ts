import { sql } from '../../src/database/sql.ts'
import { checkPrintRequest, type PrintRequest } from '../../src/reports/print-request.ts'
import { printReport } from '../../src/reports/print.ts'
import type { Cell, ReportResult, Totals } from '../../src/reports/report.ts'
import type { Lifetime } from '../support/clean-up.ts'
import { everything, NOW, openBusiness } from './business.ts'

/** An appointment as plain values, for independent calculations. */
export type Row = {
  calendarId: number
  clientId: number
  professionalId: number
  reasonId: number
  locationId: number
  status: string
  startTime: number
  endTime: number
  price: number | null
  currency: string | null
  bookedTime: number
}

const STATUSES = [
  'COMPLETED',
  'COMPLETED',
  'COMPLETED',
  'PAID',
  'NO_SHOW',
  'LATE',
  'CANCELLED',
  'STORNO',
  'OPEN',
]

/**
 * Appointments of a year in Zurich and New York, around both clock changes, in three currencies and
 * with custom statuses; also future appointments, some of them already marked as kept.
 */
export async function openMeasuredBusiness(t: Lifetime) {
  const business = await openBusiness(t)
  const { book, client, reason, db, businessId, zurich, newYork, elena, tom } = business
  await db.query(sql`
    insert into status (business_id, object_type, status, label, outcome, live, live_after,
                        created_date, created_user, modified_date, modified_user)
    select ${businessId}, 'CALENDAR', name, name, outcome, false, false, ${NOW}, 'TEST', ${NOW}, 'TEST'
    from (values ('PAID', 'KEPT'), ('LATE', 'MISSED'), ('STORNO', 'CANCELLED')) s (name, outcome)`)
  const services = [
    business.checkUp,
    business.massage,
    await reason('Visite', 90.1, 'EUR'),
    await reason('相談', 9000, 'JPY'),
    await reason('Free', null, null),
  ]
  const clients = [business.anna, await client('Ben', 'Abel'), await client('Zoë', 'Öz')]
  const random = seeded(20_261_110)
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)]!
  const around = ['2026-03-29', '2026-11-01', '2026-10-25', '2026-03-08', '2026-11-10']
  for (let i = 0; i < 260; i++) {
    const day = Temporal.PlainDate.from(i % 3 ? pick(around) : '2026-01-01').add({
      days: i % 3 ? Math.floor(random() * 5) - 2 : Math.floor(random() * 365),
    })
    const at = day.toZonedDateTime('UTC').add({ minutes: Math.floor(random() * 96) * 15 })
    await book({
      at: at.toInstant().toString(),
      minutes: pick([15, 30, 45, 90]),
      status: pick(STATUSES),
      clientId: pick(clients),
      professionalId: pick([elena, tom]),
      reasonId: pick(services),
      locationId: pick([zurich, newYork]),
    })
  }
  await setBookedTimes(business)
  const classes = await addClasses(business, clients, random)
  return { ...business, classes, rows: await exportRows(business) }
}

/** Sets booking times from a day after the start to five weeks before it, and never in the future. */
export const setBookedTimes = ({ db, businessId }: Stored) =>
  db.query(sql`
    update calendar set booked_time = least(start_time - make_interval(hours => (calendar_id * 37 % 900)::int - 20),
                                            ${NOW.subtract({ hours: 1 })})
    where business_id = ${businessId}`)

type Stored = Pick<Awaited<ReturnType<typeof openBusiness>>, 'db' | 'businessId'>

type Class = { locationId: number; startTime: number; status: string; students: number }

async function addClasses(
  { db, businessId, zurich, newYork, elena }: Awaited<ReturnType<typeof openBusiness>>,
  clients: number[],
  random: () => number,
) {
  const classes: Class[] = []
  for (let i = 0; i < 24; i++) {
    const locationId = i % 2 ? zurich : newYork
    const start = Temporal.Instant.from('2026-03-28T20:00Z').add({ hours: 3 * i + (i % 3) * 5_000 })
    const status = ['OPEN', 'CLOSED', 'CANCELLED'][Math.floor(random() * 3)]!
    const students = clients.slice(0, i % 4)
    await db.query(sql`
      insert into class_schedule (business_id, name, professional_id, location_id, start_time, end_time,
        status, client_id_list, created_date, created_user, modified_date, modified_user)
      values (${businessId}, 'Pilates', ${elena}, ${locationId}, ${start}, ${start.add({ hours: 1 })},
        ${status}, ${students}::bigint[], ${NOW}, 'TEST', ${NOW}, 'TEST')`)
    const startTime = start.epochMilliseconds
    classes.push({ locationId, startTime, status, students: students.length })
  }
  return classes
}

/** All appointments as plain values. */
export const exportRows = ({ db, businessId }: Stored) =>
  db.query<Row>(sql`
    select calendar_id as "calendarId", client_id as "clientId", professional_id as "professionalId",
           reason_id as "reasonId", location_id as "locationId", status,
           (extract(epoch from start_time) * 1000)::bigint as "startTime",
           (extract(epoch from end_time) * 1000)::bigint as "endTime", price, currency,
           (extract(epoch from booked_time) * 1000)::bigint as "bookedTime"
    from calendar where business_id = ${businessId} and active`)

/** Numbers from 0 to 1, the same in every run. */
export function seeded(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

export type Printed = Omit<ReportResult, 'rows' | 'totals'> & { rows: Cell[][]; totals: Totals }

type Business = Pick<Awaited<ReturnType<typeof openBusiness>>, 'reports' | 'businessId'>

export async function print(
  { reports, businessId }: Business,
  request: PrintRequest,
  now = NOW,
  locale = 'en',
): Promise<Printed> {
  const reader = { ...everything(businessId), locales: [locale] }
  const job = await checkPrintRequest(reports, request, reader, now)
  return printReport(reports, job, async (result) => {
    const rows: Cell[][] = []
    for await (const batch of result.rows) rows.push(...batch)
    return { ...result, rows, totals: result.totals() }
  })
}

/** The rows of a report, each by the names of its columns. */
export const linesOf = ({ columns, rows }: Pick<Printed, 'columns' | 'rows'>) =>
  rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]!])))

/** The figures of a report by their names; amounts with their currency, if there are several. */
export const figuresOf = ({ kpis }: Pick<Printed, 'kpis'>) =>
  Object.fromEntries(
    kpis.map(({ name, currency, value }) => [currency ? `${name}${currency}` : name, value]),
  )

/** A percentage with one decimal; null if the whole is 0. */
export const shareOf = (part: number, whole: number) =>
  whole ? Math.round((1000 * part) / whole) / 10 : null

export const countDistinct = (values: unknown[]) => new Set(values).size

/** Sorts rows for comparisons that ignore their order. */
export const sorted = (lines: unknown[][]) =>
  lines.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

export const OUTCOMES: Record<string, string> = {
  COMPLETED: 'KEPT',
  PAID: 'KEPT',
  NO_SHOW: 'MISSED',
  LATE: 'MISSED',
  CANCELLED: 'CANCELLED',
  STORNO: 'CANCELLED',
}

type Placed = { locationId: number; startTime: number }

const zoneOf = (row: Placed, { newYork }: { newYork: number }) =>
  row.locationId === newYork ? 'America/New_York' : 'Europe/Zurich'

export const localStart = (row: Placed, business: { newYork: number }) =>
  Temporal.Instant.fromEpochMilliseconds(row.startTime).toZonedDateTimeISO(zoneOf(row, business))

export const calculateClasses = (classes: Class[]) => {
  const held = classes.filter(({ status }) => status !== 'CANCELLED')
  return {
    classes: held.length,
    students: held.reduce((sum, { students }) => sum + students, 0),
    places: 0,
  }
}

/** Calculates the measures with plain loops. Money is by currency. */
export function calculate(rows: Row[], nowMs = NOW.epochMilliseconds, outcomes = OUTCOMES) {
  const counts = { appointments: 0, kept: 0, missed: 0, cancelled: 0, unclosed: 0, ahead: 0 }
  const money: Record<string, Record<string, number>> = {}
  let bookedMinutes = 0
  const add = (measure: string, { price, currency }: Row) => {
    if (price === null) return
    const amounts = (money[measure] ??= {})
    amounts[currency!] = Math.round(((amounts[currency!] ?? 0) + price) * 100) / 100
  }
  for (const row of rows) {
    counts.appointments += 1
    add('value', row)
    const outcome = outcomes[row.status]
    if (outcome === 'CANCELLED') {
      counts.cancelled += 1
      add('cancelledValue', row)
      continue
    }
    bookedMinutes += (row.endTime - row.startTime) / 60_000
    if (row.startTime > nowMs) {
      counts.ahead += 1
      add('aheadValue', row)
    } else if (outcome === 'KEPT') {
      counts.kept += 1
      add('revenue', row)
    } else if (outcome === 'MISSED') {
      counts.missed += 1
      add('lostValue', row)
    } else {
      counts.unclosed += 1
      add('unclosedValue', row)
    }
  }
  return { ...counts, bookedMinutes, money }
}
