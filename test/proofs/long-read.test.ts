import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { createEngine } from '../../src/automation/engine.ts'
import type { Database, Db } from '../../src/database/database.ts'
import { toQuery } from '../../src/database/query.ts'
import { isTransient } from '../../src/database/postgres-errors.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { insertDueReminders } from '../support/due-reminders.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { assertWithin } from '../support/within.ts'
import { isFull } from './random.ts'
import { rewriting, withoutClaimStart } from './without-guards.ts'
import { capturing } from '../support/capturing-engine.ts'

/**
 * While a transaction with an old snapshot is open, VACUUM cannot remove dead rows: every fired trigger
 * leaves a dead entry in the index of the queue. Claims must not scan them.
 */
const READ_SECONDS = isFull ? 600 : 8
const BASELINE_SECONDS = isFull ? 120 : 2
const PER_SECOND = isFull ? 200 : 100

test('a long read does not make claims slow', async (t) => {
  const { before, during } = await readWhileFiring(t)
  assertWithin(t, { what: 'p99 of a claim', tookMs: during.p99, limitMs: 2 * before.p99 })
  assert.ok(
    during.pages <= before.pages + MAX_MORE_PAGES,
    `${during.pages} pages against ${before.pages}`,
  )
})

/** On a busy machine there are too few claims to measure. */
const needsIdleMachine = { skip: !isFull && 'only in the full proof, on an idle machine' }

test(
  'a claim that reads the index from its first entry scans all dead entries',
  needsIdleMachine,
  async (t) => {
    const { before, during } = await readWhileFiring(t, rewriting(withoutClaimStart), 0.05)
    assert.ok(
      during.pages > before.pages + MAX_MORE_PAGES,
      `${during.pages} pages against ${before.pages}`,
    )
  },
)

const FOREVER_MS = 3_600_000

/** A claim begins two seconds back: a page for each trigger that fired since, and some more. */
const MAX_MORE_PAGES = 3 * PER_SECOND

async function readWhileFiring(t: TestContext, rewrite = (statement: Sql) => statement, share = 1) {
  const { database, url } = await cloneDatabase(t)
  const seconds = { baseline: BASELINE_SECONDS * share, read: READ_SECONDS * share }
  // Includes the time that inserting them takes.
  const total = seconds.baseline + seconds.read + 20
  const start = Temporal.Now.instant().add({ seconds: 3 })
  const errors: unknown[] = []
  let fired = 0
  /** Waits for as many triggers as fire in this time, however long a busy machine takes for them. */
  const fireFor = async (seconds: number) => {
    const wanted = fired + seconds * PER_SECOND
    await until(() => fired >= wanted || errors.length > 0, FOREVER_MS)
  }
  await insertDueReminders(url, {
    businesses: 5,
    appointments: () => Math.ceil((total * PER_SECOND) / 5),
    dueFrom: () => start,
    spreadMs: total * 1000,
  })
  const claims: { at: number; ms: number }[] = []
  const stopping = new AbortController()
  const engine = createEngine({
    database: {
      ...database,
      engine: timed(database.engine, rewrite, claims),
    } satisfies Database,
    clock: { now: () => Temporal.Now.instant() },
    ...capturing(),
    // On a busy machine a connection may be lost in a transaction; the engine tries again.
    onError: (error) => void (isTransient(error) || errors.push(error)),
    onEnded: (endings) => void (fired += endings.length),
  })
  const stopped = engine.run(stopping.signal)
  await fireFor(seconds.baseline)
  const readFrom = performance.now()
  const pagesBefore = await pagesOfClaim(url, rewrite)
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  await reader.query('begin isolation level repeatable read; select count(*) from email')
  await fireFor(seconds.read)
  const pagesDuring = await pagesOfClaim(url, rewrite)
  await reader.end()
  stopping.abort()
  await stopped
  assert.deepEqual(errors, [])
  const result = {
    before: { ...percentiles(claims.filter(({ at }) => at < readFrom)), pages: pagesBefore },
    during: { ...percentiles(claims.filter(({ at }) => at >= readFrom)), pages: pagesDuring },
  }
  t.diagnostic(
    `a read of ${seconds.read} s at ${PER_SECOND} triggers a second: ${JSON.stringify(result)}`,
  )
  return result
}

const isClaim = ({ text }: Sql) => text.includes('update pending_trigger q set worker')

function timed(db: Db, rewrite: (statement: Sql) => Sql, claims: { at: number; ms: number }[]): Db {
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

/** The number of pages that a claim reads. It begins two seconds back, as claims of the engine do. */
async function pagesOfClaim(url: string, rewrite: (statement: Sql) => Sql) {
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

function percentiles(values: { ms: number }[]) {
  const sorted = values.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const at = (part: number) =>
    Math.round(sorted[Math.floor((sorted.length - 1) * part)]! * 100) / 100
  return { claims: sorted.length, p50: at(0.5), p99: at(0.99) }
}
