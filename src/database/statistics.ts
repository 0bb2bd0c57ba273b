import type pg from 'pg'
import { repeatEvery } from '../repeat.ts'

/**
 * Runs ANALYZE every second on tables that grew by half since their last one. With autovacuum alone,
 * plans for an empty table would be used for a minute: see docs/database.md, query plans.
 */
export const startAnalyzing = (pool: pg.Pool) =>
  repeatEvery(EVERY_MS, () => analyzeGrownTables(pool))

const EVERY_MS = 1_000

/** Runs as the login user, which owns the tables. Skips tables that another node is analyzing. */
export async function analyzeGrownTables(pool: pg.Pool) {
  const { rows } = await pool.query<{ name: string }>(GROWN_TABLES)
  for (const { name } of rows) await pool.query(`analyze (skip_locked) ${name}`)
}

const GROWN_TABLES = `
  select oid::regclass::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
    and pg_stat_get_live_tuples(oid) > 250 + 1.5 * greatest(reltuples, 0)`
