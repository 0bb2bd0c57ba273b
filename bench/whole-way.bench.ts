import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import nodemailer from 'nodemailer'
import pg from 'pg'
import { SettingsCache } from '../src/store/settings.ts'
import { createEngine } from '../src/automation/engine.ts'
import { DatabaseClock, monotonicMs } from '../src/clock.ts'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import { sql, type Sql } from '../src/database/sql.ts'
import { SmtpMailer } from '../src/email/smtp.ts'
import { debianPrograms, startInstalledServer } from '../test/support/installed-server.ts'

/**
 * End to end: due triggers become mails, the server accepts them, and its 250 is stored, on a database
 * that syncs every commit. Compared with nodemailer's pool alone, which stores nothing: the same
 * message, the same server in another process, the same connections, in turn.
 *
 *   node bench/whole-way.bench.ts            against nodemailer's pool
 *   node bench/whole-way.bench.ts two        two senders against one, the server answers after 20 ms
 *   node bench/whole-way.bench.ts debian     Debian's PostgreSQL with its defaults against the embedded one
 *   node bench/whole-way.bench.ts memory [n] the memory of one sender over n mails (100,000)
 */
const CONNECTIONS = 5
const ROUNDS = Number(process.env.ROUNDS ?? 5)
const MAILS = Number(process.env.MAILS ?? 4_000)
/** How long before they are due the triggers are written. */
const AHEAD_MS = Number(process.env.AHEAD_MS ?? 4_000)

const body =
  '<p>Dear %CLIENT_FULLNAME%, we look forward to seeing you — on %APPT_DATE_TIME%.</p>\n'.repeat(20)

if (process.argv[2] === 'sender') {
  const [url, port] = process.argv.slice(3) as [string, string]
  await runSender(url, Number(port))
} else {
  const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-bench-'))
  const embedded = await openEmbedded(path.join(folder, 'data'), 'command')
  try {
    await migrate(embedded.url)
    const world = { ...(await prepare(embedded.url)), data: path.join(folder, 'data/postgres') }
    if (process.argv[2] === 'memory') await watchMemory(world, Number(process.argv[3] ?? 100_000))
    else if (process.argv[2] === 'two') await compareTwo(world)
    else if (process.argv[2] === 'debian') await compareDebian(world)
    else await comparePool(world)
  } finally {
    await embedded.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  process.exit()
}

type World = Awaited<ReturnType<typeof prepare>> & { data: string }

/** The sender keeps running, like a node and like the pool's process. */
async function comparePool(world: World) {
  const fast = await startSink(0)
  const sender = await startSender(world.url, fast.port)
  sender.go()
  const spent: [number, number][] = []
  const pooled: number[] = []
  const cpu = () => cpuMs(world.data, sender.pid)
  await compare(
    'from due trigger to 250, against nodemailer’s pool alone',
    1,
    () => sendPool(fast.port, 1_000, pooled),
    () => sendWholeWay(world, MAILS, cpu, spent),
  )
  const [server, node] = [0, 1].map((side) => median(spent.map((each) => each[side]!)).toFixed(2))
  const pool = median(pooled).toFixed(2)
  console.log(`CPU of a mail: ${pool} ms; ${server} ms in PostgreSQL and ${node} ms in Node`)
  await sender.stop()
  fast.stop()
}

async function compareTwo(world: World) {
  const slow = await startSink(20)
  const withSenders = async (senders: number, mails: number) => {
    const processes = await Promise.all(
      Array.from({ length: senders }, () => startSender(world.url, slow.port)),
    )
    for (const sender of processes) sender.go()
    const rate = await sendWholeWay(world, mails)
    await Promise.all(processes.map((sender) => sender.stop()))
    return rate
  }
  await compare(
    'the server answers after 20 ms: two senders against one',
    1.6,
    () => withSenders(1, 600),
    () => withSenders(2, 1_200),
  )
  slow.stop()
}

/** Debian's package with its default settings, including JIT; it must be installed. */
async function compareDebian(embedded: World) {
  const debian = await startInstalledServer(debianPrograms()!)
  try {
    await migrate(debian.superuserUrl)
    const world = { ...(await prepare(debian.superuserUrl)), data: debian.data }
    const sink = await startSink(0)
    const senders = [
      await startSender(embedded.url, sink.port),
      await startSender(world.url, sink.port),
    ]
    for (const sender of senders) sender.go()
    const spent: [number, number][][] = [[], []]
    const sendOn = (place: World, i: number) =>
      sendWholeWay(place, MAILS, () => cpuMs(place.data, senders[i]!.pid), spent[i])
    await compare(
      'from due trigger to 250, Debian’s server against the embedded one',
      0.8,
      () => sendOn(embedded, 0),
      () => sendOn(world, 1),
    )
    const [a, b] = spent.map((each) => median(each.map(([server]) => server)).toFixed(2))
    console.log(`CPU of a mail in PostgreSQL: ${a} ms embedded, ${b} ms in Debian’s`)
    await Promise.all(senders.map((sender) => sender.stop()))
    sink.stop()
    await world.close()
  } finally {
    await debian.stop()
  }
}

async function compare(
  name: string,
  wanted: number,
  base: () => Promise<number>,
  ours: () => Promise<number>,
) {
  await base()
  await ours()
  const rates: [number, number][] = []
  for (let round = 0; round < ROUNDS; round++) rates.push([await base(), await ours()])
  const ratio = median(rates.map(([a, b]) => b / a))
  const [a, b] = [0, 1].map((side) => Math.round(median(rates.map((pair) => pair[side]!))))
  console.log(`${name}: ${a}/s against ${b}/s, ${ratio.toFixed(2)} times (wanted ${wanted})`)
  if (ratio < wanted) process.exitCode = 1
}

function median(values: number[]) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

async function sendPool(port: number, mails: number, spent: number[] = []) {
  const pool = nodemailer.createTransport({
    pool: true,
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    maxConnections: CONNECTIONS,
    maxMessages: 1_000,
  })
  const html = body
    .replaceAll('%CLIENT_FULLNAME%', 'Ada Okafor')
    .replaceAll('%APPT_DATE_TIME%', 'Tuesday, 3 November 2026 at 14:30')
  const text = html.replace(/<[^>]*>/g, '')
  const [begun, before] = [performance.now(), process.cpuUsage()]
  let next = 0
  const sendNext = async () => {
    while (next < mails) {
      next++
      await pool.sendMail({
        from: 'Harbour Clinic <hello@harbour.example>',
        to: 'Ada Okafor <ada@example.org>',
        subject: 'See you soon',
        text,
        html,
      })
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS * 2 }, sendNext))
  const rate = (mails / (performance.now() - begun)) * 1000
  pool.close()
  const { user, system } = process.cpuUsage(before)
  spent.push((user + system) / 1000 / mails)
  return rate
}

/** Mails per second, from the time when they are due until the last trigger is COMPLETED. */
async function sendWholeWay(
  world: World,
  mails: number,
  cpu: () => [number, number] = () => [0, 0],
  spent: [number, number][] = [],
) {
  const { last, inMs } = await world.makeDue(mails, AHEAD_MS)
  if (inMs < 0) throw new Error('the triggers were due before all of them were written')
  await sleep(inMs)
  const [begun, [server, node]] = [performance.now(), cpu()]
  await world.untilDone(last)
  const rate = (mails / (performance.now() - begun)) * 1000
  const [serverNow, nodeNow] = cpu()
  spent.push([(serverNow - server) / mails, (nodeNow - node) / mails])
  return rate
}

/** CPU milliseconds of the PostgreSQL processes, and of the sender. */
function cpuMs(data: string, sender: number): [number, number] {
  const [postmaster] = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')
  let [server, node] = [0, 0]
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
      const ticks = Number(fields[11]) + Number(fields[12])
      if (fields[1] === postmaster) server += ticks
      if (Number(name) === sender) node += ticks
    } catch {
      // The process has just ended.
    }
  }
  return [server * 10, node * 10]
}

async function watchMemory(world: World, mails: number) {
  const { port, stop } = await startSink(0)
  const sender = await startSender(world.url, port)
  sender.go()
  const part = mails / 5
  for (let sent = part; sent <= mails; sent += part) {
    const { last } = await world.makeDue(part, 0)
    await world.untilDone(last)
    console.log(`${sent.toLocaleString('en')} mails: ${await sender.memory()}`)
  }
  await sender.stop()
  stop()
}

async function startSender(url: string, port: number) {
  const words = ['--expose-gc', import.meta.filename, 'sender', url, String(port)]
  const sender = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: sender.stdout })
  await once(lines, 'line')
  const memory = async () => {
    sender.stdin.write('memory\n')
    const [text] = (await once(lines, 'line')) as [string]
    return text
  }
  const stop = async () => {
    sender.stdin.end()
    await once(sender, 'exit')
  }
  return { pid: sender.pid!, go: () => sender.stdin.write('go\n'), memory, stop }
}

/** An engine as the service runs it, in its own process. */
async function runSender(url: string, port: number) {
  const onError = (error: unknown) => console.error(error)
  const database = openDatabase({
    url,
    onError,
    heartbeat: { onUpgrade: () => {} },
    analyzesGrownTables: true,
  })
  const clock = new DatabaseClock()
  await clock.read(() => database.readTime())
  const server = { host: '127.0.0.1', port, secure: false, requireTls: false }
  const mailer = new SmtpMailer(
    { ...server, user: null, password: null },
    { connections: CONNECTIONS, maxMailsPerConnection: 1_000 },
  )
  const engine = createEngine({
    database,
    settings: new SettingsCache(),
    clock,
    random: randomBytes,
    leaseSeconds: 10,
    mailer,
    captures: false,
    mailFrom: { name: 'Harbour Clinic', address: 'hello@harbour.example' },
    host: 'mail.harbour.example',
    calendarLink: () => null,
    unsubscribeLink: () => null,
    onError,
  })
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const lines = createInterface({ input: process.stdin })
  console.log('ready')
  for await (const line of lines) {
    if (line === 'go') running = engine.run(stopping.signal)
    else {
      globalThis.gc?.()
      const { rss, heapUsed } = process.memoryUsage()
      console.log(`${Math.round(rss / 2 ** 20)} MB, heap ${Math.round(heapUsed / 2 ** 20)} MB`)
    }
  }
  stopping.abort()
  await running
  await mailer.close()
  await database.close()
  process.exit()
}

/** A business with an automation, and appointments whose reminders can be made due at once. */
async function prepare(url: string) {
  const database = openDatabase({ url, connections: 2 })
  const owner = new pg.Pool({ connectionString: url, max: 1 })
  owner.on('error', () => {})
  const who = sql`now(), 'SYSTEM', now(), 'SYSTEM'`
  const stamps = sql`created_date, created_user, modified_date, modified_user`
  const [made] = await database.operator.query<{ businessId: number }>(sql`
    insert into business (name, time_zone, ${stamps})
    values ('Harbour Clinic', 'Europe/Zurich', ${who}) returning business_id as "businessId"`)
  const { businessId } = made!
  const db = database.forBusiness(businessId, 'SYSTEM')
  await db.query(sql`
    insert into location (business_id, location_id, name, ${stamps})
    values (${businessId}, 1, 'Old Town', ${who})`)
  await db.query(sql`
    insert into professional (business_id, professional_id, first_name, last_name, ${stamps})
    values (${businessId}, 1, 'Elena', 'García', ${who})`)
  await db.query(sql`
    insert into reason (business_id, reason_id, name, ${stamps})
    values (${businessId}, 1, 'Consultation', ${who})`)
  await db.query(sql`
    insert into client (business_id, client_id, first_name, last_name, email_address, ${stamps})
    values (${businessId}, 1, 'Ada', 'Okafor', 'ada@example.org', ${who})`)
  await db.query(sql`
    insert into email_template (business_id, email_template_id, template_name, subject, email_body, ${stamps})
    values (${businessId}, 1, 'Reminder', 'See you soon', ${body}, ${who})`)
  await db.query(sql`
    insert into event_definition (business_id, event_defn_id, active, event_type_id, object_type,
                                  trigger_hours, trigger_minutes, version, planned_version, ${stamps})
    values (${businessId}, 1, true, 1, 'CALENDAR', 0, 0, 1, 1, ${who})`)
  await db.query(sql`
    insert into event_action (business_id, event_action_id, event_defn_id, active, action_type,
                              email_template_id, ${stamps})
    values (${businessId}, 1, 1, true, 'SEND_EMAIL', 1, ${who})`)

  /** Writes triggers, each with its own appointment; returns the last id, and when they are due. */
  const makeDue = async (count: number, aheadMs: number) => {
    const due = monotonicMs() + aheadMs
    const [row] = await db.query<{ last: number }>(sql`
      with booked as (
        insert into calendar (business_id, client_id, professional_id, reason_id, location_id,
                              start_time, end_time, status, ${stamps})
        select ${businessId}, 1, 1, 1, 1, now() + interval '1 day', now() + interval '25 hours',
               'OPEN', ${who}
        from generate_series(1, ${count}::int)
        returning calendar_id
      ), planned as (
        insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
                                   occurrence, new_status, anchor_time, scheduled_time,
                                   next_attempt_time, created_date)
        select ${businessId}, 1, 1, 'CALENDAR', calendar_id, 'created ' || calendar_id, 'OPEN', now(),
               now() + ${aheadMs}::int * interval '1 ms',
               now() + ${aheadMs}::int * interval '1 ms', now()
        from booked returning event_trigger_id
      )
      select max(event_trigger_id) as last from planned`)
    // As autovacuum does within a minute.
    await owner.query('vacuum analyze')
    return { last: row!.last, inMs: due - monotonicMs() }
  }
  /** Polls one row first, and all rows only when it is done, so that polling costs little. */
  const untilDone = async (last: number) => {
    const isLeft = async (some: Sql) => {
      const [row] = await database.engine.query<{ left: boolean }>(sql`
        select exists (select from any_trigger
                       where business_id = ${businessId} and ${some}
                         and status in ('SCHEDULED', 'RUNNING')) as left`)
      return row!.left
    }
    while (await isLeft(sql`event_trigger_id = ${last}`)) await sleep(20)
    while (await isLeft(sql`event_trigger_id <= ${last}`)) await sleep(20)
    const [row] = await database.engine.query<{ failed: number }>(
      sql`select count(*) as failed from any_trigger where status <> 'COMPLETED'`,
    )
    if (row!.failed > 0) throw new Error(`${row!.failed} triggers did not complete`)
  }
  const close = () => Promise.all([database.close(), owner.end()])
  return { url, makeDue, untilDone, close }
}

async function startSink(delay: number) {
  const sink: ChildProcess = spawn(
    process.execPath,
    [path.join(import.meta.dirname, 'smtp-sink.ts'), String(delay)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: sink.stdout as NodeJS.ReadableStream })
  const [port] = (await once(lines, 'line')) as [string]
  return { port: Number(port), stop: () => sink.stdin?.end() }
}
