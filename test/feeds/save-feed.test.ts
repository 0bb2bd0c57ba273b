import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { matchPattern } from '../../src/feeds/patterns.ts'
import { shareWorld } from '../support/world.ts'
import { PULLING } from './loop-parts.ts'
import { openInlet } from './support.ts'

const enterWorld = shareWorld(PULLING)

test('a feed is created with its defaults and audited', async (t) => {
  const { call } = await enterWorld(t)
  const { status, body, headers } = await call('POST', '/feed', { name: 'Salon', source: 'INLET' })
  assert.equal(status, 201)
  assert.equal(headers.location, `/feed/${body.feedId}`)
  const { mode, horizonDays, historyDays, closeAfterHours, severalClients, state } = body
  assert.deepEqual(
    [mode, horizonDays, historyDays, closeAfterHours, severalClients],
    ['DRAFT', 400, 30, 24, 'HOLD'],
  )
  assert.equal(state.health, 'OK')
  const changed = await call('POST', '/feed', { feedId: body.feedId, closeAfterHours: null })
  assert.deepEqual([changed.body.closeAfterHours, changed.body.version], [null, 2])
  const { items } = (await call('GET', `/audit?object=feed`)).body
  assert.equal(items.length, 2)
})

test('a feed that is as it was read is changed and deleted with If-Match; an outdated one is 412', async (t) => {
  const { call } = await enterWorld(t)
  const { feedId } = (await call('POST', '/feed', { name: 'Salon', source: 'INLET' })).body
  const read = async () => ({
    'if-match': String((await call('GET', `/feed/${feedId}`)).headers.etag),
  })
  const first = await read()
  assert.equal((await call('POST', '/feed', { feedId, name: 'Studio' }, first)).status, 200)
  assert.equal((await call('POST', '/feed', { feedId, name: 'Praxis' }, first)).status, 412)
  const place = `/feed/${feedId}?appointments=keep`
  assert.equal((await call('DELETE', place, undefined, first)).status, 412)
  assert.equal((await call('DELETE', place, undefined, await read())).status, 200)
})

test('all faults of a feed are reported at once, with their places', async (t) => {
  const world = await enterWorld(t)
  await openInlet(world)
  const { status, body } = await world.call('POST', '/feed', {
    name: 'salon',
    source: 'INLET',
    pullMinutes: 5,
    secret: 'x',
    horizonDays: 29,
    connection: { url: 'https://cloud.example/dav' },
    defaults: { reasonId: 999_999 },
    rules: [
      { when: { title: 'x' }, then: {} },
      { when: {}, then: { professionalId: 999_999 } },
    ],
    statusMap: { weg: 'NEVER' },
    colour: 'red',
  })
  assert.equal(status, 422)
  assert.deepEqual(body.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted(), [
    '/colour',
    '/connection/url',
    '/defaults/reasonId',
    '/horizonDays',
    '/name',
    '/pullMinutes',
    '/rules/0/then',
    '/rules/1/then/professionalId',
    '/rules/1/when',
    '/secret',
    '/statusMap/weg',
  ])
})

test('a calendar that the source does not have is refused, unless the source cannot be asked', async (t) => {
  const ITSELF = '<d:resourcetype><d:collection/><c:calendar/></d:resourcetype>'
  let isDown = false
  const seen: string[] = []
  const server = http.createServer(({ url, headers }, response) => {
    seen.push(headers.authorization ?? '')
    const isKnown = url === '/' || url === '/one/'
    response.writeHead(isDown ? 500 : isKnown ? 207 : 404, { 'content-type': 'application/xml' })
    response.end(
      `<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response><d:href>${url}</d:href><d:propstat><d:prop>${url === '/one/' ? ITSELF : ''}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`,
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => void (server.close(), server.closeAllConnections()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { call } = await enterWorld(t)
  const connection = { url, username: 'salon', calendars: ['/one/', '/two/', '/', 'http://['] }
  const body = { name: 'Salon', source: 'CALDAV', secret: 'x', connection, horizonDays: 29 }
  const refused = await call('POST', '/feed', body)
  assert.equal(refused.status, 422)
  assert.deepEqual(
    refused.body.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted(),
    [
      '/connection/calendars/1',
      '/connection/calendars/2',
      '/connection/calendars/3',
      '/horizonDays',
    ],
  )
  const made = await call('POST', '/feed', {
    ...body,
    horizonDays: 30,
    connection: { ...connection, calendars: ['/one/'] },
  })
  assert.equal(made.status, 201)
  const { feedId } = made.body
  seen.length = 0
  const changed = await call('POST', '/feed', {
    feedId,
    connection: { ...connection, calendars: ['/two/'] },
  })
  assert.equal(changed.status, 422)
  assert.ok(
    seen.every((credential) => credential === `Basic ${btoa('salon:x')}`),
    'the stored one',
  )
  seen.length = 0
  await call('POST', '/feed', { feedId, name: 'Studio' })
  assert.equal(seen.length, 0, 'calendars that stay are not asked for')
  isDown = true
  const unknown = await call('POST', '/feed', {
    feedId,
    connection: { ...connection, calendars: ['/two/'] },
  })
  assert.equal(unknown.status, 200)
})

test('the source of a feed cannot be changed, and a test stores nothing', async (t) => {
  const world = await enterWorld(t)
  const { feedId } = await openInlet(world)
  const tested = await world.call('POST', '/feed/test', { name: 'Other', source: 'INLET' })
  assert.deepEqual([tested.status, tested.body.ok], [200, true])
  assert.equal((await world.call('POST', '/feed/test', { feedId })).body.ok, true)
  assert.equal((await world.call('GET', '/feed')).body.items.length, 1)
  assert.equal((await world.call('POST', `/feed/${feedId}/pull`)).status, 409)
})

test('a pattern matches without case, with any text at * and named parts', () => {
  const cases: [string, string, object | undefined][] = [
    ['lunch*', 'Lunch with Eva', {}],
    ['lunch*', 'A lunch', undefined],
    ['*lunch', 'A LUNCH', {}],
    ['{client} – {service}', 'Eva Keller – Massage', { client: 'Eva Keller', service: 'Massage' }],
    ['*: {client}', 'Cut: Eva', { client: 'Eva' }],
    ['a*b*c', 'a--b--c', {}],
    ['a*b*c', 'a--c', undefined],
    ['exact', 'exactly', undefined],
  ]
  for (const [pattern, text, expected] of cases) {
    assert.deepEqual(matchPattern(pattern, text), expected, `${pattern} / ${text}`)
  }
  assert.equal(matchPattern('*a'.repeat(140), 'a'.repeat(999)) !== undefined, true)
})

test('the title of an entry names its client and service by a rule', async (t) => {
  const world = await enterWorld(t)
  const rules = [{ when: { title: '{client} / {service}' }, then: {} }]
  const feed = await openInlet(world, {
    rules,
    defaults: { ...world.ids, clientId: undefined, reasonId: null },
  })
  await feed.begin(feed.entry('B-1', { client: null, title: 'Müller Anna / consultation' }))
  const { clientId, reasonId } = await feed.objectOf('B-1')
  assert.deepEqual([clientId, reasonId], [world.ids.clientId, world.ids.reasonId])
})
