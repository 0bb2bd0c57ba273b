import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zoneOf, type Column } from '../../console/calendar/columns.ts'
import { covers, shiftsOn } from '../../console/calendar/working-time.ts'

const ZONE = 'Europe/Zurich'
/** A Monday. */
const DAY = '2026-11-23'
const at = (time: string) => Date.parse(`${DAY}T${time}:00+01:00`)

const MORNING = { weekday: 'MONDAY', from: '09:00', to: '12:00' } as const

type Hours = Partial<
  Pick<Column['professional'], 'workingHours' | 'workingExceptions' | 'locationIdList'>
>

const shiftsWith = (hours: Hours) =>
  shiftsOn({ professional: hours, location: { locationId: 1 } } as Column, DAY, ZONE).map(
    ({ begin, end }) => [begin, end],
  )

test('staff without working hours work at any time, also at midnight', () => {
  assert.deepEqual(shiftsWith({}), [[at('00:00'), at('24:00')]])
})

test('staff work at the hours of the weekday that belong to this location or to none', () => {
  const workingHours = [
    { weekday: 'MONDAY', from: '13:00', to: '17:00' },
    { ...MORNING, locationId: 1 },
    { weekday: 'MONDAY', from: '18:00', to: '20:00', locationId: 2 },
    { weekday: 'TUESDAY', from: '07:00', to: '08:00' },
  ] as const
  assert.deepEqual(shiftsWith({ workingHours: [...workingHours] }), [
    [at('09:00'), at('12:00')],
    [at('13:00'), at('17:00')],
  ])
})

test('a day off and special hours replace the working hours from the first to the last day', () => {
  const shifts = (exception: object) =>
    shiftsWith({
      workingHours: [MORNING],
      workingExceptions: [{ startDate: '2026-11-22', ...exception }],
    })
  const regular = [[at('09:00'), at('12:00')]]
  assert.deepEqual(shifts({ endDate: DAY }), [])
  assert.deepEqual(shifts({ endDate: DAY, from: '10:00', to: '11:00' }), [
    [at('10:00'), at('11:00')],
  ])
  assert.deepEqual(shifts({}), regular, 'it lasts one day')
  assert.deepEqual(shifts({ endDate: DAY, locationId: 2 }), regular, 'it is for another location')
})

test('shifts that follow each other cover an appointment across both; a break does not', () => {
  const morning = { begin: at('09:00'), end: at('12:00') }
  const appointment = { begin: at('11:30'), end: at('12:30') }
  assert.ok(covers([morning, { begin: at('12:00'), end: at('17:00') }], appointment))
  assert.ok(!covers([morning, { begin: at('12:15'), end: at('17:00') }], appointment))
  assert.ok(!covers([], appointment))
})

test('working hours are in the zone of the location, else in that of the business', () => {
  const business = { timeZone: 'Pacific/Auckland' } as Parameters<typeof zoneOf>[1]
  const zoneAt = (timeZone: string | null) => zoneOf({ location: { timeZone } } as Column, business)
  assert.equal(zoneAt('Europe/London'), 'Europe/London')
  assert.equal(zoneAt(null), 'Pacific/Auckland')
})
