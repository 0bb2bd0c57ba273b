import assert from 'node:assert/strict'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { insertDueReminders } from '../support/due-reminders.ts'
import { cloneDatabase } from '../support/database.ts'
import { delayConnections } from '../support/delaying-proxy.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { EMPTY_QUEUES_MS, isFull } from './random.ts'

/**
 * Two real nodes reach the database through a proxy that delays every new connection. A mail server
 * records when each mail arrives. It uses the same clock as the database.
 */
const NODES = 2
const SHORT = 160
const MAILS = isFull ? 100_000 : SHORT
/** Few enough for a busy machine: a mail that waits in a queue cannot be early. */
const MAILS_PER_SECOND = isFull ? 250 : 40
const CONNECTION_DELAY_MS = 1_500
/** Longer than it takes to write the appointments of a business. */
const LEAD_SECONDS = isFull ? 30 : 5

test('no reminder is sent before its time, however long opening a connection takes', async (t) => {
  const { arrived, early } = await measure(t, MAILS)
  assert.equal(arrived, MAILS)
  assert.equal(early, 0)
})

/** On a busy machine mails are late by more than the faulty clock is early. See also `test/clock.test.ts`. */
const needsIdleMachine = { skip: !isFull && 'only in the full proof, on an idle machine' }

test(
  'a clock that assumes a symmetric round trip sends reminders early',
  needsIdleMachine,
  async (t) => {
    const { early } = await measure(t, SHORT, {
      NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'without-clock-bound.ts')}`,
    })
    assert.ok(early > 0)
  },
)

async function measure(t: TestContext, mails: number, environment: Record<string, string> = {}) {
  const { database, url } = await cloneDatabase(t)
  const server = await startMailServer(t)
  const settings = {
    DATABASE_URL: await delayConnections(t, url, CONNECTION_DELAY_MS),
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    ROLE: 'worker',
    ADMIN_API_KEY: 'operator-key-of-this-proof-0123456789',
    LOG_LEVEL: 'error',
    ...environment,
  }
  const nodes = await Promise.all(Array.from({ length: NODES }, () => startService(t, settings)))
  await insertDueReminders(url, {
    businesses: 4,
    appointments: () => mails / 4,
    dueFrom: () => Temporal.Now.instant().add({ seconds: LEAD_SECONDS }),
    spreadMs: (mails / MAILS_PER_SECOND) * 1_000,
  })
  const arrivedAt = new Map<string, number>()
  await until(
    () => {
      for (const { bytes, at } of server.taken.splice(0)) arrivedAt.set(messageIdOf(bytes), at)
      return arrivedAt.size >= mails
    },
    mails * 100 + EMPTY_QUEUES_MS,
  )
  await Promise.all(nodes.map((node) => node.stop()))
  const rows = await database.engine.query<{ messageId: string; dueAt: Temporal.Instant }>(sql`
    select e.message_id as "messageId", t.scheduled_time as "dueAt"
    from email e join event_trigger t using (business_id, event_trigger_id)`)
  const late = rows
    .map(({ messageId, dueAt }) => arrivedAt.get(messageId)! - dueAt.epochMilliseconds)
    .toSorted((a, b) => a - b)
  const early = late.filter((ms) => ms < 0).length
  const at = (share: number) => late[Math.floor((late.length - 1) * share)]
  t.diagnostic(
    `${NODES} nodes, new connections delayed by ${CONNECTION_DELAY_MS} ms: ${arrivedAt.size} mails, ` +
      `${early} early; ms after their time: min ${at(0)}, p50 ${at(0.5)}, p99 ${at(0.99)}`,
  )
  return { arrived: arrivedAt.size, early }
}

const messageIdOf = (bytes: string) => /^Message-ID: (\S+)/m.exec(bytes)![1]!
