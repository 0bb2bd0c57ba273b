import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { createHealthLoop } from '../../src/feeds/health.ts'
import { SourceError } from '../../src/feeds/source.ts'
import type { HealthChange } from '../../src/store/feed-health.ts'
import { correctStoredTimes } from '../../src/store/set-back.ts'
import { checkIn, holdByHand, releaseHold } from '../../src/automation/restored.ts'
import { startEngine, startWorld } from '../support/world.ts'
import { openPulled } from './fake-source.ts'
import { PULLING } from './loop-parts.ts'

const METRICS_TOKEN = 'a-long-token-for-prometheus-0123456789'

/** A feed with one appointment, an owner who reads mails, and the loops that watch feeds. */
async function startWatching(t: TestContext) {
  const world = await startWorld(t, { ...PULLING, METRICS_TOKEN })
  const { call, clock, database, save } = world
  await save('/user', {
    username: 'olga',
    password: 'long enough',
    role: 'OWNER',
    emailAddress: 'olga@praxis.example',
  })
  const feed = await openPulled(world)
  feed.put('a', feed.entryOf('a', 48))
  await feed.pull(0)
  const logged: HealthChange[] = []
  const loop = createHealthLoop({
    database,
    now: () => clock.now(),
    onHealth: (change) => logged.push(change),
  })
  const engine = startEngine(world)
  const watch = async (by: Temporal.DurationLike) => {
    clock.advance(by)
    await loop.runOnce()
    await engine.loops.notices.runOnce()
  }
  const mails = async () =>
    (
      await world.db.query<{ subject: string; to: string }>(sql`
        select subject, to_address as to from email where event_trigger_id is null order by email_id`)
    ).map(({ subject, to }) => `${to}: ${subject}`)
  const fail = (minutes: number, kind: SourceError['kind'] = 'UNREACHABLE') => {
    feed.shelf.error = new SourceError(kind, 'cloud.example refuses access for anna@example.org.')
    return feed.pull(minutes)
  }
  const recover = (minutes: number) => {
    feed.shelf.error = null
    return feed.pull(minutes)
  }
  return { ...world, call, feed, logged, watch, mails, fail, recover }
}

const ONE = 'olga@praxis.example: A feed needs your attention'

test('a feed without a success for three intervals is LATE until a pull succeeds, and each change is logged once', async (t) => {
  const { feed, logged, watch, call, database, clock } = await startWatching(t)
  await watch({ minutes: 12 })
  assert.equal((await feed.state()).health, 'OK')
  await checkIn(database.operator, { lastSeen: undefined, folder: undefined })
  await holdByHand(database.operator, clock.now())
  await watch({ minutes: 6 })
  assert.equal((await feed.state()).health, 'OK', 'a database that is held is not read')
  assert.equal(await feed.pull(0), 0)
  await database.operator.transaction((tx) =>
    releaseHold(tx, 'EXPIRE', { user: 'OPERATOR', now: clock.now() }),
  )
  await watch({ seconds: 1 })
  await watch({ seconds: 15 })
  const { health, cause, todo } = await feed.state()
  assert.deepEqual([health, cause], ['LATE', 'No pull has succeeded for three intervals.'])
  assert.match(todo, /a node runs the engine/)
  const [shown] = (await call('GET', '/overview')).body.feeds
  assert.deepEqual([shown.health, shown.todo], ['LATE', todo])
  await feed.pull(0)
  await watch({ seconds: 15 })
  assert.deepEqual(
    logged.map(({ before, health: after }) => `${before} ${after}`),
    ['OK LATE', 'LATE OK'],
  )
  assert.doesNotMatch(JSON.stringify(logged), /Salon|anna/)
})

test('a paused feed is not late, also when it goes on', async (t) => {
  const { feed, watch, save } = await startWatching(t)
  await save('/feed', { feedId: feed.feedId, mode: 'LIVE' })
  await save('/feed', { feedId: feed.feedId, mode: 'PAUSED' })
  await watch({ hours: 30 })
  assert.equal((await feed.state()).health, 'OK')
  await save('/feed', { feedId: feed.feedId, mode: 'LIVE' })
  await watch({ seconds: 1 })
  assert.equal((await feed.state()).health, 'OK')
  await watch({ minutes: 20 })
  assert.equal((await feed.state()).health, 'LATE')
})

test('people get a mail about a feed that does not work for an hour: once for each problem, and once a day', async (t) => {
  const { fail, recover, watch, mails } = await startWatching(t)
  await fail(6)
  await watch({ minutes: 59 })
  assert.deepEqual(await mails(), [])
  await watch({ minutes: 1 })
  assert.deepEqual(await mails(), [ONE])
  await watch({ hours: 30 })
  assert.deepEqual(await mails(), [ONE], 'it lasts')
  await recover(61)
  await fail(6)
  await watch({ minutes: 61 })
  assert.equal((await mails()).length, 2)
  await recover(61)
  await fail(6)
  await watch({ hours: 3 })
  assert.equal((await mails()).length, 2, 'the second one of a day')
  await watch({ hours: 21 })
  assert.equal((await mails()).length, 3)
})

test('people are asked for a decision at once, in their language', async (t) => {
  const { feed, watch, mails, save, businessId } = await startWatching(t)
  await save('/business', { businessId, language: 'de' })
  for (let i = 0; i < 6; i += 1) feed.put(`k${i}`, feed.entryOf(`k${i}`, 48 + i))
  await feed.pull()
  feed.shelf.resources.clear()
  await feed.pull()
  await watch({ seconds: 1 })
  assert.deepEqual(await mails(), [
    'olga@praxis.example: Eine Anbindung braucht Ihre Aufmerksamkeit',
  ])
})

test('the metrics count feeds, their entries, differences, pulls and the time without a success', async (t) => {
  const { app, feed, fail, clock } = await startWatching(t)
  const read = async () => {
    const authorization = `Bearer ${METRICS_TOKEN}`
    return (await app.inject({ url: '/metrics', headers: { authorization } })).body
  }
  await fail(6, 'LOGIN')
  clock.advance({ seconds: 30 })
  const body = await read()
  for (const line of [
    'bellwether_feeds{mode="SHADOW",health="NEEDS_LOGIN"} 1',
    'bellwether_feed_entries{state="MIRRORED"} 1',
    'bellwether_feed_differences 0',
    `bellwether_feed_last_success_age_seconds ${6 * 60 + 30}`,
  ]) {
    assert.ok(body.includes(`\n${line}\n`), line)
  }
  assert.match(body, /^bellwether_feed_pulls_total\{source="CALDAV",result="failed"\} \d+$/m)
  assert.match(body, /^bellwether_feed_hooks_total\{source="INLET",result="refused"\} \d+$/m)
  assert.match(body, /^bellwether_feed_pull_seconds_count \d+$/m)
  assert.doesNotMatch(body, /Salon|cloud\.example/)
  assert.equal((await feed.state()).health, 'NEEDS_LOGIN')
})

/** Sets the clock back by two days, and corrects what was stored. */
async function setBackClock({ clock, database }: Awaited<ReturnType<typeof startWatching>>) {
  clock.advance({ hours: -48 })
  const setBack = { stepMs: 48 * 3_600_000, now: clock.now(), leaseSeconds: 15 }
  await correctStoredTimes(database.engine, setBack)
}

test('a feed that was pulled while the clock was ahead is LATE three intervals after it was set back', async (t) => {
  const world = await startWatching(t)
  const { feed, watch } = world
  await feed.pull(48 * 60)
  await setBackClock(world)
  await watch({ minutes: 17 })
  assert.equal((await feed.state()).health, 'LATE')
})

test('a mail about a feed that was sent while the clock was ahead does not stop one about its next problem', async (t) => {
  const world = await startWatching(t)
  const { watch, mails, fail, recover } = world
  await fail(48 * 60)
  await watch({ minutes: 61 })
  assert.deepEqual(await mails(), [ONE])
  await setBackClock(world)
  await recover(0)
  await fail(25 * 60)
  await watch({ minutes: 61 })
  assert.deepEqual(await mails(), [ONE, ONE])
})
