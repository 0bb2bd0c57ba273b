import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asOwner } from '../support/owner.ts'
import { shareWorld } from '../support/world.ts'
import { openInlet } from './support.ts'

const enterWorld = shareWorld()

test('an entry becomes an appointment of the client with its address, by the defaults of the feed', async (t) => {
  const world = await enterWorld(t)
  const { feedId, begin, entry, entryOf, objectOf } = await openInlet(world)
  const answer = await begin(entry('B-1', { status: 'confirmed', createdTime: 1_789_000_000_000 }))
  assert.deepEqual(answer, { accepted: 1, unchanged: 0, old: 0, held: 0, skipped: 0, refused: [] })
  const { state, reasonCode, decisions } = await entryOf('B-1')
  assert.deepEqual({ state, reasonCode }, { state: 'MIRRORED', reasonCode: null })
  assert.deepEqual(
    decisions.map(({ field, by }: { field: string; by: string }) => `${field} ${by}`),
    [
      'clientId MATCH',
      'professionalId DEFAULT',
      'reasonId DEFAULT',
      'locationId DEFAULT',
      'status SOURCE',
    ],
  )
  const appointment = await objectOf('B-1')
  assert.equal(appointment.feedId, feedId)
  assert.equal(appointment.clientId, world.ids.clientId)
  assert.equal(appointment.status, 'CONFIRMED')
  assert.equal(appointment.bookedTime, 1_789_000_000_000)
  assert.equal(appointment.createdUser, 'feed:Salon')
  const listed = await world.call('GET', `/calendar?feedId=${feedId}`)
  assert.equal(listed.body.items.length, 1)
  assert.equal((await world.call('GET', '/calendar?feedId=999999')).status, 422)
})

test('a client who does not exist is created once', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, objectOf } = await openInlet(world)
  const client = {
    key: 'C-1',
    emailAddress: 'Eva@example.org',
    firstName: 'Eva',
    lastName: 'Keller',
    phone: '1',
  }
  await begin(
    entry('B-1', { client }),
    entry('B-2', { client, startTime: world.clock.now().add({ hours: 72 }).epochMilliseconds }),
  )
  const [one, two] = [await objectOf('B-1'), await objectOf('B-2')]
  assert.equal(one.clientId, two.clientId)
  const { body } = await world.call('GET', `/client/${one.clientId}`)
  assert.deepEqual(
    [body.firstName, body.lastName, body.emailAddress],
    ['Eva', 'Keller', 'eva@example.org'],
  )
})

test('a feed changes only those properties of a client that it set and nobody changed since', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, objectOf, send } = await openInlet(world)
  const client = {
    key: 'C-1',
    emailAddress: 'eva@example.org',
    firstName: 'Eva',
    lastName: 'Keller',
    phone: '1',
  }
  await begin(entry('B-1', { client }))
  const { clientId } = await objectOf('B-1')
  await world.save('/client', { clientId, phone: '77' })
  await send([entry('B-1', { version: 2, client: { ...client, lastName: 'Frei', phone: '2' } })])
  const { body } = await world.call('GET', `/client/${clientId}`)
  assert.deepEqual([body.lastName, body.phone], ['Frei', '77'])
})

test('versions decide: a lower one is ignored, the same one must have the same content', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, objectOf, send } = await openInlet(world)
  const first = entry('B-1', { version: 9 })
  await begin(first)
  const moved = {
    ...first,
    version: 10,
    startTime: first.startTime + 3_600_000,
    endTime: first.endTime + 3_600_000,
  }
  assert.equal((await send([moved])).accepted, 1)
  assert.equal((await send([moved])).unchanged, 1)
  assert.equal((await send([first])).old, 1)
  assert.equal((await objectOf('B-1')).startTime, moved.startTime)
  const { refused, accepted } = await send([{ ...moved, title: 'Other' }])
  assert.equal(accepted, 0)
  assert.deepEqual(
    refused.map(({ index, pointer }: { index: number; pointer: string }) => [index, pointer]),
    [[0, '/entries/0/version']],
  )
})

test('a faulty entry is refused with its place, and the others are stored', async (t) => {
  const world = await enterWorld(t)
  const { entries, entry, send } = await openInlet(world)
  const good = entry('B-1')
  const { accepted, refused } = await send([
    { key: 'B-0', version: 1 },
    good,
    entry('B-2', { endTime: good.startTime - 1 }),
    entry('B-3', { colour: 'red' }),
    'nothing',
  ])
  assert.equal(accepted, 1)
  assert.deepEqual(
    refused.map(({ pointer }: { pointer: string }) => pointer),
    ['/entries/0/startTime', '/entries/2/endTime', '/entries/3/colour', '/entries/4'],
  )
  assert.equal((await entries()).length, 1)
})

test('what is not an appointment is skipped, and what a person could decide is held', async (t) => {
  const world = await enterWorld(t)
  const { inHours, begin, entry, entryOf } = await openInlet(world, { defaults: {} })
  const { ids } = world
  const named = {
    staff: { emailAddress: 'ELENA@example.org' },
    location: { name: 'altstadt' },
    service: { name: 'Consultation' },
  }
  await begin(
    entry('mirrored', named),
    entry('no-client', { ...named, client: null }),
    entry('no-address', { ...named, client: { firstName: 'Ida', lastName: 'Nord' } }),
    entry('several', { ...named, clients: [{ emailAddress: 'b@example.org' }] }),
    entry('no-service', { ...named, service: { name: 'Massage' } }),
    entry('unknown-status', { ...named, status: 'on the moon' }),
    entry('too-long', { ...named, endTime: inHours(48 + 25) }),
    entry('outside', { ...named, startTime: inHours(24 * 500) }),
    entry('no-end', { ...named, startTime: inHours(60), endTime: null }),
  )
  const reasons = Object.fromEntries(
    await Promise.all(
      [
        'no-client',
        'no-address',
        'several',
        'no-service',
        'unknown-status',
        'too-long',
        'outside',
      ].map(async (key) => {
        const { state, reasonCode } = await entryOf(key)
        return [key, `${state} ${reasonCode}`]
      }),
    ),
  )
  assert.deepEqual(reasons, {
    'no-client': 'SKIPPED no-client',
    'no-address': 'SKIPPED no-address',
    several: 'HELD several-clients',
    'no-service': 'HELD no-service',
    'unknown-status': 'HELD unknown-status',
    'too-long': 'SKIPPED too-long',
    outside: 'SKIPPED outside-window',
  })
  const mirrored = await entryOf('mirrored')
  assert.equal(mirrored.state, 'MIRRORED')
  assert.equal(
    mirrored.decisions.find((one: { field: string }) => one.field === 'professionalId').value,
    ids.professionalId,
  )
  const noEnd = await entryOf('no-end')
  assert.equal(noEnd.endTime, noEnd.startTime + 30 * 60_000)
})

test('several clients are a class, or the first one, if the feed says so', async (t) => {
  const world = await enterWorld(t)
  const { ids, call } = world
  const feed = await openInlet(world, { severalClients: 'CLASS' })
  const clients = [{ emailAddress: 'b@example.org', firstName: 'Bea', lastName: 'Ost' }]
  await feed.begin(feed.entry('B-1', { clients, title: 'Pilates' }))
  const lesson = await feed.objectOf('B-1')
  assert.equal(lesson.name, 'Pilates')
  assert.equal(lesson.clientIdList.length, 2)
  await call('POST', '/feed', { feedId: feed.feedId, severalClients: 'FIRST' })
  const appointment = await feed.objectOf('B-1')
  assert.equal(appointment.clientId, ids.clientId)
  assert.equal((await call('GET', `/classSchedule/${lesson.classScheduleId}`)).body.active, false)
})

test('each of two clients with one address gets their own appointments, also in later pulls', async (t) => {
  const world = await enterWorld(t)
  const { begin, send, entry, entryOf, objectOf, path } = await openInlet(world)
  const emailAddress = 'family@example.org'
  const idOf = async (firstName: string) =>
    (await world.save('/client', { firstName, lastName: 'Keller', emailAddress })).clientId
  const ids = [await idOf('Ada'), await idOf('Ben')]
  const bookingOf = (key: string, firstName: string, more = {}) =>
    entry(key, { client: { emailAddress, firstName, lastName: 'Keller' }, ...more })
  await begin(bookingOf('B-1', 'Ada'))
  await send([bookingOf('B-2', 'Ben'), bookingOf('B-3', 'Eva')])
  await send([bookingOf('B-1', 'Ada', { version: 2, title: 'Knee' })])
  const clients = [(await objectOf('B-1')).clientId, (await objectOf('B-2')).clientId]
  assert.deepEqual(clients, ids)
  assert.equal((await entryOf('B-3')).reasonCode, 'ambiguous-client')
  const { items } = (await world.call('GET', `${path}/match?kind=client`)).body
  const { feedMatchId } = items.find(({ key }: { key: string }) => key.includes(emailAddress))
  await world.save(`${path}/match/${feedMatchId}`, { objectId: ids[1] })
  assert.equal((await objectOf('B-3')).clientId, ids[1], 'a person said who it is')
})

test('of two clients with one address, the one with the same name is meant', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, entryOf, objectOf } = await openInlet(world)
  const { clientId } = await world.save('/client', {
    firstName: 'Otto',
    lastName: 'Müller',
    emailAddress: 'anna@example.org',
  })
  const person = (firstName: string) => ({
    emailAddress: 'anna@example.org',
    firstName,
    lastName: 'Müller',
  })
  await begin(entry('B-1', { client: person('Otto') }), entry('B-2', { client: person('Ida') }))
  assert.equal((await objectOf('B-1')).clientId, clientId)
  assert.equal((await entryOf('B-2')).reasonCode, 'ambiguous-client')
})

test('an own appointment with the same client and start is adopted with its status in LIVE', async (t) => {
  const world = await enterWorld(t)
  const { feedId, begin, entry, entryOf, go } = await openInlet(world)
  const startsAt = world.clock.now().add({ hours: 48 })
  const { calendarId } = await world.book(startsAt, { status: 'CHECKED_IN' })
  const cancelled = await world.book(startsAt, { status: 'CANCELLED' })
  await begin(entry('B-1'))
  const { state, reasonCode, objectId } = await entryOf('B-1')
  assert.deepEqual([state, reasonCode, objectId], ['HELD', 'own-appointment', null])
  await go('LIVE')
  assert.equal((await entryOf('B-1')).objectId, calendarId)
  assert.notEqual(cancelled.calendarId, calendarId)
  const { body } = await world.call('GET', `/calendar/${calendarId}`)
  assert.deepEqual([body.feedId, body.status], [feedId, 'CHECKED_IN'])
})

test('time, client, staff, service and location of a mirrored appointment cannot be changed here', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, objectOf } = await openInlet(world)
  await begin(entry('B-1'))
  const { calendarId, startTime, endTime } = await objectOf('B-1')
  const changed = await world.call('POST', '/calendar', {
    calendarId,
    startTime: startTime + 1,
    endTime: endTime + 1,
  })
  assert.deepEqual([changed.status, changed.body.code], [409, 'mirrored'])
  assert.match(changed.body.detail, /feed “Salon”.*Change its time in the source/)
  const deleted = await world.call('DELETE', `/calendar/${calendarId}`)
  assert.deepEqual([deleted.status, deleted.body.code], [409, 'mirrored'])
  const more = {
    calendarId,
    status: 'NO_SHOW',
    note: 'Late',
    tags: { a: ['b'] },
    price: 10,
    feedId: 77,
    startTime,
  }
  assert.equal((await world.call('POST', '/calendar', more)).status, 200)
})

test('a value that the source did not change is left as it is here', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, objectOf, send } = await openInlet(world)
  const first = entry('B-1', { status: 'confirmed' })
  await begin(first)
  const { calendarId } = await objectOf('B-1')
  await world.save('/calendar', { calendarId, status: 'NO_SHOW' })
  await send([{ ...first, version: 2, startTime: first.startTime + 60_000 }])
  const after = await objectOf('B-1')
  assert.deepEqual([after.status, after.startTime], ['NO_SHOW', first.startTime + 60_000])
})

test('an appointment that was cancelled here stays cancelled while the source has it', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, objectOf, send } = await openInlet(world)
  await begin(entry('B-1'))
  const { calendarId } = await objectOf('B-1')
  await world.save('/calendar', { calendarId, status: 'CANCELLED' })
  await send([entry('B-1', { version: 2, status: 'confirmed' })])
  assert.equal((await objectOf('B-1')).status, 'CANCELLED')
})

test('a deleted entry is cancelled, and alive again on the same object when it returns', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, entryOf, objectOf, send } = await openInlet(world)
  await begin(entry('B-1'))
  const { calendarId } = await objectOf('B-1')
  await send([{ key: 'B-1', version: 2, deleted: true }])
  assert.equal((await entryOf('B-1')).state, 'GONE')
  assert.equal((await objectOf('B-1')).status, 'CANCELLED')
  await send([entry('B-1', { version: 3 })])
  const after = await objectOf('B-1')
  assert.deepEqual([after.calendarId, after.status], [calendarId, 'OPEN'])
})

test('an entry that has begun is not cancelled when it disappears', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, entryOf, inHours, objectOf, send } = await openInlet(world)
  await begin(entry('B-1', { startTime: inHours(-1) }))
  await send([{ key: 'B-1', version: 2, deleted: true }])
  assert.equal((await entryOf('B-1')).state, 'GONE')
  assert.equal((await objectOf('B-1')).status, 'OPEN')
})

test('few entries that a full listing lacks are cancelled; many wait for a decision', async (t) => {
  const world = await enterWorld(t)
  const { allKeys, begin, entry, entries, feedId, inHours, path, send } = await openInlet(world)
  const all = Array.from({ length: 10 }, (_, i) => entry(`B-${i}`, { startTime: inHours(48 + i) }))
  const keys = all.map(({ key }) => key)
  await begin(...all)
  await send([], allKeys(...keys.slice(1)))
  assert.equal((await entries('?state=GONE')).length, 1)
  await send([], allKeys(...keys.slice(7)))
  const read = async () => (await world.call('GET', `/feed/${feedId}`)).body.state
  assert.equal((await read()).health, 'NEEDS_DECISION')
  assert.match((await read()).cause, /^6 upcoming entries/)
  assert.equal((await entries('?state=MIRRORED')).length, 9)
  // They come back.
  await send([], allKeys(...keys.slice(1)))
  assert.equal((await read()).health, 'OK')
  await send([], allKeys(...keys.slice(7)))
  const kept = await world.call('POST', `${path}/vanished/keep`)
  assert.equal(kept.body.entries, 6)
  assert.equal((await read()).health, 'OK')
  await send([], allKeys(...keys.slice(7)))
  assert.equal((await read()).health, 'OK')
})

test('more than 50,000 entries that are not over are refused before anything is written', async (t) => {
  const world = await enterWorld(t)
  const { begin, entry, entries, feedId, path } = await openInlet(world)
  await begin(entry('B-1'))
  await asOwner(
    world.database,
    `insert into feed_entry (business_id, feed_id, entry_key, resource_key, state, source, applied,
                             decisions, person_keys, changed_time)
     select ${world.businessId}, ${feedId}, 'x' || n, 'x' || n, 'SKIPPED', '{}', '{}', '[]', '{}', now()
     from generate_series(1, 49999) n`,
  )
  const send = (...keys: string[]) =>
    world.call('POST', `${path}/entries`, {
      entries: keys.map((key) => entry(key, { version: 2 })),
    })
  const { status, body } = await send('B-1', 'B-2')
  assert.equal(status, 409)
  assert.match(body.detail, /more than 50000 entries/)
  assert.equal((await entries('?state=MIRRORED')).length, 1)
  await asOwner(
    world.database,
    `insert into feed_entry (business_id, feed_id, entry_key, resource_key, state, source, applied,
                             decisions, person_keys, changed_time)
     values (${world.businessId}, ${feedId}, 'y', 'y', 'SKIPPED', '{}', '{}', '[]', '{}', now())`,
  )
  assert.equal((await send('B-1')).status, 200, 'a change of one that is known')
  await asOwner(
    world.database,
    `update feed_entry set end_time = '2000-01-01' where entry_key like 'x%'`,
  )
  assert.equal((await send('B-2')).status, 200, 'what is over does not count')
})

test('a person cancels what vanished', async (t) => {
  const world = await enterWorld(t)
  const { allKeys, begin, entry, inHours, objectOf, path, send } = await openInlet(world, {
    vanishLimit: 0,
  })
  await begin(entry('B-1', { startTime: inHours(48) }))
  await send([], allKeys())
  const { state } = (await world.call('GET', path)).body
  assert.equal(state.cause, '1 upcoming entry is not in the source any more.')
  assert.equal((await objectOf('B-1')).status, 'OPEN')
  await world.call('POST', `${path}/vanished/cancel`)
  assert.equal((await objectOf('B-1')).status, 'CANCELLED')
})
