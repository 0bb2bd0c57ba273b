import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTakeoverLoop, takeoverMs } from '../../src/automation/lease-loops.ts'
import { monotonicMs } from '../../src/clock.ts'
import { sql } from '../../src/database/sql.ts'
import { manualClock } from '../support/clock.ts'
import { cloneDatabase } from '../support/database.ts'

test('the takeover loop rests until the next lease ends, and takes it over then', async (t) => {
  const { database } = await cloneDatabase(t)
  const clock = manualClock()
  const leaseSeconds = 40
  const loop = createTakeoverLoop({ db: database.engine, now: () => clock.now(), leaseSeconds })
  await loop.runOnce()
  await database.engine.query(sql`
    insert into worker_lease (worker, lease_until) values ('dead', ${clock.in({ seconds: 1 })})`)
  await loop.runOnce()
  const began = monotonicMs()
  await loop.rest(new AbortController().signal)
  const restedMs = monotonicMs() - began
  assert.ok(restedMs >= 1_000 && restedMs < takeoverMs(leaseSeconds) - 1_000, `${restedMs}`)
  clock.advance({ seconds: 2 })
  await loop.runOnce()
  assert.deepEqual(await database.engine.query(sql`select from worker_lease`), [])
})
