import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_KINDS } from '../../src/contract/objects.ts'
import { reminder, shareWorld } from '../support/world.ts'

const startWorld = shareWorld()
const NDJSON = { 'content-type': 'application/x-ndjson' }

test('a deleted appointment that is pushed again by its externalId is restored with its reminder', async (t) => {
  const { book, businessId, call, clock, save } = await startWorld(t)
  await save('/eventDefinition', reminder(businessId, -1))
  const { calendarId, startTime } = await book(clock.in({ hours: 48 }), { externalId: 'A1' })
  const pending = async () => {
    const triggers = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
    return triggers.filter(({ status }: { status: string }) => status === 'SCHEDULED').length
  }
  const push = {
    post: () => call('POST', '/calendar', { externalId: 'A1', startTime }),
    line: () => call('POST', '/import', `{"kind":"calendar","externalId":"A1"}\n`, NDJSON),
  }
  for (const [way, send] of Object.entries(push)) {
    assert.equal((await call('DELETE', `/calendar/${calendarId}`)).body.active, false)
    assert.equal(await pending(), 0, way)
    assert.equal((await send()).status, 200, way)
    assert.equal((await call('GET', `/calendar/${calendarId}`)).body.active, true, way)
    assert.equal(await pending(), 1, way)
  }
})

test('a deleted object stays deleted if the body says so, or names it by its id', async (t) => {
  const { call, save } = await startWorld(t)
  const { clientId } = await save('/client', { firstName: 'Bo', lastName: 'Li', externalId: 'C1' })
  await call('DELETE', `/client/${clientId}`)
  for (const body of [
    { externalId: 'C1', active: false, lastName: 'Lee' },
    { clientId, lastName: 'Liu' },
    { clientId, externalId: 'C1', lastName: 'Lou' },
  ]) {
    assert.deepEqual((await call('POST', '/client', body)).body.active, false)
  }
})

test('an object of every kind is deleted by its externalId; an unknown one is 404, a missing one 422', async (t) => {
  const { call, clock, save, book } = await startWorld(t)
  for (const { path } of OBJECT_KINDS) {
    const unknown = await call('DELETE', `${path}?externalId=unknown`)
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'not-found'], path)
    const none = await call('DELETE', path)
    assert.deepEqual([none.status, none.body.errors[0].pointer], [422, '?externalId'], path)
  }
  const { calendarId } = await book(clock.in({ hours: 48 }), { externalId: 'A 1' })
  await save('/client', { firstName: 'Bo', lastName: 'Li', externalId: 'A 1' })
  const { etag } = (await call('GET', `/calendar/${calendarId}`)).headers
  const address = '/calendar?externalId=A%201'
  const stale = await call('DELETE', address, undefined, { 'if-match': '"x"' })
  assert.equal(stale.status, 412)
  const deleted = await call('DELETE', address, undefined, { 'if-match': String(etag) })
  assert.deepEqual(
    [deleted.status, deleted.body.calendarId, deleted.body.active],
    [200, calendarId, false],
  )
  assert.equal((await call('DELETE', address)).status, 200, 'again')
  assert.equal((await call('GET', '/client?externalId=A%201')).body.items.length, 1)
})
