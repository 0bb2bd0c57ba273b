import assert from 'node:assert/strict'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { gatherCrowd } from '../support/crowd.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { asOwner } from '../support/owner.ts'
import { startService } from '../support/service.ts'
import { account, countOpen } from './account.ts'
import { isFull } from './random.ts'

/** Real processes on one database; one after the other is frozen past its lease and woken again. */
const NODES = 4
const DUE = isFull ? 50_000 : 4_000
const LEASE_SECONDS = 1
const FREEZES = isFull ? 20 : 2
const TAKEOVERS = isFull ? 10 : 1

test('four nodes, one frozen past its lease and woken again, fire everything once', async (t) => {
  const sums = await freezeInTurn(t)
  assert.deepEqual(sums.faults, [])
  assert.equal(sums.failed, 0)
  assert.equal(sums.mails, sums.triggers)
})

test('without its lease checked a node that wakes fires again what others have fired', async (t) => {
  const sums = await freezeInTurn(t, {
    NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'without-lease-check.ts')}`,
  })
  assert.notDeepEqual(sums.faults, [])
})

test('what a killed node held is done by another within 15 seconds', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const settings = {
    DATABASE_URL: url,
    ROLE: 'worker',
    ADMIN_API_KEY: 'operator-key-of-this-proof-0123456789',
    LOG_LEVEL: 'error',
  }
  let holder = await startService(t, settings)
  const took: number[] = []
  for (let kill = 0; kill < TAKEOVERS; kill += 1) {
    const dueFrom = Temporal.Now.instant().add({ seconds: 2 })
    const one = { businesses: 1, appointments: () => 1, dueFrom: () => dueFrom, spreadMs: 0 }
    await gatherCrowd(url, one)
    const release = (await stopAtNext(url))!
    const lease = () => leaseOf(database, release.calendarId)
    await until(async () => (await lease()) !== undefined)
    const other = await startService(t, settings)
    // Its lease has just been renewed, so it lasts for as long as it can.
    const before = await lease()
    await until(async () => (await lease()) !== before)
    process.kill(-holder.pid, 'SIGKILL')
    const killed = until(async () => (await countOpen(database.engine)) === 0)
    await holder.ended
    await release.go()
    took.push(Math.round(await killed))
    holder = other
  }
  const sums = await account(database.engine)
  t.diagnostic(`${TAKEOVERS} kills, taken over after ${took.join(', ')} ms`)
  assert.deepEqual(sums.faults, [])
  assert.equal(sums.mails, TAKEOVERS)
  assert.ok(Math.max(...took) < 15_000, `${took}`)
})

async function freezeInTurn(t: TestContext, environment: Record<string, string> = {}) {
  const { database, url } = await cloneDatabase(t)
  const isMutant = 'NODE_OPTIONS' in environment
  if (isMutant) {
    await asOwner(database, 'drop trigger final_states on event_trigger', 'drop index email_once')
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
  await gatherCrowd(url, {
    businesses: 4,
    appointments: () => DUE / 4,
    dueFrom: () => dueFrom,
    spreadMs: isFull ? 200_000 : 20_000,
  })
  let freezes = 0
  for (; freezes < FREEZES; freezes += 1) {
    const release = await stopAtNext(url)
    // On a slow machine all have come due before every node had its turn.
    if (!release) break
    const frozen = await freezeHolder(database, nodes, release.calendarId)
    // Only once another has taken it over: what the frozen node said before, its server goes on with.
    await sleep(LEASE_SECONDS * 1_000 + 1_000)
    await release.go()
    await sleep(1_000)
    process.kill(-frozen.pid, 'SIGCONT')
    await sleep(500)
  }
  await until(async () => (await countOpen(database.engine)) === 0, 600_000)
  await Promise.all(nodes.map((node) => node.stop()))
  const sums = await account(database.engine)
  t.diagnostic(
    `${NODES} nodes, ${freezes} freezes, ${sums.triggers} triggers, ${sums.mails} mails, ` +
      `${sums.faults.length} faults`,
  )
  return sums
}

/** Holds back the appointment of a trigger that is due next: whoever claims it stops before its work. */
async function stopAtNext(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  const { rows } = await client.query(`
    select c.calendar_id as id from calendar c join waiting t
      on (t.business_id, t.object_id) = (c.business_id, c.calendar_id)
    where t.scheduled_time > clock_timestamp() + interval '1 second'
    order by t.scheduled_time limit 1 for update of c`)
  const go = async () => {
    await client.query('rollback')
    await client.end()
  }
  if (rows.length === 0) return void (await go())
  return { calendarId: Number(rows[0].id), go }
}

/** The node whose lease on this appointment's trigger no longer moves once it is frozen. */
async function freezeHolder(database: Database, nodes: Node[], calendarId: number) {
  const lease = () => leaseOf(database, calendarId)
  await until(async () => (await lease()) !== undefined, 600_000)
  for (;;) {
    for (const node of nodes) {
      process.kill(-node.pid, 'SIGSTOP')
      const before = await lease()
      await sleep(LEASE_SECONDS * 600)
      if (before !== undefined && (await lease()) === before) return node
      process.kill(-node.pid, 'SIGCONT')
    }
  }
}

/** Until when somebody holds the appointment's trigger; nothing where nobody does. */
async function leaseOf({ engine }: Database, calendarId: number) {
  const [row] = await engine.query<{ until: Temporal.Instant | null }>(
    sql`select l.lease_until as until from waiting left join lane l using (worker)
        where object_id = ${calendarId}`,
  )
  return row?.until?.epochMilliseconds
}

type Node = { pid: number }
