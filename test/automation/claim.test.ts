import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DueTriggers } from '../../src/automation/claim.ts'
import { Throttle } from '../../src/automation/throttle.ts'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

test('while one business is throttled, the others are claimed in turn', async (t) => {
  const world = await startWorld(t)
  const { clock } = world
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
  const due = claimingExcept(world, throttled.businessId)
  const claimed: (number | undefined)[] = []
  for (let i = 0; i < 5; i += 1) {
    const [trigger] = await due.claim(`w${i}`)
    claimed.push(trigger?.businessId)
  }
  const [a, b] = [long.businessId, short.businessId]
  assert.deepEqual(claimed, [a, b, a, a, undefined])
})

test('a throttled business gets reminders of what begins within an hour, the soonest first', async (t) => {
  const world = await startWorld(t)
  const { businessId, book, clock, save } = world
  await save('/eventDefinition', reminder(businessId, -24))
  const booked = new Map<number | null, number>()
  for (const minutes of [0, 1, 50, 40]) {
    const startsAt = clock.in(minutes === 1 ? { hours: 48 } : { hours: 24, minutes })
    booked.set((await book(startsAt)).calendarId, minutes)
  }
  const due = claimingExcept(world, businessId)
  const claimed: (number | undefined)[] = []
  const claim = async (times: number) => {
    for (let i = 0; i < times; i += 1) {
      const [trigger] = await due.claim(`w${i}`)
      claimed.push(trigger && booked.get(trigger.objectId))
      clock.advance({ seconds: 1 })
    }
  }
  clock.advance({ hours: 23 })
  await claim(2)
  clock.advance({ minutes: 59 })
  await claim(3)
  assert.deepEqual(claimed, [0, undefined, 40, 50, undefined])
})

/** One trigger at a time, while this business is throttled. */
function claimingExcept(
  { clock, database }: Awaited<ReturnType<typeof startWorld>>,
  businessId: number,
) {
  class FixedThrottle extends Throttle {
    override async listThrottled() {
      return new Set([businessId])
    }
  }
  return new DueTriggers({
    db: database.engine,
    now: () => clock.now(),
    leaseSeconds: 10,
    batchSize: 1,
    throttle: new FixedThrottle(database.engine),
  })
}
