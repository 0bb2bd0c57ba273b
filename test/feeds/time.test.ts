import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { createTimeLoop } from '../../src/feeds/remap.ts'
import { correctStoredTimes } from '../../src/store/set-back.ts'
import { readStored } from '../support/stored-mails.ts'
import { reminder, shareWorld } from '../support/world.ts'
import { openPulled } from './fake-source.ts'
import { PULLING } from './loop-parts.ts'

const enterWorld = shareWorld(PULLING)
type World = Awaited<ReturnType<typeof enterWorld>>

async function openTimed(world: World, options?: Parameters<typeof openPulled>[1]) {
  const feed = await openPulled(world, options)
  const loop = createTimeLoop(feed.parts)
  /** Time passes without a pull, and the loop looks at all feeds. */
  const wait = async (by: Temporal.DurationLike) => {
    world.clock.advance(by)
    while ((await loop.runOnce()) > 0);
  }
  const only = async () => (await feed.appointments())[0]!
  const setStatus = async (status: string) =>
    world.save('/calendar', { calendarId: (await only()).calendarId, status })
  return { ...feed, wait, only, setStatus }
}

test('an appointment is COMPLETED a day after its end, without events, and only if its status is still live', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, wait, appointments, find, call, save } = {
    ...world,
    ...(await openTimed(world)),
  }
  const onChange = { eventType: { eventTypeId: 2 } }
  await save('/eventDefinition', reminder(world.businessId, 0, onChange))
  put('kept', entryOf('kept', 2))
  put('missed', entryOf('missed', 3))
  put('gone', entryOf('gone', 4, { status: 'cancelled' }))
  await pull(0)
  const missed = (await find('missed')).objectId
  await wait({ hours: 4 })
  await save('/calendar', { calendarId: missed, status: 'NO_SHOW' })
  await wait({ hours: 22 })
  const statuses = async () =>
    (await appointments()).toSorted((a, b) => a.startTime - b.startTime).map((one) => one.status)
  assert.deepEqual(await statuses(), ['OPEN', 'NO_SHOW', 'CANCELLED'])
  await wait({ minutes: 45 })
  assert.deepEqual(await statuses(), ['COMPLETED', 'NO_SHOW', 'CANCELLED'])
  await wait({ hours: 30 })
  assert.deepEqual(await statuses(), ['COMPLETED', 'NO_SHOW', 'CANCELLED'])
  const { decisions, objectId } = await find('kept')
  assert.deepEqual(
    decisions.find(({ field }: { field: string }) => field === 'status'),
    { field: 'status', value: 'COMPLETED', by: 'DEFAULT', detail: '24 h after its end' },
  )
  assert.deepEqual((await call('GET', `/eventTriggers/CALENDAR/${objectId}`)).body, [])
})

test('the first pull closes what ended long ago, and a closed appointment that is moved ahead is open again', async (t) => {
  const { put, pull, entryOf, wait, only } = await openTimed(await enterWorld(t))
  put('a', entryOf('a', -48))
  await pull(0)
  assert.equal((await only()).status, 'COMPLETED')
  put('a', entryOf('a', -47, { title: 'Shoulder' }))
  await pull()
  assert.equal((await only()).status, 'COMPLETED')
  put('a', entryOf('a', 48))
  await pull()
  await wait({ seconds: 1 })
  assert.equal((await only()).status, 'OPEN')
})

test('closeAfterHours null leaves closing to people', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, wait, only, feedId } = await openTimed(world)
  await world.save('/feed', { feedId, closeAfterHours: null })
  put('a', entryOf('a', 1))
  await pull(0)
  await wait({ hours: 100 })
  assert.equal((await only()).status, 'OPEN')
})

test('an entry too far ahead is mirrored when the horizon reaches it, without being read again', async (t) => {
  const { put, entryOf, pull, wait, appointments, find, shelf } = await openTimed(
    await enterWorld(t),
  )
  put('a', entryOf('a', 24 * 401))
  await pull(0)
  assert.equal((await find('a')).reasonCode, 'outside-window')
  await wait({ hours: 20 })
  assert.equal((await appointments()).length, 0)
  await wait({ hours: 5 })
  assert.equal((await appointments()).length, 1)
  assert.equal(shelf.pulls, 1)
})

test('an appointment that is moved beyond the horizon moves, and is not cancelled', async (t) => {
  const { put, entryOf, pull, only, inHours } = await openTimed(await enterWorld(t))
  put('a', entryOf('a', 48))
  await pull(0)
  put('a', entryOf('a', 24 * 500))
  await pull()
  const { status, startTime } = await only()
  assert.equal(status, 'OPEN')
  assert.ok(startTime > inHours(24 * 499).epochMilliseconds)
})

test('no change of the mapping reopens what was closed, or changes the status that people set before', async (t) => {
  const world = await enterWorld(t)
  const feed = await openTimed(world)
  const { put, pull, entryOf, wait, appointments, find, feedId } = feed
  put('kept', entryOf('kept', 2))
  put('missed', entryOf('missed', 3))
  await pull(0)
  const missed = (await find('missed')).objectId
  await wait({ hours: 4 })
  await world.save('/calendar', { calendarId: missed, status: 'NO_SHOW' })
  await wait({ hours: 24 })
  const statuses = async () =>
    (await appointments()).toSorted((a, b) => a.calendarId - b.calendarId).map((one) => one.status)
  assert.deepEqual(await statuses(), ['COMPLETED', 'NO_SHOW'])
  const decided = async () =>
    (await find('kept')).decisions.find(({ field }: { field: string }) => field === 'status')
  for (const closeAfterHours of [null, 100, 24]) {
    // A changed status map maps all entries again.
    const statusMap = { booked: closeAfterHours === 100 ? 'CONFIRMED' : 'OPEN' }
    await world.save('/feed', { feedId, closeAfterHours, statusMap })
    assert.deepEqual(await statuses(), ['COMPLETED', 'NO_SHOW'], `closed after ${closeAfterHours}`)
    assert.equal((await decided()).value, 'COMPLETED')
  }
  for (const key of ['kept', 'missed']) put(key, entryOf(key, 48))
  await pull()
  assert.deepEqual(await statuses(), ['OPEN', 'NO_SHOW'], 'the source moved both ahead')
  put('missed', entryOf('missed', 48, { status: 'cancelled' }))
  await pull()
  assert.deepEqual(await statuses(), ['OPEN', 'CANCELLED'])
})

test('an entry that the horizon has reached fires no events if a pull reads it first, and does if it was moved', async (t) => {
  const world = await enterWorld(t)
  const { put, entryOf, pull, find, inHours } = await openTimed(world, { mode: 'LIVE' })
  const { call, clock, save, businessId } = world
  await save('/eventDefinition', reminder(businessId, 0, { eventType: { eventTypeId: 1 } }))
  const createdTime = inHours(-24 * 90)
  const start = inHours(24 * 401)
  const far = entryOf('reached', 24 * 401, { start, end: start.add({ minutes: 30 }), createdTime })
  put('reached', far)
  put('moved', entryOf('moved', 24 * 401, { createdTime }))
  await pull()
  for (const key of ['reached', 'moved']) {
    assert.equal((await find(key)).reasonCode, 'outside-window')
  }
  clock.advance({ hours: 25 })
  put('reached', far)
  put('moved', entryOf('moved', 48, { createdTime }))
  await pull()
  const triggersOf = async (key: string) =>
    (await call('GET', `/eventTriggers/CALENDAR/${(await find(key)).objectId}`)).body.length
  assert.deepEqual([await triggersOf('reached'), await triggersOf('moved')], [0, 1])
})

test('a change of a series beyond the horizon counts when the horizon reaches it', async (t) => {
  const { put, entryOf, pull, find, wait, appointments } = await openTimed(await enterWorld(t))
  const ahead = (days: number) => entryOf(`s/${days}`, 24 * days)
  put('s', ahead(399), ahead(401), ahead(402))
  await pull(0)
  assert.equal((await find('s/402')).reasonCode, 'outside-window')
  put('s', ahead(399), ahead(401))
  await pull()
  assert.equal((await find('s/402')).state, 'GONE')
  await wait({ hours: 49 })
  assert.equal((await appointments()).length, 2)
})

test('the first pull of a changed connection fires no events, and LIVE waits for it', async (t) => {
  const world = await enterWorld(t)
  const { call, save, businessId } = world
  await save('/eventDefinition', reminder(businessId, 0, { eventType: { eventTypeId: 1 } }))
  const { feedId, put, entryOf, pull, find } = await openPulled(world, { source: 'ICS' })
  put('a', entryOf('a', 48))
  await pull(0)
  await pull(20)
  world.clock.advance({ seconds: 1 })
  await save('/feed', { feedId, secret: 'https://calendar.example/b.ics' })
  assert.equal((await call('POST', '/feed', { feedId, mode: 'LIVE' })).status, 409)
  put('b', entryOf('b', 72))
  await pull(1)
  put('c', entryOf('c', 96))
  await pull(20)
  assert.equal((await call('POST', '/feed', { feedId, mode: 'LIVE' })).status, 200)
  const triggersOf = async (key: string) =>
    (await call('GET', `/eventTriggers/CALENDAR/${(await find(key)).objectId}`)).body.length
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(triggersOf)), [0, 0, 1])
})

test('people are told once that an appointment is cancelled here and still in the source, but not in SHADOW', async (t) => {
  const world = await enterWorld(t)
  const { call, db, ids, save, businessId } = world
  await save('/user', {
    username: 'olga',
    password: 'long enough',
    role: 'OWNER',
    emailAddress: 'olga@praxis.example',
  })
  const { professionalId } = ids
  await save('/professional', { professionalId, emailAddress: 'elena@praxis.example' })
  const { put, pull, entryOf, wait, find, feedId } = await openTimed(world)
  for (const key of ['a', 'b', 'c']) put(key, entryOf(key, 48 + key.charCodeAt(0)))
  await pull(0)
  const cancel = async (key: string) =>
    save('/calendar', { calendarId: (await find(key)).objectId, status: 'CANCELLED' })
  const mails = async () =>
    (
      await db.query<{ line: string }>(sql`
        select to_address || ': ' || subject as line from email
        where business_id = ${businessId} and event_trigger_id is null order by line`)
    ).map(({ line }) => line)
  await cancel('a')
  await wait({ hours: 1 })
  assert.deepEqual(await mails(), [])
  await pull(0)
  assert.equal((await call('POST', '/feed', { feedId, mode: 'LIVE' })).status, 200)
  await cancel('b')
  put('c', entryOf('c', 150, { status: 'cancelled' }))
  await pull()
  await wait({ minutes: 16 })
  const told = [
    'elena@praxis.example: Cancel an appointment in “Salon” too',
    'olga@praxis.example: Cancel an appointment in “Salon” too',
  ]
  assert.deepEqual(await mails(), told, 'the one in SHADOW is told about when the feed is LIVE')
  await wait({ minutes: 16 })
  assert.equal((await mails()).length, 2, 'one mail in 2 hours for each feed')
  await wait({ hours: 2 })
  assert.equal((await mails()).length, 4)
  await wait({ hours: 3 })
  assert.equal((await mails()).length, 4)
  await save('/calendar', { calendarId: (await find('b')).objectId, status: 'OPEN' })
  await wait({ minutes: 16 })
  await cancel('b')
  await wait({ minutes: 31 })
  assert.equal((await mails()).length, 6, 'cancelled again')
})

test('notices of cancelled appointments leave those of failures, show the clock of the location, and are made up for', async (t) => {
  const world = await enterWorld(t)
  const { db, ids, save, businessId } = world
  const olga = { username: 'olga-2', password: 'long enough', role: 'OWNER' }
  await save('/user', { ...olga, emailAddress: 'olga@praxis.example' })
  await save('/location', { locationId: ids.locationId, timeZone: 'Pacific/Auckland' })
  const { put, pull, entryOf, wait, find } = await openTimed(world, { mode: 'LIVE' })
  const keys = Array.from({ length: 11 }, (_, i) => `k${i}`)
  for (const [i, key] of keys.entries()) put(key, entryOf(key, 120 + i))
  await pull()
  const counts = async () =>
    db.query(sql`select purpose, count(*) as mails from account_mail
                 where business_id = ${businessId} group by 1`)
  for (const key of keys) {
    await save('/calendar', { calendarId: (await find(key)).objectId, status: 'CANCELLED' })
    await wait({ minutes: 31 })
    await wait({ minutes: 90 })
  }
  assert.deepEqual(
    await counts(),
    [{ purpose: 'CANCELLED_HERE', mails: 20 }],
    'ten to the owner, ten to the member of staff',
  )
  const { startTime } = await find('k10')
  const local = Temporal.Instant.fromEpochMilliseconds(startTime)
    .toZonedDateTimeISO('Pacific/Auckland')
    .toLocaleString('en-GB', { timeStyle: 'short' })
  const lastText = async () => {
    const [mail] = await db.query<{ emailId: number }>(sql`
      select max(email_id) as "emailId" from email where business_id = ${businessId}`)
    return (await readStored(db, mail!.emailId)).toString().replaceAll('=\r\n', '')
  }
  assert.ok(!(await lastText()).includes(local))
  await wait({ hours: 5 })
  assert.ok((await lastText()).includes(local), 'the last one was told of a day after the first')
})

test('an appointment is COMPLETED although the clock was two days ahead before', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, wait, only } = await openTimed(world)
  const { clock, database } = world
  await wait({ hours: 48 })
  clock.advance({ hours: -48 })
  const setBack = { stepMs: 48 * 3_600_000, now: clock.now(), leaseSeconds: 15 }
  await correctStoredTimes(database.engine, setBack)
  put('a', entryOf('a', 1))
  await pull(0)
  await wait({ hours: 27 })
  assert.equal((await only()).status, 'COMPLETED')
})
