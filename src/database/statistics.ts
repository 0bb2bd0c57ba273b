import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/**
 * Runs ANALYZE on tables that grew by half since their last one, every second. Autovacuum looks once a
 * minute: until then plans that were made for an empty table would serve thousands of new rows.
 * ANALYZE also discards the generic plans that use the table. See docs/database.md, query plans.
 */
export function startAnalyzing(pool: pg.Pool): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const analyze = async () => {
    while (!signal.aborted) {
      await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
      // A lost connection is in the log already, and the next run is soon.
      if (!signal.aborted) await analyzeGrownTables(pool).catch(() => {})
    }
  }
  const analyzing = analyze()
  return {
    stop: () => {
      stopping.abort()
      return analyzing
    },
  }
}

const EVERY_MS = 1_000

/** As the login user, who owns the tables. A table that another node analyzes now is skipped. */
export async function analyzeGrownTables(pool: pg.Pool) {
  const { rows } = await pool.query<{ name: string }>(GROWN_TABLES)
  for (const { name } of rows) await pool.query(`analyze (skip_locked) ${name}`)
}

const GROWN_TABLES = `
  select oid::regclass::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
    and pg_stat_get_live_tuples(oid) > 250 + 1.5 * greatest(reltuples, 0)`
