import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { NOW } from './business.ts'
import {
  calculate,
  localStart,
  openMeasuredBusiness,
  print,
  type Row,
} from './measured-business.ts'

/** Each report against a plain loop over exported rows, in two zones and around both clock changes. */

const RANGES = [
  ['2026-03-29', '2026-03-29'],
  ['2026-10-19', '2026-11-02'],
  ['2026-11-01', '2026-11-30'],
  ['2026-12-01', '2026-12-31'],
  ['2026-01-01', '2026-12-31'],
] as const

const NOW_MS = NOW.epochMilliseconds
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Booked = Row & { bookedTime: number; note: string | null }
type Business = Awaited<ReturnType<typeof open>>

let business: Business

before(async (t) => {
  business = await open(t as Parameters<typeof openMeasuredBusiness>[0])
})

/** The measured business with times of booking, and names for all ids. */
async function open(t: Parameters<typeof openMeasuredBusiness>[0]) {
  const measured = await openMeasuredBusiness(t)
  const { db, businessId } = measured
  await db.query(sql`
    update calendar set booked_time = start_time - make_interval(hours => (calendar_id * 37 % 900)::int - 20),
                        note = case when calendar_id % 5 = 0 then 'Note ' || calendar_id end
    where business_id = ${businessId}`)
  const booked = await db.query<{
    calendarId: number
    bookedTime: number
    note: string | null
  }>(sql`
    select calendar_id as "calendarId", note,
           (extract(epoch from booked_time) * 1000)::bigint as "bookedTime"
    from calendar where business_id = ${businessId}`)
  const byId = new Map(booked.map((row) => [row.calendarId, row]))
  const rows = measured.rows.map((row): Booked => ({ ...row, ...byId.get(row.calendarId)! }))
  const [names] = await db.query<
    Record<'staff' | 'services' | 'clients', Record<string, string>>
  >(sql`
    select (select json_object_agg(professional_id, first_name || ' ' || last_name) from professional) as staff,
           (select json_object_agg(reason_id, name) from reason) as services,
           (select json_object_agg(client_id, first_name || ' ' || last_name) from client) as clients`)
  return { ...measured, rows, names: names! }
}

const CANCELLED = ['CANCELLED', 'STORNO']
const KEPT = ['COMPLETED', 'PAID']
const isCancelled = ({ status }: { status: string }) => CANCELLED.includes(status)
const isKept = (row: Row) => KEPT.includes(row.status) && row.startTime <= NOW_MS

const dayOf = (row: { locationId: number; startTime: number }) =>
  localStart(row, business).toPlainDate().toString()

const rowsOf = (startDate: string, endDate: string) =>
  business.rows.filter((row) => dayOf(row) >= startDate && dayOf(row) <= endDate)

/** The printed report, its rows as objects. */
async function printed(reportId: number, startDate: string, endDate: string) {
  const result = await print(business, { reportId, startDate, endDate })
  const names = result.columns.map(({ name }) => name)
  const lines = result.rows.map((row) =>
    Object.fromEntries(row.map((cell, i) => [names[i]!, cell])),
  )
  const kpis = Object.fromEntries(
    result.kpis.map(({ name, currency, value }) => [currency ? `${name}${currency}` : name, value]),
  )
  return { ...result, lines, kpis }
}

const timeOf = (ms: number, row: Row) =>
  localStart({ ...row, startTime: ms }, business)
    .toPlainTime()
    .toString()
    .slice(0, 5)

const share = (part: number, whole: number) =>
  whole ? Math.round((1000 * part) / whole) / 10 : null

const countDistinct = (values: unknown[]) => new Set(values).size

test('the daily schedule lists what was not cancelled, by person and time', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed(103, startDate, endDate)
    const expected = rowsOf(startDate, endDate).filter((row) => !isCancelled(row))
    const classes = business.classes.filter(
      (one) => one.status !== 'CANCELLED' && dayOf(one) >= startDate && dayOf(one) <= endDate,
    )
    const ofAppointments = lines.filter(({ client }) => !/ students?$/.test(String(client)))
    const described = (row: Booked) => {
      const isFirst = !business.rows.some(
        (one) =>
          one.clientId === row.clientId && !isCancelled(one) && one.startTime < row.startTime,
      )
      return [
        business.names.staff[row.professionalId],
        dayOf(row),
        timeOf(row.startTime, row),
        timeOf(row.endTime, row),
        business.names.clients[row.clientId],
        isFirst ? 'yes' : null,
        business.names.services[row.reasonId],
        row.note,
        (row.endTime - row.startTime) / 60_000,
      ].join('|')
    }
    assert.deepEqual(
      ofAppointments
        .map((line) =>
          [
            line.staff,
            line.date,
            line.time,
            line.endTime,
            line.client,
            line.firstVisit,
            line.service,
            line.note,
            line.minutes,
          ].join('|'),
        )
        .toSorted(),
      expected.map(described).toSorted(),
    )
    assert.equal(lines.length - ofAppointments.length, classes.length)
    const order = lines.map(({ staff, date, time }) => `${staff}|${date}|${time}`)
    assert.deepEqual(order, order.toSorted())
    assert.equal(kpis.entries, expected.length + classes.length)
    assert.equal(kpis.people, countDistinct(lines.map(({ staff }) => staff)))
  }
})

test('staff performance counts a visit as rebooked if a later one was booked within a week', async () => {
  let rebookedInAll = 0
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed(302, startDate, endDate)
    const all = rowsOf(startDate, endDate)
    const isRebooked = (row: Booked) =>
      isKept(row) &&
      business.rows.some(
        (next) =>
          next.clientId === row.clientId &&
          !isCancelled(next) &&
          next.startTime > row.startTime &&
          next.bookedTime <= row.endTime + 7 * DAY_MS,
      )
    for (const [id, name] of Object.entries(business.names.staff)) {
      const own = all.filter(({ professionalId }) => professionalId === Number(id))
      const line = lines.find(({ staff }) => staff === name)
      assert.equal(line === undefined, own.length === 0, name)
      if (!line) continue
      const { kept, missed, money, ...counts } = calculate(own)
      const rebooked = own.filter(isRebooked).length
      rebookedInAll += rebooked
      assert.deepEqual(
        [line.appointments, line.completed, line.noShows, line.minutes, line.rebooked],
        [counts.appointments, kept, missed, counts.bookedMinutes, rebooked],
      )
      assert.equal(line.rebookingRate, share(rebooked, kept))
      assert.equal(line.noShowRate, share(missed, kept + missed))
      assert.equal(
        line.clients,
        countDistinct(own.filter((row) => !isCancelled(row)).map(({ clientId }) => clientId)),
      )
      assert.equal(line.revenueEUR ?? 0, money.revenue?.EUR ?? 0)
    }
    const isAhead = startDate > '2026-11-10'
    const kept = all.filter(isKept).length
    assert.equal(kpis.rebookingRate, isAhead ? null : share(all.filter(isRebooked).length, kept))
  }
  assert.ok(rebookedInAll > 20)
})
