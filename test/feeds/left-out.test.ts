import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { shareWorld } from '../support/world.ts'
import { openPulled } from './fake-source.ts'
import { PULLING } from './loop-parts.ts'

const enterWorld = shareWorld(PULLING)

type Shown = { key: string; state: string; reasonCode: string | null; title: string | null }

const statesOf = (entries: Shown[]) =>
  Object.fromEntries(
    entries.map(({ key, state, reasonCode }) => [
      key,
      reasonCode ? `${state} ${reasonCode}` : state,
    ]),
  )

test('what is not an appointment is skipped, and a private event is stored without its words', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, entries, appointments, inHours, feedId } = await openPulled(world)
  const end = (hours: number) => ({ end: inHours(hours) })
  put('day', entryOf('day', 24, { allDay: true, ...end(48) }))
  put('camp', entryOf('camp', 24, end(49)))
  put('whole', entryOf('whole', 72, end(96)))
  put('own', entryOf('own', 30, { isPrivate: true, title: 'Divorce lawyer' }))
  await pull(0)
  const shown: Shown[] = await entries()
  assert.deepEqual(statesOf(shown), {
    camp: 'SKIPPED too-long',
    day: 'SKIPPED all-day',
    own: 'SKIPPED private',
    whole: 'MIRRORED',
  })
  assert.equal(shown.find(({ key }) => key === 'own')!.title, null)
  assert.equal((await appointments()).length, 1)
  const [row] = await world.database.engine.query<{ text: string }>(sql`
    select e::text as text from feed_entry e where feed_id = ${feedId} and entry_key = 'own'`)
  assert.doesNotMatch(row!.text, /lawyer|anna|Müller/i)

  put('day', entryOf('day', 24, { isPrivate: true, title: 'Clinic' }))
  put('whole', entryOf('whole', 72, { isPrivate: true }))
  await pull()
  assert.equal(statesOf(await entries()).whole, 'SKIPPED private', 'one that becomes private')
  assert.deepEqual(
    (await appointments()).filter(({ active }) => active),
    [],
  )
})

test('an entry without an end lasts as long as its service, and is held if that is not known', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, entries, appointments } = await openPulled(world)
  const { reasonId } = await world.save('/reason', { name: 'Talk', durationMinutes: null })
  assert.ok(reasonId)
  put('known', entryOf('known', 24, { end: null }))
  put('unknown', entryOf('unknown', 48, { end: null, service: { name: 'Talk' } }))
  await pull(0)
  assert.deepEqual(statesOf(await entries()), { known: 'MIRRORED', unknown: 'HELD no-end' })
  assert.equal((await appointments()).length, 1)
})

test('an event that another feed mirrors is skipped, and mirrored when that feed is gone', async (t) => {
  const world = await enterWorld(t)
  const first = await openPulled(world)
  first.put('one.ics', first.entryOf('booking@calcom', 24))
  await first.pull(0)
  await world.save('/feed', { feedId: first.feedId, name: 'Bookings' })
  const second = await openPulled(world)
  second.put('two.ics', second.entryOf('booking@calcom', 24), second.entryOf('own', 48))
  await second.pull(0)
  assert.deepEqual(statesOf(await second.entries()), {
    'booking@calcom': 'SKIPPED other-feed',
    own: 'MIRRORED',
  })
  assert.equal((await second.appointments()).length, 1)
  const gone = await world.call('DELETE', `${first.path}?appointments=remove`)
  assert.equal(gone.status, 200)
  second.put('two.ics', second.entryOf('booking@calcom', 24), second.entryOf('own', 48))
  await second.pull()
  assert.equal(statesOf(await second.entries())['booking@calcom'], 'MIRRORED')
})

test('the entries of an erased client are emptied, and do not return', async (t) => {
  const world = await enterWorld(t)
  const { put, pull, entryOf, entries, feedId } = await openPulled(world)
  const ida = { emailAddress: 'ida@example.org', firstName: 'Ida', lastName: 'Frei' }
  const putIda = () => put('a', entryOf('a', 24, { title: 'Ida Frei', attendees: [ida] }))
  putIda()
  put('b', entryOf('b', 48))
  await pull(0)
  const named = async () =>
    ((await world.call('GET', '/client?limit=200')).body.items as Record<string, unknown>[]).filter(
      ({ emailAddress }) => emailAddress === ida.emailAddress,
    )
  const [client] = await named()
  assert.equal((await world.call('POST', `/client/${String(client!.clientId)}/erase`)).status, 200)
  putIda()
  await pull()
  assert.deepEqual(statesOf(await entries()), { a: 'SKIPPED erased', b: 'MIRRORED' })
  const [row] = await world.database.engine.query<{ text: string }>(sql`
    select e::text as text from feed_entry e where feed_id = ${feedId} and entry_key = 'a'`)
  assert.doesNotMatch(row!.text, /ida|frei/i)
  assert.deepEqual(await named(), [])
})
