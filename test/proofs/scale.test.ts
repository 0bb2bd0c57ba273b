import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { monthsBefore } from '../../src/clock.ts'
import { createEngine } from '../../src/automation/engine.ts'
import { cleanUp } from '../../src/cli/clean-up.ts'
import type { Database } from '../../src/database/database.ts'
import { isTransient } from '../../src/database/postgres-errors.ts'
import { capturing } from '../support/capturing-engine.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import {
  insertAppointments,
  insertDueReminders,
  type BusinessWithReminders,
} from '../support/due-reminders.ts'
import { until } from '../support/until.ts'
import { assertWithin } from '../support/within.ts'
import { countPagesOfClaim, percentilesOf, timeClaims, type TimedClaims } from './claims.ts'
import { isFull } from './random.ts'

/**
 * The size of the run: triggers that stay pending, and ended ones of two years. They are generated
 * without their appointments and mails; those that fire meanwhile have both.
 */
const PENDING = Number(process.env.PROOF_PENDING ?? (isFull ? 10_000_000 : 20_000))
const ENDED = Number(process.env.PROOF_ENDED ?? (isFull ? 100_000_000 : 24_000))
const MONTHS = 24
const BUSINESSES = 20
/** Connections that generate triggers and build indexes together. */
const CONNECTIONS = 4
const PER_SECOND = isFull ? 200 : 50
const BASELINE_SECONDS = isFull ? 60 : 2
/** How long reminders fall due: longer than the deletion takes, at 2,000 triggers a second. */
const DUE_SECONDS = isFull ? 600 + ENDED / MONTHS / 2_000 : 60
const BOOKED_PER_SECOND = 10_000
const FOREVER_MS = 3_600_000
/** Objects of generated triggers have higher ids than appointments. */
const FIRST_OBJECT = 1_000_000_000_000
/** A claim reads the pages of the triggers of the last two seconds, and more levels of a larger index. */
const MAX_MORE_PAGES = 3 * PER_SECOND

test('claims with many pending and ended triggers, and while a month is deleted, take no longer', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  cleanUpLater(t, () => client.end())
  const businesses = await insertDueReminders(url, {
    businesses: BUSINESSES,
    appointments: () => 0,
    dueFrom: () => Temporal.Now.instant(),
    spreadMs: 0,
  })
  let engine = startTimedEngine(t, database)
  const measure = async (work: () => Promise<unknown>) => {
    // What became due while it was booked is fired in larger claims, which take longer.
    await untilOnTime(client)
    engine.claims.length = 0
    await work()
    return { ...percentilesOf(engine.claims), pages: await countPagesOfClaim(url) }
  }
  await bookDue(client, businesses, 4 * BASELINE_SECONDS)
  const few = await measure(() => engine.fireFor(BASELINE_SECONDS))
  await engine.stop()
  const generated = await addMany({ client, url }, businesses)
  engine = startTimedEngine(t, database)
  const since = Temporal.Now.instant()
  await bookDue(client, businesses, DUE_SECONDS)
  const many = await measure(() => engine.fireFor(BASELINE_SECONDS))
  const deletion = { triggers: 0, seconds: 0 }
  const deleting = await measure(async () => {
    Object.assign(deletion, await deleteMonth(database, client))
    await engine.fireFor(1)
  })
  await untilOnTime(client)
  await engine.stop()

  const shown = {
    pending: PENDING,
    ended: ENDED,
    generated,
    deletion,
    claims: { few, many, deleting },
  }
  t.diagnostic(
    `${JSON.stringify(shown)}, late: ${JSON.stringify(await readLateness(client, since))}`,
  )
  assert.deepEqual(engine.errors, [])
  for (const { pages } of [many, deleting]) {
    assert.ok(pages <= few.pages + MAX_MORE_PAGES, `${pages} pages against ${few.pages}`)
  }
  const limitMs = 2 * few.p99 + 5
  assertWithin(t, { what: 'p99 of a claim with many triggers', tookMs: many.p99, limitMs })
  assertWithin(t, { what: 'p99 of a claim during deletion', tookMs: deleting.p99, limitMs })

  await client.query('drop index pending_trigger_due')
  const without = await countPagesOfClaim(url)
  assert.ok(without > few.pages + MAX_MORE_PAGES, `without the index it reads ${without} pages`)
})

/** Fires and captures mails until it is stopped. */
function startTimedEngine(t: TestContext, database: Database) {
  const claims: TimedClaims = []
  const errors: unknown[] = []
  let fired = 0
  const engine = createEngine({
    database: { ...database, engine: timeClaims(database.engine, claims) },
    clock: { now: () => Temporal.Now.instant() },
    ...capturing(),
    // On a busy machine a connection may be lost in a transaction; the engine tries again.
    onError: (error) => void (isTransient(error) || errors.push(error)),
    onEnded: (endings) => void (fired += endings.length),
  })
  const stopping = new AbortController()
  const stopped = engine.run(stopping.signal)
  const stop = async () => {
    stopping.abort()
    await stopped
  }
  cleanUpLater(t, stop)
  /** Waits for as many triggers as fire in this time, however long a busy machine takes for them. */
  const fireFor = async (seconds: number) => {
    const wanted = fired + seconds * PER_SECOND
    await until(() => fired >= wanted || errors.length > 0, FOREVER_MS)
    assert.deepEqual(errors, [])
  }
  return { claims, errors, fireFor, stop }
}

/** Books appointments whose reminders fall due as soon as all are booked, evenly and for so long. */
async function bookDue(client: pg.Client, businesses: BusinessWithReminders[], seconds: number) {
  const count = Math.ceil((seconds * PER_SECOND) / BUSINESSES)
  const bookingSeconds = 1 + Math.ceil((seconds * PER_SECOND) / BOOKED_PER_SECOND)
  const dueFrom = Temporal.Now.instant().add({ seconds: bookingSeconds })
  for (const business of businesses) {
    await insertAppointments(client, business, { count, dueFrom, spreadMs: seconds * 1_000 })
  }
  await client.query('analyze calendar, pending_trigger')
}

/**
 * Inserts reminders of the next months, and ended ones of the last two years. Returns how long that took
 * and how large the tables are, with their indexes.
 */
async function addMany(
  { client, url }: { client: pg.Client; url: string },
  businesses: BusinessWithReminders[],
) {
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000)
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    options: '-c maintenance_work_mem=1GB -c session_replication_role=replica',
  })
  const restore = await dropIndexesAndConstraints(client, ['pending_trigger', 'event_trigger'])
  // Taking ids one by one costs a quarter of an insert.
  await client.query('alter sequence event_trigger_event_trigger_id_seq cache 10000')
  await Promise.all(businesses.map((business) => insertMany(pool, business)))
  await client.query('alter sequence event_trigger_event_trigger_id_seq cache 1')
  const inserted = seconds()
  await restore(pool)
  const indexed = seconds()
  await pool.end()
  // As autovacuum has done to tables that grew for two years.
  await client.query('vacuum (analyze) pending_trigger, event_trigger')
  const { rows } = await client.query(`
    select pg_total_relation_size('pending_trigger') as pending, pg_total_relation_size('event_trigger') as ended`)
  return {
    seconds: { inserted, indexed, all: seconds() },
    pendingMb: Math.round(rows[0].pending / 1e6),
    endedMb: Math.round(rows[0].ended / 1e6),
  }
}

/**
 * Drops the constraints and indexes of these tables, except partial indexes that the generated rows are
 * not in. Returns what creates them again, in a fraction of the time that each row would take.
 */
async function dropIndexesAndConstraints(client: pg.Client, tables: string[]) {
  const { rows: indexes } = await client.query<{ drop: string; create: string }>(
    `select format('drop index if exists %s', indexrelid::regclass) as drop,
            pg_get_indexdef(indexrelid) as create
     from pg_index
     where indrelid = any ($1::regclass[])
       and (indpred is null or indexrelid = 'event_trigger_once_per_anchor'::regclass)`,
    [tables],
  )
  const { rows: constraints } = await client.query<{ drop: string; create: string }>(
    `select format('alter table %s ', conrelid::regclass) ||
              string_agg(format('drop constraint %I', conname), ', ') as drop,
            format('alter table %s ', conrelid::regclass) ||
              string_agg(format('add constraint %I ', conname) ||
                case contype when 'p' then format('primary key using index %I', conname)
                             else pg_get_constraintdef(oid) end, ', ') as create
     from pg_constraint where conrelid = any ($1::regclass[]) and contype <> 'n'
     group by conrelid`,
    [tables],
  )
  for (const { drop } of [...constraints, ...indexes]) await client.query(drop)
  return async (pool: pg.Pool) => {
    await Promise.all(indexes.map(({ create }) => pool.query(create)))
    await Promise.all(constraints.map(({ create }) => pool.query(create)))
  }
}

async function insertMany(pool: pg.Pool, business: BusinessWithReminders) {
  const now = Temporal.Now.instant()
  await insertTriggers(pool, business, {
    table: 'pending_trigger',
    count: PENDING / BUSINESSES,
    from: now.add({ hours: 30 * 24 }),
    to: now.add({ hours: 330 * 24 }),
    more: { next_attempt_time: 'due' },
  })
  await insertTriggers(pool, business, {
    table: 'event_trigger',
    count: ENDED / BUSINESSES,
    from: monthsBefore(now, MONTHS),
    to: now.subtract({ hours: 24 }),
    more: { status: `'COMPLETED'`, completed_time: 'due', modified_date: 'due' },
  })
}

type Generated = {
  table: string
  count: number
  from: Temporal.Instant
  to: Temporal.Instant
  /** Other columns with their expressions; `due` is the scheduled time. */
  more: Record<string, string>
}

const insertTriggers = (
  pool: pg.Pool,
  { businessId, eventDefnId }: BusinessWithReminders,
  { table, count, from, to, more }: Generated,
) =>
  pool.query(
    `insert into ${table} (business_id, event_defn_id, defn_version, object_type, object_id,
       anchor_time, scheduled_time, created_date, ${Object.keys(more)})
     select $1, $2, 1, 'CALENDAR', $3::bigint + n, due + interval '1 day', due, now(), ${Object.values(more)}
     from generate_series(1, $4::int) n,
          lateral (select $5::timestamptz + n * (($6::timestamptz - $5) / $4) as due) d`,
    [businessId, eventDefnId, FIRST_OBJECT, count, from.toString(), to.toString()],
  )

/** Deletes the first month as RETENTION_MONTHS does. All of it is deleted, and nothing else. */
async function deleteMonth(database: Database, client: pg.Client) {
  const now = Temporal.Now.instant()
  const before = monthsBefore(now, MONTHS - 1)
  const month = await countGenerated(client, before)
  assert.ok(month > 0)
  const startedAt = performance.now()
  const { triggers } = await cleanUp(
    database,
    { bodyRetentionDays: 45, retentionMonths: MONTHS - 1 },
    now,
  )
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  assert.equal(triggers, month)
  assert.equal(await countGenerated(client, now), ENDED - month)
  return { triggers, seconds }
}

/** How many ended triggers there are whose appointments were before this time. */
async function countGenerated(client: pg.Client, before: Temporal.Instant) {
  const { rows } = await client.query(
    'select count(*)::int as count from event_trigger where object_id > $1::bigint and anchor_time < $2',
    [FIRST_OBJECT, before.toString()],
  )
  return rows[0].count as number
}

const untilOnTime = (client: pg.Client) =>
  until(async () => (await countOverdue(client)) === 0, FOREVER_MS)

async function countOverdue(client: pg.Client) {
  const { rows } = await client.query(`
    select count(*)::int as count from pending_trigger
    where next_attempt_time < now() - interval '2 seconds'`)
  return rows[0].count as number
}

/** How late the reminders were that fell due after this time. */
async function readLateness(client: pg.Client, since: Temporal.Instant) {
  const { rows } = await client.query(
    `select count(*)::int as fired, round(extract(epoch from max(late)) * 1000)::int as max,
            round(extract(epoch from percentile_cont(0.5) within group (order by late)) * 1000)::int as p50,
            round(extract(epoch from percentile_cont(0.99) within group (order by late)) * 1000)::int as p99
     from (select completed_time - scheduled_time as late from event_trigger
           where object_id < $1::bigint and status = 'COMPLETED' and scheduled_time > $2) t`,
    [FIRST_OBJECT, since.toString()],
  )
  return rows[0]
}
