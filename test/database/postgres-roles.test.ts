import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'

const OPTIONS = '-c role=none -c jit=on -c timezone=Asia/Tokyo -c geqo=off'

const readSettings = sql`
  select current_user::text as "user", current_setting('jit') as jit,
         current_setting('timezone') as zone, current_setting('statement_timeout') as timeout,
         current_setting('geqo') as geqo`

for (const [name, read] of Object.entries({
  'a single statement': (db: Db) => db.query(readSettings),
  'a transaction': (db: Db) => db.transaction((tx) => tx.query(readSettings)),
  'an attempt': (db: Db) => db.attempt((tx) => tx.query(readSettings)),
  'a snapshot': (db: Db) => db.snapshot((tx) => tx.query(readSettings)),
  'a stream': async (db: Db) => (await Array.fromAsync(db.stream(readSettings, 10))).flat(),
})) {
  test(`${name} has its own role and settings, whatever the server and the URL say`, async (t) => {
    const { url } = await cloneDatabase(t)
    const address = new URL(url)
    address.searchParams.set('options', OPTIONS)
    const database = openDatabase({ url: address.href })
    cleanUpLater(t, () => database.close())

    for (const [db, user, timeout] of [
      [database.forBusiness(1, 'test'), 'bellwether_app', '10s'],
      [database.reportsOf(1), 'bellwether_app', '2min'],
      [database.engine, 'bellwether_engine', '10s'],
      [database.operator, 'bellwether_operator', '5s'],
    ] as const) {
      assert.deepEqual(await read(db), [{ user, jit: 'off', zone: 'UTC', timeout, geqo: 'off' }])
    }
  })
}

test('requests and the engine use indexes, and the engine uses generic plans', async (t) => {
  const { database } = await cloneDatabase(t)
  const planner = sql`
    select current_setting('plan_cache_mode') as mode, current_setting('enable_seqscan') as seqscan,
           current_setting('enable_hashjoin') as hashjoin`
  for (const [db, mode, isAllowed] of [
    [database.forBusiness(1, 'test'), 'auto', 'off'],
    [database.engine, 'force_generic_plan', 'off'],
    [database.reportsOf(1), 'auto', 'on'],
    [database.operator, 'auto', 'on'],
  ] as const) {
    assert.deepEqual(await db.query(planner), [{ mode, seqscan: isAllowed, hashjoin: isAllowed }])
  }
})
