import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import type { Lifetime } from '../support/clean-up.ts'
import { NOW, openBusiness } from './business.ts'
import { addFeed } from './feed-runs.ts'
import { figuresOf, linesOf, print } from './measured-business.ts'

const OCTOBER = { startDate: '2026-10-01', endDate: '2026-10-31' }
const NOTE = /^Left out of no-show rates: (\d+) past appointments of feeds /

/** Own appointments, of which one of two was missed, and three of a feed that its closing has completed. */
async function openMirrored(t: Lifetime, source: string, closeAfterHours: number | null = 24) {
  const business = await openBusiness(t)
  const { book, db, businessId } = business
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-06T09:00+02:00', status: 'NO_SHOW' })
  const feedId = await addFeed(business, 'Salon', source)
  await db.query(sql`
    update feed set close_after_hours = ${closeAfterHours}
    where business_id = ${businessId} and feed_id = ${feedId}`)
  const mirror = async (at: string, status = 'COMPLETED') => {
    const calendarId = await book({ at, status })
    await db.query(sql`
      update calendar set feed_id = ${feedId}
      where business_id = ${businessId} and calendar_id = ${calendarId}`)
  }
  for (const day of ['07', '08', '09']) await mirror(`2026-10-${day}T09:00+02:00`)
  return { ...business, mirror }
}

type Business = Awaited<ReturnType<typeof openMirrored>>

/** The no-show rate of a report, of its only line and of its total, and how many its note leaves out. */
async function ratesOf(business: Business, reportId: number) {
  const printed = await print(business, { reportId, ...OCTOBER })
  const [line] = linesOf(printed)
  const left = printed.notes.flatMap((note) => NOTE.exec(note)?.[1] ?? [])
  const { noShowRate } = figuresOf(printed)
  return { noShowRate, line: line?.noShowRate, total: printed.totals.noShowRate, left }
}

for (const source of ['CALDAV', 'ICS', 'EASYAPPOINTMENTS']) {
  test(`no-show rates leave out what ${source} mirrors, and say how many appointments that is`, async (t) => {
    const business = await openMirrored(t, source)
    for (const reportId of [401, 302]) {
      const rates = { noShowRate: 50, line: 50, total: 50, left: ['3'] }
      assert.deepEqual(await ratesOf(business, reportId), rates, `${reportId}`)
    }
    for (const reportId of [100, 101, 102, 201]) {
      const { noShowRate, left } = await ratesOf(business, reportId)
      assert.deepEqual([noShowRate, left], [50, ['3']], `${reportId}`)
    }
  })
}

test('what counts as kept and as revenue is not changed by what the rates leave out', async (t) => {
  const business = await openMirrored(t, 'CALDAV')
  const printed = await print(business, { reportId: 401, ...OCTOBER })
  const [line] = linesOf(printed)
  assert.partialDeepStrictEqual(line, { completed: 4, noShows: 1, unrated: 3, revenue: 4 * 80.5 })
  const isDefined = ({ definitions }: typeof printed) =>
    definitions.some(([label]) => label === 'No-show unknown')
  assert.ok(isDefined(printed))
  const other = await print(await openMirrored(t, 'CALCOM'), { reportId: 401, ...OCTOBER })
  assert.ok(!isDefined(other), 'only a column that is shown is defined')
})

test('by weekday and hour, and by reminder, the rates leave these appointments out too', async (t) => {
  const business = await openMirrored(t, 'CALDAV')
  const hours = linesOf(await print(business, { reportId: 105, ...OCTOBER }))
  const shares = hours.map(({ weekday, noShowShare }) => [weekday, noShowShare])
  assert.deepEqual(shares, [
    ['Monday', 0],
    ['Tuesday', 100],
    ['Wednesday', null],
    ['Thursday', null],
    ['Friday', null],
  ])
  const missed = await print(business, { reportId: 201, ...OCTOBER })
  const chart = missed.charts.find(({ name }) => name === 'byWeekday')
  assert.ok(chart && chart.kind === 'bar')
  assert.deepEqual(chart.series[0]!.values, [0, 100, null, null, null, null, null])
  const reminded = await print(business, { reportId: 904, ...OCTOBER })
  const totals = linesOf(reminded).map(({ total }) => Number(total))
  assert.equal(
    totals.reduce((a, b) => a + b),
    2,
  )
  assert.ok(reminded.notes.some((note) => NOTE.test(note)))
})

test('a source that can tell no-shows, and a feed that people close, count', async (t) => {
  for (const [source, hours] of [
    ['CALCOM', 24],
    ['INLET', 24],
    ['CALDAV', null],
  ] as const) {
    const business = await openMirrored(t, source, hours)
    const rates = { noShowRate: 20, line: 20, total: 20, left: [] }
    assert.deepEqual(await ratesOf(business, 401), rates, source)
  }
})

test('from the first no-show that a person sets, the appointments of the feed count', async (t) => {
  const business = await openMirrored(t, 'CALDAV')
  await business.mirror('2026-10-12T09:00+02:00', 'NO_SHOW')
  await business.mirror('2026-10-13T09:00+02:00')
  // Two own and two of the feed count; half of them were missed.
  const rates = { noShowRate: 50, line: 50, total: 50, left: ['3'] }
  assert.deepEqual(await ratesOf(business, 401), rates)
})

test('the share that a client missed in all counts no appointments that tell nothing', async (t) => {
  const business = await openMirrored(t, 'CALDAV')
  await business.book({ at: '2026-10-14T09:00+02:00', status: 'NO_SHOW' })
  const [line] = linesOf(await print(business, { reportId: 204, ...OCTOBER }))
  assert.partialDeepStrictEqual(line, { missedInAll: 2, keptInAll: 4, share: 66.7 })
})

test('the note is in the language of the reader', async (t) => {
  const business = await openMirrored(t, 'ICS')
  const starts = { de: 'In Ausfallquoten nicht', fr: 'Non comptés dans les taux' }
  for (const [locale, start] of Object.entries(starts)) {
    const { notes } = await print(business, { reportId: 401, ...OCTOBER }, NOW, locale)
    assert.ok(notes.some((note) => note.startsWith(start)))
  }
})
