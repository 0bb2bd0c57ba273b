import assert from 'node:assert/strict'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import {
  insertAppointments,
  insertDueReminders,
  type BusinessWithReminders,
} from '../support/due-reminders.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { asOwner } from '../support/owner.ts'
import { startService } from '../support/service.ts'
import { assertWithin } from '../support/within.ts'
import { account, countOpen } from './account.ts'
import { EMPTY_QUEUES_MS, isFull } from './random.ts'

/** Real processes on one database. Each in turn is frozen until its lease has expired, then resumed. */
const NODES = 4
const DUE = isFull ? 50_000 : 2_000
const LEASE_SECONDS = 1
const FREEZES = isFull ? 20 : 2
const MAX_FREEZES = 20
const TAKEOVERS = isFull ? 10 : 1

test('four nodes fire every trigger once while one is frozen past its lease and resumed', async (t) => {
  const sums = await freezeInTurn(t)
  assert.equal(sums.freezes, FREEZES)
  assert.deepEqual(sums.faults, [])
  assert.equal(sums.failed, 0)
  assert.equal(sums.mails, sums.triggers)
})

/** On a busy machine the others may be too slow to fire what the frozen node holds. */
const needsIdleMachine = { skip: !isFull && 'only in the full proof, on an idle machine' }

test(
  'without the lease check a resumed node fires triggers again that others have fired',
  needsIdleMachine,
  async (t) => {
    const sums = await freezeInTurn(t, {
      NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'without-lease-check.ts')}`,
    })
    assert.notDeepEqual(sums.faults, [])
  },
)

test('another node fires the trigger that a killed node had claimed', async (t) => {
  await killInTurn(t, { kills: TAKEOVERS, planned: 0 })
})

test('another node fires the trigger of a killed node while every node plans', async (t) => {
  await killInTurn(t, { kills: isFull ? 3 : 1, planned: isFull ? 100_000 : 100 })
})

/** Kills the node that has claimed a trigger. `planned`: objects that every node plans meanwhile. */
async function killInTurn(t: TestContext, { kills, planned }: { kills: number; planned: number }) {
  const { database, url } = await cloneDatabase(t)
  const settings = {
    DATABASE_URL: url,
    ROLE: 'worker',
    ADMIN_API_KEY: 'operator-key-of-this-proof-0123456789',
    LOG_LEVEL: 'error',
  }
  const [business, other] = await insertDueReminders(url, {
    businesses: 2,
    appointments: (index) => (index === 1 ? planned : 0),
    dueFrom: () => Temporal.Now.instant().add({ hours: 240 }),
    spreadMs: 0,
  })
  let holder = await startService(t, settings)
  const took: number[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    const plans = planned > 0 ? await startPlans(t, database, url, other!) : undefined
    const held = await holdOne(url, business!)
    const leaseUntil = async () => (await claimOf(database, held.calendarId))?.leaseUntil
    await until(async () => (await leaseUntil()) !== undefined)
    const next = await startService(t, settings)
    await plans?.untilOnEveryNode()
    // Kills it just after it renewed its lease, which is the worst case.
    const before = await leaseUntil()
    await until(async () => (await leaseUntil()) !== before)
    process.kill(-holder.pid, 'SIGKILL')
    const takenOver = until(async () => !(await isOpen(database, held.calendarId)), EMPTY_QUEUES_MS)
    await holder.ended
    await held.release()
    took.push(Math.round(await takenOver))
    await plans?.assertRunning()
    holder = next
  }
  const sums = await account(database.engine)
  t.diagnostic(`${kills} kills, taken over after ${took.join(', ')} ms`)
  assert.deepEqual(sums.faults, [])
  assert.ok(sums.mails >= kills)
  assertWithin(t, { what: 'slowest takeover', tookMs: Math.max(...took), limitMs: 15_000 })
}

/**
 * Lets every node plan a definition over all appointments of a business, until the test ends. If
 * those are few, a lock on one of them keeps the plans from being complete.
 */
async function startPlans(
  t: TestContext,
  database: Database,
  url: string,
  { businessId }: BusinessWithReminders,
) {
  const client = new pg.Client({ connectionString: url })
  // The database is dropped before this connection is closed.
  client.on('error', () => {})
  await client.connect()
  cleanUpLater(t, () => client.end())
  await client.query(
    `insert into event_definition (business_id, active, event_type_id, object_type, trigger_hours,
       version, planned_version, created_date, created_user, modified_date, modified_user)
     select $1, true, 3, 'CALENDAR', -n, 1, 0, now(), 'SYSTEM', now(), 'SYSTEM'
     from generate_series(1, 4) n`,
    [businessId],
  )
  if (!isFull) {
    await client.query('begin')
    await client.query('select from calendar where business_id = $1 for share', [businessId])
  }
  const untilOnEveryNode = () =>
    until(async () => {
      const leases = await database.engine.query(
        sql`select from work_lease where name like 'plan %' and lease_until > now()`,
      )
      return leases.length >= 2
    })
  const assertRunning = async () => {
    const unplanned = await database.engine.query(
      sql`select from event_definition where planned_version < version`,
    )
    assert.ok(unplanned.length > 0, 'the plans are still running')
  }
  return { untilOnEveryNode, assertRunning }
}

/** Whether the reminder of an appointment has not ended yet. */
async function isOpen({ engine }: Database, calendarId: number) {
  const rows = await engine.query(sql`
    select from any_trigger where object_id = ${calendarId} and status in ('SCHEDULED', 'RUNNING')`)
  return rows.length > 0
}

async function freezeInTurn(t: TestContext, environment: Record<string, string> = {}) {
  const { database, url } = await cloneDatabase(t)
  const isMutant = 'NODE_OPTIONS' in environment
  if (isMutant) {
    await asOwner(
      database,
      'drop trigger final_states on event_trigger',
      'drop index email_once',
      // An index for lookups that is not unique.
      'create index email_many on email (business_id, event_trigger_id, event_action_id)',
    )
  }
  const settings = {
    DATABASE_URL: url,
    ROLE: 'worker',
    LEASE_SECONDS: String(LEASE_SECONDS),
    ADMIN_API_KEY: 'operator-key-of-this-proof-0123456789',
    LOG_LEVEL: 'error',
    ...environment,
  }
  const nodes = await Promise.all(Array.from({ length: NODES }, () => startService(t, settings)))
  const dueFrom = Temporal.Now.instant().add({ seconds: 1 })
  const [business] = await insertDueReminders(url, {
    businesses: 4,
    appointments: () => DUE / 4,
    dueFrom: () => dueFrom,
    spreadMs: isFull ? 200_000 : 8_000,
  })
  let freezes = 0
  // Without the lease check a node doubles a mail only if it resumes before its database session ends.
  const isEnough = async () =>
    isMutant
      ? freezes >= MAX_FREEZES || (await account(database.engine)).faults.length > 0
      : freezes >= FREEZES
  for (; !(await isEnough()); freezes += 1) {
    // It needs work while a node is frozen, also on a machine that is slow to freeze it.
    if (isMutant && freezes > 0) await addWork(url, business!)
    const held = await holdOne(url, business!)
    const frozen = await freezeUntilTakenOver(database, nodes, held.calendarId)
    await held.release()
    process.kill(-frozen.pid, 'SIGCONT')
    await until(
      async () => (await claimOf(database, held.calendarId)) === undefined,
      EMPTY_QUEUES_MS,
    )
  }
  if (!isMutant) await until(async () => (await countOpen(database.engine)) === 0, EMPTY_QUEUES_MS)
  await Promise.all(nodes.map((node) => node.stop()))
  const sums = await account(database.engine)
  t.diagnostic(
    `${NODES} nodes, ${freezes} freezes, ${sums.triggers} triggers, ${sums.mails} mails, ` +
      `${sums.faults.length} faults`,
  )
  return { ...sums, freezes }
}

async function addWork(url: string, business: BusinessWithReminders) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const dueFrom = Temporal.Now.instant().add({ seconds: 1 })
  await insertAppointments(client, business, { count: 2_000, dueFrom, spreadMs: 8_000 })
  await client.end()
}

/** Books an appointment and locks it: the worker that claims its reminder stops before its work. */
async function holdOne(url: string, business: BusinessWithReminders) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // A machine too slow to lock the row before the reminder is due gets twice as long next time.
  for (let leadMs = 2_000; ; leadMs *= 2) {
    const dueFrom = Temporal.Now.instant().add({ milliseconds: leadMs })
    await insertAppointments(client, business, { count: 1, dueFrom, spreadMs: 0 })
    await client.query('begin')
    const { rows } = await client.query(
      `select calendar_id as id from calendar
       where business_id = $1 order by calendar_id desc limit 1 for update`,
      [business.businessId],
    )
    const calendarId = Number(rows[0].id)
    const unclaimed = await client.query(
      `select from pending_trigger where object_id = $1 and worker is null`,
      [calendarId],
    )
    const release = async () => {
      await client.query('rollback')
      await client.end()
    }
    if (unclaimed.rowCount === 1) return { calendarId, release }
    await client.query('rollback')
  }
}

/** Freezes the nodes in turn until another worker has taken over the trigger; returns the frozen node. */
async function freezeUntilTakenOver(database: Database, nodes: Node[], calendarId: number) {
  const claim = () => claimOf(database, calendarId)
  await until(async () => (await claim())?.worker != null, EMPTY_QUEUES_MS)
  for (;;) {
    for (const node of nodes) {
      process.kill(-node.pid, 'SIGSTOP')
      const before = await claim()
      let after = before
      await until(async () => {
        after = await claim()
        return after?.worker != null && after.leaseUntil !== before?.leaseUntil
      }, EMPTY_QUEUES_MS)
      if (after?.worker !== before?.worker) return node
      process.kill(-node.pid, 'SIGCONT')
    }
  }
}

/** The worker that claimed the appointment's trigger, and its lease; undefined if the trigger has ended. */
async function claimOf({ engine }: Database, calendarId: number) {
  const [row] = await engine.query<{ worker: string | null; until: Temporal.Instant | null }>(
    sql`select worker, l.lease_until as until from pending_trigger left join worker_lease l using (worker)
        where object_id = ${calendarId}`,
  )
  return row && { worker: row.worker, leaseUntil: row.until?.epochMilliseconds }
}

type Node = { pid: number }
