import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { asOwner } from '../support/owner.ts'
import { NOW } from './business.ts'
import {
  calculate,
  countDistinct,
  figuresOf,
  linesOf,
  localStart,
  openMeasuredBusiness,
  print,
  shareOf as share,
  type Row,
} from './measured-business.ts'

/** Compares each report with a plain loop over exported rows, in two zones and around both clock changes. */

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

type Booked = Row & { note: string | null }
type Measured = Awaited<ReturnType<typeof openMeasuredBusiness>>
type Business = Awaited<ReturnType<typeof open>>

let business: Business

before(async (t) => {
  business = await open(t as Parameters<typeof openMeasuredBusiness>[0])
  // The service does this every second.
  await asOwner(business.database, 'analyze')
})

/** The measured business with times of booking, and names for all ids. */
async function open(t: Parameters<typeof openMeasuredBusiness>[0]) {
  const measured = await openMeasuredBusiness(t)
  const { db, businessId } = measured
  await addVisitors(measured)
  await db.query(sql`
    update calendar set booked_time = start_time - make_interval(hours => (calendar_id * 37 % 900)::int - 20),
                        note = case when calendar_id % 5 = 0 then 'Note ' || calendar_id end
    where business_id = ${businessId}`)
  const rows = await db.query<Booked>(sql`
    select calendar_id as "calendarId", client_id as "clientId", professional_id as "professionalId",
           reason_id as "reasonId", location_id as "locationId", status, note, price, currency,
           (extract(epoch from start_time) * 1000)::bigint as "startTime",
           (extract(epoch from end_time) * 1000)::bigint as "endTime",
           (extract(epoch from booked_time) * 1000)::bigint as "bookedTime"
    from calendar where business_id = ${businessId} and active`)
  const [names] = await db.query<
    Record<'staff' | 'services' | 'clients', Record<string, string>>
  >(sql`
    select (select json_object_agg(professional_id, first_name || ' ' || last_name) from professional) as staff,
           (select json_object_agg(reason_id, name) from reason) as services,
           (select json_object_agg(client_id, first_name || ' ' || last_name) from client) as clients`)
  const cancelledAt = await cancelSome(measured, rows)
  const recalls = await addRecalls(measured, rows)
  return { ...measured, rows, recalls, cancelledAt, names: names! }
}

/** Clients who come once or a few times, also close to midnight of the first day of a month. */
async function addVisitors({ book, client, zurich, newYork, elena, tom }: Measured) {
  const visit = async (last: string, times: string[], locationId: number) => {
    const clientId = await client(last === 'Seen' ? 'Last' : 'Visitor', last)
    for (const [i, time] of times.entries()) {
      const [at, status = 'COMPLETED'] = time.split(' ')
      await book({ at: at!, status, clientId, locationId, professionalId: i % 2 ? tom : elena })
    }
  }
  await visit('Seen', ['2025-03-05T09:00Z', '2025-06-05T09:00Z'], zurich)
  await visit('One', ['2026-02-28T23:30Z', '2026-03-20T10:00Z'], zurich)
  await visit('Two', ['2026-03-01T02:00Z', '2026-05-25T10:00Z PAID'], newYork)
  await visit('Three', ['2026-03-10T10:00Z NO_SHOW', '2026-04-10T10:00Z'], zurich)
  await visit('Four', ['2026-01-31T23:30Z', '2026-12-05T10:00Z OPEN'], newYork)
  await visit('Five', ['2026-04-02T10:00Z', '2026-06-01T10:00Z CANCELLED'], zurich)
  await visit('Six', ['2026-10-31T23:30Z', '2026-11-01T05:30Z'], zurich)
  await visit('Seven', ['2026-11-01T03:30Z', '2026-11-20T05:30Z STORNO'], newYork)
  await visit('Eight', ['2026-12-02T03:30Z OPEN'], newYork)
}

type Recall = { clientId: number; locationId: number | null; startTime: number; status: string }

async function addRecalls({ db, businessId, newYork, zurich }: Measured, rows: Booked[]) {
  const clientIds = [...new Set(rows.map(({ clientId }) => clientId))]
  const recalls = Array.from({ length: 40 }, (_, i): Recall => ({
    clientId: clientIds[i % clientIds.length]!,
    locationId: [newYork, zurich, null][i % 3]!,
    // Around both clock changes.
    startTime: Date.parse(i % 4 ? '2026-10-20T00:30Z' : '2026-03-28T21:30Z') + i * 29 * HOUR_MS,
    status: ['DUE', 'COMPLETED', 'DUE', 'CANCELLED', 'DUE', 'ANSWERED', 'DROPPED'][i % 7]!,
  }))
  await db.query(sql`
    insert into status (business_id, object_type, status, label, outcome, live, live_after,
                        created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'RECALL', 'ANSWERED', 'Answered', 'KEPT', false, false, ${NOW}, 'TEST', ${NOW}, 'TEST'),
           (${businessId}, 'RECALL', 'DROPPED', 'Dropped', 'CANCELLED', false, false, ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  for (const { clientId, locationId, startTime, status } of recalls) {
    await db.query(sql`
      insert into recall (business_id, client_id, due_time, location_id, status,
                          created_date, created_user, modified_date, modified_user)
      values (${businessId}, ${clientId}, ${Temporal.Instant.fromEpochMilliseconds(startTime)},
              ${locationId}, ${status}, ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  }
  return recalls
}

/** Two of three cancelled appointments were open first; the others were saved as cancelled. */
async function cancelSome({ db, businessId }: Measured, rows: Booked[]) {
  const cancelledAt = new Map<number, number>()
  for (const { calendarId, startTime, status } of rows.filter(isCancelled)) {
    if (calendarId % 3 === 0) continue
    const hours = ((calendarId * 53) % 400) - 10
    const at = startTime - hours * HOUR_MS
    cancelledAt.set(calendarId, at)
    const set = (to: string, ms: number) =>
      db.query(sql`
        update calendar set status = ${to}, modified_date = ${Temporal.Instant.fromEpochMilliseconds(ms)}
        where business_id = ${businessId} and calendar_id = ${calendarId}`)
    await set('CANCELLED', at - 3 * DAY_MS)
    await set('OPEN', at - 2 * DAY_MS)
    await set(status, at)
    await db.query(sql`
      update calendar set note = coalesce(note, '') where business_id = ${businessId} and calendar_id = ${calendarId}`)
  }
  return cancelledAt
}

const CANCELLED = ['CANCELLED', 'STORNO']
const KEPT = ['COMPLETED', 'PAID']
const isCancelled = ({ status }: { status: string }) => CANCELLED.includes(status)
const isKept = (row: Row) => KEPT.includes(row.status) && row.startTime <= NOW_MS

const dayOf = (row: { locationId: number | null; startTime: number }) =>
  localStart({ ...row, locationId: row.locationId ?? business.zurich }, business)
    .toPlainDate()
    .toString()

const rowsOf = (startDate: string, endDate: string) =>
  business.rows.filter((row) => dayOf(row) >= startDate && dayOf(row) <= endDate)

/** The printed report, its rows as objects. */
async function printed(reportId: number, startDate: string, endDate: string) {
  const result = await print(business, { reportId, startDate, endDate })
  return { ...result, lines: linesOf(result), kpis: figuresOf(result) }
}

/** A future period has no columns about the past. */
const ifBegun = <T>(startDate: string, cells: T[]) =>
  startDate > '2026-11-10' ? cells.map(() => undefined) : cells

const timeOf = (ms: number, row: Row) =>
  localStart({ ...row, startTime: ms }, business)
    .toPlainTime()
    .toString()
    .slice(0, 5)

test('the daily schedule lists appointments that are not cancelled, by person and time', async () => {
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
        [line.appointments, line.minutes],
        [counts.appointments, counts.bookedMinutes],
      )
      assert.deepEqual(
        [line.completed, line.noShows, line.rebooked, line.rebookingRate, line.noShowRate],
        ifBegun(startDate, [
          kept,
          missed,
          rebooked,
          share(rebooked, kept),
          share(missed, kept + missed),
        ]),
      )
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

test('the notice of a cancellation is the time from the last cancellation to the start', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis, charts } = await printed(202, startDate, endDate)
    const all = rowsOf(startDate, endDate)
    const cancelled = all.filter(isCancelled)
    const noticeOf = (row: Booked) => {
      const at = business.cancelledAt.get(row.calendarId)
      return at === undefined ? null : Math.max(0, row.startTime - at) / 60_000
    }
    const hours = (notice: number | null) => (notice === null ? null : Math.floor(notice / 60))
    assert.deepEqual(
      lines
        .map((line) => [line.date, line.time, line.client, line.noticeHours, line.price].join('|'))
        .toSorted(),
      cancelled
        .map((row) =>
          [
            dayOf(row),
            timeOf(row.startTime, row),
            business.names.clients[row.clientId],
            hours(noticeOf(row)),
            row.price,
          ].join('|'),
        )
        .toSorted(),
    )
    const notices = cancelled.map(noticeOf).filter((notice) => notice !== null)
    const late = notices.filter((notice) => notice < 24 * 60).length
    assert.equal(kpis.cancelled, cancelled.length)
    assert.equal(kpis.cancellationRate, share(cancelled.length, all.length))
    assert.equal(kpis.lateShare, share(late, notices.length))
    assert.equal(kpis.medianNotice, median(notices))
    const bars = charts.find(({ name }) => name === 'notice')
    assert.ok(bars?.kind === 'bar')
    assert.equal(
      bars.series[0]!.values.reduce<number>((sum, value) => sum + value!, 0),
      notices.length,
    )
    assert.equal(bars.series[0]!.values[0]! + bars.series[0]!.values[1]!, late)
  }
})

test('services are in the order of their popularity, with their outcomes', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed(401, startDate, endDate)
    const all = rowsOf(startDate, endDate)
    const counts = lines.map(({ appointments }) => Number(appointments))
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => b - a),
    )
    assert.equal(lines.length, countDistinct(all.map(({ reasonId }) => reasonId)))
    assert.equal(kpis.servicesBooked, lines.length)
    assert.equal(kpis.topShare, share(counts[0] ?? 0, all.length))
    for (const line of lines) {
      const own = all.filter(({ reasonId }) => business.names.services[reasonId] === line.service)
      const { kept, missed, cancelled, unclosed, ahead, money } = calculate(own)
      assert.deepEqual(
        [line.appointments, line.cancelled, line.completed, line.noShows, line.unclosed],
        [own.length, cancelled, ...ifBegun(startDate, [kept, missed, unclosed])],
      )
      if ('ahead' in line) assert.equal(line.ahead, ahead)
      assert.equal(line.share, share(own.length, all.length))
      const live = own.filter((row) => !isCancelled(row))
      assert.equal(line.clients, countDistinct(live.map(({ clientId }) => clientId)))
      assert.equal(line.revenueJPY ?? 0, money.revenue?.JPY ?? 0)
    }
  }
})

function median(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  if (sorted.length === 0) return null
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2
}

test('the value of each service and member of staff is split by currency and outcome', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, columns } = await printed(951, startDate, endDate)
    const all = rowsOf(startDate, endDate)
    const pairs = all.map(({ reasonId, professionalId }) => `${reasonId} ${professionalId}`)
    assert.equal(lines.length, countDistinct(pairs))
    for (const line of lines) {
      const own = all.filter(
        ({ reasonId, professionalId }) =>
          business.names.services[reasonId] === line.service &&
          business.names.staff[professionalId] === line.staff,
      )
      const { money, kept } = calculate(own)
      assert.deepEqual(
        [line.appointments, line.completed],
        [own.length, ...ifBegun(startDate, [kept])],
      )
      for (const { name, currency, measure } of columns) {
        if (!currency) continue
        assert.equal(
          line[name],
          money[measure!]?.[currency] ?? 0,
          `${String(line.service)} ${name}`,
        )
      }
      for (const value of columns.filter(({ measure }) => measure === 'value')) {
        const parts = columns.filter(
          ({ type, currency, name }) =>
            type === 'money' && currency === value.currency && name !== value.name,
        )
        const sum = parts.reduce((all, { name }) => all + Number(line[name] ?? 0), 0)
        assert.equal(Math.round(sum * 100) / 100, line[value.name])
      }
    }
  }
})

test('lapsed clients had their last visit in the period and have nothing booked', async () => {
  const found = new Set<unknown>()
  for (const [startDate, endDate] of [...RANGES, ['2025-01-01', '2025-12-31'] as const]) {
    const { lines, kpis } = await printed(503, startDate, endDate)
    const seen = new Set<number>()
    const expected: string[] = []
    let overdue = 0
    for (const clientId of countedClients()) {
      const own = business.rows.filter((row) => row.clientId === clientId)
      const inPeriod = own.filter((row) => isKept(row) && isWithin(row, startDate, endDate))
      if (inPeriod.length === 0) continue
      seen.add(clientId)
      const last = Math.max(...inPeriod.map(({ startTime }) => startTime))
      const isBack = own.some(
        (row) =>
          row.startTime > last && (isKept(row) || (row.startTime > NOW_MS && !isCancelled(row))),
      )
      const row = inPeriod.find(({ startTime }) => startTime === last)!
      const today = localStart({ ...row, startTime: NOW_MS }, business).toPlainDate()
      const days = today.since(dayOf(row), { largestUnit: 'days' }).days
      const visits = own.filter(isKept).length
      // Too few clients came again for a service to have an interval of its own.
      if (days < 60) continue
      overdue++
      if (isBack) continue
      expected.push([business.names.clients[clientId], dayOf(row), days, visits].join('|'))
    }
    const shown = lines.map((line) =>
      [line.client, line.lastVisit, line.days, line.visits].join('|'),
    )
    for (const line of lines) found.add(line.client)
    assert.deepEqual(shown.toSorted(), expected.toSorted())
    if (startDate > '2026-11-10') continue
    assert.equal(kpis.lapsedClients, expected.length)
    assert.equal(kpis.seenClients, seen.size)
    assert.equal(kpis.lapsedShare, overdue > 0 ? share(expected.length, seen.size) : null)
  }
  assert.ok(found.has('Last Seen'))
})

const countedClients = () => new Set(business.rows.map(({ clientId }) => clientId))

const isWithin = (row: Row, startDate: string, endDate: string) =>
  dayOf(row) >= startDate && dayOf(row) <= endDate

test('a client is new in the day, month or period of the first appointment ever', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed(502, startDate, endDate)
    const isByMonth = startDate === '2026-01-01'
    const visits = rowsOf(startDate, endDate).filter((row) => !isCancelled(row))
    const firstDayOf = (clientId: number) => {
      const own = business.rows.filter((row) => row.clientId === clientId && !isCancelled(row))
      return dayOf(own.toSorted((a, b) => a.startTime - b.startTime)[0]!)
    }
    for (const line of lines) {
      const length = isByMonth ? 7 : 10
      const step = String(line.step).slice(0, length)
      const here = visits.filter((row) => dayOf(row).slice(0, length) === step)
      const fresh = here.filter(({ clientId }) => firstDayOf(clientId).slice(0, length) === step)
      const clients = countDistinct(here.map(({ clientId }) => clientId))
      const newClients = countDistinct(fresh.map(({ clientId }) => clientId))
      assert.deepEqual(
        [line.clients, line.newClients, line.returningClients, line.visits, line.newVisits],
        [clients, newClients, clients - newClients, here.length, fresh.length],
        `${String(line.step)}`,
      )
    }
    const all = new Set(visits.map(({ clientId }) => clientId))
    const fresh = [...all].filter((clientId) => firstDayOf(clientId) >= startDate)
    assert.equal(kpis.activeClients, all.size)
    assert.equal(kpis.firstTimeClients, fresh.length)
    assert.equal(kpis.newShare, share(fresh.length, all.size))
  }
})

test('recalls are done, cancelled, booked, overdue or to come', async () => {
  const states = new Set<unknown>()
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed(703, startDate, endDate)
    const due = business.recalls.filter((one) => dayOf(one) >= startDate && dayOf(one) <= endDate)
    const stateOf = ({ clientId, startTime, status }: Recall) => {
      if (status === 'COMPLETED' || status === 'ANSWERED') return 'Done'
      if (status === 'CANCELLED' || status === 'DROPPED') return 'Cancelled'
      const isBooked = business.rows.some(
        (row) => row.clientId === clientId && row.startTime > NOW_MS && !isCancelled(row),
      )
      return isBooked ? 'Booked' : startTime <= NOW_MS ? 'Overdue' : 'To come'
    }
    for (const one of due) states.add(stateOf(one))
    assert.deepEqual(
      lines.map((line) => [line.dueDate, line.client, line.state].join('|')).toSorted(),
      due
        .map((one) => [dayOf(one), business.names.clients[one.clientId], stateOf(one)].join('|'))
        .toSorted(),
    )
    const count = (state: string) => due.filter((one) => stateOf(one) === state).length
    assert.equal(kpis.recalls, due.length)
    assert.equal(kpis.overdueRecalls, count('Overdue'))
    assert.equal(kpis.bookedRecalls, count('Booked'))
    assert.equal(kpis.doneRate, share(count('Done'), due.length - count('Cancelled')))
  }
  assert.equal(states.size, 5)
})
