import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reminder, startEngine, startWorld } from '../support/world.ts'

test('the overview counts the day, what waits and what came of the last one', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, save } = world
  await save('/eventDefinition', reminder(businessId, -2))
  await book(clock.in({ hours: 3 }))
  await book(clock.in({ hours: 30 }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()

  const { body } = await call('GET', '/overview')
  assert.equal(body.timeZone, 'Europe/Zurich')
  assert.equal(body.appointmentsToday, 1)
  assert.equal(body.activeDefinitions, 1)
  assert.equal(body.triggersWaiting, 1)
  assert.equal(body.triggersDueToday, 0)
  assert.equal(body.nextTriggerTime, clock.in({ hours: 27 }).epochMilliseconds)
  assert.deepEqual(body.triggersOfLastDay, { SKIPPED: 1 })
  assert.deepEqual(body.emailsOfLastDay, {})
})
