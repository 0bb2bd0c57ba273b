import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { EMAIL_QUEUE } from '../../src/store/email-queue.ts'
import { deleteUnusedLeases, lockExpiredLeases } from '../../src/store/queue.ts'
import {
  claimDueTriggers,
  releaseTriggers,
  takeOverTriggers,
  TRIGGER_QUEUE,
} from '../../src/store/trigger-queue.ts'
import { until } from '../support/until.ts'
import { reminder, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** A trigger that has been due for two hours. */
async function makeDue(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 3 })
  return world
}

/** The claim of a worker that froze an hour ago, between reading the clock and sending the claim. */
const frozenClaim = ({ clock }: World) => ({
  worker: 'frozen',
  now: clock.now().subtract({ hours: 1, seconds: 10 }),
  leaseUntil: clock.now().subtract({ hours: 1 }),
  limit: 1,
})

const countFree = async ({ database }: World) =>
  (await database.engine.query(sql`select from pending_trigger where worker is null`)).length

const takeOver = ({ clock, database }: World, during = async () => {}) =>
  database.engine.transaction(async (tx) => {
    const expired = await lockExpiredLeases(tx, clock.now())
    await during()
    if (expired.length === 0) return
    await takeOverTriggers(tx, expired, { retrySeconds: 10, now: clock.now() })
    const workers = expired.map(({ worker }) => worker)
    await deleteUnusedLeases(tx, [TRIGGER_QUEUE, EMAIL_QUEUE], workers)
  })

test('a claim of a frozen worker during a takeover keeps its lease and is taken over next', async (t) => {
  const world = await makeDue(t)
  const { engine } = world.database
  const claim = frozenClaim(world)
  await engine.query(sql`insert into worker_lease values (${claim.worker}, ${claim.leaseUntil})`)
  let claiming: Promise<unknown[]> | undefined
  await takeOver(world, async () => {
    claiming = claimDueTriggers(engine, TRIGGER_QUEUE, claim)
    const isBlocked = sql`select from pg_locks where not granted`
    await until(async () => (await engine.query(isBlocked)).length > 0)
  })
  assert.equal((await claiming)?.length, 1)
  assert.equal(await countFree(world), 0)
  await takeOver(world)
  assert.equal(await countFree(world), 1)
  assert.deepEqual(await engine.query(sql`select from worker_lease`), [])
})

test('a worker releases all that it claimed, also if it never got the answer', async (t) => {
  const world = await makeDue(t)
  const { engine } = world.database
  await claimDueTriggers(engine, TRIGGER_QUEUE, frozenClaim(world))
  await releaseTriggers(engine, 'another')
  assert.equal(await countFree(world), 0)
  await releaseTriggers(engine, 'frozen')
  assert.equal(await countFree(world), 1)
})
