import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DueTriggers } from '../../src/automation/claim.ts'
import { Throttle } from '../../src/automation/throttle.ts'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

test('while one business is throttled, the others are claimed in turn', async (t) => {
  const world = await startWorld(t)
  const { clock, database } = world
  const [throttled, long, short] = [world, await addBusiness(world), await addBusiness(world)]
  for (const [{ businessId, book, save }, count] of [
    [throttled, 1],
    [long, 3],
    [short, 1],
  ] as const) {
    await save('/eventDefinition', reminder(businessId, -24))
    for (let i = 0; i < count; i += 1) await book(clock.in({ hours: 48 }))
  }
  clock.advance({ hours: 24 })
  class FixedThrottle extends Throttle {
    override async listThrottled() {
      return new Set([throttled.businessId])
    }
  }
  const due = new DueTriggers({
    db: database.engine,
    now: () => clock.now(),
    leaseSeconds: 10,
    batchSize: 1,
    throttle: new FixedThrottle(database.engine),
  })
  const claimed: (number | undefined)[] = []
  for (let i = 0; i < 5; i += 1) {
    const [trigger] = await due.claim(`w${i}`)
    claimed.push(trigger?.businessId)
  }
  const [a, b] = [long.businessId, short.businessId]
  assert.deepEqual(claimed, [a, b, a, a, undefined])
})
