import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock, test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'
import { partsOf, PULLING } from './loop-parts.ts'

/*
 * Sources that answer wrongly, through HTTP to the stored appointments: none is cancelled, no mail is
 * made, the health says it in words, and one pull after the source has recovered everything is equal.
 */

const COUNT = 12

/** The files of a calendar by their names. */
type Files = Map<string, string>
type Answer = { status: number; headers?: http.OutgoingHttpHeaders; body: string }
/** What a server does wrong: with the files before it answers, with its answer, or with the connection. */
type Wrong = {
  files?: (files: Files) => Files
  answer?: (answer: Answer, request: { method: string; body: string }) => Answer
  breakOff?: 'reset' | 'in the middle' | 'one byte a second'
  /** What the health may be; default: FAILING. */
  health?: string[]
}

const says = (status: number, body = '', headers: http.OutgoingHttpHeaders = {}): Wrong => ({
  answer: () => ({ status, body, headers }),
})
const changed = (change: (body: string) => string): Wrong => ({
  answer: (answer) => ({ ...answer, body: change(answer.body) }),
})
const without = (count: number) => (files: Files) => new Map([...files].slice(count))
const renamed = (files: Files) =>
  new Map(
    [...files].map(([name, file]) => [`new-${name}`, file.replaceAll(/UID:(\S+)/g, 'UID:new-$1')]),
  )
const rewritten = (change: (file: string) => string) => (files: Files) =>
  new Map([...files].map(([name, file]) => [name, change(file)]))
/** The same moments on the clock of New York. */
const elsewhere = rewritten((file) =>
  file.replace(/DTSTART:(\w+)/, (_line, time: string) => {
    const start = Temporal.Instant.from(time).toZonedDateTimeISO('America/New_York')
    const local = start.toPlainDateTime().toString({ smallestUnit: 'second' })
    return `DTSTART;TZID=America/New_York:${local.replaceAll(/[-:]/g, '')}`
  }),
)
const PAGE = '<!doctype html><html><body>Please sign in</body></html>'
const DECISION = ['NEEDS_DECISION']

/** What every server can do. */
const COMMON: Record<string, Wrong> = {
  'an error': says(500),
  'a bad gateway': says(502, PAGE),
  'being busy': says(503, '', { 'retry-after': '120' }),
  'too many requests': says(429),
  'a refused login': { ...says(401), health: ['NEEDS_LOGIN'] },
  'a forbidden account': { ...says(403), health: ['NEEDS_LOGIN'] },
  'a missing address': says(404),
  'an address that is gone': says(410),
  'a page for people': says(200, PAGE),
  'a page for people with the usual status': changed(() => PAGE),
  nothing: changed(() => ''),
  'nothing as 204': says(204),
  JSON: changed(() => '{"error":"maintenance"}'),
  'a cut answer': changed((body) => body.slice(0, body.length / 2)),
  'an answer without its last line': changed((body) => body.trimEnd().slice(0, -5)),
  'a compressed answer': {
    answer: (answer) => ({ ...answer, headers: { 'content-encoding': 'gzip' } }),
  },
  'redirects without end': says(302, '', { location: '?again' }),
  'a redirect to an address without https': says(302, '', { location: 'http://login.example/' }),
  'a connection that is reset': { breakOff: 'reset' },
  'a connection that ends in the middle': { breakOff: 'in the middle' },
  'one byte a second': { breakOff: 'one byte a second' },
  'half of its events': { files: without(COUNT / 2), health: DECISION },
  'no events after a restore': { files: without(COUNT), health: DECISION },
  'the same events under new names': { files: renamed, health: ['OK'] },
  'new times of export': {
    files: rewritten((file) => file.replace('DTSTAMP:2026', 'DTSTAMP:2027')),
    health: ['OK'],
  },
  'an earlier version of its events': {
    files: rewritten((file) =>
      file.replace('SUMMARY', 'SEQUENCE:0\r\nLAST-MODIFIED:20200101T000000Z\r\nSUMMARY'),
    ),
    health: ['OK'],
  },
  'each event twice': {
    files: (files) =>
      new Map([...files].flatMap(([name, file]) => [[name, file] as const, [`two-${name}`, file]])),
    health: ['OK'],
  },
  'the clock of another zone': { files: elsewhere, health: ['OK'] },
  'events that cannot be read': {
    files: rewritten((file) => file.replace(/DTSTART:(\w+)Z/, 'DTSTART;TZID=Nowhere:$1')),
    health: ['OK'],
  },
  'a wrong content type': {
    answer: (answer) => ({ ...answer, headers: { 'content-type': 'image/png' } }),
    health: ['OK'],
  },
  'a part of its answer as 206': {
    answer: ({ body }) => ({ status: 206, body: body.slice(0, body.length / 2) }),
  },
  'an answer that is too large': changed((body) => body + '\n'.repeat(65 * 1_048_576)),
}

const calendarOf = (events: Iterable<string>) =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${[...events].join('')}END:VCALENDAR\r\n`

const NAMESPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
const multistatus = (responses: string[], more = '') =>
  `<?xml version="1.0"?><d:multistatus ${NAMESPACES}>${responses.join('')}${more}</d:multistatus>`
const found = (href: string, prop: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${prop}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
const gone = (href: string) =>
  `<d:response><d:href>${href}</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>`
const ITSELF = found(
  '/cal/',
  '<d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>Salon</d:displayname>',
)
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')
const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A server without sync-collection: each pull lists all etags. */
function answerCaldav(files: Files, { method, body }: { method: string; body: string }): Answer {
  const etag = (name: string) => `<d:getetag>"${digestOf(files.get(name)!)}"</d:getetag>`
  const ok = (responses: string[]) => ({ status: 207, body: multistatus(responses) })
  if (method === 'PROPFIND' && !body.includes('getetag')) return ok([ITSELF])
  if (method === 'PROPFIND') {
    return ok([ITSELF, ...[...files.keys()].map((name) => found(`/cal/${name}`, etag(name)))])
  }
  if (body.includes('sync-collection')) return { status: 403, body: '' }
  const asked = [...body.matchAll(/<d:href>([^<]*)<\/d:href>/g)].map(([, href]) => href!)
  return ok(
    asked.map((href) => {
      const name = href.split('/').at(-1)!
      const file = files.get(name)
      if (!file) return gone(href)
      const data = `<c:calendar-data>${escape(calendarOf([file]))}</c:calendar-data>`
      return found(href, etag(name) + data)
    }),
  )
}

/** What only a CalDAV server can do. */
const OF_CALDAV: Record<string, Wrong> = {
  'a list without the calendar': changed((body) => body.replace(ITSELF, '')),
  'a calendar that is gone': {
    answer: () => ({ status: 207, body: multistatus([gone('/cal/')]) }),
  },
  'a calendar that is a folder': changed((body) => body.replace('<c:calendar/>', '')),
  'two documents': changed((body) => body + body),
  entities: changed((body) => body.replace('?>', '?><!DOCTYPE a [<!ENTITY b "c">]>')),
  'half of a listing, though it has all files': {
    answer: (answer, { method, body }) =>
      method === 'PROPFIND' && body.includes('getetag')
        ? {
            ...answer,
            body: answer.body.replaceAll(
              /<d:response><d:href>\/cal\/e[0-5]\..*?<\/d:response>/g,
              '',
            ),
          }
        : answer,
    health: ['OK'],
  },
  'files that are listed, and missing if they are asked for': {
    files: (files) =>
      new Map([...files].map(([name, file]) => [name, file.replace('Knee', 'Hip')])),
    answer: (answer, { body }) =>
      body.includes('multiget')
        ? {
            status: 207,
            body: multistatus(
              [...body.matchAll(/<d:href>([^<]*)/g)].map(([, href]) => gone(href!)),
            ),
          }
        : answer,
    health: ['OK'],
  },
  'an etag that changes with every request': {
    answer: (answer) => ({
      ...answer,
      body: answer.body.replaceAll(/"[0-9a-f]{64}"/g, () => `"${randomBytes(32).toString('hex')}"`),
    }),
    health: ['OK'],
  },
}

/** What only a published file can do. */
const OF_ICS: Record<string, Wrong> = {
  'never a change': { ...says(304), health: ['OK'] },
  'a file with another product': {
    ...changed((body) => body.replace('VERSION:2.0', 'VERSION:2.0\r\nPRODID:-//Other//EN')),
    health: ['OK'],
  },
  'a calendar of another kind': {
    ...changed((body) => body.replaceAll('VEVENT', 'VTODO')),
    health: DECISION,
  },
}

const MAX_PULL_SECONDS = 30 * 60

/** Sends a byte, and moves the clock of time limits by a second, until the reader goes away. */
async function drip(response: http.ServerResponse, body: string) {
  for (const byte of body) {
    await new Promise<unknown>((sent) => response.write(byte, sent))
    mock.timers.tick(1_000)
    if (response.destroyed) return
  }
  response.end()
}

async function startServer(t: TestContext, source: 'CALDAV' | 'ICS', files: Files) {
  const state: { wrong: Wrong } = { wrong: {} }
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { wrong } = state
      const asked = { method: request.method!, body: Buffer.concat(chunks).toString() }
      const shown = wrong.files?.(files) ?? files
      const right: Answer =
        source === 'ICS'
          ? { status: 200, body: calendarOf(shown.values()) }
          : answerCaldav(shown, asked)
      const { status, body, headers = {} } = wrong.answer?.(right, asked) ?? right
      if (wrong.breakOff === 'reset') return void request.socket.resetAndDestroy()
      if (wrong.breakOff === 'one byte a second') {
        response.writeHead(status, headers)
        return void drip(response, body.padEnd(MAX_PULL_SECONDS + 60))
      }
      if (wrong.breakOff) {
        response.writeHead(status, { 'content-length': Buffer.byteLength(body) + 10 })
        return void response.write(body, () => request.socket.destroy())
      }
      response.writeHead(status, headers)
      response.end(body)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => void (server.close(), server.closeAllConnections()))
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/cal/` }
}

async function followServer(t: TestContext, source: 'CALDAV' | 'ICS') {
  const world = await startWorld(t, PULLING)
  const { call, clock, database, db, ids, save, businessId } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  for (const eventTypeId of [1, 2]) {
    await save(
      '/eventDefinition',
      reminder(businessId, 0, { eventActions, eventType: { eventTypeId } }),
    )
  }
  const files: Files = new Map()
  for (let i = 0; i < COUNT; i += 1) {
    const start = clock.now().add({ hours: 24 * (20 + i) })
    const time = start.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')
    const lines = [
      'BEGIN:VEVENT',
      `UID:e${i}`,
      'DTSTAMP:20260101T000000Z',
      `DTSTART:${time}`,
      'DURATION:PT30M',
      'SUMMARY:Knee',
      `ATTENDEE:mailto:client${i}@example.org`,
      'END:VEVENT',
    ]
    files.set(`e${i}.ics`, `${lines.join('\r\n')}\r\n`)
  }
  const { state: server, url } = await startServer(t, source, files)
  const { clientId: _clientId, ...defaults } = ids
  const { feedId } = await save('/feed', {
    name: 'Salon',
    source,
    mode: 'SHADOW',
    ...(source === 'CALDAV'
      ? { connection: { url, username: 'salon', calendars: ['/cal/'] }, secret: 'x' }
      : { secret: url }),
    defaults,
  })
  const [loop] = createFeedLoops(partsOf(world))
  const pull = async (minutes: number) => {
    clock.advance({ minutes })
    assert.equal(await loop!.runOnce(), 1)
  }
  const state = async () => (await call('GET', `/feed/${feedId}`)).body.state
  const appointments = async () =>
    (await call('GET', `/calendar?feedId=${feedId}&limit=500`)).body.items.map(
      ({ calendarId, status, active, startTime }: Record<string, unknown>) =>
        `${calendarId} ${status} ${active} ${startTime}`,
    )
  await pull(0)
  await save('/feed', { feedId, mode: 'LIVE' })
  // Reconciliations have tests of their own.
  await database.engine.query(
    sql`update feed_state set reconcile_time = ${clock.in({ hours: 1_000 })}`,
  )
  const engine = startEngine(world)
  /** Triggers and mails about changes. */
  const news = async () => {
    await engine.runEngine()
    const [row] = await db.query<{ news: number }>(sql`
      select (select count(*) from event_trigger) + (select count(*) from email) as news`)
    return row!.news
  }
  return { server, pull, state, appointments, news }
}

for (const [source, own] of [
  ['CALDAV', OF_CALDAV],
  ['ICS', OF_ICS],
] as const) {
  test(`nothing is cancelled or mailed because of a wrong answer of ${source}, and one pull later all is equal`, async (t) => {
    // The types of Node do not know this one yet.
    mock.timers.enable({ apis: ['AbortSignal.timeout' as 'setTimeout'] })
    t.after(() => mock.timers.reset())
    const { server, pull, state, appointments, news } = await followServer(t, source)
    const before = await appointments()
    assert.equal(before.length, COUNT)
    for (const [what, wrong] of Object.entries({ ...COMMON, ...own })) {
      const { health: expected = ['FAILING'] } = wrong
      server.wrong = wrong
      // A file is believed only if two readings agree.
      const pulls = expected.includes('FAILING') ? [17] : [17, 17]
      for (const minutes of pulls) {
        await pull(minutes)
        const { health, cause, todo } = await state()
        assert.ok(expected.includes(health), `${what}: ${health} ${cause}`)
        if (health !== 'OK') assert.ok(cause.length > 20 && todo.length > 20, what)
        assert.deepEqual(await appointments(), before, what)
      }
      server.wrong = {}
      await pull(17)
      const { health, entries } = await state()
      assert.deepEqual([health, entries.MIRRORED, entries.HELD], ['OK', COUNT, 0], `after ${what}`)
      assert.deepEqual(await appointments(), before, `after ${what}`)
      assert.equal(await news(), 0, what)
    }
  })
}
