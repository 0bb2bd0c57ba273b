import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { analyzeGrownTables } from '../../src/store/objects.ts'
import { asOwner } from '../support/owner.ts'
import { until } from '../support/until.ts'
import { startEngine, startWorld } from '../support/world.ts'

test('the server is asked to look at tables that have grown, and at no others', async (t) => {
  const world = await startWorld(t)
  const { engine } = world.database
  await asOwner(world.database, 'analyze reason, location')
  const [location, reason] = await tables(world.database)
  await fill(world, 'reason', 2_000)
  await fill(world, 'location', 500)
  await analyzeGrownTables(engine)
  const grown = [location, { name: 'reason', rows: reason!.rows + 2_000 }]
  assert.deepEqual(await tables(world.database), grown)

  await fill(world, 'reason', 1_000)
  await analyzeGrownTables(engine)
  assert.deepEqual(await tables(world.database), grown, 'by less than half')
})

test('a node that runs does so by itself', async (t) => {
  const world = await startWorld(t)
  await fill(world, 'reason', 2_000)
  const stopping = new AbortController()
  const stopped = startEngine(world).run(stopping.signal)
  await until(async () => (await tables(world.database))[1]!.rows >= 2_000)
  stopping.abort()
  await stopped
})

/** How many rows the server believes they have. */
const tables = (database: Database) =>
  database.engine.query<{ name: string; rows: number }>(sql`
    select relname as name, reltuples::int as rows from pg_class
    where relname in ('reason', 'location') order by relname`)

type Filled = { database: Database; businessId: number }

/** The server counts it at once, and does not look at it by itself. */
const fill = ({ database, businessId }: Filled, table: string, count: number) =>
  asOwner(
    database,
    `alter table ${table} set (autovacuum_enabled = off)`,
    `insert into ${table} (business_id, name, created_date, created_user, modified_date, modified_user)
     select ${businessId}, 'one of many', now(), 'SYSTEM', now(), 'SYSTEM' from generate_series(1, ${count})`,
    'select pg_stat_force_next_flush()',
    'select 1',
  )
