import assert from 'node:assert/strict'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { SourceError } from '../../src/feeds/source.ts'
import { makeCaldav } from '../../src/feeds/sources/caldav.ts'
import { assertNeverBlocks } from '../support/event-loop.ts'
import { needProgram } from '../support/programs.ts'
import { startRadicale } from '../support/radicale.ts'
import { accountOf, followSource } from './source-account.ts'

const caldav = makeCaldav(['127.0.0.1'])

const eventOf = (uid: string, start: string, ...more: string[]) =>
  `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Test//Test//EN
BEGIN:VEVENT
UID:${uid}
DTSTAMP:20260101T000000Z
DTSTART:${start}
SUMMARY:x
${[...more, 'END:VEVENT'].join('\n')}
END:VCALENDAR
`

test('Radicale is found, read, followed, and not believed while its disk is missing', async (t) => {
  const program = needProgram(t, 'radicale')
  if (!program) return
  const { url, folder, send } = await startRadicale(t, program)
  for (const calendar of ['/salon/one/', '/salon/two/'])
    assert.equal((await send('MKCALENDAR', calendar)).status, 201, calendar)
  const put = async (place: string, event: string) =>
    assert.equal((await send('PUT', `/salon/${place}`, event)).status, 201)
  await put('one/a.ics', eventOf('a', '20261120T090000Z', 'RRULE:FREQ=WEEKLY;COUNT=3'))
  await put('one/b%20%C3%BC.ics', eventOf('b', '20261121T090000Z'))
  await put('two/c.ics', eventOf('c', '20261122T090000Z', 'RRULE:FREQ=DAILY'))

  const account = accountOf({ url, username: 'salon' }, 'x')
  const tested = await caldav.test(account)
  assert.equal(tested.ok, true, JSON.stringify(tested.checks))
  assert.deepEqual(tested.calendars.map(({ key, entries }) => [key, entries]).toSorted(), [
    ['/salon/one/', 2],
    ['/salon/two/', 1],
  ])

  const { pullOnce, versions, breakCursor } = followSource(caldav, account)
  const first = await pullOnce()
  const keys = ['/salon/one/a.ics', '/salon/one/b%20%C3%BC.ics', '/salon/two/c.ics']
  assert.deepEqual([...first.complete!.keys].toSorted(), keys)
  const entriesOf = (key: string) => first.resources.find((one) => one.key === key)!.entries
  assert.deepEqual(
    entriesOf(keys[0]!).map(({ key, start, calendar }) => `${key} ${start} ${calendar}`),
    ['20', '27', '04'].map((day, at) => {
      const time = `2026-${at < 2 ? 11 : 12}-${day}T09:00:00Z`
      return `a/${time} ${time} salon/one`
    }),
  )
  const daily = first.resources.find((one) => one.key === keys[2])!
  assert.equal(String(daily.readAgainAt), '2026-11-19T12:00:00Z')

  const unchanged = await pullOnce()
  assert.deepEqual([unchanged.resources, unchanged.deleted, unchanged.complete], [[], [], null])
  assert.ok(unchanged.requests <= 6)
  assert.deepEqual(
    (await pullOnce([keys[2]!])).resources.map(({ key }) => key),
    [keys[2]],
  )

  await put('one/a.ics', eventOf('a', '20261120T100000Z'))
  await put('two/d.ics', eventOf('d', '20261123T090000Z'))
  assert.equal((await send('DELETE', '/salon/two/c.ics')).status, 200)
  const delta = await pullOnce()
  assert.deepEqual(delta.resources.map(({ key }) => key).toSorted(), [keys[0], '/salon/two/d.ics'])
  assert.deepEqual(delta.deleted, [keys[2]])
  assert.deepEqual((await caldav.list!(account)).versions, versions)
  const read = await caldav.read!(account, ['/salon/two/c.ics', '/salon/two/d.ics'])
  assert.equal(read.get('/salon/two/c.ics'), 'GONE')
  assert.equal(
    (read.get('/salon/two/d.ics') as { version: string }).version,
    versions.get('/salon/two/d.ics'),
  )

  fs.renameSync(folder, `${folder}-away`)
  await assert.rejects(pullOnce(), SourceError)
  await assert.rejects(
    caldav.read!(accountOf({ url, username: 'salon', calendars: ['/salon/one/'] }, 'x'), [
      keys[0]!,
    ]),
    SourceError,
  )
  fs.rmSync(folder, { recursive: true, force: true })
  fs.renameSync(`${folder}-away`, folder)
  assert.deepEqual((await pullOnce()).deleted, [])

  await put('one/a.ics', eventOf('a', '20261120T110000Z'))
  breakCursor({
    homes: [`${url}salon/`],
    tokens: { '/salon/one/': 'broken', '/salon/two/': 'broken' },
  })
  const afresh = await pullOnce()
  assert.deepEqual(
    afresh.resources.map(({ key }) => key),
    [keys[0]],
  )
  assert.equal(afresh.complete!.keys.size, 3)
  assert.equal((await pullOnce()).complete, null)
})

type Answer = (request: http.IncomingMessage, body: string) => { status?: number; body: string }

async function startFake(t: TestContext, answer: Answer) {
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const { status = 207, body: text } = answer(request, body)
    response.writeHead(status, { 'content-type': 'application/xml' }).end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => void (server.close(), server.closeAllConnections()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/cal/`
}

const multistatus = (...responses: string[]) =>
  `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">${responses.join('')}</d:multistatus>`
const responseOf = (href: string, properties: string, status = '200 OK') =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 ${status}</d:status></d:propstat></d:response>`
const goneOf = (href: string) =>
  `<d:response><d:href>${href}</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>`
const ITSELF = responseOf('/cal/', '<d:resourcetype><d:collection/><c:calendar/></d:resourcetype>')
const etagOf = (name: string, etag = '1') =>
  responseOf(`/cal/${name}`, `<d:getetag>"${etag}"</d:getetag>`)
const bodyOf = (name: string, event: string) =>
  responseOf(
    `/cal/${name}`,
    `<d:getetag>"1"</d:getetag><c:calendar-data><![CDATA[${event}]]></c:calendar-data>`,
  )
const TOKEN = '<d:sync-token>t</d:sync-token>'

const good = (body: string) => {
  if (body.includes('sync-collection')) return multistatus(etagOf('a.ics'), TOKEN)
  if (body.includes('multiget'))
    return multistatus(bodyOf('a.ics', eventOf('a', '20261120T090000Z')))
  return multistatus(ITSELF, etagOf('a.ics'))
}

const WRONG: [string, { status?: number; body: string }][] = [
  ['an error', { status: 500, body: '' }],
  ['a refused password', { status: 401, body: '' }],
  ['a page for people', { status: 200, body: '<html><body>Sign in</body></html>' }],
  ['a page for people as 207', { body: '<html><body>Sign in</body></html>' }],
  ['nothing', { body: '' }],
  ['an answer that was cut', { body: multistatus(ITSELF, etagOf('a.ics')).slice(0, -20) }],
  ['two documents', { body: multistatus(ITSELF) + multistatus() }],
  ['tags in a wrong order', { body: '<d:multistatus><d:response></d:multistatus></d:response>' }],
  ['entities', { body: `<!DOCTYPE a [<!ENTITY b "c">]>${multistatus(ITSELF)}` }],
  ['a deep document', { body: multistatus('<a>'.repeat(50) + '</a>'.repeat(50)) }],
  ['a calendar that is gone', { body: multistatus(goneOf('/cal/')) }],
  ['a list without the calendar', { body: multistatus() }],
]

test('no wrong answer of a CalDAV server is taken for an empty calendar', async (t) => {
  let wrong: { status?: number; body: string } | undefined
  const url = await startFake(t, (_request, body) => wrong ?? { body: good(body) })
  const account = accountOf({ url, username: 'salon', calendars: ['/cal/'] }, 'x')
  const { pullOnce, cursor } = followSource(caldav, account)
  assert.equal((await pullOnce()).resources.length, 1)
  const before = cursor()
  const tested = await caldav.test(accountOf({ url, username: 'salon' }, 'x'))
  assert.equal(tested.checks.at(-1)!.detail, 'The account has 1 calendar.')
  for (const [what, answer] of WRONG) {
    wrong = answer
    await assert.rejects(pullOnce(), SourceError, what)
    assert.deepEqual(cursor(), before)
    await assert.rejects(caldav.list!(account), SourceError, what)
    const { ok, checks } = await caldav.test(accountOf({ url, username: 'salon' }, 'x'))
    assert.equal(ok, false, what)
    assert.ok(checks.at(-1)!.detail.length > 20)
  }
})

test('deletions of a delta count only if the calendar itself answers', async (t) => {
  let isMounted = true
  const url = await startFake(t, (_request, body) => {
    if (body.includes('sync-collection') && body.includes('>t<')) {
      return { body: multistatus(goneOf('/cal/a.ics'), TOKEN) }
    }
    if (isMounted) return { body: good(body) }
    return body.includes('multiget')
      ? { body: multistatus(goneOf('/cal/a.ics')) }
      : { status: 404, body: '' }
  })
  const account = accountOf({ url, username: 'salon', calendars: ['/cal/'] }, 'x')
  const { pullOnce } = followSource(caldav, account)
  await pullOnce()
  isMounted = false
  await assert.rejects(pullOnce(), SourceError)
  await assert.rejects(caldav.read!(account, ['/cal/a.ics']), SourceError)
  isMounted = true
  assert.deepEqual((await pullOnce()).deleted, ['/cal/a.ics'])
})

test('an answer to a token that cannot be read is replaced by a listing of everything', async (t) => {
  let isSyncing = true
  const url = await startFake(t, (_request, body) => {
    const isToken = body.includes('sync-collection') && body.includes('>t<')
    return { body: isToken && !isSyncing ? '<d:multistatus' : good(body) }
  })
  const account = accountOf({ url, username: 'salon', calendars: ['/cal/'] }, 'x')
  const { pullOnce } = followSource(caldav, account)
  await pullOnce()
  assert.equal((await pullOnce()).complete, null)
  isSyncing = false
  assert.deepEqual([...(await pullOnce()).complete!.keys], ['/cal/a.ics'])
})

test('a listing that the server cuts with 507 is continued, and propstat 418 is ignored', async (t) => {
  const url = await startFake(t, (_request, body) => {
    const cut =
      '<d:response><d:href>/cal/</d:href><d:status>HTTP/1.1 507 Cut</d:status></d:response>'
    if (body.includes('sync-collection')) {
      const page = body.includes('>next<') ? [etagOf('b.ics')] : [etagOf('a.ics'), cut]
      const token = page.includes(cut) ? 'next' : 't'
      return { body: multistatus(...page, `<d:sync-token>${token}</d:sync-token>`) }
    }
    if (body.includes('displayname')) return { body: multistatus(ITSELF) }
    const strange = responseOf('/cal/z.ics', '<d:getetag/>', "418 I'm a teapot")
    const bodies = ['a', 'b'].map((name) =>
      bodyOf(`${name}.ics`, eventOf(name, '20261120T090000Z')),
    )
    return { body: multistatus(...bodies, strange) }
  })
  const account = accountOf({ url, username: 'salon', calendars: ['/cal/'] }, 'x')
  const { resources } = await followSource(caldav, account).pullOnce()
  assert.deepEqual(
    resources.map(({ key, version }) => `${key} ${version}`),
    ['/cal/a.ics "1"', '/cal/b.ics "1"'],
  )
})

test('a home on another host gets no password before a person confirms it', async (t) => {
  const other = await startFake(t, () => ({
    body: multistatus(
      ITSELF.replace('</d:resourcetype>', '</d:resourcetype><d:displayname>Salon</d:displayname>'),
    ),
  }))
  const url = await startFake(t, () => ({
    body: multistatus(
      responseOf('/cal/', `<c:calendar-home-set><d:href>${other}</d:href></c:calendar-home-set>`),
    ),
  }))
  const { host } = new URL(other)
  const tested = await caldav.test(accountOf({ url, username: 'salon' }, 'x'))
  assert.deepEqual([tested.ok, tested.otherHosts], [false, [host]])
  const confirmed = await caldav.test(accountOf({ url, username: 'salon', hosts: [host] }, 'x'))
  assert.deepEqual(confirmed.calendars, [{ key: other, name: 'Salon', entries: 0 }])
})

test('rules and matches know a chosen calendar by its name, and two of one name by their paths', async (t) => {
  const named = (path: string) =>
    responseOf(
      path,
      '<d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>Elena</d:displayname>',
    )
  const url = await startFake(t, (request, body) => {
    if (body.includes('displayname')) return { body: multistatus(named(request.url!)) }
    return { body: good(body).replaceAll('/cal/', request.url!) }
  })
  const pull = async (calendars: string[]) => {
    const account = accountOf({ url, username: 'salon', calendars }, 'x')
    const { resources } = await followSource(caldav, account).pullOnce()
    return resources.map(({ calendar, entries }) => [calendar, entries[0]!.calendar])
  }
  assert.deepEqual(await pull(['/cal/']), [['/cal/', 'Elena']])
  assert.deepEqual(await pull(['/cal/', '/two/']), [
    ['/cal/', 'Elena (/cal/)'],
    ['/two/', 'Elena (/two/)'],
  ])
})

test('an event file that cannot be read is held, and the others of the calendar are read', async (t) => {
  const whole = eventOf('a', '20261120T090000Z')
  const url = await startFake(t, (_request, body) => {
    if (body.includes('sync-collection'))
      return { body: multistatus(etagOf('a.ics'), etagOf('b.ics'), TOKEN) }
    if (body.includes('multiget'))
      return { body: multistatus(bodyOf('a.ics', whole), bodyOf('b.ics', whole.slice(0, -20))) }
    return { body: good(body) }
  })
  const account = accountOf({ url, username: 'salon', calendars: ['/cal/'] }, 'x')
  const { resources } = await followSource(caldav, account).pullOnce()
  const [read, held] = resources.map(({ entries }) => entries)
  assert.deepEqual([read!.length, read![0]!.problem], [1, null])
  assert.deepEqual([held!.length, held![0]!.problem!.state], [1, 'HELD'])
  assert.match(held![0]!.problem!.reason, /^The calendar file \/cal\/b\.ics /)
})

test('an event whose address is none is held, and the others of the calendar are read', async (t) => {
  const strange = responseOf('http://[', '<d:getetag>"1"</d:getetag>')
  let isSyncing = true
  const url = await startFake(t, (_request, body) => {
    if (body.includes('sync-collection') && !isSyncing) return { status: 403, body: '' }
    return { body: good(body).replace('</d:multistatus>', `${strange}</d:multistatus>`) }
  })
  const home = responseOf(
    '/',
    '<c:calendar-home-set><d:href>http://[</d:href></c:calendar-home-set>',
  )
  const lost = await startFake(t, () => ({ body: multistatus(home) }))
  for (const again of [true, false]) {
    isSyncing = again
    const account = accountOf({ url, username: 'salon', calendars: ['/cal/'] }, 'x')
    const { pullOnce } = followSource(caldav, account)
    const { resources } = await pullOnce()
    assert.deepEqual(
      resources.map(({ key, entries }) => `${key} ${entries[0]!.problem?.state ?? 'read'}`),
      ['http://[ HELD', '/cal/a.ics read'],
    )
    assert.deepEqual((await pullOnce()).resources, [])
    assert.equal((await caldav.list!(account)).versions.size, 2)
  }
  assert.equal((await caldav.test(accountOf({ url: lost, username: 'salon' }, 'x'))).ok, false)
  const account = accountOf({ url, username: 'salon', calendars: ['http://['] }, 'x')
  await assert.rejects(followSource(caldav, account).pullOnce(), SourceError)
})

test('reading a large answer does not block the event loop', async (t) => {
  const many = Array.from({ length: 60_000 }, (_, at) => etagOf(`${at}.ics`))
  const large = multistatus(ITSELF, ...many)
  const url = await startFake(t, () => ({ body: large }))
  const account = accountOf({ url, username: 'salon', calendars: ['/cal/'] }, 'x')
  const listed = await assertNeverBlocks(t, 'a large answer', () => caldav.list!(account))
  assert.equal(listed.versions.size, 60_000)
})
