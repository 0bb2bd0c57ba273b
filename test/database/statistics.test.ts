import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../src/database/postgres.ts'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
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
