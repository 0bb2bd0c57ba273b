import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextNight } from '../../src/feeds/reconcile.ts'
import { SourceError } from '../../src/feeds/source.ts'
import { asOwner } from '../support/owner.ts'
import { shareWorld } from '../support/world.ts'
import { openPulled } from './fake-source.ts'
import { PULLING } from './loop-parts.ts'

const enterWorld = shareWorld(PULLING)
type World = Awaited<ReturnType<typeof enterWorld>>

type Difference = Record<string, unknown>

async function openReconciled(world: World, options?: Parameters<typeof openPulled>[1]) {
  const feed = await openPulled(world, options)
  const { call } = world
  const { path, pull, shelf } = feed
  /** Asks for a reconciliation, and lets it run. */
  const reconcile = async () => {
    const { status, body } = await call('POST', `${path}/reconcile`)
    assert.equal(status, 202)
    await pull(0)
    return (await call('GET', `${path}/run/${body.feedRunId}`)).body
  }
  const differences = async () =>
    (await call('GET', `${path}/difference`)).body.items as Difference[]
  /** A change in the source that its pulls do not see. */
  const hide = (key: string) => shelf.hidden.add(key)
  /** A deletion in the source that its pulls do not see. */
  const pretend = (key: string) => shelf.pretended.set(key, shelf.resources.get(key)!)
  const overview = async () =>
    (await call('GET', '/overview')).body.feeds.find(
      ({ feedId }: { feedId: number }) => feedId === feed.feedId,
    )
  return { ...feed, reconcile, differences, hide, pretend, overview }
}

const kindsOf = (differences: Difference[]) =>
  differences.map(({ kind, key, field }) => [kind, key, field].filter(Boolean).join(' ')).toSorted()

test('a reconciliation finds that everything is here, and says it in a sentence', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, reconcile, differences, overview, path } = await openReconciled(world)
  put('a', entryOf('a', 48))
  put('b', entryOf('b', 72, { attendees: [] }))
  put('c', entryOf('c', 96, { start: null, problem: { state: 'HELD', code: 'x', reason: 'X.' } }))
  put('old', entryOf('old', -24 * 60))
  await pull(0)
  assert.equal((await overview()).sentence, null)
  const { status, sums, counts, error } = await reconcile()
  assert.deepEqual([status, error], ['DONE', null])
  assert.deepEqual(sums, { source: 3, mirrored: 1, held: 1, skipped: 1 })
  const effects = { created: 0, changed: 0, cancelled: 0, unchanged: 1 }
  assert.deepEqual(counts, { entries: 3, ...effects, mirrored: 1, held: 1, skipped: 1 })
  assert.deepEqual(await differences(), [])
  const { checkedTime, ...sentence } = (await overview()).sentence
  assert.deepEqual(sentence, { all: 1, skipped: 1, held: 1 })
  assert.equal(checkedTime, world.clock.now().epochMilliseconds)
  assert.equal((await world.call('GET', `${path}/difference`)).body.checkedTime, checkedTime)
})

test('what no pull saw is found, applied, and shown with both values and the pull that missed it', async (t) => {
  const world = await enterWorld(t)
  const feed = await openReconciled(world)
  const { put, pull, entryOf, shelf, reconcile, differences, appointments, inHours } = feed
  for (const key of ['changed', 'deleted', 'same']) put(key, entryOf(key, 48))
  await pull(0)
  const changedTime = world.clock.now()
  // An etag that stays, and a listing that lacks a resource: no pull sees these.
  const same = shelf.resources.get('changed')!
  const start = inHours(50)
  const entry = { ...same.entries[0]!, start, end: start.add({ minutes: 30 }), changedTime }
  shelf.resources.set('changed', { ...same, entries: [entry] })
  put('created', entryOf('created', 72, { title: 'Back' }))
  feed.hide('created')
  feed.pretend('deleted')
  shelf.resources.delete('deleted')
  put('seen', entryOf('seen', 96))
  await pull()
  const { status, sums, counts } = await reconcile()
  assert.deepEqual([status, sums.source, sums.mirrored], ['DONE', 4, 4])
  const fixed = { created: 1, changed: 1, cancelled: 1, unchanged: 2 }
  assert.deepEqual(counts, { entries: 4, ...fixed, mirrored: 4, held: 0, skipped: 0 })
  const found = await differences()
  assert.deepEqual(kindsOf(found), [
    'MISSED_CHANGE changed end',
    'MISSED_CHANGE changed start',
    'MISSED_CREATE created',
    'MISSED_DELETE deleted',
  ])
  const moved = found.find(({ field }) => field === 'start')!
  assert.equal(moved.source, String(start))
  assert.equal(moved.ours, String(same.entries[0]!.start))
  assert.equal(moved.since, changedTime.epochMilliseconds)
  const runs = (await world.call('GET', `${feed.path}/run`)).body.items as Difference[]
  const missing = runs.find(({ feedRunId }) => feedRunId === moved.feedRunId)!
  assert.equal(missing.kind, 'PULL')
  const statuses = (await appointments()).map(({ status: one }) => one).toSorted()
  assert.deepEqual(statuses, ['CANCELLED', 'OPEN', 'OPEN', 'OPEN', 'OPEN'])
  shelf.pretended.clear()
  await reconcile()
  assert.deepEqual(await differences(), [], 'it was fixed')
})

for (const canRead of [true, false]) {
  test(`an appointment that is back, though no pull saw it, is alive again (${canRead ? 'by key' : 'file'})`, async (t) => {
    const world = await enterWorld(t)
    const feed = await openReconciled(world, { canRead })
    const { put, pull, entryOf, shelf, reconcile, differences, appointments } = feed
    put('a', entryOf('a', 48))
    put('s', entryOf('s/1', 72), entryOf('s/2', 96))
    put('kept', entryOf('kept', 120))
    await pull(0)
    const [one, series] = ['a', 's'].map((key) => shelf.resources.get(key)!)
    shelf.resources.delete('a')
    put('s', entryOf('s/1', 72))
    for (let pulls = 0; pulls < 3; pulls += 1) await pull()
    const statuses = async () => (await appointments()).map(({ status }) => status).toSorted()
    assert.deepEqual(await statuses(), ['CANCELLED', 'CANCELLED', 'OPEN', 'OPEN'])
    const { version } = shelf.resources.get('s')!
    shelf.resources.set('a', one!)
    shelf.resources.set('s', { ...series!, version })
    feed.hide('a')
    await pull()
    await reconcile()
    assert.deepEqual(kindsOf(await differences()), ['MISSED_CREATE a', 'MISSED_CREATE s/2'])
    assert.deepEqual(await statuses(), ['OPEN', 'OPEN', 'OPEN', 'OPEN'])
    await reconcile()
    assert.deepEqual(await differences(), [])
  })
}

test('entries that are back end the wait for a decision, though no pull saw them', async (t) => {
  const feed = await openReconciled(await enterWorld(t))
  for (let i = 0; i < 7; i += 1) feed.put(`k${i}`, feed.entryOf(`k${i}`, 48 + i))
  await feed.pull(0)
  const all = [...feed.shelf.resources]
  feed.shelf.resources.clear()
  await feed.pull()
  assert.equal((await feed.state()).health, 'NEEDS_DECISION')
  for (const [key, resource] of all) feed.shelf.resources.set(key, resource)
  feed.shelf.isDelta = true
  await feed.pull()
  await feed.reconcile()
  assert.equal((await feed.state()).health, 'OK')
})

test('an entry that pulls did not see move beyond the horizon is moved, and the sum is right again', async (t) => {
  const feed = await openReconciled(await enterWorld(t))
  const { put, pull, entryOf, shelf, reconcile, differences, appointments, inHours } = feed
  put('a', entryOf('a', 48))
  put('b', entryOf('b', 72))
  put('far', entryOf('far', 24 * 500))
  await pull(0)
  // An etag that stays: no pull sees it.
  const same = shelf.resources.get('a')!
  shelf.resources.set('a', { ...same, entries: [entryOf('a', 24 * 500)] })
  const { status, error, sums } = await reconcile()
  assert.deepEqual([status, error], ['DONE', null])
  assert.deepEqual(sums, { source: 1, mirrored: 1, held: 0, skipped: 0 })
  assert.deepEqual(kindsOf(await differences()), ['MISSED_CHANGE a end', 'MISSED_CHANGE a start'])
  const starts = (await appointments()).map(({ startTime }) => startTime)
  assert.ok(Math.max(...starts) > inHours(24 * 499).epochMilliseconds)
  await reconcile()
  assert.deepEqual(await differences(), [])
})

test('what changes while everything is listed was not missed', async (t) => {
  const feed = await openReconciled(await enterWorld(t))
  feed.put('a', feed.entryOf('a', 48))
  await feed.pull(0)
  feed.shelf.beforeList = async () => {
    feed.shelf.beforeList = undefined
    feed.put('b', feed.entryOf('b', 72))
  }
  const { sums } = await feed.reconcile()
  assert.equal(sums.source, 2)
  assert.deepEqual(await feed.differences(), [])
})

test('an appointment that was cancelled here and lives in the source is a difference, with what to do', async (t) => {
  const world = await enterWorld(t)
  const feed = await openReconciled(world, { mode: 'LIVE' })
  feed.put('a', feed.entryOf('a', 48))
  feed.put('b', feed.entryOf('b', 72))
  await feed.pull()
  const [first] = await feed.appointments()
  await world.save('/calendar', { calendarId: first!.calendarId, status: 'CANCELLED' })
  const { sums } = await feed.reconcile()
  assert.equal(sums.mirrored, 2)
  const [difference, ...others] = await feed.differences()
  assert.deepEqual(others, [])
  assert.equal(difference!.kind, 'CHANGED_HERE')
  assert.deepEqual([difference!.source, difference!.ours], ['OPEN', 'CANCELLED'])
  assert.equal(difference!.objectId, first!.calendarId)
  assert.match(String(difference!.todo), /Cancel it in the source too/)
})

test('entries that wait for a decision are shown, and do not make the sum wrong', async (t) => {
  const world = await enterWorld(t)
  const feed = await openReconciled(world)
  for (let i = 0; i < 7; i += 1) feed.put(`k${i}`, feed.entryOf(`k${i}`, 48 + i))
  await feed.pull(0)
  feed.shelf.resources.clear()
  feed.put('other', feed.entryOf('other', 90))
  const { status, sums } = await feed.reconcile()
  assert.deepEqual([status, sums], ['DONE', { source: 1, mirrored: 1, held: 0, skipped: 0 }])
  assert.deepEqual(
    kindsOf(await feed.differences()),
    Array.from({ length: 7 }, (_, i) => `VANISHED k${i}`),
  )
  assert.equal((await feed.state()).health, 'NEEDS_DECISION')
  await world.call('POST', `${feed.path}/vanished/keep`)
  await feed.reconcile()
  assert.equal((await feed.state()).health, 'OK')
  assert.match(String((await feed.differences())[0]!.todo), /decided to keep it/)
})

test('a sum that is not right is FAILING until a reconciliation adds up, whatever the pulls say', async (t) => {
  const world = await enterWorld(t)
  const feed = await openReconciled(world)
  feed.put('a', feed.entryOf('a', 48))
  feed.put('b', feed.entryOf('b', 72))
  await feed.pull(0)
  // Something else writes our tables, again after each fix.
  await asOwner(
    world.database,
    `create or replace function lose_entry() returns trigger language plpgsql as
     'begin return null; end'`,
    `create trigger lose_entry before insert on feed_entry for each row
     when (new.entry_key = 'b') execute function lose_entry()`,
    `delete from feed_entry where feed_id = ${feed.feedId} and entry_key = 'b'`,
  )
  const drop = () => asOwner(world.database, 'drop trigger if exists lose_entry on feed_entry')
  t.after(drop)
  const { status, error, sums } = await feed.reconcile()
  assert.equal(status, 'FAILED')
  assert.deepEqual([sums.source, sums.mirrored], [2, 1])
  assert.match(error, /source has 2 entries, and 1 are here. Missing here: b\./)
  await feed.pull()
  const { health, cause } = await feed.state()
  assert.deepEqual([health, cause], ['FAILING', error])
  await drop()
  // It is tried again after an hour.
  await feed.pull(61)
  assert.equal((await feed.state()).health, 'OK')
  assert.deepEqual(kindsOf(await feed.differences()), ['MISSED_CREATE b'])
})

test('each feed is reconciled once a night, at another minute', async (t) => {
  const world = await enterWorld(t)
  const feed = await openReconciled(world)
  feed.put('a', feed.entryOf('a', 48))
  await feed.pull(0)
  const reconciliations = async () =>
    (await world.call('GET', `${feed.path}/run`)).body.items.filter(
      ({ kind }: { kind: string }) => kind === 'RECONCILE',
    ) as { startedTime: number }[]
  assert.deepEqual(await reconciliations(), [])
  for (let hour = 0; hour < 48; hour += 1) await feed.pull(60)
  const hours = (await reconciliations()).map(
    ({ startedTime }) =>
      Temporal.Instant.fromEpochMilliseconds(startedTime).toZonedDateTimeISO('Europe/Zurich').hour,
  )
  assert.equal(hours.length, 2)
  assert.ok(
    hours.every((hour) => hour >= 2 && hour <= 5),
    hours.join(),
  )
})

test('a source that fails at night is reconciled when it answers again', async (t) => {
  const feed = await openReconciled(await enterWorld(t))
  feed.put('a', feed.entryOf('a', 48))
  await feed.pull(0)
  feed.shelf.beforeList = async () => {
    throw new SourceError('UNREACHABLE', 'dav.example does not answer.')
  }
  const { status, error } = await feed.reconcile()
  assert.deepEqual([status, error], ['FAILED', 'dav.example does not answer.'])
  assert.equal((await feed.state()).health, 'FAILING')
  feed.shelf.beforeList = undefined
  await feed.pull()
  assert.equal((await feed.state()).health, 'OK')
})

test('the night of a business is that of its own clock', () => {
  const cases = [
    ['2026-11-18T20:00:00Z', 'Europe/Zurich', 0, '2026-11-19T01:00:00Z'],
    ['2026-11-18T20:00:00Z', 'America/New_York', 0.999, '2026-11-19T09:59:00Z'],
    ['2026-11-19T01:30:00Z', 'Europe/Zurich', 0, '2026-11-20T01:00:00Z'],
    ['2026-11-19T01:30:00Z', 'Europe/Zurich', 0.5, '2026-11-19T02:30:00Z'],
    // 02:00 does not exist.
    ['2027-03-27T20:00:00Z', 'Europe/Zurich', 0, '2027-03-28T01:00:00Z'],
  ] as const
  for (const [now, zone, share, expected] of cases) {
    assert.equal(String(nextNight(Temporal.Instant.from(now), zone, share)), expected, now)
  }
})
