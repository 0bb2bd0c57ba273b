import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createEngine } from '../../src/automation/engine.ts'
import type { Database, Db } from '../../src/database/database.ts'
import { isTransient } from '../../src/database/postgres-errors.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { insertDueReminders } from '../support/due-reminders.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { rewriting, withoutFairShare } from './without-guards.ts'
import { EMPTY_QUEUES_MS, isFull } from './random.ts'
import { assertWithin } from '../support/within.ts'
import { capturing } from '../support/capturing-engine.ts'

/** All are due within one second. Nine of ten are of one business, and due before the others. */
const DUE = isFull ? 50_000 : 4_000
const BUSINESSES = 50
const MAX_LATE_MS = 5_000
/** A share of all triggers: businesses that wait for the burst fire last. */
const MAX_PLACE = 0.75

test('the burst of one business does not make the others late', async (t) => {
  const { late, place } = await fireBurst(t)
  assert.ok(place.others.p99 < place.all * MAX_PLACE, 'the others did not wait for the burst')
  assertWithin(t, { what: 'p99 of the others', tookMs: late.others.p99, limitMs: MAX_LATE_MS })
})

test('without the fair share, other businesses wait for the burst', async (t) => {
  const { place } = await fireBurst(t, rewriting(withoutFairShare))
  assert.ok(place.others.p99 > place.all * MAX_PLACE)
})

async function fireBurst(t: TestContext, rewrite = (statement: Sql) => statement) {
  const { database, url } = await cloneDatabase(t)
  const clock = { now: () => Temporal.Now.instant() }
  const dueAt = clock.now()
  const [burst] = await insertDueReminders(url, {
    businesses: BUSINESSES,
    appointments: (place) => Math.ceil(place === 0 ? DUE * 0.9 : (DUE * 0.1) / (BUSINESSES - 1)),
    // The burst is due in the first half of the second, the others in the second half.
    dueFrom: (place) => (place === 0 ? dueAt : dueAt.add({ milliseconds: 500 })),
    spreadMs: 500,
  })
  const late = { burst: [] as number[], others: [] as number[] }
  const places: number[] = []
  let ended = 0
  const errors: unknown[] = []
  const stopping = new AbortController()
  // Lateness counts from here, as if all triggers had come due in this second.
  const startedAt = Date.now()
  const engine = createEngine({
    database: { ...database, engine: rewritten(database.engine, rewrite) } satisfies Database,
    clock,
    ...capturing(),
    onError: (error) => {
      // On a busy machine a connection may be lost in a transaction; the engine tries again.
      if (isTransient(error)) return
      errors.push(error)
      stopping.abort()
    },
    onEnded: (endings) => {
      const ms = Date.now() - startedAt
      for (const { businessId } of endings) {
        ended += 1
        const isBurst = businessId === burst!.businessId
        late[isBurst ? 'burst' : 'others'].push(ms)
        if (!isBurst) places.push(ended)
      }
    },
  })
  const stopped = engine.run(stopping.signal)
  await until(
    async () => errors.length > 0 || (await openTriggers(database)) === 0,
    EMPTY_QUEUES_MS,
  )
  stopping.abort()
  await stopped
  assert.deepEqual(errors, [])
  const result = {
    late: { burst: percentiles(late.burst), others: percentiles(late.others) },
    place: { others: percentiles(places), all: ended },
  }
  t.diagnostic(`${DUE} due in one second, 90% of one business: ${JSON.stringify(result)}`)
  return result
}

function rewritten(db: Db, rewrite: (statement: Sql) => Sql): Db {
  return { ...db, query: (statement) => db.query(rewrite(statement)) }
}

const openTriggers = async (database: Database) =>
  (
    await database.engine.query<{ count: number }>(
      sql`select count(*) from any_trigger where status in ('SCHEDULED', 'RUNNING')`,
    )
  )[0]!.count

function percentiles(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)]!)
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}
