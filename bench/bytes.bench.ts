import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createEngine } from '../src/automation/engine.ts'
import { DatabaseClock } from '../src/clock.ts'
import { objectKind } from '../src/contract/objects.ts'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import { answerLinks } from '../src/email/answer-links.ts'
import { SmtpMailer } from '../src/email/smtp.ts'
import { calendarLink, unsubscribeLink } from '../src/email/unsubscribe.ts'
import { saveObjects } from '../src/scheduling/save.ts'
import { SettingsCache } from '../src/store/settings.ts'
import { fillDemo } from '../test/support/templates.ts'

/**
 * The bytes on disk and in WAL of an appointment, a pending trigger, an ended trigger and a mail, with
 * the templates and the layout of the demo: `node bench/bytes.bench.ts [appointments]`. Sizes are of
 * tables with their indexes after a plain VACUUM.
 */
const APPOINTMENTS = Number(process.argv[2] ?? 10_000)
const BUSINESS = 1
const PUBLIC_URL = 'https://mail.harbour.example'
const SECRET = 'seal of this benchmark'

const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-bench-'))
const embedded = await openEmbedded(path.join(folder, 'data'), 'command')
const owner = new pg.Pool({ connectionString: embedded.url, max: 1 })
owner.on('error', () => {}) // the server may stop before the connection ends
try {
  await migrate(embedded.url)
  await fillDemo(embedded.url)
  // Once before, so that free space of the tables is used as in a service that has run for a while.
  await book()
  await send()
  const empty = await measure()
  await book()
  const booked = await measure()
  await send()
  const sent = await measure()
  report(empty, booked, sent)
  const { content } = await one<{ content: number }>(`
    select avg(octet_length(message))::int as content from email where status = 'SENT'`)
  console.log(`content of a mail, with headers and calendar file: ${content} bytes`)
} finally {
  await owner.end()
  await embedded.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

type Sizes = Record<string, { bytes: number; rows: number }> & { wal: { bytes: number; rows: 0 } }

async function measure(): Promise<Sizes> {
  const wal = await one<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  )
  await owner.query('vacuum')
  await owner.query('checkpoint')
  const sizes: Sizes = { wal: { ...wal, rows: 0 } }
  for (const table of ['calendar', 'pending_trigger', 'event_trigger', 'email', 'email_queue']) {
    sizes[table] = await one(
      `select pg_total_relation_size('${table}')::float8 as bytes,
              (select count(*) from ${table})::int as rows`,
    )
  }
  return sizes
}

async function one<Row extends object>(text: string): Promise<Row> {
  return (await owner.query<Row>(text)).rows[0]!
}

async function book() {
  const { database, clock } = await open()
  const ids = await one<Record<string, number[]>>(`
    select array(select client_id::int from client where active and email_address is not null) as clients,
           array(select professional_id::int from professional where active) as professionals,
           array(select location_id::int from location where active) as locations,
           array(select reason_id::int from reason where active) as reasons`)
  const pick = (name: string, i: number) => ids[name]![i % ids[name]!.length]!
  const saving = { businessId: BUSINESS, user: 'BENCH', settings: new SettingsCache() }
  for (let done = 0; done < APPOINTMENTS; done += 100) {
    const bodies = Array.from({ length: 100 }, (_, k) => {
      const start = clock.now().add({ hours: 24 * 20 + ((done + k) % 1_000) })
      return {
        clientId: pick('clients', done + k),
        professionalId: pick('professionals', done + k),
        locationId: pick('locations', k),
        reasonId: pick('reasons', done + k),
        startTime: start.epochMilliseconds,
        endTime: start.add({ minutes: 45 }).epochMilliseconds,
      }
    })
    await database.forBusiness(BUSINESS, 'BENCH').transaction(async (tx) => {
      const outcomes = await saveObjects(tx, objectKind('calendar')!, bodies, {
        ...saving,
        now: clock.now(),
      })
      const fault = outcomes.find(({ refused }) => refused)
      if (fault) throw new Error(JSON.stringify(fault))
    })
  }
  await database.close()
}

/** Sends what is due, by an engine as the service runs it. */
async function send() {
  const { database, clock } = await open()
  const sink = spawn(process.execPath, [path.join(import.meta.dirname, 'smtp-sink.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [port] = (await once(createInterface({ input: sink.stdout }), 'line')) as [string]
  const mailer = new SmtpMailer(
    {
      host: '127.0.0.1',
      port: Number(port),
      secure: false,
      requireTls: false,
      user: null,
      password: null,
    },
    { connections: 5, maxMailsPerConnection: 1_000 },
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
    calendarLink: (mail) => calendarLink(PUBLIC_URL, SECRET, mail),
    unsubscribeLink: (mail) => unsubscribeLink(PUBLIC_URL, SECRET, mail),
    answerLinks: (mail) => answerLinks(PUBLIC_URL, SECRET, mail),
    onError: (error) => console.error(error),
  })
  const stopping = new AbortController()
  const running = engine.run(stopping.signal)
  const isLeft = async () => {
    const { left } = await one<{ left: boolean }>(`
      select exists (select from pending_trigger where next_attempt_time <= now())
             or exists (select from email_queue) as left`)
    return left
  }
  while (await isLeft()) await sleep(500)
  stopping.abort()
  await running
  await mailer.close()
  await database.close()
  sink.stdin.end()
}

async function open() {
  const database = openDatabase({ url: embedded.url, analyzesGrownTables: true })
  const clock = new DatabaseClock()
  await clock.read(() => database.readTime())
  return { database, clock }
}

function report(empty: Sizes, booked: Sizes, sent: Sizes) {
  const grown = (table: string, before: Sizes, after: Sizes) => ({
    rows: after[table]!.rows - before[table]!.rows,
    bytes: after[table]!.bytes - before[table]!.bytes,
  })
  const say = (name: string, { rows, bytes }: { rows: number; bytes: number }, wal?: number) =>
    console.log(
      `${name}: ${rows} rows, ${Math.round(bytes / rows)} bytes on disk${
        wal === undefined ? '' : `, ${Math.round(wal / rows)} in WAL with all that belongs to it`
      }`,
    )
  const appointments = grown('calendar', empty, booked)
  const mails = grown('email', booked, sent)
  say('appointment', appointments, booked.wal.bytes - empty.wal.bytes)
  say('pending trigger', grown('pending_trigger', empty, booked))
  say('ended trigger', grown('event_trigger', booked, sent))
  say('mail', mails, sent.wal.bytes - booked.wal.bytes)
}
