import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { SourceError } from '../../src/feeds/source.ts'
import { makeIcs } from '../../src/feeds/sources/ics.ts'
import { accountOf, followSource } from './source-account.ts'

const ics = makeIcs(['127.0.0.1'])

const eventOf = (uid: string, ...lines: string[]) =>
  ['BEGIN:VEVENT', `UID:${uid}`, ...lines, 'END:VEVENT'].join('\n')
const fileOf = (...events: string[]) => ['BEGIN:VCALENDAR', ...events, 'END:VCALENDAR'].join('\n')

type Published = { status: number; body: string; etag?: string }

/** Publishes a file, with or without a validator. */
async function publish(t: TestContext) {
  const published: Published = { status: 200, body: '' }
  const asked: (string | undefined)[] = []
  const server = http.createServer(({ headers }, response) => {
    const { status, body, etag } = published
    asked.push(headers['if-none-match'])
    if (etag && headers['if-none-match'] === etag) return response.writeHead(304).end()
    return response.writeHead(status, etag ? { etag } : {}).end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => void (server.close(), server.closeAllConnections()))
  const { port } = server.address() as AddressInfo
  return { published, asked, url: `http://127.0.0.1:${port}/private-token/salon.ics` }
}

test('a published file is read by UID: only changed events are passed on, and absent ones are left to the listing', async (t) => {
  const { published, url } = await publish(t)
  const { pullOnce } = followSource(ics, accountOf({}, url))
  const a = (stamp: string) => eventOf('a', `DTSTAMP:${stamp}`, 'DTSTART:20261120T090000Z')
  published.body = fileOf(a('20260101T000000Z'), eventOf('b', 'DTSTART:20261121T090000Z'))
  const first = await pullOnce()
  assert.deepEqual(
    first.resources.map(({ key }) => key),
    ['a', 'b'],
  )
  assert.deepEqual([...first.complete!.keys], ['a', 'b'])

  published.body = fileOf(a('20261118T000000Z'), eventOf('c', 'DTSTART:20261121T090000Z'))
  const second = await pullOnce()
  assert.deepEqual(
    second.resources.map(({ key }) => key),
    ['c'],
  )
  assert.deepEqual([second.deleted, ...second.complete!.keys], [[], 'a', 'c'])
})

test('a file that did not change is not read again, except for series that go on', async (t) => {
  const { published, asked, url } = await publish(t)
  const { pullOnce } = followSource(ics, accountOf({}, url))
  published.body = fileOf(eventOf('a', 'DTSTART:20261120T090000Z', 'RRULE:FREQ=DAILY'))
  published.etag = '"1"'
  const [resource] = (await pullOnce()).resources
  assert.equal(String(resource!.readAgainAt), '2026-11-19T12:00:00Z')
  const unchanged = await pullOnce()
  assert.deepEqual([unchanged.resources, unchanged.complete, unchanged.requests], [[], null, 1])
  assert.deepEqual(
    (await pullOnce(['a'])).resources.map(({ key }) => key),
    ['a'],
  )
  assert.deepEqual(asked, [undefined, '"1"', undefined])
})

test('occurrences soon after the horizon are known before it reaches them', async (t) => {
  const { published, url } = await publish(t)
  const { pullOnce } = followSource(ics, accountOf({}, url))
  published.body = fileOf(eventOf('a', 'DTSTART:20261120T090000Z', 'RRULE:FREQ=DAILY'))
  const [resource] = (await pullOnce()).resources
  const horizon = Temporal.Instant.from('2026-11-18T12:00:00Z').add({ hours: 400 * 24 })
  const after = resource!.entries.filter(
    ({ start }) => Temporal.Instant.compare(start!, horizon) >= 0,
  )
  assert.equal(after.length, 4, 'more than the 72 hours that a pull may be late')
})

test('a file that is missing, cut or something else changes nothing, and its address is not shown', async (t) => {
  const { published, url } = await publish(t)
  const { pullOnce } = followSource(ics, accountOf({}, url))
  const body = fileOf(eventOf('a', 'DTSTART:20261120T090000Z'))
  for (const wrong of [
    { status: 404, body: '' },
    { status: 500, body },
    { status: 200, body: '' },
    { status: 200, body: '<html>Sign in</html>' },
    { status: 200, body: body.slice(0, -5) },
  ]) {
    Object.assign(published, wrong)
    await assert.rejects(pullOnce(), (error) => {
      assert.ok(error instanceof SourceError)
      assert.doesNotMatch(error.message, /private-token/)
      return true
    })
    const { ok, checks } = await ics.test(accountOf({}, url))
    assert.equal(ok, false)
    assert.doesNotMatch(JSON.stringify(checks), /private-token/)
  }
  Object.assign(published, { status: 200, body })
  assert.equal((await ics.test(accountOf({}, url))).ok, true)
  assert.deepEqual([...(await ics.list!(accountOf({}, url))).versions.keys()], ['a'])
})

test('CONFIRMED of a calendar says nothing about the client, CANCELLED does', async (t) => {
  const { published, url } = await publish(t)
  const { pullOnce } = followSource(ics, accountOf({}, url))
  const events = ['CONFIRMED', 'TENTATIVE', 'CANCELLED'].map((status) =>
    eventOf(status, 'DTSTART:20261120T090000Z', `STATUS:${status}`),
  )
  published.body = fileOf(...events)
  const { resources } = await pullOnce()
  assert.deepEqual(
    resources.map(({ entries }) => entries[0]!.status),
    [null, null, 'CANCELLED'],
  )
})
