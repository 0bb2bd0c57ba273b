import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** A world whose service has a price. */
async function openWorld(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t)
  const { reasonId } = world.ids
  await world.save('/reason', { reasonId, price: 80.5, currency: 'CHF' })
  return world
}

const termsOf = ({ price, currency }: Record<string, unknown>) => [price, currency]

async function print({ call }: World, reportId: number) {
  const range = 'startDate=2026-03-01&endDate=2026-03-31'
  const { status, body } = await call('POST', `/report/print/file?${range}&format=json`, {
    reportId,
  })
  assert.equal(status, 200, JSON.stringify(body))
  const { parameters: _, ...figures } = body
  return figures
}

test('an appointment takes the price and currency of its service, and keeps them when the service gets another price', async (t) => {
  const { book, call, clock, ids, save } = await openWorld(t)
  const booked = await book(clock.in({ hours: 24 }))
  assert.deepEqual(termsOf(booked), [80.5, 'CHF'])

  await save('/reason', { reasonId: ids.reasonId, price: 95, currency: 'EUR' })
  const { calendarId } = booked
  assert.deepEqual((await call('GET', `/calendar/${calendarId}`)).body, booked)
  const noted = await save('/calendar', { calendarId, note: 'rings twice' })
  assert.deepEqual(termsOf(noted), [80.5, 'CHF'])
  assert.deepEqual(termsOf(await book(clock.in({ hours: 25 }))), [95, 'EUR'])
})

test('no figure of any report changes when the price of a service is changed later', async (t) => {
  const world = await openWorld(t)
  const { book, clock, ids, save } = world
  for (const [hours, status] of [
    [24, 'COMPLETED'],
    [25, 'COMPLETED'],
    [26, 'NO_SHOW'],
  ] as const) {
    await book(clock.in({ hours }), { status })
  }
  clock.advance({ hours: 48 })
  const reports = [101, 102, 201, 301, 501]
  const before = await Promise.all(reports.map((reportId) => print(world, reportId)))
  const revenue = before[1].kpis.find(({ name }: { name: string }) => name === 'revenue')
  assert.equal(revenue.value, 161)
  assert.equal(before[2].totals.price, 80.5)

  await save('/reason', { reasonId: ids.reasonId, price: 1000, currency: 'EUR' })
  const after = await Promise.all(reports.map((reportId) => print(world, reportId)))
  assert.deepEqual(after, before)
})

test('an explicit price is used, in the currency of the service unless a currency is given too', async (t) => {
  const { book, clock, save } = await openWorld(t)
  const at = clock.in({ hours: 24 })
  assert.deepEqual(termsOf(await book(at, { price: 60 })), [60, 'CHF'])
  assert.deepEqual(termsOf(await book(at, { price: 60, currency: 'EUR' })), [60, 'EUR'])
  assert.deepEqual(termsOf(await book(at, { price: 0 })), [0, 'CHF'])
  const free = await book(at, { price: null, currency: null })
  assert.deepEqual(termsOf(free), [null, null])
  const corrected = await save('/calendar', { calendarId: free.calendarId, price: 12.34 })
  assert.deepEqual(termsOf(corrected), [12.34, null])
})

test('a change of currency needs a price in the same body', async (t) => {
  const { book, call, clock, ids } = await openWorld(t)
  const startTime = clock.in({ hours: 24 }).epochMilliseconds
  const body = { ...ids, startTime, endTime: startTime + 60_000 }
  const { calendarId } = await book(clock.in({ hours: 25 }))
  for (const change of [
    { ...body, currency: 'EUR' },
    { ...body, currency: null },
    { calendarId, currency: 'EUR' },
    { calendarId, currency: null },
    { calendarId, reasonId: ids.reasonId, currency: 'EUR' },
  ]) {
    const refused = await call('POST', '/calendar', change)
    assert.equal(refused.status, 422, JSON.stringify(change))
    assert.deepEqual(refused.body.errors, [
      { pointer: '/price', detail: 'is required with another currency: the price is in CHF' },
    ])
  }
  assert.deepEqual(termsOf((await call('GET', `/calendar/${calendarId}`)).body), [80.5, 'CHF'])
  assert.equal((await call('POST', '/calendar', { ...body, currency: 'CHF' })).status, 201)
  const given = await call('POST', '/calendar', { calendarId, price: 75, currency: 'EUR' })
  assert.deepEqual(termsOf(given.body), [75, 'EUR'])
})

test('an appointment that gets another service takes its price, unless a price is given', async (t) => {
  const { book, clock, save } = await openWorld(t)
  const { reasonId } = await save('/reason', { name: 'Massage', price: 120, currency: 'EUR' })
  const { calendarId } = await book(clock.in({ hours: 24 }), { price: 60 })
  const other = await save('/calendar', { calendarId, reasonId })
  assert.deepEqual(termsOf(other), [120, 'EUR'])

  await save('/reason', { reasonId, price: 130 })
  assert.deepEqual(termsOf(await save('/calendar', { calendarId, reasonId })), [120, 'EUR'])

  const { reasonId: third } = await save('/reason', { name: 'Advice', price: 48, currency: 'CHF' })
  const given = await save('/calendar', { calendarId, reasonId: third, price: 40 })
  assert.deepEqual(termsOf(given), [40, 'CHF'])
})

test('an import takes prices by externalId, and keeps those that its lines give', async (t) => {
  const { call, clock, ids, save } = await openWorld(t)
  await save('/reason', { reasonId: ids.reasonId, externalId: 'R1' })
  const startTime = clock.in({ hours: 24 }).epochMilliseconds
  const { reasonId: _, ...others } = ids
  const line = {
    kind: 'calendar',
    ...others,
    reasonExternalId: 'R1',
    startTime,
    endTime: startTime + 60_000,
  }
  const lines = [{ ...line }, { ...line, price: 7 }, { ...line, price: null }]
  const { body } = await call(
    'POST',
    '/import',
    lines.map((each) => JSON.stringify(each)).join('\n'),
    { 'content-type': 'application/x-ndjson' },
  )
  assert.deepEqual(body.accepted, { calendar: 3 })
  const { items } = (await call('GET', '/calendar')).body
  assert.deepEqual(items.map(termsOf), [
    [80.5, 'CHF'],
    [7, 'CHF'],
    [null, 'CHF'],
  ])
})

test('bookedTime is the time of creation, unless the body gives another', async (t) => {
  const { book, call, clock, save } = await openWorld(t)
  const { calendarId, bookedTime, createdDate } = await book(clock.in({ hours: 24 }))
  assert.equal(bookedTime, clock.now().epochMilliseconds)
  assert.equal(bookedTime, createdDate)

  const earlier = bookedTime - 86_400_000
  clock.advance({ minutes: 5 })
  const withBookedTime = await book(clock.in({ hours: 24 }), { bookedTime: earlier })
  assert.equal(withBookedTime.bookedTime, earlier)
  assert.equal((await save('/calendar', { calendarId, note: 'x' })).bookedTime, bookedTime)
  assert.equal((await save('/calendar', { calendarId, bookedTime: earlier })).bookedTime, earlier)
  const cleared = await save('/calendar', { calendarId, bookedTime: null })
  assert.equal(cleared.bookedTime, createdDate)
  assert.deepEqual((await call('GET', `/calendar/${calendarId}`)).body, cleared)
})

test('amounts in several currencies are listed and not added up, whatever the services cost now', async (t) => {
  const world = await openWorld(t)
  const { book, clock, ids, save } = world
  await book(clock.in({ hours: 24 }), { status: 'COMPLETED' })
  await book(clock.in({ hours: 25 }), { status: 'COMPLETED', price: 10, currency: 'EUR' })
  await save('/reason', { reasonId: ids.reasonId, currency: 'EUR' })
  clock.advance({ hours: 48 })
  const { columns, kpis, rows, totals } = await print(world, 101)
  const placeOf = (column: string) =>
    columns.findIndex(({ name }: { name: string }) => name === column)
  assert.deepEqual(
    rows.map((row: unknown[]) => [row[placeOf('price')], row[placeOf('currency')]]),
    [
      [80.5, 'CHF'],
      [10, 'EUR'],
    ],
  )
  assert.deepEqual([totals.CHF, totals.EUR], [{ price: 80.5 }, { price: 10 }])
  assert.equal('price' in totals, false)
  type Kpi = { currency?: string; unit: string; value: number }
  assert.deepEqual(
    kpis.flatMap(({ currency, value }: Kpi) => (currency ? [[currency, value]] : [])),
    [
      ['CHF', 80.5],
      ['EUR', 10],
      ['CHF', 80.5],
      ['EUR', 10],
    ],
    'booked and revenue',
  )
})
