import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lifetime } from '../support/clean-up.ts'
import { NOW, everything, openBusiness } from './business.ts'
import { checkPrintRequest } from '../../src/reports/print-request.ts'
import { printReport } from '../../src/reports/print.ts'
import { figuresOf, linesOf, print } from './measured-business.ts'
import { addFeed, addReconciliation } from './feed-runs.ts'

const NOVEMBER = { startDate: '2026-11-01', endDate: '2026-11-30' }
const SUMS = { source: 412, mirrored: 389, held: 3, skipped: 20 }

const difference = (kind: string, key: string, more: object = {}) => ({
  kind,
  entryId: null,
  key,
  title: null,
  objectType: null,
  objectId: null,
  field: null,
  source: null,
  ours: null,
  since: null,
  feedRunId: null,
  todo: null,
  ...more,
})

/** Two feeds: Salon without, Studio with differences on two days. */
async function openTwoFeeds(t: Lifetime) {
  const business = await openBusiness(t)
  const calendarId = await business.book({ at: '2026-11-20T09:00+01:00' })
  const [salon, studio] = [await addFeed(business, 'Salon'), await addFeed(business, 'Studio')]
  const moved = difference('MISSED_CHANGE', 'b', {
    title: 'Knee',
    objectType: 'CALENDAR',
    objectId: calendarId,
    field: 'start',
    source: '2026-11-20T08:00:00Z',
    ours: '2026-11-20T07:00:00Z',
    since: Date.parse('2026-11-08T11:30Z'),
  })
  const here = difference('CHANGED_HERE', 'c', {
    objectType: 'CALENDAR',
    objectId: calendarId,
    field: 'status',
    source: 'OPEN',
    ours: 'CANCELLED',
  })
  await addReconciliation(business, salon, '2026-11-08T02:12Z', { sums: SUMS })
  await addReconciliation(business, salon, '2026-11-09T02:12Z', {
    sums: { ...SUMS, source: 411, held: 2 },
  })
  // What was missed is fixed, so the second comparison of the day does not find it again.
  const all = [difference('MISSED_CREATE', 'a'), moved, difference('MISSED_DELETE', 'd'), here]
  const sums = { source: 12, mirrored: 10, held: 1, skipped: 1 }
  await addReconciliation(business, studio, '2026-11-08T01:30Z', { sums, differences: all })
  await addReconciliation(business, studio, '2026-11-08T10:00Z', { sums, differences: [here] })
  await addReconciliation(business, studio, '2026-11-09T01:30Z', {
    sums,
    differences: [here, difference('VANISHED', 'e')],
    error: 'The source has 12 entries, and 11 are here.',
  })
  // 23:30 on 8 November in UTC is the next day in Zurich.
  await addReconciliation(business, salon, '2026-11-09T23:30Z', { error: 'No answer.' })
  return { ...business, calendarId, salon, studio }
}

test('each day of a feed has its sum, and is followed by every difference of that day', async (t) => {
  const business = await openTwoFeeds(t)
  const printed = await print(business, { reportId: 905, ...NOVEMBER })
  const lines = linesOf(printed)
  assert.deepEqual(
    lines.map(({ date, feed, found, entry }) => [date, feed, found, entry]),
    [
      ['2026-11-08', 'Salon', 'Nothing is missing', null],
      ['2026-11-08', 'Studio', 'Differences', null],
      ['2026-11-08', 'Studio', 'Missed: new', 'a'],
      ['2026-11-08', 'Studio', 'Missed: changed', 'Knee'],
      ['2026-11-08', 'Studio', 'Missed: gone', 'd'],
      ['2026-11-08', 'Studio', 'Changed here', 'c'],
      ['2026-11-09', 'Salon', 'Nothing is missing', null],
      ['2026-11-09', 'Studio', 'The sum is wrong', 'The source has 12 entries, and 11 are here.'],
      ['2026-11-09', 'Studio', 'Changed here', 'c'],
      ['2026-11-09', 'Studio', 'Disappeared', 'e'],
      ['2026-11-10', 'Salon', 'Not compared', 'No answer.'],
    ],
  )
  const { source: entries, ...states } = SUMS
  const none = { missedCreates: 0, missedChanges: 0, missedDeletes: 0, changedHere: 0, vanished: 0 }
  const salon = { feed: 'Salon', found: 'Nothing is missing', entries, ...states, ...none }
  assert.partialDeepStrictEqual(lines[0], salon)
  const counts = {
    missedCreates: 1,
    missedChanges: 1,
    missedDeletes: 1,
    changedHere: 1,
    vanished: 0,
  }
  assert.partialDeepStrictEqual(lines[1], {
    entries: 12,
    mirrored: 10,
    held: 1,
    skipped: 1,
    ...counts,
  })
  const moved = { field: 'Start', inSource: '2026-11-20 09:00', here: '2026-11-20 08:00' }
  assert.partialDeepStrictEqual(lines[3], {
    ...moved,
    since: '2026-11-08 12:30',
    missedChanges: null,
  })
  assert.partialDeepStrictEqual(lines.at(-1), { entries: null, missedCreates: null })
  assert.deepEqual(printed.totals, { missedCreates: 1, missedChanges: 1, missedDeletes: 1 })
  assert.deepEqual(figuresOf(printed), {
    mirrored: 399,
    held: 3,
    missed: 3,
    open: 2,
    wrongDays: 2,
  })
})

test('a text that only looks like a moment is shown as it is', async (t) => {
  const business = await openBusiness(t)
  const title = { field: 'title', source: '2026-99-99T00:00:00Z', ours: '2026-11-20T08:00:00Z' }
  await addReconciliation(business, await addFeed(business, 'Salon'), '2026-11-08T02:12Z', {
    sums: SUMS,
    differences: [
      difference('MISSED_CHANGE', 'a', title),
      difference('MISSED_CREATE', 'b', { source: '2026-11-20T08:00:00Z' }),
    ],
  })
  const lines = linesOf(await print(business, { reportId: 905, ...NOVEMBER }))
  assert.deepEqual(
    lines.slice(1).map(({ inSource, here }) => [inSource, here]),
    [
      [title.source, title.ours],
      ['2026-11-20 09:00', null],
    ],
  )
})

test('the report says what it proves of each feed, in three languages', async (t) => {
  const business = await openTwoFeeds(t)
  const { sentences } = await print(business, {
    reportId: 905,
    startDate: '2026-11-08',
    endDate: '2026-11-09',
  })
  assert.deepEqual(sentences, [
    'All 389 appointments of Salon are here. Of the other entries, 20 are not appointments and 2 need a person. Checked 9 November 2026, 03:12.',
    'The entries of Studio do not add up: The source has 12 entries, and 11 are here.',
  ])
  for (const [locale, start] of [
    ['de', 'Alle 389 Termine von Salon'],
    ['fr', 'Les 389 rendez-vous de Salon'],
  ] as const) {
    const translated = await print(business, { reportId: 905, ...NOVEMBER }, NOW, locale)
    assert.equal(translated.sentences[0]!.slice(0, start.length), start)
  }
})

test('an empty report says why it is empty', async (t) => {
  const business = await openBusiness(t)
  const sentenceOf = async (request: object = {}) => {
    const { sentences, rows } = await print(business, { reportId: 905, ...NOVEMBER, ...request })
    assert.deepEqual(rows, [])
    return sentences.join(' ')
  }
  assert.match(await sentenceOf(), /^No feed is connected: /)
  const feedId = await addFeed(business, 'Salon')
  assert.match(await sentenceOf(), /^No feed was compared /)
  await addReconciliation(business, feedId, '2026-11-08T02:12Z', { sums: SUMS })
  assert.match(
    await sentenceOf({ locationId: business.zurich }),
    /^Feeds belong to the whole business/,
  )
})

test('a person who sees only a part of the business sees no feed', async (t) => {
  const business = await openTwoFeeds(t)
  const reader = { ...everything(business.businessId), professionalIds: [business.elena] }
  const job = await checkPrintRequest(business.reports, { reportId: 905, ...NOVEMBER }, reader, NOW)
  const count = await printReport(business.reports, job, async ({ rows }) => {
    let read = 0
    for await (const batch of rows) read += batch.length
    return read
  })
  assert.equal(count, 0)
})
