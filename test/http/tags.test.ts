import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { reminder, shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

const GOLD = { level: ['gold'] }

/** Three clients, two of them gold, and a reminder for gold clients of two appointments. */
async function openTagged(t: TestContext) {
  const world = await enterWorld(t)
  const { call, save, book, ids, clock, businessId } = world
  await save('/client', { clientId: ids.clientId, tags: { level: ['gold', 'vip'] } })
  const second = await save('/client', { firstName: 'Béla', lastName: 'Kiss', tags: GOLD })
  await save('/client', { firstName: 'Ida', lastName: 'Berg', tags: { level: ['silver'] } })
  const definition = { ...reminder(businessId, -24), filterTagMapJson: JSON.stringify(GOLD) }
  await save('/eventDefinition', definition)
  const first = await book(clock.in({ hours: 72 }))
  await book(clock.in({ hours: 96 }), { clientId: second.clientId, tags: { room: ['gold'] } })
  const change = async (path: '/tag' | '/tag/plan', newValue: string | null) => {
    const { status, body } = await call('POST', path, { name: 'level', value: 'gold', newValue })
    assert.equal(status, 200)
    return body
  }
  const tagsOf = async (clientId: number) => (await call('GET', `/client/${clientId}`)).body.tags
  const statusesOf = async (calendarId: number) => {
    const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    return body.map(({ status }: { status: string }) => status)
  }
  return { ...world, second, first, change, tagsOf, statusesOf }
}

test('the values of all tags are listed with how many objects and automations use them, without deleted ones', async (t) => {
  const { businessId, call, save } = await openTagged(t)
  const client = await save('/client', { firstName: 'Eva', lastName: 'Lang', tags: GOLD })
  await call('DELETE', `/client/${client.clientId}`)
  const definition = { ...reminder(businessId, -48), filterTagMapJson: JSON.stringify(GOLD) }
  const { eventDefnId } = await save('/eventDefinition', definition)
  await call('DELETE', `/eventDefinition/${eventDefnId}`)
  const { status, body } = await call('GET', '/tag')
  assert.equal(status, 200)
  const none = { clients: 0, appointments: 0, others: 0, eventDefinitions: 0 }
  assert.deepEqual(body, [
    { name: 'level', value: 'gold', ...none, clients: 2, eventDefinitions: 1 },
    { name: 'level', value: 'silver', ...none, clients: 1 },
    { name: 'level', value: 'vip', ...none, clients: 1 },
    { name: 'room', value: 'gold', ...none, appointments: 1 },
  ])
})

test('the plan of a new value says which reminders end, and writes nothing', async (t) => {
  const { change, tagsOf, ids, first, statusesOf } = await openTagged(t)
  const planned = await change('/tag/plan', 'premium')
  assert.deepEqual(planned, { changed: 2, refused: 0, create: 0, cancel: 2, isComplete: true })
  assert.deepEqual(await tagsOf(ids.clientId), { level: ['gold', 'vip'] })
  assert.deepEqual(await statusesOf(first.calendarId), ['SCHEDULED'])
})

test('a value is renamed in all objects, and reminders follow as after any save', async (t) => {
  const { change, tagsOf, ids, second, first, statusesOf, call } = await openTagged(t)
  assert.equal((await change('/tag', 'premium')).changed, 2)
  assert.deepEqual(await tagsOf(ids.clientId), { level: ['premium', 'vip'] })
  assert.deepEqual(await tagsOf(second.clientId), { level: ['premium'] })
  assert.deepEqual(await statusesOf(first.calendarId), ['CANCELLED'])
  assert.equal((await change('/tag', 'premium')).changed, 0, 'a repeated request finds nothing')
  const { body } = await call('GET', '/audit?object=client&limit=1')
  assert.equal(body.items[0].change, 'CHANGED')

  // Back again: the reminders are planned anew.
  const back = { name: 'level', value: 'premium', newValue: 'gold' }
  const { body: plan } = await call('POST', '/tag/plan', back)
  assert.deepEqual([plan.changed, plan.create, plan.cancel], [2, 2, 0])
  await call('POST', '/tag', back)
  assert.deepEqual(await statusesOf(first.calendarId), ['CANCELLED', 'SCHEDULED'])
})

test('a deleted value takes its tag along if it was the only one, and merges into a known one', async (t) => {
  const { change, tagsOf, ids, second } = await openTagged(t)
  await change('/tag', 'vip')
  assert.deepEqual(await tagsOf(ids.clientId), { level: ['vip'] })
  assert.deepEqual(await tagsOf(second.clientId), { level: ['vip'] })
  const other = await openTagged(t)
  await other.change('/tag', null)
  assert.deepEqual(await other.tagsOf(other.ids.clientId), { level: ['vip'] })
  assert.deepEqual(await other.tagsOf(other.second.clientId), {})
})

test('a request changes at most 1,000 objects, and a repeated one continues', async (t) => {
  const { call, businessId, db, clock } = await openTagged(t)
  await db.query(sql`
    insert into client (business_id, first_name, last_name, tags,
                        created_date, created_user, modified_date, modified_user)
    select ${businessId}, 'Client', n::text, '{"group": ["a"]}', ${clock.now()}, 'test', ${clock.now()}, 'test'
    from generate_series(1, 1050) n`)
  const bulk = { name: 'group', value: 'a', newValue: 'b' }
  const first = await call('POST', '/tag', bulk)
  assert.deepEqual([first.body.changed, first.body.isComplete], [1_000, false])
  const second = await call('POST', '/tag', bulk)
  assert.deepEqual([second.body.changed, second.body.isComplete], [50, true])
})

test('a bulk change of an appointment’s own tag sends no late reminder', async (t) => {
  const { book, save, call, businessId, clock, statusesOf } = await openTagged(t)
  const definition = { ...reminder(businessId, -24), latePolicy: 'SEND' }
  const filterTagMapJson = JSON.stringify({ room: ['blue'] })
  await save('/eventDefinition', { ...definition, filterTagMapJson })
  const [soon, later] = await Promise.all(
    [6, 72].map((hours) => book(clock.in({ hours }), { tags: { room: ['green'] } })),
  )
  const change = { name: 'room', value: 'green', newValue: 'blue' }
  assert.equal((await call('POST', '/tag/plan', change)).body.create, 1)
  assert.equal((await call('POST', '/tag', change)).body.changed, 2)
  // Each has a reminder of its gold client too.
  assert.deepEqual(await statusesOf(later.calendarId), ['SCHEDULED', 'SCHEDULED'])
  assert.deepEqual(await statusesOf(soon.calendarId), ['EXPIRED'])
})

test('a plan counts a reminder that ends because its client and its appointment both change', async (t) => {
  const { save, change, first } = await openTagged(t)
  await save('/calendar', { calendarId: first.calendarId, tags: GOLD })
  const planned = await change('/tag/plan', 'premium')
  assert.deepEqual(planned, { changed: 3, refused: 0, create: 0, cancel: 2, isComplete: true })
  assert.equal((await change('/tag', 'premium')).changed, 3)
})

test('a name and values must be texts on one line, and the new value must be another one', async (t) => {
  const { call } = await openTagged(t)
  const valid = { name: 'level', value: 'gold', newValue: 'premium' }
  for (const [pointer, text] of [
    ['name', 'le\nvel'],
    ['value', 'go\u0000ld'],
    ['newValue', 'pre\nmium'],
    ['newValue', ''],
    ['newValue', 'gold'],
  ] as const) {
    for (const path of ['/tag', '/tag/plan']) {
      const { status, body } = await call('POST', path, { ...valid, [pointer]: text })
      assert.equal(status, 422, text)
      assert.deepEqual(
        body.errors.map((fault: { pointer: string }) => fault.pointer),
        [`/${pointer}`],
      )
    }
  }
})

test('objects that are refused do not use up what a request changes', async (t) => {
  const { call, businessId, db, clock } = await openTagged(t)
  // A tag that an older version stored, and that no save accepts.
  const insert = (from: number, to: number, tags: object) =>
    db.query(sql`
      insert into client (business_id, first_name, last_name, tags,
                          created_date, created_user, modified_date, modified_user)
      select ${businessId}, 'Client', n::text, ${JSON.stringify(tags)}::jsonb,
             ${clock.now()}, 'test', ${clock.now()}, 'test'
      from generate_series(${from}::int, ${to}::int) n`)
  await insert(1, 1_000, { group: ['a'], bad: ['x\ny'] })
  await insert(1_001, 1_005, { group: ['a'] })
  const { body } = await call('POST', '/tag', { name: 'group', value: 'a', newValue: 'b' })
  assert.deepEqual([body.changed, body.refused, body.isComplete], [5, 1_000, true])
})

test('a change with the same Idempotency-Key is done once', async (t) => {
  const { call, tagsOf, second } = await openTagged(t)
  const change = { name: 'level', value: 'gold', newValue: 'premium' }
  const headers = { 'idempotency-key': 'tags-1' }
  const first = await call('POST', '/tag', change, headers)
  assert.equal(first.body.changed, 2)
  await call('POST', '/tag', { name: 'level', value: 'premium', newValue: 'gold' })
  const again = await call('POST', '/tag', change, headers)
  assert.deepEqual([again.status, again.body], [200, first.body])
  assert.deepEqual(await tagsOf(second.clientId), GOLD)
  const other = await call('POST', '/tag', { ...change, newValue: 'silver' }, headers)
  assert.equal(other.body.errors[0].pointer, 'Idempotency-Key')
})

test('other businesses keep their tags', async (t) => {
  const one = await openTagged(t)
  const two = await openTagged(t)
  await one.change('/tag', 'premium')
  assert.deepEqual(await two.tagsOf(two.second.clientId), GOLD)
})
