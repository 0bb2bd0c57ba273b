import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { NOW, openBusiness } from './business.ts'
import { linesOf, print } from './measured-business.ts'

type Business = Awaited<ReturnType<typeof openBusiness>>
type Hours = { weekday: string; from: string; to: string; locationId?: number }
type Exception = {
  startDate: string
  endDate?: string
  from?: string
  to?: string
  locationId?: number
}

const setHours = (
  { db, businessId }: Business,
  professionalId: number,
  {
    hours,
    exceptions = [],
    locations = [],
  }: {
    hours: Hours[]
    exceptions?: Exception[]
    locations?: number[]
  },
) =>
  db.query(sql`
    update professional
    set working_hours = ${JSON.stringify(hours)}::jsonb,
        working_exceptions = ${JSON.stringify(exceptions)}::jsonb,
        location_id_list = ${locations}::bigint[]
    where business_id = ${businessId} and professional_id = ${professionalId}`)

async function utilisation(
  business: Business,
  startDate: string,
  endDate: string,
  locationId?: number,
) {
  const { columns, rows, totals } = await print(business, {
    reportId: 301,
    startDate,
    endDate,
    locationId,
  })
  const at = (name: string) => columns.findIndex((column) => column.name === name)
  const people = rows.map((row) => [
    row[0],
    row[at('busyMinutes')],
    row[at('workingMinutes')],
    row[at('utilisation')],
  ])
  return { people, total: totals.workingMinutes }
}

test('working hours count for each location separately, in its time zone', async (t) => {
  const business = await openBusiness(t)
  const { zurich, newYork, elena, tom, book } = business
  await setHours(business, elena, {
    locations: [zurich, newYork],
    hours: [
      { weekday: 'MONDAY', from: '09:00', to: '12:00', locationId: zurich },
      { weekday: 'MONDAY', from: '16:00', to: '18:00', locationId: newYork },
    ],
  })
  await setHours(business, tom, { locations: [zurich], hours: [] })
  await book({ at: '2026-10-05T09:00+02:00', minutes: 90 })

  const monday = ['2026-10-05', '2026-10-05'] as const
  assert.deepEqual(await utilisation(business, ...monday), {
    people: [
      ['Elena García', 90, 300, 30],
      ['Tom Becker', 0, 0, null],
    ],
    total: 300,
  })
  assert.equal((await utilisation(business, ...monday, zurich)).total, 180)
  assert.equal((await utilisation(business, ...monday, newYork)).total, 120)
})

test('days off and special hours replace the usual hours of their days', async (t) => {
  const business = await openBusiness(t)
  const { zurich, elena } = business
  const everyDay = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'].map((weekday) => ({
    weekday,
    from: '09:00',
    to: '17:00',
  }))
  await setHours(business, elena, {
    locations: [zurich],
    hours: everyDay,
    exceptions: [
      { startDate: '2026-10-06', endDate: '2026-10-08' },
      { startDate: '2026-10-07', from: '10:00', to: '12:00' },
      { startDate: '2026-10-10', from: '08:00', to: '09:30' },
    ],
  })
  const { total } = await utilisation(business, '2026-10-05', '2026-10-11')
  // Monday and Friday as usual, Wednesday two hours, Saturday an hour and a half.
  assert.equal(total, 2 * 480 + 120 + 90)
})

test('a day off at one location leaves the hours at another', async (t) => {
  const business = await openBusiness(t)
  const { zurich, newYork, elena } = business
  await setHours(business, elena, {
    locations: [zurich, newYork],
    hours: [
      { weekday: 'MONDAY', from: '09:00', to: '12:00', locationId: zurich },
      { weekday: 'MONDAY', from: '16:00', to: '18:00', locationId: newYork },
    ],
    exceptions: [
      { startDate: '2026-10-05', locationId: zurich },
      { startDate: '2026-10-12', from: '10:00', to: '11:00', locationId: newYork },
      { startDate: '2026-10-19' },
    ],
  })
  const totalOn = async (day: string) => (await utilisation(business, day, day)).total
  assert.equal(await totalOn('2026-10-05'), 120)
  assert.equal(await totalOn('2026-10-12'), 180 + 60)
  assert.equal(await totalOn('2026-10-19'), 0)
})

test('overlapping hours and overlapping bookings count once', async (t) => {
  const business = await openBusiness(t)
  const { db, businessId, zurich, elena, anna, book } = business
  await setHours(business, elena, {
    locations: [zurich],
    hours: [
      { weekday: 'MONDAY', from: '09:00', to: '12:00' },
      { weekday: 'MONDAY', from: '11:00', to: '13:00' },
    ],
  })
  await book({ at: '2026-10-05T09:00+02:00', minutes: 60 })
  await book({ at: '2026-10-05T09:30+02:00', minutes: 60 })
  await book({ at: '2026-10-05T09:00+02:00', minutes: 240, status: 'CANCELLED' })
  await db.query(sql`
    insert into class_schedule (business_id, name, professional_id, location_id, start_time, end_time, status,
      client_id_list, created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'Pilates', ${elena}, ${zurich}, '2026-10-05T08:00Z', '2026-10-05T09:00Z', 'OPEN',
      ${[anna]}::bigint[], ${NOW}, 'TEST', ${NOW}, 'TEST')`)

  const { people } = await utilisation(business, '2026-10-05', '2026-10-05')
  // Booked from 9:00 to 10:30 and from 10:00 to 11:00: two hours of four.
  assert.deepEqual(people[0], ['Elena García', 120, 240, 50])
})

test('hours across a clock change count with their elapsed time', async (t) => {
  const business = await openBusiness(t)
  const { zurich, newYork, elena, tom } = business
  const night = { weekday: 'SUNDAY', from: '00:00', to: '08:00' }
  const gap = { weekday: 'SUNDAY', from: '02:30', to: '03:00' }
  await setHours(business, elena, { locations: [zurich], hours: [night] })
  await setHours(business, tom, { locations: [newYork], hours: [gap] })
  const minutes = async (day: string) =>
    (await utilisation(business, day, day)).people.map(([, , working]) => working)
  assert.deepEqual(await minutes('2026-03-29'), [7 * 60, 30])
  assert.deepEqual(await minutes('2026-10-25'), [9 * 60, 30])
  assert.deepEqual(await minutes('2026-03-08'), [8 * 60, 0])
  // Free time at both clock changes of the next year.
  for (const [day, hours] of [
    ['2027-03-28', 7],
    ['2027-10-31', 9],
  ] as const) {
    const lines = linesOf(
      await print(business, { reportId: 106, startDate: day, endDate: day, locationId: zurich }),
    )
    const { openMinutes, freeMinutes } = lines.find(({ staff }) => staff === 'Elena García')!
    assert.deepEqual([openMinutes, freeMinutes], [hours * 60, hours * 60], day)
  }
})

test('a day that has begun in only one time zone is compared up to now', async (t) => {
  const business = await openBusiness(t)
  const { zurich, newYork, elena, tom } = business
  await setHours(business, elena, {
    locations: [zurich],
    hours: [{ weekday: 'TUESDAY', from: '00:00', to: '02:00' }],
  })
  await setHours(business, tom, {
    locations: [newYork],
    hours: [{ weekday: 'TUESDAY', from: '09:00', to: '17:00' }],
  })
  // It is Tuesday in Zurich and Monday in New York.
  const halfPastMidnight = Temporal.Instant.from('2026-11-09T23:30:00Z')
  const today = { startDate: '2026-11-10', endDate: '2026-11-10' }
  const figure = async (reportId: number, name: string) => {
    const { kpis } = await print(business, { reportId, ...today }, halfPastMidnight)
    const { value, valueToDate, previous } = kpis.find((kpi) => kpi.name === name)!
    return { value, valueToDate, previous }
  }
  assert.deepEqual(await figure(301, 'working'), {
    value: 120 + 480,
    valueToDate: 30,
    previous: 30,
  })
  assert.deepEqual(await figure(106, 'freeMinutes'), {
    value: 90 + 480,
    valueToDate: 90 + 480,
    previous: null,
  })
})

test('time that is booked at one location is not free at another', async (t) => {
  const business = await openBusiness(t)
  const { zurich, newYork, elena, location, book } = business
  const bern = await location('Bern', null)
  await setHours(business, elena, {
    locations: [zurich, bern, newYork],
    hours: [{ weekday: 'MONDAY', from: '09:00', to: '17:00' }],
  })
  await book({ at: '2026-11-16T10:00+01:00', minutes: 300, status: 'OPEN', locationId: bern })
  await book({ at: '2026-11-16T16:00+01:00', minutes: 60, status: 'CANCELLED', locationId: bern })
  // From Sunday evening in New York, which is 4:00 in Zurich.
  await book({ at: '2026-11-15T22:00-05:00', minutes: 360, status: 'OPEN', locationId: newYork })
  const monday = { reportId: 106, startDate: '2026-11-16', endDate: '2026-11-16' }
  const elenaAt = async (locationId: number | undefined) => {
    const lines = linesOf(await print(business, { ...monday, locationId }))
    const line = lines.find(({ staff }) => staff === 'Elena García')!
    return [line.ahead, line.openMinutes, line.freeMinutes, line.filled]
  }
  assert.deepEqual(await elenaAt(zurich), [0, 480, 120, 75])
  assert.deepEqual(await elenaAt(bern), [1, 480, 120, 75])
  assert.deepEqual(await elenaAt(undefined), [1, 480, 120, 75])
})

test('hours without a location are on the clock of the place where the person works that day', async (t) => {
  const business = await openBusiness(t)
  const { zurich, newYork, elena, tom, location, book } = business
  const boston = await location('Boston', 'America/New_York')
  const hours = ['MONDAY', 'TUESDAY'].map((weekday) => ({ weekday, from: '09:00', to: '17:00' }))
  // Tom works only in the time zone of New York, Elena in both.
  await setHours(business, tom, { locations: [newYork, boston], hours })
  await setHours(business, elena, { locations: [zurich, newYork], hours })
  // 14:00 in New York is 20:00 in Zurich, after the hours there.
  const inNewYork = { minutes: 60, status: 'OPEN', locationId: newYork }
  await book({ at: '2026-11-16T14:00-05:00', professionalId: tom, ...inNewYork })
  await book({ at: '2026-11-16T14:00-05:00', professionalId: elena, ...inNewYork })
  await book({ at: '2026-11-17T14:00+01:00', minutes: 30, status: 'OPEN' })

  const days = { startDate: '2026-11-16', endDate: '2026-11-17' }
  const ahead = linesOf(await print(business, { reportId: 106, ...days }))
  assert.deepEqual(
    ahead.map(({ staff, openMinutes, takenMinutes, freeMinutes }) => [
      staff,
      openMinutes,
      takenMinutes,
      freeMinutes,
    ]),
    [
      ['Elena García', 960, 90, 870],
      ['Tom Becker', 960, 60, 900],
    ],
  )
  const { people } = await utilisation(business, days.startDate, days.endDate)
  assert.deepEqual(people, [
    ['Elena García', 90, 960, 9.4],
    ['Tom Becker', 60, 960, 6.3],
  ])
  // Without a booking that day, hours at locations of one time zone are on their clock.
  const tuesdayEvening = Temporal.Instant.from('2026-11-17T20:00:00Z') // 15:00 in New York
  const rest = linesOf(await print(business, { reportId: 106, ...days }, tuesdayEvening))
  assert.deepEqual(
    rest.map(({ staff, openMinutes }) => [staff, openMinutes]),
    [
      ['Elena García', 0],
      ['Tom Becker', 120],
    ],
  )
})
