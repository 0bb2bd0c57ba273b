import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../src/database/postgres.ts'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { analyzeGrownTables } from '../../src/database/statistics.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'
import { until } from '../support/until.ts'

test('ANALYZE runs on tables that grew by half, and on no others', async (t) => {
  const { database, url } = await cloneDatabase(t)
  await fill(database, 'location', 500)
  await asOwner(database, 'analyze reason, location')
  await fill(database, 'reason', 300)
  await fill(database, 'location', 200)

  const analyzing = openDatabase({ url, connections: 1, analyzesGrownTables: true })
  cleanUpLater(t, () => analyzing.close())
  const analyzed = { location: 500, reason: 300 }
  await until(async () => (await countEstimatedRows(database)).reason === analyzed.reason)
  assert.deepEqual(await countEstimatedRows(database), analyzed)
})

test('values that were erased leave the statistics once a day', async (t) => {
  const { database, url } = await cloneDatabase(t)
  await fill(database, 'location', 3)
  await asOwner(database, 'analyze location')
  await asOwner(
    database,
    `update location set name = 'Erased'`,
    'select pg_stat_force_next_flush()',
    'select 1',
  )
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  cleanUpLater(t, () => pool.end())
  const readValues = async () => {
    const { rows } = await pool.query(`
      select most_common_vals::text as values from pg_stats
      where tablename = 'location' and attname = 'name'`)
    return rows[0].values
  }
  await analyzeGrownTables(pool)
  assert.equal(await readValues(), '{"one of many"}')
  await analyzeGrownTables(pool, '0 s')
  assert.equal(await readValues(), '{Erased}')
})

/** How many rows the planner assumes. */
async function countEstimatedRows({ engine }: Database) {
  const rows = await engine.query<{ name: string; rows: number }>(sql`
    select relname as name, reltuples::int as rows from pg_class
    where relname in ('reason', 'location')`)
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]))
}

/** The server counts the rows at once, and autovacuum does not analyze the table. */
const fill = (database: Database, table: string, count: number) =>
  asOwner(
    database,
    `alter table ${table} set (autovacuum_enabled = off)`,
    `insert into business (business_id, name, time_zone, created_date, created_user, modified_date, modified_user)
     values (1, 'B', 'UTC', now(), 'x', now(), 'x') on conflict do nothing`,
    `insert into ${table} (business_id, name, created_date, created_user, modified_date, modified_user)
     select 1, 'one of many', now(), 'SYSTEM', now(), 'SYSTEM' from generate_series(1, ${count})`,
    'select pg_stat_force_next_flush()',
    'select 1',
  )
