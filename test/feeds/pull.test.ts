import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { dryRunOfSource, readSource } from '../../src/feeds/dry-run.ts'
import { claimPull, createFeedLoops } from '../../src/feeds/loop.ts'
import { SourceError } from '../../src/feeds/source.ts'
import { renewPull } from '../../src/store/feed-pulls.ts'
import { findFeed, lockFeedState } from '../../src/store/feeds.ts'
import { correctStoredTimes } from '../../src/store/set-back.ts'
import { isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { reminder, shareWorld } from '../support/world.ts'
import { openPulled } from './fake-source.ts'
import { PULLING } from './loop-parts.ts'

const enterWorld = shareWorld(PULLING)

const statusesOf = (appointments: { status: string }[]) => appointments.map(({ status }) => status)

test('a due feed is pulled, and its appointments follow the source', async (t) => {
  const { put, pull, entryOf, appointments, state, shelf, inHours } = await openPulled(
    await enterWorld(t),
  )
  put('a', entryOf('a', 48))
  put('b', entryOf('b', 72))
  assert.equal(await pull(0), 1)
  assert.equal((await appointments()).length, 2)
  assert.equal(await pull(0), 0, 'it is not due')
  const { health, successTime, completeTime, nextPullTime } = await state()
  assert.equal(health, 'OK')
  assert.equal(successTime, completeTime)
  const minutes = (nextPullTime - successTime) / 60_000
  assert.ok(minutes >= 4.4 && minutes <= 5.6, `${minutes} min`)
  put('a', entryOf('a', 50))
  await pull()
  const moved = (await appointments()).find(
    ({ startTime }) => startTime > inHours(49).epochMilliseconds,
  )
  assert.ok(moved)
  assert.equal(shelf.pulls, 2)
})

test('an entry that a listing lacks is asked for, and cancelled only if the source says that it is gone', async (t) => {
  const { put, pull, entryOf, appointments, shelf } = await openPulled(await enterWorld(t))
  put('a', entryOf('a', 48))
  await pull(0)
  shelf.hidden.add('a')
  await pull()
  assert.deepEqual(statusesOf(await appointments()), ['OPEN'])
  shelf.resources.delete('a')
  await pull()
  assert.deepEqual(statusesOf(await appointments()), ['CANCELLED'])
})

test('an entry of a file is cancelled after two listings ten minutes apart lack it', async (t) => {
  const feed = await openPulled(await enterWorld(t), { canRead: false })
  feed.put('a', feed.entryOf('a', 48))
  await feed.pull(0)
  const [resource] = feed.shelf.resources.values()
  feed.shelf.resources.delete('a')
  await feed.pull()
  await feed.pull()
  assert.deepEqual(statusesOf(await feed.appointments()), ['OPEN'])
  await feed.pull()
  assert.deepEqual(statusesOf(await feed.appointments()), ['CANCELLED'])
  feed.shelf.resources.set('a', resource!)
  await feed.pull()
  assert.deepEqual(statusesOf(await feed.appointments()), ['OPEN'], 'it returned with its version')
  assert.equal((await feed.appointments()).length, 1)
})

test('many absent entries wait for a decision, and time alone does not decide', async (t) => {
  const world = await enterWorld(t)
  const feed = await openPulled(world)
  for (let i = 0; i < 6; i += 1) feed.put(`k${i}`, feed.entryOf(`k${i}`, i === 0 ? 1 : 48 + i))
  await feed.pull(0)
  feed.shelf.resources.clear()
  await feed.pull()
  assert.equal((await feed.state()).health, 'NEEDS_DECISION')
  await feed.pull(61)
  assert.equal((await feed.state()).health, 'NEEDS_DECISION')
  assert.ok(statusesOf(await feed.appointments()).every((status) => status === 'OPEN'))
  feed.shelf.error = new SourceError('UNREACHABLE', 'The source does not answer.')
  await feed.pull()
  assert.equal((await feed.state()).health, 'NEEDS_DECISION', 'a failure does not hide it')
  await world.call('POST', `${feed.path}/vanished/keep`)
  feed.shelf.error = null
  await feed.pull(120)
  assert.equal((await feed.state()).health, 'OK')
  assert.ok(statusesOf(await feed.appointments()).every((status) => status === 'OPEN'))
})

test('more absent entries than a source is asked for are not cancelled without a person', async (t) => {
  const world = await enterWorld(t)
  const feed = await openPulled(world)
  const { feedId, put, pull, entryOf, shelf, state, appointments } = feed
  await world.save('/feed', { feedId, vanishLimit: 1_000 })
  for (let i = 0; i < 501; i += 1) put(`k${i}`, entryOf(`k${i}`, 48 + i))
  await pull(0)
  shelf.resources.clear()
  await pull()
  assert.equal((await state()).health, 'NEEDS_DECISION')
  assert.ok(statusesOf(await appointments()).every((status) => status === 'OPEN'))
})

test('an absent entry about which the source says nothing is not cancelled without a person', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, shelf, state, appointments, path } = await openPulled(world)
  put('a', entryOf('a', 48))
  await pull(0)
  shelf.resources.clear()
  shelf.isMute = true
  await pull()
  assert.equal((await state()).health, 'NEEDS_DECISION')
  assert.deepEqual(statusesOf(await appointments()), ['OPEN'])
  await world.call('POST', `${path}/vanished/cancel`)
  assert.deepEqual(statusesOf(await appointments()), ['CANCELLED'])
})

test('a series that cannot be read any more is held, and none of its occurrences is cancelled', async (t) => {
  const { put, pull, entryOf, entries, appointments } = await openPulled(await enterWorld(t))
  put('s', entryOf('s/1', 48), entryOf('s/2', 72))
  await pull(0)
  const problem = { state: 'HELD', code: 'unknown-zone', reason: 'Its zone is unknown.' } as const
  put('s', entryOf('s', 48, { problem }))
  await pull()
  assert.deepEqual(statusesOf(await appointments()), ['OPEN', 'OPEN'])
  const states = (await entries()).map(({ state, reasonCode }: Record<string, string>) => [
    state,
    reasonCode,
  ])
  assert.deepEqual(
    states,
    Array.from({ length: 3 }, () => ['HELD', 'unknown-zone']),
  )
  put('s', entryOf('s/1', 48), entryOf('s/2', 72))
  await pull()
  assert.deepEqual(
    (await entries()).map(({ state }: { state: string }) => state),
    ['MIRRORED', 'MIRRORED', 'GONE'],
  )
})

test('a UID that moves to another file keeps its appointment, and one in two files is read once', async (t) => {
  const { put, pull, entryOf, appointments, shelf } = await openPulled(await enterWorld(t))
  put('one/a', entryOf('a', 48))
  await pull(0)
  const [before] = await appointments()
  shelf.resources.delete('one/a')
  put('two/a', entryOf('a', 48))
  put('three/a', entryOf('a', 48))
  await pull()
  const after = await appointments()
  assert.deepEqual(
    after.map(({ calendarId, status }) => [calendarId, status]),
    [[before!.calendarId, 'OPEN']],
  )
})

test('a series that is moved keeps its appointments, also under other keys or a new UID', async (t) => {
  const { put, pull, entryOf, appointments, shelf } = await openPulled(await enterWorld(t))
  const weeks = Array.from({ length: 52 }, (_, i) => 48 + i * 168)
  const series = (uid: string, shift: number) =>
    weeks.map((hours) => entryOf(`${uid}/${hours + shift}`, hours + shift))
  put('s', ...series('s', 0))
  await pull(0)
  const before = await appointments()
  const idsOf = (all: { calendarId: number }[]) =>
    all.map(({ calendarId }) => calendarId).toSorted()
  const isOpen = ({ status }: { status: string }) => status === 'OPEN'
  put('s', ...series('s', 24))
  await pull()
  assert.deepEqual(idsOf((await appointments()).filter(isOpen)), idsOf(before))
  assert.equal((await appointments()).length, 52)
  // Split in two: the second half has a new UID and another time.
  const half = series('s', 24).slice(0, 26)
  put('s', ...half)
  put('t', ...series('t', 25).slice(26))
  await pull()
  assert.deepEqual(idsOf((await appointments()).filter(isOpen)), idsOf(before))
  // An export with new UIDs.
  shelf.resources.clear()
  put('u', ...half.map((entry) => ({ ...entry, key: `u${entry.key}`, uid: 'u' })))
  put('v', ...series('v', 25).slice(26))
  await pull()
  assert.deepEqual(idsOf((await appointments()).filter(isOpen)), idsOf(before))
})

test('failures change nothing, are said in words, and are tried again later and later', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, appointments, shelf, state, path } = await openPulled(world)
  put('a', entryOf('a', 48))
  await pull(0)
  const waitAfter = async (error: Error) => {
    shelf.error = error
    assert.equal(await pull(400), 1)
    const { nextPullTime } = await state()
    return Math.round((nextPullTime - world.clock.now().epochMilliseconds) / 60_000)
  }
  const away = new SourceError('UNREACHABLE', 'dav.example does not answer.')
  assert.deepEqual([await waitAfter(away), await waitAfter(away), await waitAfter(away)], [1, 2, 4])
  const { health, cause, todo } = await state()
  assert.deepEqual([health, cause], ['FAILING', 'dav.example does not answer.'])
  assert.match(todo, /tries again/)
  const busy = new SourceError('UNREACHABLE', 'Busy.', { retryAfterSeconds: 7_200 })
  assert.equal(await waitAfter(busy), 120)
  assert.equal(await waitAfter(new SourceError('LOGIN', 'The password is wrong.')), 360)
  assert.equal((await state()).health, 'NEEDS_LOGIN')
  const runs = (await world.call('GET', `${path}/run`)).body.items
  assert.deepEqual(
    runs.map(({ kind, status }: Record<string, string>) => `${kind} ${status}`),
    ['PULL FAILED', 'PULL DONE'],
  )
  shelf.error = null
  await pull(400)
  assert.equal((await state()).health, 'OK')
  assert.deepEqual(statusesOf(await appointments()), ['OPEN'])
})

test('a pull that another one overtook writes nothing', async (t) => {
  const { put, pull, entryOf, appointments, shelf, parts, feedId } = await openPulled(
    await enterWorld(t),
  )
  put('a', entryOf('a', 48))
  shelf.afterPart = async () => {
    shelf.afterPart = undefined
    await parts.database.engine.query(
      sql`update feed_state set pull_number = pull_number + 1 where feed_id = ${feedId}`,
    )
  }
  await pull(0)
  assert.equal((await appointments()).length, 0)
  await pull()
  assert.equal((await appointments()).length, 1)
})

test('the renewal of a pull does not wait for a batch that is being written', async (t) => {
  const world = await enterWorld(t)
  const { businessId, clock, database, db } = world
  const { feedId, parts } = await openPulled(world)
  const claim = (await claimPull(parts, { businessId, feedId }))!
  const { pullNumber } = claim
  const renew = () =>
    renewPull(database.engine, claim.feed, {
      pullNumber,
      before: claim.before(),
      until: clock.now().add({ minutes: 5 }),
    })
  await db.transaction(async (tx) => {
    await lockFeedState(tx, claim.feed)
    assert.equal(await renew(), false)
  })
  assert.equal(await renew(), true)
  await claim.end()
})

test('a paused feed is not pulled, and a saved one is pulled at once', async (t) => {
  const world = await enterWorld(t)
  const { feedId, pull, put, entryOf, shelf, appointments } = await openPulled(world, {
    mode: 'LIVE',
  })
  put('a', entryOf('a', 48))
  await world.call('POST', '/feed', { feedId, mode: 'PAUSED' })
  assert.equal(await pull(), 0)
  await world.call('POST', '/feed', { feedId, mode: 'LIVE' })
  assert.equal(await pull(0), 1)
  assert.equal((await appointments()).length, 1)
  await world.call('POST', '/feed', { feedId, secret: 'new' })
  assert.equal(await pull(0), 1)
  assert.equal(shelf.pulls, 3)
})

test('a pull that is asked for runs at once, one at a time, and says what it found', async (t) => {
  const world = await enterWorld(t)
  const { path, pull, put, entryOf, shelf } = await openPulled(world)
  await pull(0)
  put('a', entryOf('a', 48))
  const started = await world.call('POST', `${path}/pull`)
  assert.equal(started.status, 202)
  assert.equal((await world.call('POST', `${path}/pull`)).status, 409)
  const runOf = async ({ body }: typeof started) =>
    (await world.call('GET', `${path}/run/${body.feedRunId}`)).body
  assert.equal((await runOf(started)).status, 'RUNNING')
  assert.equal(await pull(0), 1)
  const { status, counts } = await runOf(started)
  assert.deepEqual([status, counts.created], ['DONE', 1])
  const again = await world.call('POST', `${path}/pull`)
  shelf.error = new SourceError('UNREACHABLE', 'dav.example does not answer.')
  await pull(0)
  const { status: ended, error } = await runOf(again)
  assert.deepEqual([ended, error], ['FAILED', 'dav.example does not answer.'])
})

test('at most two feeds of a business are pulled at once, whichever node does it', async (t) => {
  const world = await enterWorld(t)
  const { parts, shelf, feedId } = await openPulled(world)
  const { save, database } = world
  const ids = [feedId]
  for (let i = 0; i < 4; i += 1) {
    const connection = { url: 'http://127.0.0.1:1/' }
    const { feedId: id } = await save('/feed', {
      name: `Salon ${i}`,
      source: 'CALDAV',
      mode: 'SHADOW',
      connection,
    })
    ids.push(id)
  }
  await database.engine.query(
    sql`update feed_state set next_pull_time = null where feed_id <> all (${ids}::bigint[])`,
  )
  const gate = Promise.withResolvers<void>()
  shelf.afterPart = () => gate.promise
  t.after(() => gate.resolve())
  const loops = [1, 2].flatMap(() => createFeedLoops(parts).slice(0, 4))
  const idle = new Set(loops)
  const running: Promise<unknown>[] = []
  for (let round = 0; round < 5; round += 1) {
    for (const loop of idle) {
      idle.delete(loop)
      running.push(loop.runOnce().then(() => idle.add(loop)))
    }
    await until(() => idle.size >= 6)
  }
  assert.equal(shelf.pulls, 2)
  gate.resolve()
  await Promise.all(running)
})

test('a requested run of a feed that is paused or deleted before it begins has failed', async (t) => {
  const world = await enterWorld(t)
  const { feedId, path, pull } = await openPulled(world)
  await pull(0)
  await world.call('POST', '/feed', { feedId, mode: 'LIVE' })
  const ended = async (kind: string, stop: () => Promise<unknown>) => {
    const { feedRunId } = (await world.call('POST', `${path}/${kind}`)).body
    await stop()
    const { status, error } = (await world.call('GET', `${path}/run/${feedRunId}`)).body
    return [status, error]
  }
  const pause = () => world.call('POST', '/feed', { feedId, mode: 'PAUSED' })
  assert.deepEqual(await ended('pull', pause), ['FAILED', 'The feed was paused.'])
  await world.call('POST', '/feed', { feedId, mode: 'LIVE' })
  const remove = () => world.call('DELETE', `${path}?appointments=keep`)
  assert.deepEqual(await ended('reconcile', remove), ['FAILED', 'The feed was deleted.'])
})

test('a feed that is not read cannot be pulled', async (t) => {
  const world = await enterWorld(t)
  const { feedId, path } = await openPulled(world, { mode: 'LIVE' })
  await world.call('POST', '/feed', { feedId, mode: 'PAUSED' })
  const { status, body } = await world.call('POST', `${path}/pull`)
  assert.equal(status, 409)
  assert.match(body.detail, /PAUSED/)
})

test('a dry run of a source reads it, and writes nothing', async (t) => {
  const world = await enterWorld(t)
  const { feedId, put, entryOf, parts, appointments, entries, shelf } = await openPulled(world)
  put('a', entryOf('a', 48))
  put('b', entryOf('b', 72, { attendees: [] }))
  const feed = (await findFeed(parts.database.engine, {
    businessId: world.businessId,
    feedId,
  }))!
  const { counts, reasons, withAddress } = await dryRunOfSource(
    parts,
    feed,
    await readSource(parts, feed),
  )
  assert.deepEqual([counts.created, counts.skipped, withAddress], [1, 1, 1])
  assert.deepEqual(reasons, { 'no-client': 1 })
  assert.deepEqual([await appointments(), await entries()], [[], []])
  shelf.error = new SourceError('LOGIN', 'The password is wrong.')
  await assert.rejects(readSource(parts, feed), /The password is wrong/)
})

test('a dry run of a long source delays no booking, no definition and no other save', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, db, ids, save } = world
  const { feedId, put, entryOf, parts, appointments, entries } = await openPulled(world)
  await save('/eventDefinition', reminder(businessId, -24))
  for (let i = 0; i < 600; i += 1) put(`${i}`, entryOf(`${i}`, 48 + i))
  const feed = (await findFeed(parts.database.engine, { businessId, feedId }))!
  const answersAtOnce = async (request: Promise<unknown>) => {
    let isDone = false
    const done = request.finally(() => (isDone = true))
    await until(async () => isDone || (await isLockAwaited(db)))
    assert.ok(isDone, 'the request waits for a lock')
    await done
  }
  let batches = 0
  const beforeEachBatch = async ({ text }: { text: string }) => {
    if (!text.includes('or entry_key = any') || (batches += 1) !== 2) return
    await answersAtOnce(save('/client', { clientId: ids.clientId, phone: '+41 2' }))
    await answersAtOnce(save('/eventDefinition', reminder(businessId, -48)))
    await answersAtOnce(book(clock.in({ hours: 96 })))
  }
  const watch = (one: Db): Db => ({
    ...one,
    query: async (statement) => {
      await beforeEachBatch(statement)
      return one.query(statement)
    },
    attempt: (work) => one.attempt((tx) => work(watch(tx))),
  })
  const { database } = parts
  const forBusiness = (...by: Parameters<typeof database.forBusiness>) =>
    watch(database.forBusiness(...by))
  const watched = { ...parts, database: { ...database, forBusiness } }
  const { counts, planned } = await dryRunOfSource(watched, feed, await readSource(parts, feed))
  assert.equal(batches, 2)
  assert.deepEqual([counts.entries, counts.created, planned.triggers], [600, 600, 700])
  assert.deepEqual([await appointments(), await entries()], [[], []])
})

test('a visit that took place is not moved to a new booking of the same client', async (t) => {
  const { put, pull, entryOf, appointments, shelf, inHours } = await openPulled(await enterWorld(t))
  put('a', entryOf('a', 2))
  await pull(0)
  const visitedTime = (await appointments())[0]!.startTime
  await pull(4 * 60)
  shelf.resources.delete('a')
  put('b', entryOf('b', 48))
  await pull()
  const starts = (await appointments()).map(({ startTime }) => startTime)
  assert.equal(starts.length, 2)
  assert.ok(starts.includes(visitedTime), 'the visit stays where it was')
  assert.ok(starts.some((start) => start > inHours(40).epochMilliseconds))
})

test('the next occurrence of a series is a booking of its own, not an old one that was moved', async (t) => {
  const { put, pull, entryOf, appointments } = await openPulled(await enterWorld(t))
  const series = [entryOf('s/1', 24), entryOf('s/2', 24 * 8)]
  put('s', ...series)
  await pull(0)
  // The first occurrence is older than the days that the source lists.
  await pull(40 * 24 * 60)
  const before = (await appointments()).map(({ startTime }) => startTime)
  put('s', entryOf('s/3', 48))
  await pull()
  const after = (await appointments()).map(({ startTime }) => startTime)
  assert.equal(after.length, 3)
  assert.deepEqual(
    before.filter((start) => after.includes(start)),
    before,
  )
})

for (const [what, error, hours] of [
  ['was pulled', null, 48],
  ['failed', new SourceError('LOGIN', 'refused'), 48],
  ['failed', new SourceError('LOGIN', 'refused'), 8],
] as const) {
  test(`a feed that ${what} while the clock was ${hours} hours ahead is pulled as soon as it is set back`, async (t) => {
    const world = await enterWorld(t)
    const { pull, shelf } = await openPulled(world)
    shelf.error = error
    const minutes = hours * 60
    assert.equal(await pull(minutes), 1)
    world.clock.advance({ minutes: -minutes })
    assert.equal(await pull(1), 0)
    const setBack = { stepMs: minutes * 60_000, now: world.clock.now(), leaseSeconds: 15 }
    await correctStoredTimes(world.database.engine, setBack)
    assert.equal(await pull(0), 1)
    await correctStoredTimes(world.database.engine, setBack)
    assert.equal(await pull(0), 0, 'once')
  })
}
