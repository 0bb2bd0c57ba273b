import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createKey, createPerson, signInAs, startWithBusiness } from '../support/callers.ts'
import { fillBusiness } from '../reports/business.ts'

const OCTOBER = 'startDate=2025-10-01&endDate=2025-10-31'

test('each row and total of a printed report links to its appointments', async (t) => {
  const { book, call } = await open(t)
  await book({ at: '2025-10-06T09:00+02:00', status: 'NO_SHOW' })
  await book({ at: '2025-10-06T10:00+02:00', status: 'COMPLETED', minutes: 45 })
  await book({ at: '2025-10-07T09:00+02:00', status: 'NO_SHOW' })
  await book({ at: '2025-11-07T09:00+01:00', status: 'NO_SHOW' })

  const { body } = await call('POST', `/report/print/file?${OCTOBER}&format=json`, {
    reportId: 102,
  })
  const at = (name: string) => body.columns.findIndex((one: { name: string }) => one.name === name)
  const { path, columns } = body.drillDown
  assert.equal(body.rowFilters.length, body.rows.length)
  const follow = async (...parts: string[]) => (await call('GET', [path, ...parts].join('&'))).body

  const total = await follow(columns[at('noShows')])
  assert.deepEqual([total.count, total.sum], [2, body.totals.noShows])
  assert.deepEqual(
    total.items.map(({ localTime, client, name, status, amount }: Record<string, unknown>) => [
      localTime,
      client,
      name,
      status,
      amount,
    ]),
    [
      ['2025-10-06 09:00', 'Anna Müller', 'Check-up', 'NO_SHOW', 1],
      ['2025-10-07 09:00', 'Anna Müller', 'Check-up', 'NO_SHOW', 1],
    ],
  )
  const day = await follow(body.rowFilters[5], columns[at('minutes')])
  assert.deepEqual([day.count, day.sum, body.rows[5][at('minutes')]], [2, 75, 75])
  const revenue = await follow(body.rowFilters[5], columns[at('revenue')])
  assert.deepEqual([revenue.count, revenue.sum], [1, 80.5])
  assert.deepEqual(revenue.sumByCurrency, { CHF: 80.5 })
  assert.equal(
    (await call('GET', `/calendar/${revenue.items[0].objectId}`)).body.status,
    'COMPLETED',
  )
})

test('a cursor continues the list of the same figure only', async (t) => {
  const { book, call } = await open(t)
  for (const hour of ['08', '09', '10']) await book({ at: `2025-10-06T${hour}:00+02:00` })
  const rows = `/report/101/rows?${OCTOBER}`
  const first = (await call('GET', `${rows}&limit=2`)).body
  assert.deepEqual([first.items.length, first.count], [2, 3])
  const second = (await call('GET', `${rows}&limit=2&cursor=${first.nextCursor}`)).body
  assert.deepEqual([second.items.length, second.nextCursor], [1, null])
  const other = await call('GET', `${rows}&measure=kept&cursor=${first.nextCursor}`)
  assert.equal(other.status, 422)
})

test('objects are counted by one or two of their properties, the largest group first', async (t) => {
  const { book, call, elena, tom } = await open(t)
  await book({ at: '2025-10-06T09:00+02:00', status: 'NO_SHOW', professionalId: elena })
  await book({ at: '2025-10-07T09:00+02:00', status: 'COMPLETED', professionalId: tom })
  await book({ at: '2025-10-07T10:00+02:00', status: 'COMPLETED', professionalId: tom })
  await book({ at: '2025-10-07T11:00+02:00', status: 'CANCELLED', professionalId: elena })
  const sums = async (query: string) => {
    const { body } = await call('GET', `/report/102/sums?${OCTOBER}&${query}`)
    return body.items.map(({ keys, count, sum }: Record<string, unknown>) => [keys, count, sum])
  }
  assert.deepEqual(await sums('by=day,outcome'), [
    [['2025-10-07', 'CANCELLED'], 1, 1],
    [['2025-10-07', 'KEPT'], 2, 2],
    [['2025-10-06', 'MISSED'], 1, 1],
  ])
  assert.deepEqual(await sums('by=weekday,hour&measure=kept&limit=1'), [[['2', '10'], 1, 1]])
  assert.deepEqual(await sums('by=staff&measure=kept'), [[[String(tom)], 2, 2]])
  const { status } = await call('GET', `/report/102/sums?${OCTOBER}&by=day,day,day`)
  assert.equal(status, 422)
})

test('whether an appointment is ahead depends on the time of printing', async (t) => {
  const { book, call, clock } = await open(t)
  const start = clock.in({ hours: 2 })
  await book({ at: start.toString(), status: 'OPEN' })
  const day = start.toZonedDateTimeISO('Europe/Zurich').toPlainDate()
  const query = `startDate=${day}&endDate=${day}&format=json`
  const { body } = await call('POST', `/report/print/file?${query}`, { reportId: 105 })
  clock.advance({ hours: 3 })
  const ahead = `${body.drillDown.path}&measure=ahead`
  assert.equal((await call('GET', ahead)).body.count, 1)
  assert.equal((await call('GET', ahead.replace(/printedTime=\d+&/, ''))).body.count, 0)
})

test('bad requests name their faults', async (t) => {
  const { call } = await open(t)
  const statusOf = async (path: string) => (await call('GET', path)).status
  assert.equal(await statusOf(`/report/999/rows?${OCTOBER}`), 404)
  assert.equal(await statusOf('/report/101/rows'), 422)
  for (const wrong of [
    'filters={',
    'filters={"x":1}',
    'measure=x',
    'staff=x',
    'hour=9',
    'other=1',
  ]) {
    const { status, body } = await call('GET', `/report/101/rows?${OCTOBER}&${wrong}`)
    assert.equal(status, 422, wrong)
    assert.equal(body.errors.length, 1, JSON.stringify(body))
  }
})

test('the objects of a figure need the permissions of their report', async (t) => {
  const { app, book, businessId, callAs, clock, database, elena, tom, call } = await open(t)
  await book({ at: '2025-10-06T09:00+02:00', professionalId: elena })
  await book({ at: '2025-10-06T10:00+02:00', professionalId: tom })
  const person = { username: 'tom', role: 'USER', professionalId: tom } as const
  await createPerson(database, clock, businessId, person)
  const asTom = callAs({ cookie: await signInAs(app, 'tom') })

  assert.equal((await call('GET', `/report/101/rows?${OCTOBER}`)).body.count, 2)
  const own = await asTom('GET', `/report/101/rows?${OCTOBER}`)
  assert.deepEqual([own.status, own.body.count], [200, 1])
  assert.equal(own.body.items[0].professionalId, tom)
  const ownSums = await asTom('GET', `/report/101/sums?${OCTOBER}&by=staff`)
  assert.deepEqual(ownSums.body.items, [{ keys: [String(tom)], count: 1, sum: 1 }])
  assert.equal((await asTom('GET', `/report/951/sums?${OCTOBER}&by=day`)).status, 403)
  assert.equal((await asTom('GET', `/report/101/rows?${OCTOBER}&measure=value`)).status, 422)
  assert.equal((await asTom('GET', `/report/951/rows?${OCTOBER}`)).status, 403)

  const { key } = await createKey(database, clock, businessId, ['scheduling:read'])
  const withoutScope = callAs({ authorization: `Bearer ${key}` })
  assert.equal((await withoutScope('GET', `/report/101/rows?${OCTOBER}`)).status, 403)
})

async function open(t: TestContext) {
  const started = await startWithBusiness(t)
  const business = await fillBusiness(started.database)
  const { key } = await createKey(started.database, started.clock, business.businessId)
  return { ...started, ...business, call: started.callAs({ authorization: `Bearer ${key}` }) }
}
