import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatIn } from '../../console/components/time.ts'

const zurich = formatIn('Europe/Zurich')

test('in the first hour of a day of 25 hours, today is not called tomorrow', () => {
  const now = Date.parse('2026-10-25T00:30:00+02:00')
  const at = (time: string) => zurich.nearDay(Date.parse(time), now)
  assert.equal(at('2026-10-25T09:00:00+01:00'), 'today')
  assert.equal(at('2026-10-25T23:30:00+01:00'), 'today')
  assert.equal(at('2026-10-26T00:00:00+01:00'), 'tomorrow')
  assert.equal(at('2026-10-27T00:00:00+01:00'), 'Tue 27 Oct')
})

test('in the last hour before a day of 23 hours, that day is tomorrow', () => {
  const now = Date.parse('2026-03-28T23:30:00+01:00')
  assert.equal(zurich.nearDay(Date.parse('2026-03-29T23:30:00+02:00'), now), 'tomorrow')
  assert.equal(zurich.nearDay(Date.parse('2026-03-30T00:00:00+02:00'), now), 'Mon 30 Mar')
})

test('days follow each other in the zones at 12 hours behind and 14 ahead', () => {
  const now = Date.parse('2026-11-18T10:30:00Z')
  const inHours = (zone: string, hours: number) =>
    formatIn(zone).moment(now + hours * 3_600_000, now)
  assert.equal(inHours('Pacific/Kiritimati', 23), 'today 23:30')
  assert.equal(inHours('Pacific/Kiritimati', 24), 'tomorrow 00:30')
  assert.equal(inHours('Etc/GMT+12', 1), 'today 23:30')
  assert.equal(inHours('Etc/GMT+12', 2), 'tomorrow 00:30')
})

test('hours of a day are those on the clock, also after a clock change', () => {
  const hours = (time: string, day?: string) => zurich.hourOfDay(Date.parse(time), day)
  assert.equal(hours('2026-10-25T09:30:00+01:00'), 9.5)
  assert.equal(hours('2026-03-29T09:30:00+02:00'), 9.5)
  assert.equal(hours('2026-10-26T01:00:00+01:00', '2026-10-25'), 25)
})

test('the day after begins at its first moment, also from the last hour of a long day', () => {
  const next = zurich.startOfNextDay(Date.parse('2026-10-25T23:30:00+01:00'))
  assert.equal(next, Date.parse('2026-10-26T00:00:00+01:00'))
})
