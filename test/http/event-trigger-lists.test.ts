import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** Anna's reminder was due but had no action; Bruno's, at another location, is pending. */
async function startWithTwo(t: TestContext) {
  const world = await startWorld(t)
  const { book, businessId, clock, save } = world
  const bruno = await save('/client', { firstName: 'Bruno', lastName: 'O’Brien' })
  const harbour = await save('/location', { name: 'Harbour' })
  await save('/eventDefinition', { ...reminder(businessId, -2), description: 'two hours before' })
  const first = await book(clock.in({ hours: 3 }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()
  const second = await book(clock.in({ hours: 5 }), {
    clientId: bruno.clientId,
    locationId: harbour.locationId,
  })
  const list = async (query: string) =>
    (await world.call('GET', `/eventTriggers?${query}`)).body.items.map(
      (one: { objectId: number }) => one.objectId,
    )
  return { ...world, bruno, harbour, first, second, list }
}

test('triggers are filtered by several statuses, client, location and words', async (t) => {
  const { bruno, first, harbour, ids, list, second } = await startWithTwo(t)
  const [skipped, pending] = [first.calendarId, second.calendarId]
  assert.deepEqual(await list('status=SKIPPED,SCHEDULED'), [skipped, pending])
  assert.deepEqual(await list('status=SKIPPED'), [skipped])
  assert.deepEqual(await list('status=RUNNING,FAILED'), [])
  assert.deepEqual(await list(`clientId=${bruno.clientId}`), [pending])
  assert.deepEqual(await list(`clientId=${ids.clientId}`), [skipped])
  assert.deepEqual(await list(`locationId=${harbour.locationId}`), [pending])
  assert.deepEqual(await list('text=bru'), [pending])
  assert.deepEqual(await list('text=mull%20ann'), [skipped])
  assert.deepEqual(await list('text=anna%20brien'), [])
  assert.deepEqual(await list('text=%25'), [])
})

test('the newest triggers come first on request, in pages', async (t) => {
  const { call, first, list, second } = await startWithTwo(t)
  assert.deepEqual(await list('order=newest'), [second.calendarId, first.calendarId])
  const { body: page } = await call('GET', '/eventTriggers?order=newest&limit=1')
  assert.equal(page.items[0].objectId, second.calendarId)
  assert.deepEqual(await list(`order=newest&limit=1&cursor=${page.nextCursor}`), [first.calendarId])
})

test('triggers are counted by status with the same filters', async (t) => {
  const { bruno, call } = await startWithTwo(t)
  const counts = async (query: string) => (await call('GET', `/eventTriggers/counts${query}`)).body
  assert.deepEqual(await counts(''), { SKIPPED: 1, SCHEDULED: 1 })
  assert.deepEqual(await counts(`?clientId=${bruno.clientId}`), { SCHEDULED: 1 })
  assert.deepEqual(await counts('?status=SKIPPED,FAILED'), { SKIPPED: 1 })
})

test('a status that does not exist is refused', async (t) => {
  const { call } = await startWithTwo(t)
  const { status, body } = await call('GET', '/eventTriggers?status=SKIPPED,GONE')
  assert.equal(status, 422)
  assert.equal(body.errors[0].pointer, '?status')
})
