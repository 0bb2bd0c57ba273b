import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import { bookingOf, startCalcom } from '../support/feed-sources.ts'
import { shareWorld } from '../support/world.ts'
import { partsOf, PULLING } from './loop-parts.ts'
import { openInlet } from './support.ts'

const enterWorld = shareWorld(PULLING)
type World = Awaited<ReturnType<typeof enterWorld>>
type Hook = { url: string; secret: string; formerUntil: number | null }

async function makeHook({ call }: World, feedId: number): Promise<Hook> {
  const { status, body } = await call('POST', `/feed/${feedId}/hook`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const post = async (
  { app }: World,
  { url }: Pick<Hook, 'url'>,
  payload: string,
  headers: Record<string, string>,
) => {
  const path = new URL(url).pathname
  const given = { 'content-type': 'application/json', ...headers }
  const answer = await app.inject({ method: 'POST', url: path, payload, headers: given })
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
}

/** The headers of Standard Webhooks; `age` in seconds. */
function sign(world: World, { secret }: Hook, payload: string, { id = 'msg_1', age = 0 } = {}) {
  const seconds = Math.floor(world.clock.now().epochMilliseconds / 1_000) - age
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${payload}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,AAAA v1,${signature}`,
  }
}

test('a signed delivery is stored, and a doubled or replayed one is answered again', async (t) => {
  const world = await enterWorld(t)
  const { feedId, entry, entries } = await openInlet(world)
  const hook = await makeHook(world, feedId)
  assert.equal(hook.formerUntil, null)
  const payload = JSON.stringify({ entries: [entry('B-1')] })
  const first = await post(world, hook, payload, sign(world, hook, payload))
  assert.deepEqual([first.status, first.body.accepted], [200, 1])
  world.clock.advance({ hours: 23 })
  const again = await post(world, hook, payload, sign(world, hook, payload))
  assert.deepEqual(again, first, 'it was tried again with the same id')
  assert.equal((await entries()).length, 1)
  const other = JSON.stringify({ entries: [entry('B-2')] })
  const reused = await post(world, hook, other, sign(world, hook, other))
  assert.deepEqual([reused.status, reused.body.errors[0].pointer], [422, 'webhook-id'])
  world.clock.advance({ hours: 2 })
  const later = await post(world, hook, payload, sign(world, hook, payload))
  assert.deepEqual([later.body.accepted, later.body.unchanged], [0, 1])
})

test('a forged or late delivery changes nothing', async (t) => {
  const world = await enterWorld(t)
  const { feedId, entry, entries } = await openInlet(world)
  const hook = await makeHook(world, feedId)
  const neighbour = await enterWorld(t)
  const theirs = await makeHook(neighbour, (await openInlet(neighbour)).feedId)
  const payload = JSON.stringify({ entries: [entry('B-1')] })
  const right = sign(world, hook, payload)
  const { 'webhook-id': _id, ...withoutId } = right
  const forged = [
    {},
    withoutId,
    { ...right, 'webhook-id': 'msg_2' },
    { ...right, 'webhook-timestamp': String(Number(right['webhook-timestamp']) + 1) },
    { ...right, 'webhook-signature': right['webhook-signature'].replaceAll('v1,', 'v2,') },
    sign(world, theirs, payload),
    sign(world, hook, `${payload} `),
    sign(world, hook, payload, { age: 301 }),
    sign(world, hook, payload, { age: -310 }),
  ]
  for (const headers of forged) {
    const { status, body } = await post(world, hook, payload, headers)
    assert.deepEqual([status, body.code], [401, 'wrong-signature'], JSON.stringify(headers))
    world.clock.advance({ milliseconds: 200 })
  }
  for (const path of ['/feed/hook/fh_nothing', '/feed/hook/nothing']) {
    const url = `http://service${path}`
    assert.equal((await post(world, { url }, payload, right)).status, 404)
  }
  assert.equal((await entries()).length, 0)
})

test('during a change both addresses and secrets count for a day', async (t) => {
  const world = await enterWorld(t)
  const { feedId, entry } = await openInlet(world)
  const [former, hook] = [await makeHook(world, feedId), await makeHook(world, feedId)]
  assert.equal(hook.formerUntil, world.clock.now().add({ hours: 24 }).epochMilliseconds)
  const send = async (to: Hook, by: Hook) => {
    const payload = JSON.stringify({ entries: [entry('B-1')] })
    const id = randomBytes(6).toString('hex')
    return (await post(world, to, payload, sign(world, by, payload, { id }))).status
  }
  assert.deepEqual(
    [await send(former, former), await send(hook, former), await send(hook, hook)],
    [200, 200, 200],
  )
  world.clock.advance({ hours: 24 })
  assert.deepEqual(
    [await send(former, hook), await send(hook, former), await send(hook, hook)],
    [404, 401, 200],
  )
  await world.call('DELETE', `/feed/${feedId}?appointments=keep`)
  assert.equal(await send(hook, hook), 404)
})

test('a paused feed refuses a delivery, and takes it when it goes on', async (t) => {
  const world = await enterWorld(t)
  const { feedId, entry, begin, go } = await openInlet(world)
  await begin(entry('B-0'))
  await go('LIVE')
  await go('PAUSED')
  const hook = await makeHook(world, feedId)
  const payload = JSON.stringify({ entries: [entry('B-1')] })
  const send = () => post(world, hook, payload, sign(world, hook, payload))
  assert.equal((await send()).status, 409)
  await go('LIVE')
  assert.deepEqual((await send()).body.accepted, 1)
})

const CALCOM_BODY = '{"triggerEvent":"BOOKING_NO_SHOW_UPDATED","payload":{"bookingUid":"a"}}'
const signCalcom = ({ secret }: Hook, payload: string) => ({
  'x-cal-signature-256': createHmac('sha256', secret).update(payload).digest('hex'),
})

test('a webhook of Cal.com lets the feed be pulled after 2 seconds and after 30', async (t) => {
  const world = await enterWorld(t)
  const { call, clock, database, ids, save } = world
  const at = (hours: number) =>
    clock
      .now()
      .add({ minutes: hours * 60 })
      .toString()
  const times = { start: at(48), end: at(49), createdAt: at(-9) }
  const [booking, newer] = [
    bookingOf('a', { ...times, updatedAt: at(-9) }),
    bookingOf('b', { ...times, updatedAt: at(-1) }),
  ]
  const fake = await startCalcom(t, [booking, newer])
  const { clientId: _clientId, ...defaults } = ids
  const { feedId } = await save('/feed', {
    name: 'Bea',
    source: 'CALCOM',
    mode: 'SHADOW',
    connection: { url: fake.url },
    secret: 'cal_key',
    defaults,
  })
  await database.engine.query(
    sql`update feed_state set next_pull_time = null where feed_id <> ${feedId}`,
  )
  const [loop] = createFeedLoops(partsOf(world))
  const nextSeconds = async () => {
    const { state } = (await call('GET', `/feed/${feedId}`)).body
    return (state.nextPullTime - clock.now().epochMilliseconds) / 1_000
  }
  const statusOf = async (key: string) => {
    const { items } = (await call('GET', `/feed/${feedId}/entry`)).body
    const { objectId } = items.find((one: { key: string }) => one.key === key)
    return (await call('GET', `/calendar/${objectId}`)).body.status
  }
  assert.equal(await loop!.runOnce(), 1)
  assert.equal(await statusOf('a'), 'OPEN')
  const requestsOfNext = async () => {
    const before = fake.requests
    clock.advance({ minutes: 6 })
    assert.equal(await loop!.runOnce(), 1)
    return fake.requests - before
  }
  const usual = await requestsOfNext()

  const hook = await makeHook(world, feedId)
  const send = async (payload: string, headers: Record<string, string>) =>
    (await post(world, hook, payload, headers)).status
  assert.equal(await send(CALCOM_BODY, { 'x-cal-signature-256': 'no-secret-provided' }), 401)
  assert.ok((await nextSeconds()) > 200, 'a forged one is no hint')
  assert.equal(await send(CALCOM_BODY, signCalcom(hook, CALCOM_BODY)), 204)
  assert.equal(await nextSeconds(), 2)
  clock.advance({ seconds: 2 })
  assert.equal(await loop!.runOnce(), 1, 'the replica is behind')
  assert.equal(await statusOf('a'), 'OPEN')
  assert.equal(await nextSeconds(), 28)
  // Absence does not change `updatedAt`: only the question for this booking finds it.
  Object.assign(fake.state.bookings[0]!, {
    attendees: [{ ...(booking.attendees as object[])[0], absent: true }],
  })
  clock.advance({ seconds: 28 })
  assert.equal(await loop!.runOnce(), 1)
  assert.equal(await statusOf('a'), 'NO_SHOW')
  assert.ok((await nextSeconds()) > 200)
  assert.equal(await requestsOfNext(), usual, 'it is not asked for again')
})

test('large and many webhooks are refused, and a source that sends none has no address', async (t) => {
  const world = await enterWorld(t)
  const { save, call, ids } = world
  const { clientId: _clientId, ...defaults } = ids
  const feedOf = (source: string, more: object) =>
    save('/feed', { name: source, source, mode: 'DRAFT', secret: 'token', defaults, ...more })
  const file = await feedOf('ICS', { secret: 'https://calendar.example/a.ics' })
  assert.equal((await call('POST', `/feed/${file.feedId}/hook`)).status, 409)
  assert.equal((await call('POST', '/feed/999999/hook')).status, 404)

  const connection = { url: 'http://127.0.0.1:1/' }
  const { feedId } = await feedOf('EASYAPPOINTMENTS', { connection })
  const hook = await makeHook(world, feedId)
  const send = async (payload: string, token = hook.secret) =>
    (await post(world, hook, payload, { 'x-ea-token': token })).status
  const large = JSON.stringify({ payload: 'x'.repeat(262_144) })
  assert.deepEqual(
    [await send(large), await send('{}'), await send('{}', 'other')],
    [413, 204, 401],
  )
  world.clock.advance({ seconds: 1 })
  const statuses: number[] = []
  for (let i = 0; i < 11; i += 1) statuses.push(await send('{}'))
  assert.deepEqual(statuses, [...Array<number>(10).fill(204), 429])
})
