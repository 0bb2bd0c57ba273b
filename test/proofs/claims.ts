import pg from 'pg'
import type { Db } from '../../src/database/database.ts'
import { toQuery } from '../../src/database/query.ts'
import { sql, type Sql } from '../../src/database/sql.ts'

/** When claims of triggers began, and how long they took. */
export type TimedClaims = { at: number; ms: number }[]

const asIs = (statement: Sql) => statement

/** Records the duration of each claim of triggers. `rewrite` may remove a guard from statements. */
export function timeClaims(db: Db, claims: TimedClaims, rewrite = asIs): Db {
  return {
    ...db,
    query: async (statement) => {
      const at = performance.now()
      const rows = await db.query(rewrite(statement))
      if (isClaim(statement)) claims.push({ at, ms: performance.now() - at })
      return rows as never
    },
  }
}

const isClaim = ({ text }: Sql) => text.includes('update pending_trigger q set worker')

/** The number of pages that a claim reads. It begins two seconds back, as claims of the engine do. */
export async function countPagesOfClaim(url: string, rewrite = asIs) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Uses the index, as the engine does: for few rows the planner may choose another plan.
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off')
  const now = Temporal.Now.instant()
  const claim = rewrite(sql`
    explain (analyze, buffers, format json)
    select event_trigger_id from pending_trigger
    where worker is null and next_attempt_time <= ${now}
      and next_attempt_time >= ${now.subtract({ seconds: 2 })}
    order by next_attempt_time limit 500`)
  const { rows } = await client.query(toQuery(claim))
  await client.end()
  const { Plan: plan } = rows[0]['QUERY PLAN'][0]
  return Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
}

export function percentilesOf(claims: TimedClaims) {
  const sorted = claims.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const at = (part: number) =>
    Math.round(sorted[Math.floor((sorted.length - 1) * part)]! * 100) / 100
  return { claims: sorted.length, p50: at(0.5), p99: at(0.99) }
}
