import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { DatabaseClock } from '../src/clock.ts'
import { saveDefinition } from '../src/automation/define.ts'
import { planDefinition } from '../src/automation/plan.ts'
import { objectKind } from '../src/contract/objects.ts'
import type { Db } from '../src/database/database.ts'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/postgres.ts'
import { checkHtmlOf } from '../src/scheduling/email-templates.ts'
import { saveObject, saveObjects } from '../src/scheduling/save.ts'
import { sharedSaves } from '../src/scheduling/shared-saves.ts'
import { insertBusiness } from '../src/store/businesses.ts'
import { SettingsCache } from '../src/store/settings.ts'

/**
 * Bookings with five definitions that match, compared with the bare statement that writes the same rows
 * into the same tables, in turn in one run; then 100,000 appointments planned during bookings.
 * `node bench/book.bench.ts [rounds]`. BENCH_DATABASE_URL replaces the embedded server.
 */
const CALLERS = 16
const SECONDS = 3
const ROUNDS = Number(process.argv[2] ?? 5)

const WARM = 5_000
const APPOINTMENTS = 100_000

const folder = mkdtempSync(path.join(tmpdir(), 'bellwether-bench-'))
const embedded = process.env.BENCH_DATABASE_URL
  ? undefined
  : await openEmbedded(path.join(folder, 'data'), 'command')
const url = process.env.BENCH_DATABASE_URL ?? embedded!.url
await migrate(url)
const database = openDatabase({ url, connections: CALLERS, analyzesGrownTables: true })
const bare = new pg.Pool({
  connectionString: url,
  max: CALLERS,
  options: '-c app.username=key:bench',
})
bare.on('error', () => {}) // the server may stop before the last connection ends
const clock = new DatabaseClock()
const now = () => clock.now()
const settings = new SettingsCache()

type Ids = { clientId: number; professionalId: number; reasonId: number; locationId: number }

async function makeBusiness() {
  const by = { user: 'OPERATOR', now: now() }
  const fields = {
    name: 'Bench',
    timeZone: 'Europe/Zurich',
    emailAddress: null,
    phone: null,
    language: null,
    externalId: null,
    senderDomains: [],
    accentColor: null,
    website: null,
    replyTo: null,
    active: true,
  }
  const { businessId } = await insertBusiness(database.operator, fields, by)
  const db = database.forBusiness(businessId, 'key:bench')
  const save = async (kind: string, body: object) => {
    const declared = objectKind(kind)!
    const html = await checkHtmlOf(declared, [body], businessId)
    const saving = { businessId, user: 'key:bench', now: now(), settings, html }
    const { object } = await db.transaction((tx) => saveObject(tx, declared, body, saving))
    return object[declared.id] as number
  }
  const person = { firstName: 'Anna', lastName: 'Müller' }
  const ids = {
    clientId: await save('client', person),
    professionalId: await save('professional', person),
    reasonId: await save('reason', { name: 'Consultation' }),
    locationId: await save('location', { name: 'Altstadt' }),
  }
  return { businessId, ids }
}

async function define(db: Db, businessId: number, more: object) {
  const body = { active: true, businessId, objectType: 'CALENDAR', triggerMinutes: 0, ...more }
  const defining = { businessId, user: 'key:bench', now: now() }
  const { definition } = await db.transaction((tx) => saveDefinition(tx, body, defining))
  return planDefinition(database, definition, now)
}

let booked = 0

const bodyOf = (ids: Ids) => {
  booked += 1
  const startTime = now().epochMilliseconds + 200 * 3_600_000 + booked * 60_000
  return { ...ids, startTime, endTime: startTime + 1_800_000 }
}

const booking = (db: Db, businessId: number, ids: Ids) => {
  const shared = sharedSaves(now)
  const who = { db, businessId, user: 'key:bench', settings, kind: objectKind('calendar')! }
  return () => shared.run({ ...who, body: bodyOf(ids) })
}

/** The rows of a booking as one statement, without look-ups, matching or timing. */
function bareInsert(businessId: number, ids: Ids) {
  return async () => {
    const { startTime, endTime } = bodyOf(ids)
    const bookedTime = now().toString()
    const start = new Date(startTime)
    const values = [
      businessId,
      ids.clientId,
      ids.professionalId,
      ids.reasonId,
      ids.locationId,
      start,
      new Date(endTime),
      bookedTime,
      [1, 2, 3, 4, 5],
      ['APPT_CREATED ', 'APPT_CREATED ', null, null, null],
      ['OPEN', 'OPEN', null, null, null],
      [bookedTime, bookedTime, start, start, start],
      [0, 2, -24, -2, 24],
    ]
    await bare.query({ name: 'bare', text: BARE, values })
  }
}

const BARE = `
  with c as (
    insert into calendar (business_id, client_id, professional_id, reason_id, location_id, booked_time,
      start_time, end_time, status, tags, created_date, created_user, modified_date, modified_user)
    values ($1, $2, $3, $4, $5, $8, $6, $7, 'OPEN', '{}', $8, 'key:bench', $8, 'key:bench')
    returning calendar_id)
  insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
    occurrence, new_status, anchor_time, scheduled_time, next_attempt_time, created_date)
  select $1, d.id, 1, 'CALENDAR', c.calendar_id, d.change || c.calendar_id || ' 1', d.status, d.anchor,
         d.anchor + d.hours * interval '1 hour', d.anchor + d.hours * interval '1 hour', $8
  from c, unnest($9::bigint[], $10::text[], $11::text[], $12::timestamptz[], $13::int[])
          as d (id, change, status, anchor, hours)`

type Speed = { rate: number; ownMs: number; serverMs: number }

/** The rate per second of all callers, and the CPU time per call here and in the server. */
async function during(isOver: () => boolean, work: () => Promise<unknown>): Promise<Speed> {
  const started = performance.now()
  const [own, server] = [process.cpuUsage(), serverCpuMs()]
  let done = 0
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (!isOver()) {
        await work()
        done += 1
      }
    }),
  )
  const { user, system } = process.cpuUsage(own)
  return {
    rate: done / ((performance.now() - started) / 1000),
    ownMs: (user + system) / 1000 / done,
    serverMs: (serverCpuMs() - server) / done,
  }
}

function times(count: number) {
  let left = count
  return () => (left -= 1) < 0
}

function after(seconds: number) {
  const until = performance.now() + seconds * 1000
  return () => performance.now() > until
}

/** CPU milliseconds of the embedded server's processes; unknown for another server. */
function serverCpuMs() {
  if (!embedded) return NaN
  const postmaster = readFileSync(path.join(folder, 'data/postgres/postmaster.pid'), 'utf8')
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
        const isServer = fields[1] === postmaster.split('\n')[0]
        return isServer ? Number(fields[11]) + Number(fields[12]) : 0
      } catch {
        return 0 // the process has just ended
      }
    })
  return ticks.reduce((sum, each) => sum + each, 0) * 10
}

async function planDuringBookings(
  db: Db,
  businessId: number,
  ids: Ids,
  book: () => Promise<unknown>,
) {
  const saving = { businessId, user: 'key:bench', now: now(), settings, history: true }
  const calendar = objectKind('calendar')!
  const [{ count }] = await bareCount()
  for (let made = count; made < APPOINTMENTS; made += 1000) {
    const bodies = Array.from({ length: 1000 }, () => bodyOf(ids))
    await db.transaction((tx) => saveObjects(tx, calendar, bodies, saving))
  }
  // Autovacuum would run ANALYZE within a minute, which is too late for this benchmark.
  await bare.query('analyze')
  const undisturbed = await during(after(SECONDS), book)

  const alone = await timed(() =>
    define(db, businessId, { eventType: { eventTypeId: 3 }, triggerHours: -48 }),
  )
  const planning = { isOver: false }
  const plan = timed(() =>
    define(db, businessId, { eventType: { eventTypeId: 3 }, triggerHours: -72 }),
  ).finally(() => (planning.isOver = true))
  const whilePlanning = await during(() => planning.isOver, book)
  const planned = await plan
  console.log(
    `${alone.result?.created} appointments planned in ${alone.seconds.toFixed(1)} s alone; ` +
      `${planned.result?.created} during bookings in ${planned.seconds.toFixed(1)} s (wanted under 10 s), ` +
      `bookings ${whilePlanning.rate.toFixed(0)}/s against ${undisturbed.rate.toFixed(0)}/s undisturbed: ` +
      `${((100 * whilePlanning.rate) / undisturbed.rate).toFixed(0)} % (wanted 50 %)`,
  )
}

async function bareCount(): Promise<[{ count: number }]> {
  const { rows } = await bare.query('select count(*)::int as count from calendar')
  return rows as [{ count: number }]
}

async function timed<T>(work: () => Promise<T>) {
  const started = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - started) / 1000 }
}

try {
  const { businessId, ids } = await makeBusiness()
  const db = database.forBusiness(businessId, 'key:bench')
  const book = booking(db, businessId, ids)
  for (const [eventTypeId, triggerHours] of [
    [1, 0],
    [1, 2],
    [3, -24],
    [3, -2],
    [3, 24],
  ]) {
    await define(db, businessId, { eventType: { eventTypeId }, triggerHours })
  }
  const write = bareInsert(businessId, ids)

  // Warm-up: afterwards the code is compiled, and every connection has its prepared statements.
  await during(times(WARM), book)
  await during(times(WARM), write)
  const turns: { bare: Speed; book: Speed }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    turns.push({
      bare: await during(after(SECONDS), write),
      book: await during(after(SECONDS), book),
    })
  }
  const median = (of: (turn: (typeof turns)[number]) => number) =>
    turns.map(of).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
  const report = (of: 'bare' | 'book') =>
    `${median((turn) => turn[of].rate).toFixed(0)}/s ` +
    `(${median((turn) => turn[of].serverMs).toFixed(2)} ms CPU in the server, ` +
    `${median((turn) => turn[of].ownMs).toFixed(2)} here)`
  console.log(
    `bare one-CTE insert ${report('bare')}, booking with 5 definitions ${report('book')}: ` +
      `${(median((turn) => turn.book.rate / turn.bare.rate) * 100).toFixed(0)} % (wanted 50 %)`,
  )

  await planDuringBookings(db, businessId, ids, book)
} finally {
  await bare.end()
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}
