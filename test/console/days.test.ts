import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addDays,
  dayAt,
  firstTime,
  isDay,
  momentAt,
  mondayOf,
  startOfDay,
  weekdayOf,
} from '../../console/components/days.ts'

const ZURICH = 'Europe/Zurich'
const HOUR_MS = 3_600_000

test('days are counted across months, leap days and clock changes', () => {
  assert.equal(addDays('2026-10-25', 1), '2026-10-26')
  assert.equal(addDays('2028-02-28', 1), '2028-02-29')
  assert.equal(addDays('2027-01-01', -1), '2026-12-31')
  assert.equal(mondayOf('2026-11-22'), '2026-11-16')
  assert.equal(mondayOf('2026-11-16'), '2026-11-16')
  assert.equal(weekdayOf('2026-11-22'), 'SUNDAY')
  assert.equal(weekdayOf('2026-11-16'), 'MONDAY')
})

test('only days that the calendar has are days', () => {
  for (const day of ['2028-02-29', '2026-12-31']) assert.ok(isDay(day), day)
  for (const day of ['2027-02-29', '2026-13-01', '2026-1-1', '', undefined])
    assert.ok(!isDay(day), String(day))
})

test('a day has 23 hours when clocks go forward and 25 when they go back', () => {
  const hoursOf = (day: string, zone: string) =>
    (startOfDay(addDays(day, 1), zone) - startOfDay(day, zone)) / HOUR_MS
  assert.equal(hoursOf('2026-03-29', ZURICH), 23)
  assert.equal(hoursOf('2026-10-25', ZURICH), 25)
  assert.equal(hoursOf('2026-10-26', ZURICH), 24)
  // Midnight does not exist on this day: clocks go from 23:59 to 01:00.
  assert.equal(startOfDay('2026-04-24', 'Africa/Cairo'), Date.parse('2026-04-24T01:00:00+03:00'))
})

test('a time that a clock change skips is the later one, a time that is repeated the first', () => {
  assert.equal(momentAt('2026-03-29', '02:30', ZURICH), Date.parse('2026-03-29T03:30:00+02:00'))
  assert.equal(momentAt('2026-10-25', '02:30', ZURICH), Date.parse('2026-10-25T02:30:00+02:00'))
  assert.equal(momentAt('2026-10-25', '03:00', ZURICH), Date.parse('2026-10-25T03:00:00+01:00'))
})

test('one moment is on three days between the zones at 12 hours behind and 14 ahead', () => {
  const moment = Date.parse('2026-11-18T10:30:00Z')
  assert.equal(dayAt(moment, 'Etc/GMT+12'), '2026-11-17')
  assert.equal(dayAt(moment, ZURICH), '2026-11-18')
  assert.equal(dayAt(moment, 'Pacific/Kiritimati'), '2026-11-19')
  for (const zone of ['Etc/GMT+12', 'Pacific/Kiritimati', 'Asia/Kathmandu'])
    assert.equal(momentAt('2026-11-19', '14:30', zone) - startOfDay('2026-11-19', zone), 52_200_000)
})

test('a booking begins at nine, or later today in the next half hour', () => {
  const at = (time: string) => Date.parse(`2026-11-19T${time}+01:00`)
  const startOf = (day: string, now: number) => firstTime(day, ZURICH, now)
  assert.equal(startOf('2026-11-19', at('07:12')), at('09:00'))
  assert.equal(startOf('2026-11-19', at('14:12')), at('14:30'))
  assert.equal(startOf('2026-11-19', at('14:30')), at('14:30'))
  // The next half hour is on another day.
  assert.equal(startOf('2026-11-19', at('23:40')), at('09:00'))
  assert.equal(startOf('2026-11-20', at('14:12')), Date.parse('2026-11-20T09:00+01:00'))
})
