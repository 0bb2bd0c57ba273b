import type pg from 'pg'
import { repeatEvery } from '../repeat.ts'

/**
 * Runs ANALYZE every second on tables that grew by half since their last one. With autovacuum alone,
 * plans for an empty table would be used for a minute: see docs/database.md, query plans. A table that
 * changed at all is analyzed once a day, because its statistics may hold values that have been erased.
 */
export const startAnalyzing = (pool: pg.Pool) =>
  repeatEvery(EVERY_MS, () => analyzeGrownTables(pool))

const EVERY_MS = 1_000

const EVERY_CHANGE_AFTER = '1 day'

/** Runs as the login user, which owns the tables. Skips tables that another node is analyzing. */
export async function analyzeGrownTables(pool: pg.Pool, everyChangeAfter = EVERY_CHANGE_AFTER) {
  const { rows } = await pool.query<{ name: string }>(GROWN_TABLES, [everyChangeAfter])
  for (const { name } of rows) await pool.query(`analyze (skip_locked) ${name}`)
}

const GROWN_TABLES = `
  select oid::regclass::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
    and (pg_stat_get_live_tuples(oid) > 250 + 1.5 * greatest(reltuples, 0)
      or pg_stat_get_mod_since_analyze(oid) > 0 and now() - $1::interval > greatest(
           pg_stat_get_last_analyze_time(oid), pg_stat_get_last_autoanalyze_time(oid)))`
