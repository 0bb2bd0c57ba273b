import { randomBytes } from 'node:crypto'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createEngine } from '../src/automation/engine.ts'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import { CaptureMailer } from '../src/email/capture.ts'
import { compileTemplate, mergeMail } from '../src/email/merge.ts'
import { textOfHtml } from '../src/email/html.ts'
import { nextDueTime } from '../src/store/trigger-queue.ts'
import { BODY, bookMany, gatherCrowd, SUBJECT, type CrowdBusiness } from '../test/support/crowd.ts'

/**
 * Due reminders fired and recorded, beside graphile-worker, pg-boss and BullMQ: the same server, the
 * same run, turn by turn, and the same work: read appointment, client and template, merge, hand to a
 * transport that does nothing, record the delivery. `node bench/fire.bench.ts [jobs] [rounds]`
 * BENCH_DATABASE_URL: another server than the embedded one. BENCH_PENDING=1000000: the figures with
 * so many pending. The peers come from bench/package.json (`npm --prefix bench install`), Redis from
 * Debian's redis-server.
 */
const JOBS = Number(process.argv[2] ?? 20_000)
const ROUNDS = Number(process.argv[3] ?? 3)
const PENDING = Number(process.env.BENCH_PENDING ?? 1_000_000)

const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-bench-'))
const embedded = process.env.BENCH_DATABASE_URL
  ? undefined
  : await openEmbedded(path.join(folder, 'data'), 'command')
const url = process.env.BENCH_DATABASE_URL ?? embedded!.url
await migrate(url)
const database = openDatabase({ url })
// The peers' statements profit from the same settings as ours.
const pool = new pg.Pool({
  connectionString: url,
  max: 20,
  options: '-c random_page_cost=1.1',
})
pool.on('error', (error) => console.error(error))
pool.on('connect', (client) => client.on('error', (error) => console.error(error)))
const [business] = await gatherCrowd(url, {
  businesses: 1,
  appointments: () => 0,
  dueFrom: () => Temporal.Now.instant(),
  spreadMs: 0,
})
await pool.query(`create table bench_delivery (
  appointment bigint primary key, client_id bigint, to_address text, subject text, html text,
  body_text text, sent_time timestamptz not null)`)

type Contender = { name: string; fire(ids: number[]): Promise<number>; close?(): Promise<unknown> }

/** Books appointments whose reminders are due, lets a contender fire them; how many a second. */
async function measure({ name, fire }: Contender) {
  const client = await pool.connect()
  await client.query(`truncate bench_delivery`)
  const { rows: before } = await client.query(
    'select coalesce(max(calendar_id), 0) as id from calendar',
  )
  const dueFrom = Temporal.Now.instant().subtract({ seconds: 30 })
  await bookMany(client as never, business!, { count: JOBS, dueFrom, spreadMs: 1_000 })
  if (name !== 'Bellwether') await discardTriggers(client)
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  const { rows } = await client.query(
    'select calendar_id as id from calendar where calendar_id > $1',
    [before[0].id],
  )
  client.release()
  return fire(rows.map((row) => Number(row.id)))
}

/** The peers have queues of their own. */
const discardTriggers = (client: pg.ClientBase) =>
  client.query(`update event_trigger set status = 'CANCELLED' where status = 'SCHEDULED'`)

function ours(): Contender {
  return {
    name: 'Bellwether',
    fire: async (ids) => {
      const startedAt = performance.now()
      const fired = await fireAll(ids.length)
      assertCount(fired, ids.length)
      return rateOf(fired, startedAt)
    },
  }
}

/** The engine as a node runs it, until so many have ended. */
async function fireAll(count: number) {
  let fired = 0
  const all = Promise.withResolvers<void>()
  const engine = startEngine((endings) => {
    fired += endings.length
    if (fired >= count) all.resolve()
  })
  const stopping = new AbortController()
  const stopped = engine.run(stopping.signal)
  await all.promise
  stopping.abort()
  void stopped
  return fired
}

function startEngine(onEnded?: (endings: { scheduledTime: Temporal.Instant }[]) => void) {
  return createEngine({
    database,
    clock: { now: () => Temporal.Now.instant() },
    random: randomBytes,
    leaseSeconds: 10,
    mailer: new CaptureMailer(),
    captures: true,
    mailFrom: { name: 'Bellwether', address: 'no-reply@localhost' },
    host: 'localhost',
    unsubscribeLink: () => null,
    onError: (error) => console.error(error),
    ...(onEnded && { onEnded }),
  })
}

/** What a job of a peer does, for as many at a time as the peer hands over. */
async function deliver(ids: number[]) {
  const { rows } = await pool.query({
    name: 'bench_read',
    text: `
      select c.calendar_id, c.start_time, c.end_time, c.status, c.note, c.change_note,
             k.client_id, k.first_name, k.last_name, k.email_address, k.phone, k.time_zone, k.language,
             b.name as business_name, b.time_zone as business_zone, l.name as location_name, l.address,
             p.first_name as staff_first, p.last_name as staff_last, r.name as reason_name,
             r.duration_minutes, m.subject, m.email_body
      from unnest($1::bigint[]) as a (id)
      cross join lateral (
        select * from calendar o where o.business_id = $2 and o.calendar_id = a.id limit 1) c
      join client k on k.business_id = c.business_id and k.client_id = c.client_id
      join business b on b.business_id = c.business_id
      join location l on l.business_id = c.business_id and l.location_id = c.location_id
      join professional p on p.business_id = c.business_id and p.professional_id = c.professional_id
      join reason r on r.business_id = c.business_id and r.reason_id = c.reason_id
      join email_template m on m.business_id = c.business_id and m.email_template_id = $3`,
    values: [ids, business!.businessId, business!.emailTemplateId],
  })
  const mails = rows.map((row) => mergeMail(template, contextOf(row), null))
  await pool.query({
    name: 'bench_record',
    text: `
      insert into bench_delivery (appointment, client_id, to_address, subject, html, body_text, sent_time)
      select *, clock_timestamp() from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    values: [
      rows.map((row) => row.calendar_id),
      rows.map((row) => row.client_id),
      mails.map((mail) => mail.to!.address),
      mails.map((mail) => mail.subject),
      mails.map((mail) => mail.html),
      mails.map((mail) => mail.text),
    ],
  })
}

const template = compileTemplate({
  subject: SUBJECT,
  html: BODY,
  text: textOfHtml(BODY),
  fromName: null,
  fromAddress: null,
  toName: null,
  toAddress: null,
  ccAddress: null,
  bccAddress: null,
  replyToAddress: null,
  language: null,
})

// oxlint-disable-next-line typescript/no-explicit-any -- a flat row, given its shape here
function contextOf(row: any): Parameters<typeof mergeMail>[1] {
  const moment = (date: Date) => Temporal.Instant.fromEpochMilliseconds(date.getTime())
  return {
    business: {
      name: row.business_name,
      emailAddress: null,
      phone: null,
      timeZone: row.business_zone,
      language: null,
    },
    location: {
      name: row.location_name,
      address: row.address,
      emailAddress: null,
      phone: null,
      directions: null,
      timeZone: null,
    },
    professional: {
      firstName: row.staff_first,
      lastName: row.staff_last,
      emailAddress: null,
      timeZone: null,
    },
    client: {
      firstName: row.first_name,
      lastName: row.last_name,
      emailAddress: row.email_address,
      phone: row.phone,
      timeZone: row.time_zone,
      language: row.language,
    },
    reason: {
      name: row.reason_name,
      durationMinutes: row.duration_minutes,
      price: null,
      currency: null,
    },
    calendar: {
      calendarId: Number(row.calendar_id),
      startTime: moment(row.start_time),
      endTime: moment(row.end_time),
      status: row.status,
      note: row.note,
      changeNote: row.change_note,
    },
    classSchedule: null,
    invitation: null,
    recall: null,
    disclaimer: null,
    unsubscribeLink: null,
  }
}

async function graphileWorker(): Promise<Contender | undefined> {
  const { makeWorkerUtils, run } = await peer('graphile-worker')
  const schema = 'bench_graphile'
  const utils = await makeWorkerUtils({ connectionString: url, schema })
  await utils.migrate()
  return {
    name: 'graphile-worker',
    fire: async (ids) => {
      for (let i = 0; i < ids.length; i += 1_000) {
        const some = ids.slice(i, i + 1_000)
        await utils.addJobs(some.map((id) => ({ identifier: 'remind', payload: { id } })))
      }
      await pool.query(`vacuum analyze`)
      let done = 0
      const all = Promise.withResolvers<void>()
      const startedAt = performance.now()
      const runner = await run({
        pgPool: pool,
        schema,
        concurrency: 24,
        noHandleSignals: true,
        taskList: {
          remind: async (payload: { id: number }) => {
            await deliver([payload.id])
            done += 1
            if (done === ids.length) all.resolve()
          },
        },
        logger: quiet(await peer('graphile-worker')),
        // As its page on performance advises.
        preset: {
          worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, maxPoolSize: 20 },
        },
      })
      await all.promise
      const rate = rateOf(done, startedAt)
      await runner.stop()
      return rate
    },
    close: () => utils.release(),
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- not of our types
const quiet = ({ Logger }: any) => new Logger(() => () => {})

async function pgBoss(): Promise<Contender | undefined> {
  const { PgBoss } = await peer('pg-boss')
  const boss = new PgBoss({
    connectionString: url,
    schema: 'bench_boss',
    supervise: false,
    schedule: false,
  })
  boss.on('error', (error: unknown) => console.error(error))
  await boss.start()
  await boss.createQueue('remind')
  return {
    name: 'pg-boss',
    fire: async (ids) => {
      for (let i = 0; i < ids.length; i += 1_000) {
        await boss.insert(
          'remind',
          ids.slice(i, i + 1_000).map((id) => ({ data: { id } })),
        )
      }
      await pool.query('vacuum analyze')
      const startedAt = performance.now()
      let done = 0
      const work = async () => {
        for (;;) {
          const jobs = await boss.fetch('remind', { batchSize: 500 })
          if (jobs.length === 0) return
          await deliver(jobs.map((job: { data: { id: number } }) => job.data.id))
          await boss.complete(
            'remind',
            jobs.map((job: { id: string }) => job.id),
          )
          done += jobs.length
        }
      }
      await Promise.all([work(), work()])
      assertCount(done, ids.length)
      return rateOf(done, startedAt)
    },
    close: () => boss.stop({ graceful: false }),
  }
}

async function bullmq(): Promise<Contender | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    console.log(
      'redis-server is not installed (Debian: apt install redis-server): BullMQ is left out',
    )
    return undefined
  }
  const { Queue, Worker } = await peer('bullmq')
  const port = 20_000 + (process.pid % 10_000)
  const redis = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--maxmemory-policy',
      'noeviction',
    ],
    { stdio: 'ignore' },
  )
  process.on('exit', () => redis.kill())
  await sleep(1_000)
  const { Redis } = await peer('ioredis')
  const connection = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null })
  const queue = new Queue('remind', { connection })
  return {
    name: 'BullMQ',
    fire: async (ids) => {
      const defaults = { removeOnComplete: true }
      for (let i = 0; i < ids.length; i += 1_000) {
        const some = ids.slice(i, i + 1_000)
        await queue.addBulk(some.map((id) => ({ name: 'remind', data: { id }, opts: defaults })))
      }
      let done = 0
      const all = Promise.withResolvers<void>()
      const startedAt = performance.now()
      const worker = new Worker(
        'remind',
        async (job: { data: { id: number } }) => {
          await deliver([job.data.id])
          done += 1
          if (done === ids.length) all.resolve()
        },
        { connection, concurrency: 50 },
      )
      await all.promise
      const rate = rateOf(done, startedAt)
      await worker.close()
      return rate
    },
    close: async () => {
      await queue.close()
      connection.disconnect()
      redis.kill()
      await once(redis, 'exit')
    },
  }
}

/** With a million pending: how fast, how late, how much one look at the queue costs, and memory. */
async function measurePending() {
  const few = await firePending(10_000)
  console.log(`\nwith 10,000 pending: ${Math.round(few)}/s`)
  await addPending(PENDING)
  const many = await firePending(10_000)
  const share = (many / few).toFixed(2)
  console.log(`with ${PENDING} pending: ${Math.round(many)}/s, ${share} of that`)
  const polls: number[] = []
  for (let i = 0; i < 500; i += 1) {
    const at = performance.now()
    await startedEngine.fire()
    polls.push(performance.now() - at)
  }
  const looks: number[] = []
  for (let i = 0; i < 500; i += 1) {
    const at = performance.now()
    await nextDueTime(database.engine)
    looks.push(performance.now() - at)
  }
  console.log(
    `an empty claim ${at(polls, 0.5)} ms (p50), a look for the next ${at(looks, 0.5)} ms (p50)`,
  )
  await measureLateness()
}

const startedEngine = startEngine()

async function firePending(count: number) {
  await book(count, Temporal.Now.instant().subtract({ seconds: 30 }), 1_000)
  await pool.query('vacuum analyze event_trigger')
  const startedAt = performance.now()
  return rateOf(await fireAll(count), startedAt)
}

async function addPending(count: number) {
  for (let done = 0; done < count; done += 100_000) {
    const dueFrom = Temporal.Now.instant().add({ hours: 24 * 30 })
    await book(Math.min(100_000, count - done), dueFrom, 1_000_000)
  }
  await pool.query('vacuum analyze')
}

async function book(count: number, dueFrom: Temporal.Instant, spreadMs: number) {
  const client = await pool.connect()
  await bookMany(client as never, business as CrowdBusiness, { count, dueFrom, spreadMs })
  client.release()
}

/** A hundred a second for half a minute, beside all that is pending. */
async function measureLateness() {
  const seconds = 30
  const late: number[] = []
  await book(seconds * 100, Temporal.Now.instant().add({ seconds: 2 }), seconds * 1000)
  const stopping = new AbortController()
  const engine = startEngine((endings) => {
    const now = Date.now()
    for (const { scheduledTime } of endings) late.push(now - scheduledTime.epochMilliseconds)
  })
  const stopped = engine.run(stopping.signal)
  const memory: number[] = []
  while (late.length < seconds * 100) {
    memory.push(process.memoryUsage().rss / 1e6)
    await sleep(500)
  }
  stopping.abort()
  await stopped
  console.log(
    `late: p50 ${at(late, 0.5)} ms, p99 ${at(late, 0.99)} ms, most ${at(late, 1)} ms, least ${at(late, 0)} ms; ` +
      `memory ${Math.round(memory[0]!)} to ${Math.round(memory.at(-1)!)} MB (with the benchmark itself)`,
  )
}

async function peer(name: string) {
  try {
    return await import(name)
  } catch {
    throw new Error(`${name} is not installed: run "npm --prefix bench install"`)
  }
}

function assertCount(done: number, wanted: number) {
  if (done !== wanted) throw new Error(`${done} of ${wanted} fired`)
}

const rateOf = (count: number, startedAt: number) =>
  (count / (performance.now() - startedAt)) * 1000

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const at = (values: number[], part: number) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)]! * 100) / 100

try {
  const contenders = [ours(), await graphileWorker(), await pgBoss(), await bullmq()].filter(
    (contender) => contender !== undefined,
  )
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const contender of contenders) {
      const rate = await measure(contender)
      rates.get(contender.name)!.push(rate)
      console.log(`round ${round + 1}  ${contender.name.padEnd(16)} ${Math.round(rate)}/s`)
    }
  }
  const medians = [...rates].map(([name, values]) => ({ name, rate: median(values) }))
  const [own, ...peers] = medians
  const best = peers.toSorted((a, b) => b.rate - a.rate)[0]
  console.log(`\nfired and recorded, ${JOBS} due, median of ${ROUNDS}:`)
  for (const { name, rate } of medians) console.log(`  ${name.padEnd(16)} ${Math.round(rate)}/s`)
  if (best) console.log(`  ${(own!.rate / best.rate).toFixed(2)} times ${best.name}`)
  for (const { close } of contenders) await close?.()
  await measurePending()
} finally {
  await pool.end()
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
