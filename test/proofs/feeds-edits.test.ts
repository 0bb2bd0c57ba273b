import assert from 'node:assert/strict'
import { fork, spawn, type ChildProcess } from 'node:child_process'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from '../../src/database/sql.ts'
import { PULLING } from '../feeds/loop-parts.ts'
import { freePort } from '../support/pgbouncer.ts'
import { temporaryFolder } from '../support/folder.ts'
import { needProgram } from '../support/programs.ts'
import { until } from '../support/until.ts'
import { urlOf } from '../support/owner.ts'
import { reminder, startWorld } from '../support/world.ts'
import { editCalendars } from './feeds-calendars.ts'
import { openOracle } from './feeds-oracle.ts'
import { isFull, proofSeed, randomFrom } from './random.ts'

/*
 * People edit their calendars on a real server while a feed mirrors them. The server, the connection
 * and the process that pulls are killed, and tokens are broken. After each sequence of edits one pull
 * without faults must be enough: what is mirrored equals the files of the server as another library
 * expands them, and the reminders are those of a model.
 */

const SEQUENCES = isFull ? Number(process.env.PROOF_SEQUENCES ?? 1_000) : 4
const EDITS = 12
/** Then the next calendars and the next feed begin. */
const SEQUENCES_PER_FEED = isFull ? 20 : 2
const HORIZON_DAYS = 60
const REMINDER_HOURS = [24, 3]

/** How each server is started. */
const PROGRAMS: Record<string, (port: number, folder: string) => string[]> = {
  radicale: (port, folder) =>
    `--storage-filesystem-folder ${folder} --server-hosts 127.0.0.1:${port} --auth-type none --logging-level error`
      .split(' ')
      .concat('--config', ''),
  xandikos: (port, folder) =>
    `--defaults -d ${folder} -l 127.0.0.1 -p ${port} --current-user-principal /salon/`.split(' '),
}

/** A calendar server that can be killed. */
async function startServer(t: TestContext, name: string, file: string) {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  let child: ChildProcess | undefined
  const send = (method: string, place: string, body?: string, headers = {}) =>
    fetch(new URL(place, url), {
      method,
      headers: {
        authorization: `Basic ${btoa('salon:x')}`,
        ...(body !== undefined && { 'content-type': 'text/calendar' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
  const start = async () => {
    child = spawn(file, PROGRAMS[name]!(port, folder), { stdio: 'ignore' })
    const answers = () =>
      send('OPTIONS', '/').then(
        () => true,
        () => false,
      )
    await until(answers, 60_000)
  }
  const kill = async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    child!.once('exit', () => resolve())
    child!.kill('SIGKILL')
    await promise
  }
  await start()
  t.after(() => child?.kill('SIGKILL'))
  return { url, send, start, kill }
}

/** The process that pulls, and the next one, which is ready if this one is killed. */
function startPuller(t: TestContext, databaseUrl: string) {
  const next = () => {
    const child = fork(path.join(import.meta.dirname, 'feeds-puller.ts'), [databaseUrl])
    const answers: ((pulled?: number) => void)[] = []
    const answer = () => new Promise<number | undefined>((resolve) => answers.push(resolve))
    child.on('message', (pulled: number) => answers.shift()!(pulled))
    child.once('exit', () => answers.shift()?.())
    return { child, answer, isReady: answer() }
  }
  let [current, spare] = [next(), next()]
  t.after(() => [current, spare].map(({ child }) => child.kill('SIGKILL')))
  /** How many feeds were pulled; undefined if the process was killed after `killAfterMs`. */
  return async (now: Temporal.Instant, killAfterMs?: number) => {
    const { child, answer, isReady } = current
    await isReady
    const ended = answer()
    child.send(String(now))
    if (killAfterMs !== undefined) {
      await Promise.race([wait(killAfterMs), ended])
      child.kill('SIGKILL')
      ;[current, spare] = [spare, next()]
    }
    const pulled = await ended
    if (killAfterMs === undefined) assert.notEqual(pulled, undefined, 'the pulling process failed')
    return pulled
  }
}

type Mirrored = {
  calendarId: number
  client: string
  staff: number
  status: string
  startTime: Temporal.Instant
  endTime: Temporal.Instant
  active: boolean
}

async function openProof(t: TestContext, name: string, file: string) {
  const world = await startWorld(t, PULLING)
  const { businessId, call, clock, database, db, ids, save } = world
  const server = await startServer(t, name, file)
  const pullOnce = startPuller(t, await urlOf(database))
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  const reminders: number[] = []
  for (const hours of REMINDER_HOURS) {
    reminders.push(
      (await save('/eventDefinition', reminder(businessId, -hours, { eventActions }))).eventDefnId,
    )
  }
  for (const eventTypeId of [1, 2]) {
    await save(
      '/eventDefinition',
      reminder(businessId, 0, { eventActions, eventType: { eventTypeId } }),
    )
  }
  const { professionalId: other } = await save('/professional', {
    firstName: 'Bea',
    lastName: 'Frei',
  })
  const staff = [ids.professionalId, other]

  let feed = 0
  /** Two new calendars, each of one member of staff, and the feed that mirrors both. */
  async function openCalendars() {
    feed += 1
    const folders = staff.map((_, at) => `/salon/f${feed}-${at}/`)
    for (const folder of folders)
      assert.equal((await server.send('MKCALENDAR', folder)).status, 201)
    const { clientId: _clientId, ...defaults } = ids
    const { feedId } = await save('/feed', {
      name: `Salon ${feed}`,
      source: 'CALDAV',
      mode: 'SHADOW',
      connection: { url: server.url, username: 'salon', calendars: folders },
      secret: 'x',
      defaults,
      rules: folders.map((folder, at) => ({
        when: { calendar: `*${folder.split('/')[2]}*` },
        then: { professionalId: staff[at] },
      })),
      horizonDays: HORIZON_DAYS,
    })
    return { feedId, folders }
  }

  const mirroredOf = (feedId: number) =>
    db.query<Mirrored>(sql`
      select c.calendar_id as "calendarId", lower(cl.email_address) as client, c.professional_id as staff,
        c.status, c.start_time as "startTime", c.end_time as "endTime", c.active
      from calendar c join client cl using (business_id, client_id)
      where c.feed_id = ${feedId}`)
  const planned = (feedId: number) =>
    db.query<{ calendarId: number; scheduledTime: Temporal.Instant; isReminder: boolean }>(sql`
      select p.object_id as "calendarId", p.scheduled_time as "scheduledTime",
        p.event_defn_id = any(${reminders}) as "isReminder"
      from pending_trigger p join calendar c on c.business_id = p.business_id and c.calendar_id = p.object_id
      where p.object_type = 'CALENDAR' and c.feed_id = ${feedId}`)
  const stateOf = async (feedId: number) => (await call('GET', `/feed/${feedId}`)).body.state
  return {
    ...world,
    server,
    pullOnce,
    openCalendars,
    mirroredOf,
    planned,
    stateOf,
    staff,
    clock,
    database,
  }
}

const describe = ({
  client,
  staff,
  startTime,
  endTime,
}: Omit<Mirrored, 'calendarId' | 'status' | 'active'>) =>
  `${startTime} ${endTime} ${client} ${staff}`

const isAlive = ({ active, status }: Mirrored) => active && status !== 'CANCELLED'

for (const name of Object.keys(PROGRAMS)) {
  test(`a mirror of calendars that people edit on ${name} equals the source after each sequence of edits`, async (t) => {
    const program = needProgram(t, name)
    if (!program) return
    const oracle = openOracle(t, 'recurring_ical_events')
    if (!oracle) return
    const ask = oracle
    const seed = proofSeed(t)
    const random = randomFrom(seed)
    const { below, chance, pick } = random
    const proof = await openProof(t, name, program)
    const { call, clock, database, server, pullOnce, mirroredOf, planned, stateOf, staff } = proof
    const counts = {
      edits: 0,
      pulls: 0,
      killed: 0,
      restarts: 0,
      broken: 0,
      decisions: 0,
      compared: 0,
      events: 0,
    }
    let opened = await proof.openCalendars()
    let editor = editCalendars(random, opened.folders, clock.now)
    let log: string[] = []
    let usualMs = 100

    /** Pulls the feed once, as soon as it is due. */
    async function pull(killAfterMs?: number) {
      for (let waits = 0; waits < 40; waits += 1) {
        clock.advance({ minutes: 6 })
        const startedAt = performance.now()
        const pulled = await pullOnce(clock.now(), killAfterMs)
        if (pulled === undefined || pulled > 0) {
          counts.pulls += 1
          if (pulled) usualMs = (usualMs * 3 + performance.now() - startedAt) / 4
          return
        }
      }
      assert.fail('the feed was not pulled for hours')
    }

    /** A pull during which something breaks, and one after it. */
    async function pullBadly() {
      const kind = below(3)
      if (kind === 0) {
        counts.killed += 1
        log.push('kill the puller')
        await pull(random.next() * usualMs)
      } else if (kind === 1) {
        counts.restarts += 1
        log.push('kill the server')
        const pulling = pull()
        await wait(random.next() * usualMs)
        await server.kill()
        await pulling
        await server.start()
      } else {
        counts.broken += 1
        log.push('break the token')
        const token = pick(['broken', 'http://radicale.org/ns/sync/0', '0'.repeat(40), ''])
        const tokens = Object.fromEntries(opened.folders.map((folder) => [folder, token]))
        await database.engine.query(sql`
          update feed_state set cursor = jsonb_set(cursor, '{tokens}', ${JSON.stringify(tokens)}::jsonb)
          where feed_id = ${opened.feedId} and cursor is not null`)
      }
      await pullWell()
    }

    async function pullWell() {
      log.push('pull')
      await pull()
      const { health, cause } = await stateOf(opened.feedId)
      if (health === 'NEEDS_DECISION') {
        counts.decisions += 1
        log.push('decide')
        const { status } = await call('POST', `/feed/${opened.feedId}/vanished/cancel`)
        assert.equal(status, 200)
      } else assert.equal(health, 'OK', cause)
    }

    /** The files of the server, expanded by the other library. */
    async function truth() {
      const from = clock.now().add({ minutes: 1 })
      const to = clock.now().add({ hours: 24 * (HORIZON_DAYS - 2) })
      const texts = await Promise.all(
        opened.folders.map(async (folder) => {
          const listing = await server.send(
            'PROPFIND',
            folder,
            '<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>',
            {
              depth: '1',
              'content-type': 'application/xml',
            },
          )
          const hrefs = [...(await listing.text()).matchAll(/href>([^<]*\.ics)</g)].map(
            ([, href]) => href!,
          )
          const files = await Promise.all(
            hrefs.map(async (href) => (await server.send('GET', href)).text()),
          )
          const events = files.flatMap((file) => file.match(/BEGIN:VEVENT.*?END:VEVENT/gs) ?? [])
          return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events, 'END:VCALENDAR', ''].join('\r\n')
        }),
      )
      const [start, end] = [from, to].map((time) =>
        time.toString({ smallestUnit: 'second' }).slice(0, -1),
      )
      const answers = await ask<string[]>(texts.map((text) => ({ text, from: start, to: end })))
      const all = answers.flatMap((lines, at) =>
        lines.map((line) => {
          const [startTime, endTime, client] = line.split(' ')
          const times = {
            startTime: Temporal.Instant.from(startTime!),
            endTime: Temporal.Instant.from(endTime!),
          }
          return { ...times, client: client!, staff: staff[at]! }
        }),
      )
      const isIn = ({ startTime }: { startTime: Temporal.Instant }) =>
        Temporal.Instant.compare(startTime, from) > 0 && Temporal.Instant.compare(startTime, to) < 0
      return { expected: all.filter(({ client }) => client !== 'cancelled').filter(isIn), isIn }
    }

    async function compare(what: string) {
      const { expected, isIn } = await truth()
      const mirrored = (await mirroredOf(opened.feedId)).filter(isAlive)
      const told = () => `${what}: ${log.join(', ')}`
      assert.deepEqual(
        mirrored.filter(isIn).map(describe).toSorted(),
        expected.map(describe).toSorted(),
        told(),
      )
      const now = clock.now()
      const due = (startTime: Temporal.Instant) =>
        REMINDER_HOURS.map((hours) => startTime.subtract({ hours })).filter(
          (time) => Temporal.Instant.compare(time, now) > 0,
        )
      const byId = new Map(mirrored.map((one) => [one.calendarId, one]))
      const triggers = (await planned(opened.feedId)).filter(
        ({ isReminder, scheduledTime }) =>
          isReminder && Temporal.Instant.compare(scheduledTime, now) > 0,
      )
      const found = triggers.map(({ calendarId, scheduledTime }) => {
        const object = byId.get(calendarId)
        assert.ok(object, `${told()}: a reminder of ${calendarId}, which is cancelled`)
        return { ...object, scheduledTime }
      })
      const text = (
        one: Omit<Mirrored, 'calendarId' | 'status' | 'active'>,
        time: Temporal.Instant,
      ) => `${describe(one)} ${time}`
      assert.deepEqual(
        found
          .filter(isIn)
          .map((one) => text(one, one.scheduledTime))
          .toSorted(),
        expected.flatMap((one) => due(one.startTime).map((time) => text(one, time))).toSorted(),
        `triggers: ${told()}`,
      )
      counts.compared += expected.length
    }

    type Snapshot = { objects: Map<number, Mirrored>; events: Map<number, number> }
    async function snapshot(): Promise<Snapshot> {
      const objects = await mirroredOf(opened.feedId)
      const events = (await planned(opened.feedId)).filter(({ isReminder }) => !isReminder)
      return {
        objects: new Map(objects.map((one) => [one.calendarId, one])),
        events: new Map(
          [...Map.groupBy(events, ({ calendarId }) => calendarId)].map(([id, { length }]) => [
            id,
            length,
          ]),
        ),
      }
    }

    /** Each object that is new or different fired one event, and no other did. */
    function assertEvents(before: Snapshot, after: Snapshot) {
      for (const [id, object] of after.objects) {
        const former = before.objects.get(id)
        const isChanged =
          !former ||
          `${describe(object)} ${isAlive(object)}` !== `${describe(former)} ${isAlive(former)}`
        const fired = (after.events.get(id) ?? 0) - (before.events.get(id) ?? 0)
        assert.equal(
          fired,
          isChanged ? 1 : 0,
          `events of ${JSON.stringify([former, object])}: ${log.join(', ')}`,
        )
        counts.events += fired
      }
    }

    for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
      if (sequence > 0 && sequence % SEQUENCES_PER_FEED === 0) {
        assert.equal(
          (await call('DELETE', `/feed/${opened.feedId}?appointments=remove`)).status,
          200,
        )
        opened = await proof.openCalendars()
        editor = editCalendars(random, opened.folders, clock.now)
      }
      log = []
      const isFirst = sequence % SEQUENCES_PER_FEED === 0
      if (sequence % SEQUENCES_PER_FEED === 1) {
        const { status } = await call('POST', '/feed', { feedId: opened.feedId, mode: 'LIVE' })
        assert.equal(status, 200)
      }
      let before = await snapshot()
      const pullAndCheck = async (work: () => Promise<void>) => {
        await work()
        const after = await snapshot()
        if (!isFirst) assertEvents(before, after)
        before = after
      }
      for (let edits = 0; edits < EDITS; edits += 1) {
        const { what, requests } = editor.next()
        counts.edits += 1
        for (const [at, { method, path: place, body }] of requests.entries()) {
          log.push(`${what} (${method} ${place})`)
          const answer = await server.send(method, place, body)
          assert.ok(
            answer.ok,
            `${method} ${place}: ${answer.status} ${await answer.text()}\n${body}`,
          )
          if (at === 0 && requests.length > 1 && chance(0.3)) await pullAndCheck(pullWell)
        }
        if (chance(0.3)) await pullAndCheck(chance(isFull ? 0.15 : 0.3) ? pullBadly : pullWell)
      }
      await pullAndCheck(pullWell)
      await compare(`PROOF_SEED=${seed}, sequence ${sequence}`)
    }
    t.diagnostic(`${SEQUENCES} sequences on ${name}: ${JSON.stringify(counts)}`)
  })
}
