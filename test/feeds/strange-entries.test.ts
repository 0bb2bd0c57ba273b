import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { createFeedLoops } from '../../src/feeds/loop.ts'
import {
  appointmentOf,
  bookingOf,
  startCalcom,
  startEasyAppointments,
} from '../support/feed-sources.ts'
import { shareWorld } from '../support/world.ts'
import { partsOf, PULLING } from './loop-parts.ts'

/*
 * Entries that no database can store as they are, between others that it can: of each source, over HTTP.
 */

const enterWorld = shareWorld(PULLING)
type World = Awaited<ReturnType<typeof enterWorld>>

/** Pulls a source three times, reconciles it, and says what became of its entries. */
async function follow(world: World, source: object) {
  const { call, clock, database, ids, save } = world
  const { clientId: _clientId, ...defaults } = ids
  const { feedId } = await save('/feed', { name: 'Salon', mode: 'SHADOW', defaults, ...source })
  await database.engine.query(
    sql`update feed_state set next_pull_time = null where feed_id <> ${feedId}`,
  )
  const [loop] = createFeedLoops(partsOf(world))
  for (let pulls = 0; pulls < 3; pulls += 1) {
    assert.equal(await loop!.runOnce(), 1)
    clock.advance({ minutes: 20 })
  }
  const { feedRunId } = (await call('POST', `/feed/${feedId}/reconcile`)).body
  await loop!.runOnce()
  const { error, differences } = (await call('GET', `/feed/${feedId}/run/${feedRunId}`)).body
  assert.deepEqual([error, differences ?? []], [null, []])
  const { state } = (await call('GET', `/feed/${feedId}`)).body
  assert.deepEqual([state.health, state.cause], ['OK', null])
  const entries = (await call('GET', `/feed/${feedId}/entry`)).body.items as {
    key: string
    state: string
    reason: string | null
  }[]
  return entries.map(({ key, state: became, reason }) => ({ key, became, reason: reason ?? '' }))
}

async function publish(t: TestContext, body: string) {
  const server = http.createServer((_request, response) => response.end(body))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => void (server.close(), server.closeAllConnections()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/salon.ics`
}

const HELD_TEXT = /^Its \w+ holds a NUL character or half a character: correct it in the source\.$/
const HELD_TIME = /^It is not between 2000 and 2200: correct its time in the source\.$/

test('events of a file that cannot be stored are held alone, and long keys are shortened', async (t) => {
  const world = await enterWorld(t)
  const timeOf = (hours: number) =>
    world.clock.in({ hours }).toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')
  const eventOf = (uid: string, ...lines: string[]) => [
    'BEGIN:VEVENT',
    `UID:${uid}`,
    ...(lines.some((line) => line.startsWith('DTSTART')) ? [] : [`DTSTART:${timeOf(48)}`]),
    'DURATION:PT30M',
    'ATTENDEE:mailto:anna@example.org',
    ...lines,
    'END:VEVENT',
  ]
  const long = Array.from({ length: 5_000 }, (_, i) => i.toString(36)).join('')
  const secret = await publish(
    t,
    [
      'BEGIN:VCALENDAR',
      ...eventOf('nul', 'SUMMARY:Knee\0'),
      ...eventOf('a NUL in\0 the key'),
      ...eventOf(`${long}a`, `LOCATION:${long}`),
      ...eventOf(`${long}b`, `RRULE:FREQ=DAILY;COUNT=2`),
      ...eventOf('early', 'DTSTART:00000101T090000Z'),
      ...eventOf('late', 'DTSTART:99990101T090000Z'),
      ...eventOf('old', 'CREATED:16010101T000000Z', 'LAST-MODIFIED:00010101T000000Z'),
      ...eventOf('good'),
      'END:VCALENDAR',
    ].join('\r\n'),
  )
  const entries = await follow(world, { source: 'ICS', secret })
  const named = (name: string) => entries.filter(({ key }) => key.startsWith(name))
  assert.match(named('nul')[0]!.reason, HELD_TEXT)
  assert.match(named('late')[0]!.reason, HELD_TIME)
  assert.deepEqual(
    named(long.slice(0, 100)).map(({ became }) => became),
    ['MIRRORED', 'MIRRORED', 'MIRRORED'],
  )
  for (const name of ['a NUL', 'old', 'good']) {
    assert.equal(named(name)[0]!.became, 'MIRRORED', name)
  }
})

for (const source of ['CALCOM', 'EASYAPPOINTMENTS'] as const) {
  test(`a booking of ${source} that cannot be stored is held alone`, async (t) => {
    const world = await enterWorld(t)
    const [start, end] = [48, 49].map((hours) =>
      world.clock.in({ hours }).toString({ smallestUnit: 'millisecond' }),
    ) as [string, string]
    const strange = ['Knee\0', 'Kn\ud83dee', 'Knee']
    const years = ['0001-01-01T09:00:00.000Z', '+012345-01-01T09:00:00.000Z']
    const server =
      source === 'CALCOM'
        ? await startCalcom(t, [
            ...strange.map((title, i) => bookingOf(`text ${i}`, { title, start, end })),
            ...years.map((time, i) =>
              bookingOf(`year ${i}`, { start, end: time, createdAt: time }),
            ),
            bookingOf('nul\0', { start, end }),
          ])
        : await startEasyAppointments(t, [
            ...strange.map((name, i) => appointmentOf(i, { service: { id: 1, name } })),
            ...years.map((time, i) => appointmentOf(10 + i, { start, end: time })),
          ])
    const secret = source === 'CALCOM' ? 'cal_key' : 'token'
    const entries = await follow(world, { source, connection: { url: server.url }, secret })
    const states = Object.groupBy(entries, ({ became }) => became)
    assert.equal(states.MIRRORED?.length, 1)
    const reasons = states.HELD!.map(({ reason }) => reason)
    assert.equal(
      reasons.filter((reason) => HELD_TEXT.test(reason)).length,
      source === 'CALCOM' ? 3 : 2,
    )
    assert.ok(reasons.every((reason) => reason.length > 20))
  })
}
