import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REPORT_RANGES } from '../../src/contract/report-delivery.ts'
import {
  countScheduledTimes,
  daysOf,
  latestScheduledTime,
  nextScheduledTime,
  type Timing,
} from '../../src/report-delivery/timing.ts'

const ZURICH = 'Europe/Zurich'
const daily: Timing = { frequency: 'DAILY', weekday: null, dayOfMonth: null, timeOfDay: '07:00' }
const weekly: Timing = { ...daily, frequency: 'WEEKLY', weekday: 'MONDAY' }
const monthly: Timing = { ...daily, frequency: 'MONTHLY', dayOfMonth: 31 }
const at = (text: string) => Temporal.Instant.from(text)

const nexts: [name: string, timing: Timing, zone: string, after: string, next: string][] = [
  ['later on the same day', daily, ZURICH, '2026-03-02T05:59Z', '2026-03-02T06:00Z'],
  ['never the given time itself', daily, ZURICH, '2026-03-02T06:00Z', '2026-03-03T06:00Z'],
  ['in summer time', daily, ZURICH, '2026-03-28T12:00Z', '2026-03-29T05:00Z'],
  ['the next Monday', weekly, ZURICH, '2026-03-02T06:00Z', '2026-03-09T06:00Z'],
  ['the last day of a short month', monthly, ZURICH, '2026-02-01T00:00Z', '2026-02-28T06:00Z'],
  ['in the zone of New York', daily, 'America/New_York', '2026-03-02T10:00Z', '2026-03-02T12:00Z'],
  [
    'a time that a clock change skips is moved past it',
    { ...daily, timeOfDay: '02:30' },
    ZURICH,
    '2026-03-28T12:00Z',
    '2026-03-29T01:30Z',
  ],
  [
    'the earlier one if a clock change repeats the time',
    { ...daily, timeOfDay: '02:30' },
    ZURICH,
    '2026-10-24T12:00Z',
    '2026-10-25T00:30Z',
  ],
]

test('the next time of a schedule is on its calendar', async (t) => {
  for (const [name, timing, zone, after, next] of nexts) {
    await t.test(name, () => {
      const time = nextScheduledTime(timing, zone, at(after))
      assert.equal(String(time), String(at(next)))
      // From then on it is the latest scheduled time, and not before.
      assert.equal(String(latestScheduledTime(timing, zone, time)), String(time))
      const before = latestScheduledTime(timing, zone, time.subtract({ milliseconds: 1 }))
      assert.ok(Temporal.Instant.compare(before, at(after)) <= 0)
    })
  }
})

test('scheduled times between two moments are counted, without the moments themselves', () => {
  const between = { after: at('2026-03-02T06:00Z'), before: at('2026-03-05T06:00Z') }
  assert.equal(countScheduledTimes(daily, ZURICH, between), 2)
  assert.equal(countScheduledTimes(weekly, ZURICH, between), 0)
})

const RANGES: Record<(typeof REPORT_RANGES)[number], [string, string]> = {
  TODAY: ['2026-03-04', '2026-03-04'],
  YESTERDAY: ['2026-03-03', '2026-03-03'],
  TOMORROW: ['2026-03-05', '2026-03-05'],
  LAST_7_DAYS: ['2026-02-25', '2026-03-03'],
  LAST_30_DAYS: ['2026-02-02', '2026-03-03'],
  LAST_WEEK: ['2026-02-23', '2026-03-01'],
  LAST_MONTH: ['2026-02-01', '2026-02-28'],
  LAST_QUARTER: ['2025-10-01', '2025-12-31'],
  LAST_YEAR: ['2025-01-01', '2025-12-31'],
  WEEK_TO_DATE: ['2026-03-02', '2026-03-04'],
  MONTH_TO_DATE: ['2026-03-01', '2026-03-04'],
  YEAR_TO_DATE: ['2026-01-01', '2026-03-04'],
  NEXT_7_DAYS: ['2026-03-04', '2026-03-10'],
  NEXT_WEEK: ['2026-03-09', '2026-03-15'],
  NEXT_MONTH: ['2026-04-01', '2026-04-30'],
}

test('the days of every relative range, on a Wednesday', () => {
  const wednesday = Temporal.PlainDate.from('2026-03-04')
  for (const range of REPORT_RANGES) {
    const { startDate, endDate } = daysOf(range, wednesday)
    assert.deepEqual([String(startDate), String(endDate)], RANGES[range], range)
  }
})

test('on a Sunday, last week ended the Sunday before', () => {
  const { startDate, endDate } = daysOf('LAST_WEEK', Temporal.PlainDate.from('2026-03-08'))
  assert.deepEqual([String(startDate), String(endDate)], ['2026-02-23', '2026-03-01'])
})
