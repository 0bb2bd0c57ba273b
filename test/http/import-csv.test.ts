import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, signInAs, ask } from '../support/callers.ts'
import { addBusiness, shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

const importing = (
  { call }: Pick<World, 'call'>,
  query: Record<string, string | string[]>,
  rows: string[],
) => {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
  )
  return call('POST', `/import/csv?${search}`, rows.join('\r\n'), { 'content-type': 'text/csv' })
}

const CLIENTS = [
  'No;First name;Surname;E-Mail;Colour',
  '1;Anna;Müller;anna@example.com;red',
  '2;Bea;;bea@example.com;blue',
  '3;"Chloé ""C""";Renard;no address;',
  '4;Dora',
]

const MAP = ['No=externalId', 'Surname=lastName', 'E-Mail=emailAddress']

const names = async ({ call }: World) =>
  (await call('GET', '/client')).body.items.map((item: { lastName: string }) => item.lastName)

test('the rows of a CSV file are imported by mapped columns, and bad lines are named', async (t) => {
  const world = await enterWorld(t)
  const before = await names(world)
  const { status, body } = await importing(world, { kind: 'client', map: MAP }, CLIENTS)
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(body.accepted, { client: 1 })
  assert.deepEqual(body.refused, [
    { line: 3, reason: 'Surname: is required' },
    { line: 4, reason: 'E-Mail: must be one plain address, local@domain' },
    {
      line: 5,
      reason: 'has 2 cells, but the header has 5: put text that contains the separator in quotes',
    },
  ])
  assert.equal(body.refusedCount, 3)
  assert.deepEqual(body.columns, [
    { column: 'No', field: 'externalId' },
    { column: 'First name', field: 'firstName' },
    { column: 'Surname', field: 'lastName' },
    { column: 'E-Mail', field: 'emailAddress' },
    { column: 'Colour', field: null },
  ])
  assert.ok(body.fields.includes('phone'))
  assert.deepEqual(await names(world), [...before, 'Müller'])
})

test('a dry run answers the same and keeps nothing', async (t) => {
  const world = await enterWorld(t)
  const before = await names(world)
  const tried = await importing(world, { kind: 'client', map: MAP, dryRun: 'true' }, CLIENTS)
  assert.deepEqual(await names(world), before)
  const done = await importing(world, { kind: 'client', map: MAP }, CLIENTS)
  const { planned, ...same } = tried.body
  assert.deepEqual(planned, { triggers: 0, mailsAtOnce: 0 })
  assert.deepEqual({ ...same, fileImportId: done.body.fileImportId }, done.body)
})

test('a dry run of a header alone tells which columns are read', async (t) => {
  const world = await enterWorld(t)
  const query = { kind: 'client', dryRun: 'true' }
  const { status, body } = await importing(world, query, ['Foo,Bar'])
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(body.columns, [
    { column: 'Foo', field: null },
    { column: 'Bar', field: null },
  ])
  assert.deepEqual(body.accepted, {})
})

test('times are read in the given time zone, else in that of the business', async (t) => {
  const world = await enterWorld(t)
  const { ids } = world
  const rows = (externalId: string) => [
    'externalId,clientId,professionalId,reasonId,locationId,startTime,endTime',
    `${externalId},${ids.clientId},${ids.professionalId},${ids.reasonId},${ids.locationId},2031-07-01 09:00,01.07.2031 10:00`,
  ]
  const kind = 'calendar'
  for (const [query, rowsOf] of [
    [{ kind }, rows('zurich')],
    [{ kind, timeZone: 'America/New_York' }, rows('new york')],
  ] as const) {
    const { body } = await importing(world, query, rowsOf)
    assert.deepEqual(body.accepted, { calendar: 1 }, JSON.stringify(body))
  }
  const { items } = (await world.call('GET', '/calendar')).body
  const starts = items
    .filter((item: { externalId: string | null }) => item.externalId)
    .map((item: { startTime: number }) => new Date(item.startTime).toISOString())
  assert.deepEqual(starts.toSorted(), ['2031-07-01T07:00:00.000Z', '2031-07-01T13:00:00.000Z'])
})

test('a column that is mapped to nothing is not imported', async (t) => {
  const world = await enterWorld(t)
  const rows = ['firstName,lastName,phone', 'Eve,Moss,+41 44 000 00 00']
  const { body } = await importing(world, { kind: 'client', map: 'phone=' }, rows)
  assert.deepEqual(body.accepted, { client: 1 })
  const { items } = (await world.call('GET', '/client')).body
  assert.equal(items.at(-1).phone, null)
})

test('an invalid request is refused and nothing is imported', async (t) => {
  const world = await enterWorld(t)
  const before = await names(world)
  for (const [query, rows, detail] of [
    [{ kind: 'unicorn' }, CLIENTS, /kind/],
    [{ kind: 'client', map: 'x=phone' }, CLIENTS, /the file has no column x\./],
    [{ kind: 'client', map: 'No=colour' }, CLIENTS, /a client has no colour, but/],
    [{ kind: 'client', map: 'No' }, CLIENTS, /must be column=field/],
    [{ kind: 'client', timeZone: 'Mars' }, CLIENTS, /must be a time zone/],
    [{ kind: 'client' }, ['constructor,__proto__', '1,2'], /No column is a property of a client/],
    [{ kind: 'client' }, [''], /The file is empty/],
  ] as const) {
    const { status, body } = await importing(world, query as never, [...rows])
    assert.equal(status, 422, JSON.stringify(body))
    assert.match(body.detail, detail)
  }
  assert.deepEqual(await names(world), before)
})

test('rows go into the business of the caller, and only kinds that the caller may write', async (t) => {
  const world = await enterWorld(t)
  const { app, database, clock, businessId } = world
  const other = await addBusiness(world)
  const rows = ['externalId,name', 'L9,Altstadt']
  assert.deepEqual((await importing(other, { kind: 'location' }, rows)).body.accepted, {
    location: 1,
  })
  const { items } = (await world.call('GET', '/location')).body
  assert.ok(items.every((item: { externalId: string | null }) => item.externalId !== 'L9'))

  await createPerson(database, clock, businessId, { username: 'ursa', role: 'USER' })
  const ursa = ask(app, { cookie: await signInAs(app, 'ursa') })
  const refused = await importing({ call: ursa as never }, { kind: 'location' }, rows)
  assert.deepEqual(refused.body.refused, [
    { line: 2, reason: 'Your role lacks the function EDIT_SETUP.' },
  ])
})
