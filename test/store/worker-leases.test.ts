import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { claimDueTriggers, takeOverTriggers } from '../../src/store/trigger-queue.ts'
import { until } from '../support/until.ts'
import { reminder, startWorld } from '../support/world.ts'

test('a lane that takes something while it is looked at is not forgotten', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  const now = world.clock.now()
  const { engine } = world.database
  // One that was frozen: its lease ran out before it says that it takes something.
  const lane = {
    worker: 'frozen',
    now,
    leaseUntil: now.subtract({ hours: 1 }),
    limit: 1,
    maxAttempts: 1,
  }
  await engine.query(sql`
    insert into worker_lease (worker, lease_until, latest) values (${lane.worker}, ${lane.leaseUntil}, ${now})`)

  let taking: Promise<number> | undefined
  await engine.transaction(async (tx) => {
    await tx.query(sql`select pg_advisory_xact_lock(7)`)
    taking = takeOverTriggers(haltedBeforeLocking(engine), now)
    await until(async () => {
      const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted`
      return (await engine.query(waiting)).length > 0
    })
    assert.equal((await claimDueTriggers(engine, lane, undefined)).length, 1)
  })
  await taking
  await takeOverTriggers(engine, now)
  const free = await engine.query(sql`select from pending_trigger where worker is null`)
  assert.equal(free.length, 1, 'somebody takes it back')
})

/** Sees what there is, and locks the lanes when it may. */
const haltedBeforeLocking = (db: Db): Db => ({
  ...db,
  query: ({ text, values }) => {
    const halt = ' and pg_advisory_xact_lock(7) is not null for update skip locked'
    const halted = text.replace(' for update skip locked', halt)
    assert.notEqual(halted, text)
    return db.query({ text: halted, values })
  },
})
