import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import { insertAppointments, insertDueReminders } from '../support/due-reminders.ts'
import { startMailServer, type Behaviour } from '../support/mail-server.ts'
import { asOwner } from '../support/owner.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { account, countOpen } from './account.ts'
import { EMPTY_QUEUES_MS, isFull, proofSeed, randomFrom } from './random.ts'

/**
 * The service while its mail server or database is sick: when the first mail leaves afterwards, which
 * mails leave first, and how late they are. `npm run proof:outage` prints the figures of
 * docs/engine.md; `npm test` only has a short outage.
 */
const skip = !isFull && 'only in the full proof'
const OUTAGE_MS = isFull ? 600_000 : 3_000
const KEY = 'operator-key-of-this-proof-0123456789'

type Lifetime = Pick<TestContext, 'after'>

/** Postfix while its filter is away. */
const DEFERRING: Behaviour = {
  at: 'rcpt',
  act: { reply: '451 4.7.1 Service unavailable - try again later\r\n' },
  times: Infinity,
}

/** A mail server behind an address that refuses connections, is silent, or forwards them. */
async function startSickMailServer(t: Lifetime, behaviour: Behaviour = {}) {
  const server = await startMailServer(t, behaviour)
  const open = new Set<Socket>()
  let isSilent = false
  const front = createServer((near) => {
    open.add(near)
    near.on('close', () => open.delete(near)).on('error', () => {})
    if (isSilent) return
    const far = connect(server.port, server.host)
    far.on('error', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  const listen = async (port = 0) => {
    await once(front.listen(port, '127.0.0.1'), 'listening')
    return (front.address() as AddressInfo).port
  }
  const port = await listen()
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  const close = () => {
    front.close()
    cut()
  }
  cleanUpLater(t, close)
  return {
    url: `smtp://127.0.0.1:${port}`,
    taken: server.taken,
    fail: (how: 'refused' | 'silent') => {
      isSilent = how === 'silent'
      if (isSilent) cut()
      else close()
    },
    repair: async () => {
      server.behave()
      if (isSilent) cut()
      isSilent = false
      if (!front.listening) await listen(port)
    },
  }
}

async function startSending(
  t: Lifetime,
  smtpUrl: string,
  {
    env = {},
    through,
  }: { env?: Record<string, string>; through?(url: string): Promise<string> } = {},
) {
  const { database, url } = await cloneDatabase(t)
  const settings = {
    DATABASE_URL: through ? await through(url) : url,
    SMTP_URL: smtpUrl,
    ADMIN_API_KEY: KEY,
    LOG_LEVEL: 'error',
    ...env,
  }
  const service = await startService(t, settings)
  return { db: database.engine, database, url, service, settings }
}

/** Reminders of one business that are due from now on. */
async function remind(url: string, count: number, { inMs = 0, spreadMs = 1 } = {}) {
  const dueFrom = Temporal.Now.instant().add({ milliseconds: inMs })
  const [business] = await insertDueReminders(url, {
    businesses: 1,
    appointments: () => count,
    dueFrom: () => dueFrom,
    spreadMs,
  })
  return business!
}

const countWaiting = async (db: Db) =>
  (await db.query<{ count: number }>(sql`select count(*) from email_queue`))[0]!.count

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

type Course = { how: 'refused' | 'silent' | 'deferring'; isAsked?: boolean }

const COURSES: Course[] = [
  { how: 'refused' },
  ...(isFull
    ? ([
        { how: 'silent' },
        { how: 'deferring' },
        { how: 'refused', isAsked: true },
        { how: 'silent', isAsked: true },
      ] as const)
    : []),
]

test('after an outage the first mail leaves within 30 s, or at once if a person asks', async (t) => {
  await Promise.all(COURSES.map((course) => breakAndRepair(t, course)))
})

async function breakAndRepair(t: TestContext, { how, isAsked }: Course) {
  const server = await startSickMailServer(t, how === 'deferring' ? DEFERRING : {})
  const { db, service, url } = await startSending(t, server.url)
  if (how !== 'deferring') server.fail(how)
  const { businessId } = await remind(url, MAILS)
  const post = async (address: string, key: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(new URL(address, service.base), init)
    assert.ok(answer.ok, `${address}: ${answer.status}`)
    return (await answer.json()) as Record<string, string>
  }
  const { key } = await post(`/business/${businessId}/apiKey`, KEY, { name: 'proof' })
  await until(async () => (await countWaiting(db)) === MAILS)
  await sleep(OUTAGE_MS)
  await server.repair()
  const backAt = performance.now()
  if (isAsked) await post('/mail/retry', key!, {})
  // A probe of a silent server ends after 20 s.
  const limitMs = isAsked ? (how === 'refused' ? 10_000 : 25_000) : 35_000
  await until(() => server.taken.length > 0, 2 * limitMs)
  const tookMs = performance.now() - backAt
  const asked = isAsked ? ', and a person asked for a try' : ''
  t.diagnostic(`${how}${asked}: the first mail left ${seconds(tookMs)} after the server was back`)
  if (isFull) assert.ok(tookMs < limitMs)
  await until(() => server.taken.length === MAILS)
}

/** So many that a server that defers them asks for a pause. */
const MAILS = 6

test('after an outage urgent reminders leave before other mails', { skip }, async (t) => {
  const [others, urgent, usefulMs] = isFull ? [366, 5, 30_000] : [40, 2, 20_000]
  const server = await startSickMailServer(t, { pondering: isFull ? 2_000 : 100 })
  const { db, url } = await startSending(t, server.url)
  server.fail('refused')
  const business = await remind(url, others)
  await until(async () => (await countWaiting(db)) === others)
  await sleep(isFull ? 30_000 : 500)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const startAt = Temporal.Now.instant().add({ milliseconds: usefulMs + (isFull ? 30_000 : 5_000) })
  const dueFrom = startAt.subtract({ hours: 24 })
  await insertAppointments(client, business, { count: urgent, dueFrom, spreadMs: 1 })
  await client.end()
  await until(async () => (await countWaiting(db)) === others + urgent)
  await server.repair()
  const arrived = async () => {
    const [row] = await db.query<{ urgent: number; before: number; all: number }>(sql`
      select count(*) filter (where start_time < now() + interval '12 hours') as urgent,
             count(*) filter (where start_time < now() + interval '12 hours' and sent_time < start_time)
               as before,
             count(*) as all
      from email e join calendar c on (c.business_id, c.calendar_id) = (e.business_id, e.object_id)
      where e.status = 'SENT'`)
    return row!
  }
  await until(async () => (await arrived()).urgent === urgent, EMPTY_QUEUES_MS)
  const { before, all } = await arrived()
  t.diagnostic(
    `${before} of ${urgent} urgent reminders before their appointments, when ${all} of ${others + urgent} mails had left`,
  )
  assert.equal(before, urgent)
  if (isFull) assert.ok(all < others / 2)
})

for (const connections of isFull ? [5, 10, 20] : []) {
  test(`mails per second at 2 s a mail with SMTP_CONNECTIONS=${connections}`, async (t) => {
    const server = await startSickMailServer(t, { pondering: 2_000 })
    const { url } = await startSending(t, server.url, {
      env: { SMTP_CONNECTIONS: String(connections) },
    })
    await remind(url, 1_000)
    await until(() => server.taken.length > 0)
    const [before, since] = [server.taken.length, performance.now()]
    await sleep(20_000)
    const perSecond = ((server.taken.length - before) * 1_000) / (performance.now() - since)
    t.diagnostic(`SMTP_CONNECTIONS=${connections}: ${perSecond.toFixed(1)} mails a second`)
    assert.ok(perSecond > connections / 4)
  })
}

/** Puts a function of the same name before the database's own `clock_timestamp()`. */
async function makeSteppable({
  database,
  url,
}: Pick<Awaited<ReturnType<typeof cloneDatabase>>, 'database' | 'url'>) {
  const name = new URL(url).pathname.slice(1)
  await asOwner(
    database,
    'create schema stepped',
    'create table stepped.clock (ahead interval not null)',
    `insert into stepped.clock values ('0')`,
    `create function stepped.clock_timestamp() returns timestamptz language sql as
       'select pg_catalog.clock_timestamp() + ahead from stepped.clock'`,
    'grant usage on schema stepped to public',
    'grant select on stepped.clock to public',
    `alter database "${name}" set search_path = stepped, pg_catalog, public`,
  )
  return (ahead: string) => asOwner(database, `update stepped.clock set ahead = '${ahead}'`)
}

test('steps of the clock of the database leave no mail waiting', { skip }, async (t) => {
  const server = await startSickMailServer(t)
  const { database, url } = await cloneDatabase(t)
  const db = database.engine
  const step = await makeSteppable({ database, url })
  await startService(t, {
    DATABASE_URL: url,
    SMTP_URL: server.url,
    ADMIN_API_KEY: KEY,
    LOG_LEVEL: 'error',
  })
  const spreadMs = 60_000
  const beganAt = Date.now() + 3_000
  await remind(url, 345, { inMs: 3_000, spreadMs })
  await sleep(13_000)
  await step('30 s')
  await sleep(10_000)
  const inTime = server.taken.length
  await step('1 h')
  await sleep(8_000)
  await step('0')
  const backMs = Date.now() - beganAt
  await until(() => server.taken.length >= 345, spreadMs)
  const lastMs = Date.now() - beganAt
  t.diagnostic(
    `+30 s: ${inTime} of 345 mails had left after 20 s; an hour ahead for 8 s and back ${seconds(backMs)} after the ` +
      `first was due: the last of them ${seconds(lastMs)} after it, ${await countWaiting(db)} wait, ${await countOpen(db)} triggers are open`,
  )
  assert.equal(server.taken.length, 345)
  await until(async () => (await countOpen(db)) === 0)
})

test('kills every 6 to 8 s make no mail later than a lease and a start', { skip }, async (t) => {
  const server = await startSickMailServer(t)
  const started = await startSending(t, server.url)
  const { db, url, settings } = started
  let { service } = started
  await remind(url, 345, { inMs: 3_000, spreadMs: 60_000 })
  const random = randomFrom(proofSeed(t))
  let [kills, startMs] = [0, 0]
  const until70s = performance.now() + 70_000
  while (performance.now() < until70s) {
    await sleep(6_000 + random.below(2_000))
    process.kill(service.pid, 'SIGKILL')
    await service.ended
    service = await startService(t, settings)
    startMs = Math.max(startMs, service.startedInMs)
    kills += 1
  }
  await until(async () => (await countOpen(db)) === 0, EMPTY_QUEUES_MS)
  const [late] = await db.query<{ latest: number }>(sql`
    select max(extract(epoch from e.sent_time - t.scheduled_time))::float8 as latest
    from email e join event_trigger t on (t.business_id, t.event_trigger_id) = (e.business_id, e.event_trigger_id)`)
  const { faults } = await account(db)
  t.diagnostic(
    `${kills} kills, the slowest start ${seconds(startMs)}: the latest mail ${late!.latest.toFixed(1)} s late, ` +
      `${faults.length} faults`,
  )
  assert.deepEqual(faults, [])
  assert.ok(late!.latest * 1_000 < 15_000 + 2 * startMs)
})
