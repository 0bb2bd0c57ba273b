import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_KINDS, type ObjectKind } from '../../src/contract/objects.ts'
import { sql } from '../../src/database/sql.ts'
import { addBusiness, reminder, shareWorld, type Answer } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

const pointersOf = ({ body }: Answer) =>
  body.errors.map((fault: { pointer: string }) => fault.pointer).toSorted()

/** The row counts of all objects, their audit and triggers; a refused request adds none. */
async function countRows({ db }: Pick<World, 'db'>) {
  const counts = await Promise.all(
    [...OBJECT_KINDS.map(({ table }) => table), 'audit', 'event_trigger', 'pending_trigger'].map(
      (table) => db.query({ text: `select count(*) as n from ${table}`, values: [] }),
    ),
  )
  return counts.flat().map((row) => row.n)
}

/** The others are ignored in a body, so that an answer can be sent back. */
const writableFields = ({ fields }: ObjectKind) =>
  Object.keys(fields).filter((property) => !fields[property]!.isServerOwned)

/** One value of every JSON type that the property does not take. */
function wrongValues(kind: ObjectKind, property: string): unknown[] {
  const type = (kind.fields[property]!.schema as { type?: string }).type
  const byType: Record<string, unknown> = {
    string: 'words',
    number: 1.5,
    boolean: true,
    object: { a: 1 },
    array: [{}],
  }
  const taken = type === 'integer' ? ['integer'] : type === 'number' ? ['number'] : [type]
  return Object.entries(byType)
    .filter(([name]) => !taken.includes(name))
    .map(([, value]) => value)
}

test('a value of a wrong type is refused with its pointer, for every property of every kind', async (t) => {
  const world = await enterWorld(t)
  const before = await countRows(world)
  for (const kind of OBJECT_KINDS) {
    for (let round = 0; round < 4; round += 1) {
      const body = Object.fromEntries(
        writableFields(kind).map((property) => [property, wrongValues(kind, property)[round]]),
      )
      const answer = await world.call('POST', kind.path, body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8')
      const refused = new Set(pointersOf(answer).map((pointer: string) => pointer.split('/')[1]))
      const wrong = Object.keys(body).filter((property) => body[property] !== undefined)
      assert.deepEqual([...refused].toSorted(), wrong.toSorted(), kind.kind)
    }
  }
  assert.deepEqual(await countRows(world), before)
})

test('a reference that is missing, of another business, too large or not an id is refused with its pointer', async (t) => {
  const world = await enterWorld(t)
  const other = await addBusiness(world)
  const theirs: Record<string, number> = other.ids
  const before = await countRows(world)
  for (const kind of OBJECT_KINDS) {
    for (const { property, refersTo } of kind.references) {
      const isList = property.endsWith('List')
      const foreign = property.endsWith('UUID')
        ? '0'.repeat(32)
        : (theirs[`${refersTo}Id`] ?? 999_999)
      for (const id of [999_999_999, foreign, 0, -1, 1.5, '1', 2 ** 53, 1e300]) {
        const value = isList ? [id] : id
        const answer = await world.call('POST', kind.path, { [property]: value })
        const pointer = isList ? `/${property}/0` : `/${property}`
        assert.equal(answer.status, 422)
        assert.ok(pointersOf(answer).includes(pointer), `${kind.kind} ${property} ${id}`)
      }
      const missing = await world.call('POST', kind.path, {
        [property]: isList ? [foreign] : foreign,
      })
      const detail = missing.body.errors.find((fault: { pointer: string }) =>
        fault.pointer.startsWith(`/${property}`),
      ).detail
      assert.match(detail, /^there is no [a-z ]+ \d+$/)
    }
  }
  assert.deepEqual(await countRows(world), before)
})

test('ids above 2^53 are refused in bodies, paths and queries', async (t) => {
  const { call, key, app } = await enterWorld(t)
  const raw = await app.inject({
    method: 'POST',
    url: '/calendar',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    payload: '{"calendarId": 9007199254740993, "clientId": 90071992547409931}',
  })
  assert.equal(raw.statusCode, 422)
  const pointers = raw.json().errors.map((fault: { pointer: string }) => fault.pointer)
  assert.ok(pointers.includes('/calendarId') && pointers.includes('/clientId'))
  assert.equal((await call('GET', '/calendar/9007199254740993')).status, 404)
  assert.equal((await call('GET', '/calendar/99999999999999999999')).status, 404)
  assert.equal((await call('GET', '/calendar/one')).status, 404)
  const query = await call('GET', '/calendar?clientId=9007199254740993&limit=0&from=soon&status=')
  assert.equal(query.status, 422)
  assert.deepEqual(pointersOf(query), ['?clientId', '?from', '?limit', '?status'])
})

test('a route that takes no body refuses one that is not an empty object', async (t) => {
  const { book, businessId, call, clock, key, app, save } = await enterWorld(t)
  await save('/eventDefinition', reminder(businessId, -24))
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  const url = `/eventTriggers/${trigger.eventTriggerId}/cancel`
  for (const payload of ['5', '[]', 'null', '"x"', '{"a":1}']) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const { statusCode } = await app.inject({ method: 'POST', url, headers, payload })
    assert.equal(statusCode, 422, payload)
  }
  assert.equal((await call('POST', url, {})).status, 200)
})

test('control characters are refused in single-line texts; line breaks are kept in other texts', async (t) => {
  const world = await enterWorld(t)
  for (const evil of ['a\u0000b', 'a\nb', 'a\rb', 'a\u001bb', 'a\u007fb', 'a\u0085b', 'a\u2028b']) {
    const answer = await world.call('POST', '/client', { firstName: evil, lastName: 'B' })
    assert.equal(answer.status, 422, JSON.stringify(evil))
    assert.deepEqual(pointersOf(answer), ['/firstName'])
    const externalId = await world.call('POST', '/location', { name: 'X', externalId: evil })
    assert.deepEqual(pointersOf(externalId), ['/externalId'])
    const tag = await world.call('POST', '/client', {
      firstName: 'A',
      lastName: 'B',
      tags: { level: [evil] },
    })
    assert.deepEqual(pointersOf(tag), ['/tags/level/0'])
  }
  const half = await world.call('POST', '/client', { firstName: 'A\ud800', lastName: 'B' })
  assert.equal(half.status, 422)
  const { address } = await world.save('/location', { name: 'X', address: 'One\nTwo\tThree' })
  assert.equal(address, 'One\nTwo\tThree')
})

test('a text of 10 MB is 413, a shorter one that is still too long 422; neither is written', async (t) => {
  const world = await enterWorld(t)
  const before = await countRows(world)
  const huge = await world.call('POST', '/client', {
    firstName: 'x'.repeat(10_000_000),
    lastName: 'B',
  })
  assert.equal(huge.status, 413)
  assert.equal(huge.headers['content-type'], 'application/problem+json; charset=utf-8')
  const long = await world.call('POST', '/client', {
    firstName: 'x'.repeat(1_048_000),
    lastName: 'B',
  })
  assert.equal(long.status, 422)
  assert.deepEqual(pointersOf(long), ['/firstName'])
  assert.ok(long.body.detail.length < 1_000, 'the answer does not repeat the value')
  assert.deepEqual(await countRows(world), before)
})

test('invalid time zones, times, languages, prices and working hours are refused', async (t) => {
  const { call, ids } = await enterWorld(t)
  for (const timeZone of [
    'Mars/Base',
    '+02:00',
    'UTC+2',
    '',
    'europe',
    '../etc',
    'Europe/Zurich ',
    'IST',
    'pst',
    'SystemV/AST4',
    'US/Pacific-New',
  ]) {
    assert.deepEqual(
      pointersOf(await call('POST', '/location', { name: 'X', timeZone })),
      ['/timeZone'],
      timeZone,
    )
  }
  for (const timeZone of ['Europe/Zurich', 'America/Argentina/Buenos_Aires', 'UTC']) {
    assert.equal((await call('POST', '/location', { name: 'X', timeZone })).status, 201, timeZone)
  }
  const times = { startTime: 1_800_000_000_000, endTime: 1_800_000_000_000 }
  assert.deepEqual(pointersOf(await call('POST', '/calendar', { ...ids, ...times })), ['/endTime'])
  const reason = { name: 'X', price: 1.99999, currency: 'francs', durationMinutes: 0 }
  assert.deepEqual(pointersOf(await call('POST', '/reason', reason)), [
    '/currency',
    '/durationMinutes',
    '/price',
  ])
  const workingHours = [
    { weekday: 'monday', from: '9', to: '25:00' },
    { weekday: 'FRIDAY', from: '17:00', to: '09:00' },
  ]
  const staff = { firstName: 'A', lastName: 'B', workingHours }
  assert.deepEqual(pointersOf(await call('POST', '/professional', staff)), [
    '/workingHours/0/from',
    '/workingHours/0/to',
    '/workingHours/0/weekday',
    '/workingHours/1/to',
  ])
})

test('a change of status is recorded with author, time, old and new value', async (t) => {
  const { db, book, save, clock } = await enterWorld(t)
  const { calendarId } = await book(clock.in({ hours: 9 }))
  clock.advance({ hours: 1 })
  await save('/calendar', { calendarId, status: 'CONFIRMED' })
  await save('/calendar', { calendarId, note: 'no move' })
  clock.advance({ hours: 1 })
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const rows = await db.query(sql`
    select before ->> 'status' as "from", after ->> 'status' as "to", username as "user",
           (extract(epoch from time) * 1000)::bigint as at
    from audit_entry
    where object = 'calendar' and id = ${String(calendarId)}
      and before ->> 'status' is distinct from after ->> 'status'
    order by audit_id`)
  const now = clock.now().epochMilliseconds
  const hour = 3_600_000
  assert.deepEqual(rows, [
    { from: null, to: 'OPEN', user: 'key:test', at: now - 2 * hour },
    { from: 'OPEN', to: 'CONFIRMED', user: 'key:test', at: now - hour },
    { from: 'CONFIRMED', to: 'CANCELLED', user: 'key:test', at: now },
  ])
})
