import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparedRange } from '../../src/reports/comparison.ts'
import { describeScope, writeChange } from '../../src/reports/formats/format-values.ts'
import { wordsOf } from '../../src/reports/words.ts'
import { NOW, openBusiness } from './business.ts'
import { print } from './measured-business.ts'

const ranges: { what: string; range: [string, string]; before: [string, string] }[] = [
  { what: 'a year', range: ['2024-01-01', '2024-12-31'], before: ['2023-01-01', '2023-12-31'] },
  { what: 'two years', range: ['2024-01-01', '2025-12-31'], before: ['2022-01-01', '2023-12-31'] },
  { what: 'a month', range: ['2026-03-01', '2026-03-31'], before: ['2026-02-01', '2026-02-28'] },
  { what: 'a quarter', range: ['2026-04-01', '2026-06-30'], before: ['2026-01-01', '2026-03-31'] },
  { what: 'a week', range: ['2026-10-19', '2026-10-25'], before: ['2026-10-12', '2026-10-18'] },
  {
    what: 'a week from the first of a month',
    range: ['2026-06-01', '2026-06-07'],
    before: ['2026-05-25', '2026-05-31'],
  },
  {
    what: 'a February of whole weeks',
    range: ['2027-02-01', '2027-02-28'],
    before: ['2027-01-01', '2027-01-31'],
  },
  { what: 'a Monday', range: ['2026-11-02', '2026-11-02'], before: ['2026-10-26', '2026-10-26'] },
  {
    what: 'the first of a month',
    range: ['2026-10-01', '2026-10-01'],
    before: ['2026-09-24', '2026-09-24'],
  },
  {
    what: 'the beginning of a month',
    range: ['2026-03-01', '2026-03-30'],
    before: ['2026-02-01', '2026-02-28'],
  },
  {
    what: 'a year to date',
    range: ['2026-01-01', '2026-11-16'],
    before: ['2025-01-01', '2025-11-16'],
  },
  {
    what: 'a year to the end of a month',
    range: ['2025-01-01', '2025-02-28'],
    before: ['2024-01-01', '2024-02-29'],
  },
  {
    what: 'a year to a leap day',
    range: ['2024-01-01', '2024-02-29'],
    before: ['2023-01-01', '2023-02-28'],
  },
  {
    what: 'the first quarter',
    range: ['2026-01-01', '2026-03-31'],
    before: ['2025-10-01', '2025-12-31'],
  },
  {
    what: 'the beginning of January',
    range: ['2026-01-01', '2026-01-15'],
    before: ['2025-12-01', '2025-12-15'],
  },
  { what: 'ten days', range: ['2026-10-06', '2026-10-15'], before: ['2026-09-22', '2026-10-01'] },
]

for (const { what, range, before } of ranges) {
  test(`${what} is compared with a similar period: ${range.join(' – ')}`, () => {
    const [startDate, endDate] = range.map((day) => Temporal.PlainDate.from(day))
    const compared = comparedRange({ startDate: startDate!, endDate: endDate! }, 'PREVIOUS_PERIOD')
    assert.deepEqual([compared.startDate.toString(), compared.endDate.toString()], before)
  })
}

const yearsBefore: typeof ranges = [
  { what: 'a month', range: ['2026-03-01', '2026-03-31'], before: ['2025-03-01', '2025-03-31'] },
  { what: 'a February', range: ['2025-02-01', '2025-02-28'], before: ['2024-02-01', '2024-02-29'] },
  { what: 'a quarter', range: ['2026-04-01', '2026-06-30'], before: ['2025-04-01', '2025-06-30'] },
  { what: 'two years', range: ['2024-01-01', '2025-12-31'], before: ['2022-01-01', '2023-12-31'] },
  {
    what: 'fourteen months',
    range: ['2025-02-01', '2026-03-31'],
    before: ['2023-02-01', '2024-03-31'],
  },
  { what: 'a week', range: ['2026-10-19', '2026-10-25'], before: ['2025-10-20', '2025-10-26'] },
  { what: '30 days', range: ['2026-10-20', '2026-11-18'], before: ['2025-10-21', '2025-11-19'] },
]

for (const { what, range, before } of yearsBefore) {
  test(`${what} is compared with the same period last year: ${range.join(' – ')}`, () => {
    const [startDate, endDate] = range.map((day) => Temporal.PlainDate.from(day))
    const compared = comparedRange({ startDate: startDate!, endDate: endDate! }, 'LAST_YEAR')
    assert.deepEqual([compared.startDate.toString(), compared.endDate.toString()], before)
  })
}

test('the reader chooses what the figures are compared with, or nothing', async (t) => {
  const business = await openBusiness(t)
  await business.book({ at: '2025-10-05T09:00+02:00' })
  await business.book({ at: '2025-10-06T09:00+02:00' })
  await business.book({ at: '2026-09-10T09:00+02:00' })
  const october = { reportId: 102, startDate: '2026-10-01', endDate: '2026-10-31' }
  const previousOf = async (compareWith?: string) => {
    const { kpis, comparison } = await print(business, { ...october, compareWith })
    return [kpis.find(({ name }) => name === 'appointments')!.previous, comparison?.startDate]
  }
  assert.deepEqual(await previousOf(), [1, '2026-09-01'])
  assert.deepEqual(await previousOf('PREVIOUS_PERIOD'), [1, '2026-09-01'])
  assert.deepEqual(await previousOf('LAST_YEAR'), [2, '2025-10-01'])
  assert.deepEqual(await previousOf('NONE'), [null, undefined])
  await assert.rejects(previousOf('YESTERDAY'), /compareWith|is invalid|wrong/i)
})

test('without a comparison no format shows a change', async (t) => {
  const business = await openBusiness(t)
  await business.book({ at: '2026-09-10T09:00+02:00' })
  await business.book({ at: '2026-10-05T09:00+02:00' })
  const october = { reportId: 102, startDate: '2026-10-01', endDate: '2026-10-31' }
  for (const [compareWith, isShown] of [
    ['PREVIOUS_PERIOD', true],
    ['NONE', false],
  ] as const) {
    const printed = await print(business, { ...october, compareWith })
    const words = wordsOf('en')
    const changes = printed.kpis.map((kpi) => writeChange(kpi, printed, words).text)
    assert.equal(
      changes.some((text) => text !== ''),
      isShown,
    )
    assert.equal(
      describeScope(printed).some(([label]) => label === 'Compared with'),
      isShown,
    )
  }
})

test('a period that has not ended is compared up to the same point', async (t) => {
  const business = await openBusiness(t)
  const { book } = business
  await book({ at: '2026-08-01T09:00+02:00' })
  // It is 10 November, 13:00 in Zurich.
  await book({ at: '2026-10-10T12:59+02:00' })
  await book({ at: '2026-10-10T13:01+02:00' })
  await book({ at: '2026-11-10T09:00+01:00' })
  await book({ at: '2026-11-09T09:00+01:00' })
  await book({ at: '2026-11-20T09:00+01:00', status: 'OPEN' })

  const request = { reportId: 101, startDate: '2026-11-01', endDate: '2026-11-30' }
  const { kpis, comparison } = await print(business, { ...request, locationId: business.zurich })
  assert.deepEqual(comparison, {
    startDate: '2026-10-01',
    endDate: '2026-10-31',
    until: '2026-10-10 13:00',
    isLikeForLike: true,
    note: null,
  })
  const figure = (name: string) => {
    const { value, valueToDate, previous } = kpis.find((kpi) => kpi.name === name)!
    return { value, valueToDate, previous }
  }
  assert.deepEqual(figure('appointments'), { value: 3, valueToDate: 2, previous: 1 })
  assert.deepEqual(figure('revenue'), { value: 161, valueToDate: 161, previous: 80.5 })
  assert.deepEqual(figure('ahead'), { value: 1, valueToDate: 1, previous: null })

  const before = await print(business, {
    ...request,
    startDate: '2026-10-01',
    endDate: '2026-10-31',
  })
  assert.equal(before.comparison!.until, null)
})

test('a year to date is compared up to the same point of the year before', async (t) => {
  const business = await openBusiness(t)
  const { book } = business
  await book({ at: '2025-01-01T09:00+01:00' })
  // It is 10 November, 13:00 in Zurich.
  await book({ at: '2025-11-10T12:59+01:00' })
  await book({ at: '2025-11-10T13:01+01:00' })
  await book({ at: '2025-12-10T09:00+01:00' })
  await book({ at: '2026-03-01T09:00+01:00' })

  const request = { reportId: 101, startDate: '2026-01-01', endDate: '2026-11-10' }
  const { kpis, comparison } = await print(business, { ...request, locationId: business.zurich })
  assert.deepEqual(
    [comparison!.startDate, comparison!.endDate, comparison!.until],
    ['2025-01-01', '2025-11-10', '2025-11-10 13:00'],
  )
  const { value, previous } = kpis.find(({ name }) => name === 'appointments')!
  assert.deepEqual([value, previous], [1, 2])
})

test('no change is shown if the data began inside the compared period', async (t) => {
  const business = await openBusiness(t)
  const { book, newYork } = business
  await book({ at: '2026-09-12T09:00+02:00' })
  await book({ at: '2026-10-12T09:00+02:00' })
  const october = { reportId: 101, startDate: '2026-10-01', endDate: '2026-10-31' }

  const unlike = await print(business, october)
  assert.equal(unlike.comparison!.isLikeForLike, false)
  assert.match(unlike.comparison!.note!, /data begins on 12 September 2026/)

  await book({ at: '2026-09-01T00:00+02:00' })
  assert.equal((await print(business, october)).comparison!.isLikeForLike, true)
  await book({ at: '2026-10-13T09:00+02:00', locationId: newYork })
  const there = await print(business, { ...october, filters: { locationIdList: [newYork] } })
  assert.equal(there.comparison!.isLikeForLike, false)
  assert.equal(NOW.toString(), '2026-11-10T12:00:00Z')
})

test('the sentences of the report Your month compare only what its figures compare', async (t) => {
  const business = await openBusiness(t)
  const { book } = business
  const days = (month: string, count: number) =>
    Array.from({ length: count }, (_, i) => `2026-${month}-${String(i + 1).padStart(2, '0')}`)
  for (const day of days('10', 6)) await book({ at: `${day}T09:00+02:00` })
  await book({ at: '2026-09-26T09:00+02:00' })
  await book({ at: '2026-12-08T09:00+01:00', status: 'OPEN' })
  const firstSentence = async (endDate: string) => {
    const request = { reportId: 100, startDate: '2026-09-01', endDate }
    const { comparison, sentences } = await print(business, request)
    return { isLikeForLike: comparison?.isLikeForLike, sentence: sentences[0] }
  }

  assert.deepEqual(await firstSentence('2026-10-31'), {
    isLikeForLike: false,
    sentence: 'October 2026 had 6 appointments on 12 open days, and 0 % were missed.',
  })
  assert.deepEqual(await firstSentence('2026-12-31'), {
    isLikeForLike: undefined,
    sentence: 'December 2026 has 1 appointment on 9 open days.',
  })
  await book({ at: '2026-08-31T09:00+02:00' })
  assert.deepEqual(await firstSentence('2026-10-31'), {
    isLikeForLike: true,
    sentence:
      'October 2026 had 6 appointments on 12 open days, 0.4 more a day than the month before, and 0 % were missed after 0 %.',
  })
  await book({ at: '2025-09-30T09:00+02:00' })
  await book({ at: '2025-10-31T09:00+01:00' })
  assert.match((await firstSentence('2026-10-31')).sentence!, /0\.4 more a day than a year before/)
})
