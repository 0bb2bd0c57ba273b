import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { tryLines, type Line } from '../../src/scheduling/import.ts'
import { isLockAwaited } from '../support/locks.ts'
import { urlOf } from '../support/owner.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

test('a dry run that runs into a deadlock fails and names each refused line once', async (t) => {
  const { businessId, clock, database, db, ids, save } = await startWorld(t)
  const other = await save('/client', { firstName: 'Bo', lastName: 'Lee' })
  const rival = new pg.Client({ connectionString: await urlOf(database) })
  await rival.connect()
  const lock = (clientId: number) =>
    rival.query('select from client where client_id = $1 for update', [clientId])
  const change = (number: number, clientId: number): Line => ({
    number,
    body: { kind: 'client', clientId, phone: '+41 1' },
    bytes: 300_000, // a window of its own
  })
  let waiting: Promise<unknown> | undefined
  async function* lines() {
    yield [{ number: 1, body: { kind: 'unicorn' } }, change(2, ids.clientId)]
    // The server looks for deadlocks on behalf of the dry run only.
    await rival.query(`begin; set local deadlock_timeout = '10min'`)
    await lock(other.clientId)
    waiting = lock(ids.clientId)
    await until(() => isLockAwaited(db))
    yield [change(3, other.clientId)]
  }
  const refused: number[] = []
  try {
    const dryRun = tryLines(db, lines(), {
      businessId,
      user: 'key:test',
      now: clock.now,
      onRefused: (line) => void refused.push(line),
    })
    await assert.rejects(dryRun, { status: 503, message: /deadlock.*Try again/ })
    assert.deepEqual(refused, [1])
    await waiting
  } finally {
    await rival.end()
  }
})
