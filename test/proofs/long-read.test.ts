import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { createEngine } from '../../src/automation/engine.ts'
import type { Database } from '../../src/database/database.ts'
import { isTransient } from '../../src/database/postgres-errors.ts'
import type { Sql } from '../../src/database/sql.ts'
import { insertDueReminders } from '../support/due-reminders.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { assertWithin } from '../support/within.ts'
import { countPagesOfClaim, percentilesOf, timeClaims, type TimedClaims } from './claims.ts'
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
  const claims: TimedClaims = []
  const stopping = new AbortController()
  const engine = createEngine({
    database: {
      ...database,
      engine: timeClaims(database.engine, claims, rewrite),
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
  const pagesBefore = await countPagesOfClaim(url, rewrite)
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  await reader.query('begin isolation level repeatable read; select count(*) from email')
  await fireFor(seconds.read)
  const pagesDuring = await countPagesOfClaim(url, rewrite)
  await reader.end()
  stopping.abort()
  await stopped
  assert.deepEqual(errors, [])
  const result = {
    before: { ...percentilesOf(claims.filter(({ at }) => at < readFrom)), pages: pagesBefore },
    during: { ...percentilesOf(claims.filter(({ at }) => at >= readFrom)), pages: pagesDuring },
  }
  t.diagnostic(
    `a read of ${seconds.read} s at ${PER_SECOND} triggers a second: ${JSON.stringify(result)}`,
  )
  return result
}
