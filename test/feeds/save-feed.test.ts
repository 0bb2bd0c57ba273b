import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchPattern } from '../../src/feeds/patterns.ts'
import { shareWorld } from '../support/world.ts'
import { openInlet } from './support.ts'

const enterWorld = shareWorld()

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
