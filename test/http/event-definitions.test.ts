import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockPlans } from '../../src/store/event-definitions.ts'
import { until } from '../support/until.ts'
import { reminder, startWorld } from '../support/world.ts'

test('a plan that takes long goes on after its POST was answered, and its ETag is that of the definition', async (t) => {
  const { book, businessId, call, clock, db } = await startWorld(t)
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const { promise: hold, resolve: letGo } = Promise.withResolvers<void>()
  // A booking that does not end: the plan waits for it, the caller does not.
  const booking = db.transaction(async (tx) => {
    lockPlans(tx, businessId)
    await hold
  })

  try {
    const saved = await call('POST', '/eventDefinition', reminder(businessId, -24))
    assert.deepEqual([saved.status, saved.body.planning], [201, true])
    const { planning: _planning, ...definition } = saved.body
    const read = await call('GET', `/eventDefinition/${definition.eventDefnId}`)
    assert.deepEqual(read.body, definition)
    assert.equal(read.headers.etag, saved.headers.etag)
  } finally {
    letGo()
  }
  await booking
  const triggers = async () => (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  await until(async () => (await triggers()).length === 1)
})
