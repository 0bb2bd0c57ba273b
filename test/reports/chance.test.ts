import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trendOf } from '../../src/reports/chance.ts'
import { percent, type Figures, type Kpi } from '../../src/reports/report.ts'

const MONTH = { now: 30, before: 30 }

const count = (more: Partial<Kpi> = {}): Kpi => ({
  name: 'appointments',
  label: 'Appointments',
  unit: 'count',
  definition: '',
  better: 'more',
  value: ({ n }) => n ?? null,
  ...more,
})

const rate = count({
  unit: 'percent',
  better: 'less',
  value: ({ missed, all }) => percent(missed, all),
  share: ({ missed, all }) => [missed, all],
})

const trend = (kpi: Kpi, now: Figures, before: Figures, days = MONTH) =>
  trendOf(kpi, { now, before, days })

for (const [title, kpi, now, before, expected] of [
  ['nothing on either side', count(), { n: 0 }, { n: 0 }, null],
  ['one after two', count(), { n: 1 }, { n: 2 }, null],
  ['ten after none', count(), { n: 10 }, { n: 0 }, 'better'],
  ['100 after 130, which can be chance', count(), { n: 100 }, { n: 130 }, null],
  ['100 after 150', count(), { n: 100 }, { n: 150 }, 'worse'],
  ['fewer of what should be less', count({ better: 'less' }), { n: 100 }, { n: 150 }, 'better'],
  ['no direction is an improvement', { ...count(), better: undefined }, { n: 0 }, { n: 900 }, null],
  ['no value now', count(), { n: null }, { n: 150 }, null],
  ['a share of nothing', rate, { missed: 0, all: 0 }, { missed: 5, all: 50 }, null],
  ['0 % after 100 % of two', rate, { missed: 0, all: 2 }, { missed: 2, all: 2 }, null],
  ['20 % after 10 % of 50', rate, { missed: 10, all: 50 }, { missed: 5, all: 50 }, null],
  ['20 % after 10 % of 500', rate, { missed: 100, all: 500 }, { missed: 50, all: 500 }, 'worse'],
] as [string, Kpi, Figures, Figures, string | null][]) {
  test(`a change has a colour only beyond chance: ${title}`, () => {
    assert.equal(trend(kpi, now, before), expected)
  })
}

test('a count of a part is compared as a share of its whole', () => {
  const failed = count({ better: 'less', base: ({ mails }) => mails ?? undefined })
  // Three times the mails and three times the failures are no decline.
  assert.equal(trend(failed, { n: 90, mails: 3_000 }, { n: 30, mails: 1_000 }), null)
  assert.equal(trend(failed, { n: 90, mails: 1_000 }, { n: 30, mails: 1_000 }), 'worse')
})

test('counts of periods of different lengths are compared per day', () => {
  const days = { now: 31, before: 28 }
  assert.equal(trend(count(), { n: 3_100 }, { n: 2_800 }, days), null)
  assert.equal(trend(count(), { n: 3_100 }, { n: 2_800 }), 'better')
})

test('an amount has a colour only if its variance is known', () => {
  const money = count({ unit: 'money' })
  assert.equal(trend(money, { n: 100 }, { n: 9_000 }), null)
  const known = { ...money, variance: ({ v }: Figures) => v ?? null }
  assert.equal(trend(known, { n: 100, v: 50_000 }, { n: 9_000, v: 50_000 }), 'worse')
  assert.equal(trend(known, { n: 8_900, v: 50_000 }, { n: 9_000, v: 50_000 }), null)
  assert.equal(trend(known, { n: 100, v: null }, { n: 9_000, v: 50_000 }), null)
})
