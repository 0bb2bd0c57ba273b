import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from '../../src/database/sql.ts'
import { readCalendar } from '../../src/feeds/calendar/read.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import { makeCaldav } from '../../src/feeds/sources/caldav.ts'
import { repeat } from '../../src/repeat.ts'
import { partsOf, PULLING } from '../feeds/loop-parts.ts'
import { accountOf, followSource } from '../feeds/source-account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { asOwner } from '../support/owner.ts'
import { freePort } from '../support/pgbouncer.ts'
import { needProgram } from '../support/programs.ts'
import { until } from '../support/until.ts'
import { assertWithin } from '../support/within.ts'
import { reminder, startWorld } from '../support/world.ts'
import { isFull } from './random.ts'

/* What feeds cost. The limits are asserted in the full proof, on an idle machine. */

/** 10,000 entries in the full proof: 500 series of twelve, and 4,000 single events. */
const SERIES = isFull ? 500 : 20
const SINGLE = isFull ? 4_000 : 160
const CHANGED = isFull ? 100 : 10
const FEEDS = isFull ? 500 : 40
const REST_SECONDS = isFull ? 120 : 5
const MB = 1_048_576

async function startServer(t: TestContext, files: number, series: number) {
  const file = path.join(import.meta.dirname, 'feeds-fast-server.ts')
  const child = fork(file, [String(files), String(series)])
  t.after(() => child.kill())
  const answered = () => new Promise<number>((resolve) => child.once('message', resolve))
  const port = await answered()
  const change = async (count: number) => {
    child.send(count)
    await answered()
  }
  return { url: `http://127.0.0.1:${port}/cal/`, change }
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

async function measure(work: () => Promise<unknown>) {
  globalThis.gc?.()
  const [startedAt, cpuBefore, before] = [performance.now(), cpuMs(), process.memoryUsage.rss()]
  let [most, isDone] = [before, false]
  const watch = async () => {
    for (; !isDone; await wait(50)) most = Math.max(most, process.memoryUsage.rss())
  }
  const watching = watch()
  await work().finally(() => (isDone = true))
  const tookMs = performance.now() - startedAt
  const usedMs = cpuMs() - cpuBefore
  await watching
  return { tookMs, usedMs, moreMb: (most - before) / MB }
}

const feedOf = (url: string, ids: Record<string, number>) => {
  const { clientId: _clientId, ...defaults } = ids
  return {
    name: 'Salon',
    source: 'CALDAV',
    mode: 'SHADOW',
    connection: { url, calendars: ['/cal/'] },
    defaults,
  }
}

test('a first pull, one of changes and one of nothing take as long as promised', async (t) => {
  const world = await startWorld(t, PULLING)
  const { businessId, call, clock, database, db, ids, save } = world
  const server = await startServer(t, SERIES + SINGLE, SERIES)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  await save('/eventDefinition', reminder(businessId, -24, { eventActions }))
  const [created, changed] = [1, 2]
  for (const eventTypeId of [created, changed]) {
    const news = reminder(businessId, 0, { eventActions, eventType: { eventTypeId } })
    await save('/eventDefinition', news)
  }
  const { feedId } = await save('/feed', feedOf(server.url, ids))
  const [loop] = createFeedLoops(partsOf(world))
  const pull = async () => {
    clock.advance({ minutes: 6 })
    const measured = await measure(() => loop!.runOnce())
    const { health, cause } = (await call('GET', `/feed/${feedId}`)).body.state
    assert.equal(health, 'OK', cause)
    return measured
  }

  const first = await pull()
  const { entries } = (await call('GET', `/feed/${feedId}`)).body.state
  assert.equal(entries.MIRRORED, SERIES * 12 + SINGLE)
  assertWithin(t, {
    what: `the first pull of ${entries.MIRRORED} entries`,
    tookMs: first.tookMs,
    limitMs: 45_000,
  })
  t.diagnostic(
    `it used ${Math.round(first.usedMs)} ms of CPU and ${Math.round(first.moreMb)} MB more`,
  )
  if (isFull) assert.ok(first.moreMb <= 150, `${first.moreMb} MB more`)
  /** What it counted itself, and what is stored. */
  const counted = async () => {
    const { items } = (await call('GET', `/feed/${feedId}/run`)).body
    const [stored] = await db.query<Record<string, number>>(sql`
      select (select count(*) from calendar where feed_id = ${feedId} and active)::int as appointments,
             (select count(*) from pending_trigger where scheduled_time <= ${clock.now()})::int as news,
             (select count(*) from pending_trigger where scheduled_time > ${clock.now()})::int as reminders,
             (select count(*) from email)::int as mails`)
    return { runs: items.length, ...items[0].counts, ...stored }
  }
  const all = SERIES * 12 + SINGLE
  const none = { cancelled: 0, held: 0, skipped: 0, mails: 0 }
  const read = { ...none, appointments: all, reminders: all }
  const atFirst = { runs: 1, entries: all, mirrored: all, created: all, changed: 0, unchanged: 0 }
  assert.deepEqual(await counted(), { ...read, ...atFirst, news: 0 })

  await server.change(CHANGED)
  const delta = await pull()
  assertWithin(t, { what: `a pull of ${CHANGED} changes`, tookMs: delta.tookMs, limitMs: 5_000 })

  const moved = { runs: 2, entries: CHANGED, mirrored: CHANGED, created: 0, changed: CHANGED }
  assert.deepEqual(await counted(), { ...read, ...moved, unchanged: 0, news: CHANGED })

  await pull()
  const unchanged: number[] = []
  for (let pulls = 0; pulls < 10; pulls += 1) unchanged.push((await pull()).usedMs)
  assert.deepEqual(await counted(), { ...read, ...moved, unchanged: 0, news: CHANGED })
  const usedMs = unchanged.toSorted((a, b) => a - b)[5]!
  assertWithin(t, { what: 'CPU time of a pull without changes', tookMs: usedMs, limitMs: 20 })
  await database.engine.query(sql`update feed_state set next_pull_time = null`)
})

test('feeds at rest use little of a processor', async (t) => {
  const clock = { now: () => Temporal.Now.instant() }
  const world = await startWorld(t, PULLING)
  const { database, ids, save } = world
  const server = await startServer(t, 20, 0)
  const { feedId } = await save('/feed', feedOf(server.url, ids))
  const parts = partsOf({ ...world, clock })
  const loops = createFeedLoops(parts)
  await database.engine.query(sql`update feed_state set next_pull_time = ${clock.now()}`)
  assert.equal(await loops[0]!.runOnce(), 1)
  // The others are copies of the first, also of what was read; they are due at times of their own.
  await asCopies(database, feedId)
  const stopping = new AbortController()
  const running = loops.map((loop) =>
    repeat(loop, { stopping: stopping.signal, onError: parts.onError }),
  )
  await wait(2_000)
  const [cpuBefore, startedAt] = [cpuMs(), performance.now()]
  const before = await pullsOf(database)
  await wait(REST_SECONDS * 1_000)
  const [usedMs, tookMs] = [cpuMs() - cpuBefore, performance.now() - startedAt]
  const pulls = (await pullsOf(database)) - before
  stopping.abort()
  await Promise.all(running)
  t.diagnostic(`${FEEDS} feeds, ${pulls} pulls in ${Math.round(tookMs / 1_000)} s`)
  assert.ok(pulls > 0)
  const perSecond = (usedMs * 1_000) / tookMs
  assertWithin(t, {
    what: `CPU time of a second with ${FEEDS} feeds`,
    tookMs: perSecond,
    limitMs: 50,
  })
})

type Database = Parameters<typeof partsOf>[0]['database']

const pullsOf = async ({ engine }: Database) =>
  (await engine.query<{ n: number }>(sql`select sum(pull_number)::int as n from feed_state`))[0]!.n

test('a file of 4 MB with 10,000 events is read within two seconds of CPU time', async (t) => {
  const events = isFull ? 10_000 : 1_000
  const event = (at: number) =>
    [
      'BEGIN:VEVENT',
      `UID:${at}@calendar.example`,
      'DTSTAMP:20260101T000000Z',
      `DTSTART;TZID=Europe/Zurich:2026${String(1 + (at % 12)).padStart(2, '0')}${String(1 + (at % 28)).padStart(2, '0')}T100000`,
      'DURATION:PT45M',
      `SUMMARY:Massage ${at}`,
      `ATTENDEE;CN="Client ${at}";PARTSTAT=ACCEPTED:mailto:client${at}@example.org`,
      `DESCRIPTION:${'The client asked for a room with a window. '.repeat(5)}`,
      'END:VEVENT',
    ].join('\r\n')
  const lines = Array.from({ length: events }, (_, at) => event(at))
  const text = ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n')
  const [fromMs, toMs] = ['2026-01-01', '2027-01-01'].map((day) => Date.parse(day)) as [
    number,
    number,
  ]
  const before = cpuMs()
  const series = readCalendar({ text, zone: 'Europe/Zurich', fromMs, toMs })
  const tookMs = cpuMs() - before
  assert.equal(series.flatMap((one) => one.events).length, events)
  assertWithin(t, {
    what: `CPU time of a file of ${(text.length / MB).toFixed(1)} MB`,
    tookMs,
    limitMs: 2_000,
  })
})

/** Its own first listing takes minutes, because it builds a cache. */
test('the times of Radicale, apart', { skip: !isFull && 'only in the full proof' }, async (t) => {
  const program = needProgram(t, 'radicale')
  if (!program) return
  const folder = temporaryFolder(t)
  const place = path.join(folder, 'collection-root', 'salon', 'large')
  fs.mkdirSync(place, { recursive: true })
  fs.writeFileSync(path.join(place, '.Radicale.props'), '{"tag": "VCALENDAR"}')
  for (let at = 0; at < SERIES + SINGLE; at += 1) {
    const time = String(Temporal.PlainDate.from('2026-11-20').add({ days: at % 200 })).replaceAll(
      '-',
      '',
    )
    fs.writeFileSync(
      path.join(place, `${at}.ics`),
      `BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Test//Test//EN\nBEGIN:VEVENT\nUID:${at}\nDTSTAMP:20260101T000000Z\nDTSTART:${time}T090000Z\nSUMMARY:x\nEND:VEVENT\nEND:VCALENDAR\n`,
    )
  }
  const url = `http://127.0.0.1:${await freePort()}/`
  const words = `--storage-filesystem-folder ${folder} --server-hosts ${new URL(url).host} --auth-type none --logging-level error`
  const child = spawn(program, [...words.split(' '), '--config', ''], { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await until(
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    60_000,
  )
  const account = accountOf({ url, username: 'salon', calendars: ['/salon/large/'] }, 'x')
  const { pullOnce } = followSource(makeCaldav(['127.0.0.1']), account)
  for (const what of ['first', 'second']) {
    const { tookMs, usedMs } = await measure(() => pullOnce())
    t.diagnostic(
      `the ${what} pull: ${Math.round(tookMs / 1_000)} s, of which ours ${Math.round(usedMs)} ms of CPU`,
    )
  }
})

/** Copies a feed with its state, resources and entries, as the owner of the tables. */
async function asCopies(database: Database, feedId: number) {
  const tables = ['feed', 'feed_state', 'feed_resource']
  const copies = await Promise.all(
    tables.map(async (table) => {
      const columns = await columnsOf(database, table)
      const values = columns.map((column) => {
        if (column === 'feed_id') return `${feedId} + n`
        if (column === 'name') return "'Salon ' || n"
        if (column === 'hook_token_hash') return 'null'
        if (column === 'next_pull_time')
          return `now() + random() * interval '${isFull ? 300 : 5} seconds'`
        if (column === 'reconcile_time') return "now() + interval '1 day'"
        return column
      })
      return `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')}
        from ${table}, generate_series(1, ${FEEDS - 1}) n where feed_id = ${feedId}`
    }),
  )
  await asOwner(database, ...copies)
}

async function columnsOf({ engine }: Database, table: string) {
  const rows = await engine.query<{ name: string }>(sql`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`)
  return rows.map(({ name }) => name)
}
