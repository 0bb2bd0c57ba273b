import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
import { asOwner } from '../support/owner.ts'
import { ask, createPerson, signInAs, startWithBusiness } from '../support/callers.ts'

test('an audit entry has author, object, and the values before and after in API names', async (t) => {
  const { app, call, clock, database, businessId } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'OWNER' })
  const anna = ask(app, { cookie: await signInAs(app, 'anna') })
  const made = await call('POST', '/location', { name: 'Nord', emailAddress: 'n@praxis.example' })
  const { locationId, createdDate } = made.body
  clock.advance({ minutes: 5 })
  const changed = await anna('POST', '/location', { locationId, name: 'Süd' })
  await anna('DELETE', `/location/${locationId}`)

  const { status, body } = await call('GET', `/audit?object=location&id=${locationId}`)
  assert.equal(status, 200)
  const [deletion, change, creation] = body.items
  assert.deepEqual(
    body.items.map((entry: { user: string; change: string }) => [entry.user, entry.change]),
    [
      ['anna', 'DELETED'],
      ['anna', 'CHANGED'],
      ['key:tests', 'CREATED'],
    ],
  )
  assert.deepEqual([creation.time, creation.id, creation.before], [createdDate, locationId, null])
  assert.equal(creation.after.emailAddress, 'n@praxis.example')
  assert.deepEqual([change.before.name, change.after.name], ['Nord', 'Süd'])
  assert.deepEqual(change.after, { ...changed.body })
  assert.deepEqual([deletion.before.active, deletion.after.active], [true, false])
})

test('an audit entry without a before value takes it from the previous entry', async (t) => {
  const { call, database } = await startWithBusiness(t)
  const { locationId } = (await call('POST', '/location', { name: 'Nord' })).body
  const other = (await call('POST', '/location', { name: 'West' })).body
  await call('POST', '/location', { locationId, name: 'Süd' })
  await call('POST', '/location', { locationId: other.locationId, name: 'Mitte' })
  // Older versions stored the previous values in each entry.
  await asOwner(
    database,
    `update audit set before = '{"name": "Norden"}' where object = 'location' and change = 'CHANGED'
     and id = '${locationId}'`,
  )
  await call('POST', '/location', { locationId, name: 'Ost' })
  const { body } = await call('GET', `/audit?object=location`)
  type Entry = { before: { name: string } | null; after: { name: string } }
  assert.deepEqual(
    body.items.map(({ before, after }: Entry) => [before?.name, after.name]),
    [
      ['Süd', 'Ost'],
      ['West', 'Mitte'],
      ['Norden', 'Süd'],
      [undefined, 'West'],
      [undefined, 'Nord'],
    ],
  )
})

test('concurrent changes of an object have consecutive audit entries', async (t) => {
  const { call } = await startWithBusiness(t)
  const { locationId } = (await call('POST', '/location', { name: 'Nord' })).body
  const names = Array.from({ length: 30 }, (_, i) => `Nord ${i}`)
  await Promise.all(names.map((name) => call('POST', '/location', { locationId, name })))
  const { items } = (await call('GET', `/audit?object=location&limit=100`)).body
  type Entry = { before: object | null; after: object }
  const [befores, afters] = [
    items.map((entry: Entry) => entry.before),
    items.map((entry: Entry) => entry.after),
  ]
  assert.equal(items.length, 31)
  assert.deepEqual(befores, [...afters.slice(1), null])
})

test('a change of password is one audit entry without the password', async (t) => {
  const { call, database, clock, businessId } = await startWithBusiness(t)
  const person = { username: 'anna', role: 'USER' } as const
  const { userId } = await createPerson(database, clock, businessId, person)
  clock.advance({ minutes: 1 })
  await call('POST', '/user', { userId, password: 'another long one' })
  const [change, ...more] = (await call('GET', `/audit?object=user&id=${userId}`)).body.items
  assert.equal(more.length, 1)
  assert.deepEqual(
    [change.change, change.before.passwordDate, change.after.passwordDate],
    ['CHANGED', null, clock.now().epochMilliseconds],
  )

  await call('POST', '/status', { objectType: 'CALENDAR', status: 'OPEN', label: 'Free' })
  const ofOpen = (await call('GET', '/audit?object=status&id=CALENDAR/OPEN')).body.items
  assert.deepEqual(
    ofOpen.map((entry: { change: string; after: { label: string } }) => entry.after.label),
    ['Free', 'Open'],
  )
  assert.ok(!('address' in ofOpen[0].after))
})

test('no secret is in the audit', async (t) => {
  const { call, database, clock, businessId, key } = await startWithBusiness(t)
  await createPerson(database, clock, businessId, { username: 'anna', role: 'OWNER' })
  await call('GET', '/apiKey')
  const { body } = await call('GET', '/audit')
  const objects = new Set(body.items.map((entry: { object: string }) => entry.object))
  assert.ok(objects.isSupersetOf(new Set(['apiKey', 'user', 'business'])))
  const text = JSON.stringify(body)
  assert.equal(/hash|argon2/i.test(text), false)
  assert.equal(text.includes(key), false)
})

test('the audit is paged and filtered by object, id, user and time', async (t) => {
  const { call, clock, operator, businessId } = await startWithBusiness(t)
  const start = clock.now().epochMilliseconds
  for (let i = 0; i < 5; i += 1) {
    clock.advance({ seconds: 1 })
    assert.equal((await call('POST', '/reason', { name: `r${i}` })).status, 201)
  }
  const names: string[] = []
  let cursor = ''
  do {
    const { body } = await call('GET', `/audit?object=reason&limit=2${cursor}`)
    names.push(...body.items.map((entry: { after: { name: string } }) => entry.after.name))
    cursor = body.nextCursor ? `&cursor=${body.nextCursor}` : ''
  } while (cursor)
  assert.deepEqual(names, ['r4', 'r3', 'r2', 'r1', 'r0'])

  const between = await call('GET', `/audit?object=reason&from=${start + 2000}&to=${start + 4000}`)
  assert.deepEqual(
    between.body.items.map((entry: { after: { name: string } }) => entry.after.name),
    ['r2', 'r1'],
  )
  await operator('POST', '/business', { businessId, name: 'Neu' })
  const byOperator = (await call('GET', '/audit?user=OPERATOR&object=business')).body.items
  assert.deepEqual([byOperator[0].change, byOperator[0].before.name], ['CHANGED', 'Praxis am See'])
  assert.equal((await call('GET', '/audit?cursor=nonsense')).status, 422)
  assert.equal((await call('GET', '/audit?from=yesterday')).status, 422)
})

test('nothing in the application can write, edit, delete or empty the audit', async (t) => {
  const { database, businessId } = await startWithBusiness(t)
  const doors = {
    application: database.forBusiness(businessId, 'test'),
    reports: database.reportsOf(businessId),
    engine: database.engine,
    operator: database.operator,
  }
  const attempts = [
    `insert into audit (business_id, time, username, object, id, change, after)
     values (${businessId}, now(), 'x', 'x', '1', 'CREATED', '{}')`,
    `update audit set username = 'x'`,
    `delete from audit`,
    `truncate audit`,
    `alter table audit disable trigger all`,
    `drop table audit`,
    `alter table location disable trigger audit_update`,
    `drop trigger audit_update on location`,
    `set session_replication_role = replica`,
  ]
  for (const [door, db] of Object.entries(doors)) {
    for (const attempt of attempts) {
      await assert.rejects(
        db.query(sql`${raw(attempt)}`),
        /permission denied|must be owner/,
        `${door}: ${attempt}`,
      )
    }
  }
})
