import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { isTooSlow } from '../../src/database/postgres-errors.ts'
import { sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'
import { countLockWaits } from '../support/locks.ts'
import { until } from '../support/until.ts'

const LOCK = 4711

test('statements of a business that wait for a lock leave more than half of the connections to others', async (t) => {
  const { database, url } = await cloneDatabase(t, 5)
  const holder = await holdLock(url)
  const waiting = Array.from({ length: 20 }, () => takeLock(database))
  await until(async () => (await countLockWaits(database.operator)) >= 2)

  const [others] = await database.forBusiness(2, 'test').query<{ n: number }>(sql`select 1 as n`)
  assert.equal(others!.n, 1)
  // Three more are free at the same time.
  const three = [2, 3, 4].map((businessId) =>
    database.forBusiness(businessId, 'test').transaction((tx) => tx.query(sql`select 1`)),
  )
  await Promise.all(three)
  assert.equal(await countLockWaits(database.operator), 2)
  await holder.end()
  await Promise.all(waiting)
})

test('reads of a business keep half of the cores busy, or two connections, while it can still write', async (t) => {
  const { database, url } = await cloneDatabase(t, 30)
  const holder = await holdLock(url)
  const reading = Array.from({ length: 20 }, () => takeLock(database))
  const most = Math.max(2, Math.floor(availableParallelism() / 2))
  await until(async () => (await countLockWaits(database.operator)) >= most)
  const db = database.forBusiness(1, 'test')
  assert.equal((await db.transaction((tx) => tx.query(sql`select 1`))).length, 1)
  assert.equal(await countLockWaits(database.operator), most)
  await holder.end()
  await Promise.all(reading)
})

test('a request waits five seconds for a lock, not longer', async (t) => {
  const { database } = await cloneDatabase(t, 1)
  const [row] = await database
    .forBusiness(1, 'test')
    .query<{ limit: string }>(sql`select current_setting('lock_timeout') as limit`)
  assert.equal(row!.limit, '5s')
})

test('a statement that waited too long for a lock counts as too slow, and frees its connection', async (t) => {
  const { database, url } = await cloneDatabase(t, 1, { lock_timeout: '50ms' })
  const holder = await holdLock(url)
  await assert.rejects(takeLock(database), isTooSlow)
  await holder.end()
  await takeLock(database)
})

const takeLock = (database: Database) =>
  database.forBusiness(1, 'test').query(sql`select pg_advisory_xact_lock(${LOCK})`)

async function holdLock(url: string) {
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('select pg_advisory_lock($1)', [LOCK])
  return holder
}
