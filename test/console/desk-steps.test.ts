import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatusName } from '../../console/api/setup.ts'
import { foldTracks, placeVisits } from '../../console/calendar/columns.ts'
import { expectedStatuses, stepsOf } from '../../console/calendar/desk-steps.ts'

const STATUSES = [
  ['OPEN', 'PENDING'],
  ['CONFIRMED', 'PENDING'],
  ['CHECKED_IN', 'PENDING'],
  ['IN_PROGRESS', 'PENDING'],
  ['COMPLETED', 'KEPT'],
  ['CANCELLED', 'CANCELLED'],
  ['NO_SHOW', 'MISSED'],
].map(([status, outcome]) => ({ objectType: 'CALENDAR', status, outcome }) as StatusName)

const HOUR_MS = 3_600_000
const now = Date.parse('2026-11-18T11:00:00Z')
const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const stepsIn = (hours: number, status: string, statuses = STATUSES) =>
  stepsOf({ status, startTime: now + hours * HOUR_MS }, statuses, { now, isoDay })

test('the desk offers only the steps that make sense at this time', () => {
  assert.deepEqual(stepsIn(24, 'OPEN'), ['confirmed'])
  assert.deepEqual(stepsIn(24, 'CONFIRMED'), [])
  assert.deepEqual(stepsIn(2, 'OPEN'), ['confirmed', 'arrived'])
  assert.deepEqual(stepsIn(2, 'CONFIRMED'), ['arrived'])
  assert.deepEqual(stepsIn(-1, 'OPEN'), ['arrived', 'noShow'])
  assert.deepEqual(stepsIn(-1, 'NO_SHOW'), ['arrived'], 'a late client can still arrive')
  for (const status of ['CHECKED_IN', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'UNKNOWN']) {
    assert.deepEqual(stepsIn(-1, status), [], status)
  }
})

test('a step whose status the business has removed is not offered', () => {
  const some = STATUSES.filter(({ status }) => status !== 'CHECKED_IN')
  assert.deepEqual(stepsIn(-1, 'OPEN', some), ['noShow'])
  assert.deepEqual(expectedStatuses(STATUSES), ['OPEN', 'CONFIRMED'])
})

test('appointments beyond the last track of a week are counted by the time that they share', () => {
  const visit = (startTime: number, endTime: number) => ({ startTime, endTime })
  const crowd = Array.from({ length: 5 }, () => visit(10, 20))
  const placed = placeVisits([...crowd, visit(18, 22), visit(30, 40)], 1)
  const { shown, folded } = foldTracks(placed, 3)
  assert.deepEqual(folded, [{ startTime: 10, endTime: 22, count: 4 }])
  assert.deepEqual(
    shown.map(({ track, tracks }) => [track, tracks]),
    [
      [0, 3],
      [1, 3],
      [0, 1],
    ],
  )
  assert.deepEqual(foldTracks(placed, Number.POSITIVE_INFINITY).folded, [])
})
