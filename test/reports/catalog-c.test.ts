import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { PrintRequest } from '../../src/reports/print-request.ts'
import { NOW } from './business.ts'
import {
  calculate,
  exportRows,
  figuresOf,
  linesOf,
  localStart,
  openMeasuredBusiness,
  OUTCOMES,
  print,
  seeded,
  setBookedTimes,
  shareOf,
  type Row,
} from './measured-business.ts'

/** Reports of what clients, forms and campaigns did over time, against plain loops over exported rows. */

const RANGES = [
  ['2026-03-29', '2026-03-29'],
  ['2026-10-19', '2026-11-02'],
  ['2025-01-01', '2025-12-31'],
  ['2026-12-01', '2026-12-31'],
  ['2026-01-01', '2026-12-31'],
] as const

const NOW_MS = NOW.epochMilliseconds

type Lifetime = Parameters<typeof openMeasuredBusiness>[0]
type Measured = Awaited<ReturnType<typeof openMeasuredBusiness>>
type Business = Awaited<ReturnType<typeof open>>

let business: Business

before(async (t) => {
  business = await open(t as Lifetime)
})

/** The measured business with many clients who come a few times. */
async function open(t: Lifetime) {
  const measured = await openMeasuredBusiness(t)
  await addVisitors(measured)
  const { book, reason } = measured
  const congress = await reason('Congress', 500, 'USD')
  await book({ at: '2031-05-05T09:00Z', status: 'OPEN', reasonId: congress })
  await setBookedTimes(measured)
  const rows = await exportRows(measured)
  return { ...measured, rows }
}

/** Clients with one to four appointments in two years, many of them close to midnight. */
async function addVisitors({ book, client, zurich, newYork, elena, tom }: Measured) {
  const random = seeded(504)
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)]!
  for (let i = 0; i < 60; i++) {
    const clientId = await client('Visitor', `Number ${i}`)
    let at = Temporal.Instant.from('2025-01-01T00:00Z').add({
      hours: Math.floor(random() * 660) * 24 + pick([0, 4, 5, 9, 14, 22, 23]),
      minutes: pick([0, 30]),
    })
    for (let visit = pick([1, 2, 3, 4]); visit > 0; visit--) {
      await book({
        at: at.toString(),
        clientId,
        locationId: pick([zurich, newYork]),
        professionalId: pick([elena, tom]),
        status: pick(['COMPLETED', 'COMPLETED', 'PAID', 'NO_SHOW', 'STORNO', 'OPEN']),
      })
      at = at.add({ hours: pick([1, 3, 24 * 7, 24 * 28, 24 * 31, 24 * 90, 24 * 200]) })
    }
  }
}

const isKept = (row: Row) => OUTCOMES[row.status] === 'KEPT' && row.startTime <= NOW_MS
const isCancelled = ({ status }: { status: string }) => OUTCOMES[status] === 'CANCELLED'
const byStart = (a: Row, b: Row) => a.startTime - b.startTime

const localDay = (row: { locationId: number; startTime: number }) =>
  localStart(row, business).toPlainDate()
const dayOf = (row: { locationId: number; startTime: number }) => localDay(row).toString()

async function printed(request: PrintRequest) {
  const result = await print(business, request)
  return { ...result, lines: linesOf(result), kpis: figuresOf(result) }
}

/** The first kept appointment of each client, with the day of the next one. */
function firstVisits(startDate: string, endDate: string) {
  const byClient = Map.groupBy(business.rows, ({ clientId }) => clientId)
  return [...byClient.values()].flatMap((own) => {
    const kept = own.filter(isKept).toSorted(byStart)
    const [first] = kept
    if (!first || dayOf(first) < startDate || dayOf(first) > endDate) return []
    const firstDay = localDay(first)
    const next = kept.find((row) => Temporal.PlainDate.compare(localDay(row), firstDay) > 0)
    const isBooked = own.some((row) => row.startTime > NOW_MS && !isCancelled(row))
    const today = localDay({ ...first, startTime: NOW_MS })
    return [{ first, firstDay, nextDay: next && localDay(next), isBooked, today }]
  })
}
type Visit = ReturnType<typeof firstVisits>[number]

const hasPassed = ({ firstDay, today }: Visit, months: number) =>
  Temporal.PlainDate.compare(firstDay.add({ months }), today) < 0

const isBackWithin = ({ firstDay, nextDay }: Visit, months: number) =>
  nextDay !== undefined && Temporal.PlainDate.compare(nextDay, firstDay.add({ months })) <= 0

const MONTHS = [1, 2, 3, 6, 12]

function retentionLine(visits: Visit[]) {
  const back = visits.filter(({ nextDay }) => nextDay).length
  const booked = visits.filter(({ nextDay, isBooked }) => !nextDay && isBooked).length
  return {
    clients: visits.length,
    cameBack: back,
    booked,
    gone: visits.length - back - booked,
    cameBackShare: shareOf(back, visits.length),
    ...Object.fromEntries(
      MONTHS.map((months) => {
        const isKnown = visits.length > 0 && visits.every((visit) => hasPassed(visit, months))
        const within = visits.filter((visit) => isBackWithin(visit, months)).length
        return [`within${months}`, isKnown ? shareOf(within, visits.length) : null]
      }),
    ),
  }
}

test('retention has a line for each month of first visits, and who came back within months', async () => {
  let known = 0
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed({ reportId: 504, startDate, endDate })
    const all = firstVisits(startDate, endDate)
    const months = lines.map(({ month }) => String(month))
    for (const { month, ...line } of lines) {
      const own = all.filter(({ first }) => dayOf(first).startsWith(String(month)))
      assert.deepEqual(line, retentionLine(own), String(month))
      if (line.within3 !== null) known += 1
    }
    const expected = new Set(all.map(({ first }) => dayOf(first).slice(0, 7)))
    assert.deepEqual([...expected.difference(new Set(months))], [])
    assert.ok(
      months.every((month) => month <= '2026-11'),
      'a month ahead has no line',
    )
    if (startDate > '2026-11-10') {
      assert.equal(lines.length, 0)
      continue
    }
    assert.equal(kpis.firstVisits, all.length)
    assert.equal(kpis.gone, retentionLine(all).gone)
    for (const n of [1, 3, 12]) {
      const seen = all.filter((visit) => hasPassed(visit, n))
      const back = seen.filter((visit) => isBackWithin(visit, n))
      assert.equal(kpis[`within${n}`], shareOf(back.length, seen.length))
    }
  }
  assert.ok(known > 10, 'months have passed for many lines')
})

test('retention can be grouped by whom and where clients first came', async () => {
  const [startDate, endDate] = RANGES[4]
  const all = firstVisits(startDate, endDate)
  const { lines } = await printed({
    reportId: 504,
    startDate,
    endDate,
    groupBy: ['staff', 'location'],
  })
  assert.equal(lines.length, 4)
  for (const { staff, location, ...line } of lines) {
    const own = all.filter(
      ({ first }) =>
        (staff === 'Tom Becker') === (first.professionalId === business.tom) &&
        (location === 'New York') === (first.locationId === business.newYork),
    )
    assert.deepEqual(line, retentionLine(own), `${String(staff)} ${String(location)}`)
  }
  const filters = { professionalIdList: [business.tom] }
  const ofTom = await printed({ reportId: 504, startDate, endDate, filters })
  assert.equal(
    ofTom.kpis.firstVisits,
    all.filter(({ first }) => first.professionalId === business.tom).length,
  )
})

const LEADS = [
  ['sameDay', 0, 0],
  ['nextDays', 1, 2],
  ['sameWeek', 3, 7],
  ['sameMonth', 8, 28],
  ['longBefore', 29, Infinity],
] as const

const bookedDay = (row: Row) => dayOf({ ...row, startTime: row.bookedTime })

function bookingLine(rows: Row[]): Record<string, number | null> {
  const timely = rows.filter(({ bookedTime, startTime }) => bookedTime <= startTime)
  const leads = timely
    .map(
      (row) =>
        localDay({ ...row, startTime: row.bookedTime }).until(localDay(row), {
          largestUnit: 'days',
        }).days,
    )
    .toSorted((a, b) => a - b)
  return {
    bookings: rows.length,
    ...Object.fromEntries(
      LEADS.map(([name, from, to]) => [
        name,
        leads.filter((days) => days >= from && days <= to).length,
      ]),
    ),
    afterwards: rows.length - timely.length,
    medianLead: leads[Math.ceil(leads.length / 2) - 1] ?? null,
    cancelledSince: rows.filter(isCancelled).length,
  }
}

test('bookings count on the day on which they were made, with the days to the appointment', async () => {
  let afterwards = 0
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis, totals, charts } = await printed({ reportId: 104, startDate, endDate })
    const all = business.rows.filter(
      (row) => bookedDay(row) >= startDate && bookedDay(row) <= endDate,
    )
    const length = lines[0] && 'month' in lines[0] ? 7 : 10
    for (const line of lines) {
      const step = String(line.month ?? line.date)
      const own = all.filter((row) => bookedDay(row).slice(0, length) === step)
      const expected = bookingLine(own)
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((name) => [name, line[name]])),
        expected,
        step,
      )
      assert.equal(line.bookingsValueEUR ?? 0, calculate(own).money.value?.EUR ?? 0, step)
      afterwards += Number(line.afterwards)
    }
    if (startDate > '2026-11-10') {
      assert.deepEqual([lines.length, kpis.bookings], [0, null])
      continue
    }
    const whole = bookingLine(all)
    assert.equal(totals.bookings, all.length)
    assert.equal(kpis.bookings, all.length)
    assert.equal(kpis.medianLead, whole.medianLead)
    assert.equal(kpis.sameDayShare, shareOf(whole.sameDay!, all.length - whole.afterwards!))
    assert.equal(kpis.cancelledSince, shareOf(whole.cancelledSince!, all.length))
    const bars = charts.find(({ name }) => name === 'lead')
    assert.ok(bars?.kind === 'bar')
    assert.deepEqual(
      bars.series[0]!.values,
      LEADS.map(([name]) => whole[name]),
    )
  }
  assert.ok(afterwards > 0)
})

test('the value booked is in the currencies of what was booked, whenever it begins', async () => {
  const request = { reportId: 104, startDate: '2026-11-10', endDate: '2026-11-10' }
  const { totals, kpis } = await printed(request)
  assert.equal(totals.bookingsValueUSD, 500)
  assert.equal(kpis.bookingsValueUSD, 500)
  const { lines } = await printed({ ...request, groupBy: ['service'] })
  assert.deepEqual(
    lines.filter(({ service }) => service === 'Congress').map((line) => line.bookingsValueUSD),
    [500],
  )
})
