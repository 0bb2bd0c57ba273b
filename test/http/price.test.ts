import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, createPerson, signInAs } from '../support/callers.ts'
import { shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

/** A world whose service has a price. */
async function openWorld(t: Parameters<typeof enterWorld>[0]) {
  const world = await enterWorld(t)
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

test('a price has the digits of its currency', async (t) => {
  const { book, call, clock, ids, save } = await openWorld(t)
  const { reasonId } = ids
  const at = clock.in({ hours: 24 })
  const dinar = await save('/reason', { reasonId, price: 4.125, currency: 'KWD' })
  assert.deepEqual(termsOf(dinar), [4.125, 'KWD'])
  assert.deepEqual(termsOf(await book(at, { status: 'COMPLETED' })), [4.125, 'KWD'])
  assert.deepEqual(termsOf(await book(at, { status: 'COMPLETED' })), [4.125, 'KWD'])
  clock.advance({ hours: 48 })
  const day = at.toZonedDateTimeISO('UTC').toPlainDate()
  const query = `startDate=${day.subtract({ days: 1 })}&endDate=${day.add({ days: 1 })}&format=json`
  const { body } = await call('POST', `/report/print/file?${query}`, { reportId: 101 })
  assert.equal(body.totals.price, 8.25)
  const revenue = body.kpis.find(({ name }: { name: string }) => name === 'revenue')
  assert.deepEqual([revenue.value, revenue.currency], [8.25, 'KWD'])
  const text = await call('POST', `/report/print/file?${query.replace('json', 'html')}`, {
    reportId: 101,
  })
  assert.match(String(text.body), />4\.125</)

  for (const [price, currency] of [
    [4.125, 'CHF'],
    [4.1251, 'KWD'],
  ] as const) {
    const refused = await call('POST', '/reason', { reasonId, price, currency })
    assert.equal(refused.status, 422)
    assert.equal(refused.body.errors[0].pointer, '/price')
  }
  assert.equal(
    (await call('POST', '/reason', { reasonId, price: 4.12, currency: 'CHF' })).status,
    200,
  )
})

test('an imported appointment of the past without a price has none, and reports count it', async (t) => {
  const { book, call, clock, ids } = await openWorld(t)
  const importLines = async (path: string, lines: object[]) => {
    const text = lines.map((one) => JSON.stringify(one)).join('\n')
    const { body } = await call('POST', path, text, { 'content-type': 'application/x-ndjson' })
    assert.equal(body.refusedCount, 0, JSON.stringify(body))
  }
  const line = (hours: number, others = {}) => ({
    kind: 'calendar',
    clientId: ids.clientId,
    professionalId: ids.professionalId,
    reasonId: ids.reasonId,
    locationId: ids.locationId,
    startTime: clock.in({ hours }).epochMilliseconds,
    endTime: clock.in({ hours: hours + 1 }).epochMilliseconds,
    status: hours < 0 ? 'COMPLETED' : 'OPEN',
    ...others,
  })
  const lines = [line(-48), line(-47, { price: 60, currency: 'CHF' }), line(24)]
  await importLines('/import?events=none', lines)
  const { items } = (await call('GET', '/calendar')).body
  assert.deepEqual(items.map(termsOf), [
    [null, null],
    [60, 'CHF'],
    [80.5, 'CHF'],
  ])
  const day = clock.in({ hours: -48 }).toZonedDateTimeISO('UTC').toPlainDate()
  const query = `startDate=${day.subtract({ days: 1 })}&endDate=${day.add({ days: 1 })}`
  const { body } = await call('POST', `/report/print/file?${query}&format=json`, { reportId: 102 })
  assert.deepEqual(body.notes, [
    'The price of 1 kept appointment is unknown; the revenue is without it.',
  ])
  const list = await call('POST', `/report/print/file?${query}&format=html`, { reportId: 101 })
  assert.match(String(list.body), />unknown</)
  await importLines('/import', [line(-46), line(-45, { price: 70 }), line(25)])
  await book(clock.in({ hours: -44 }))
  const { items: all } = (await call('GET', '/calendar')).body
  assert.deepEqual(all.map(termsOf), [
    [null, null],
    [60, 'CHF'],
    [null, null],
    [70, null],
    [80.5, 'CHF'],
    [80.5, 'CHF'],
    [80.5, 'CHF'],
  ])
})

test('lists of appointments leave the price out for roles that see no money in reports', async (t) => {
  const world = await openWorld(t)
  const { app, book, businessId, call, clock, database, ids } = world
  const { calendarId } = await book(clock.in({ hours: 24 }))
  const { professionalId, locationId } = ids
  const signIn = async (username: string) => ask(app, { cookie: await signInAs(app, username) })
  await createPerson(database, clock, businessId, {
    username: 'USER',
    role: 'USER',
    professionalId,
  })
  const role = 'LOCATION_SUPER_USER'
  const manager = { username: role, role, locationIdList: [locationId] } as const
  await createPerson(database, clock, businessId, manager)
  const pricesFor = async (username: string) => {
    const { items } = (await (await signIn(username))('GET', '/calendar?expand=names')).body
    assert.equal(items.length, 1)
    return 'price' in items[0]
  }
  assert.equal(await pricesFor('USER'), false)
  assert.equal(await pricesFor('LOCATION_SUPER_USER'), true)
  assert.equal((await call('GET', '/calendar')).body.items[0].price, 80.5)
  // People who book see the price of the appointment that they open.
  const user = await signIn('USER')
  assert.equal((await user('GET', `/calendar/${calendarId}`)).body.price, 80.5)
})
