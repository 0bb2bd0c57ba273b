import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { DatabaseClock, monotonicMs } from '../src/clock.ts'
import { reminder, startEngine, startWorld } from './support/world.ts'

const HOUR = 3_600_000

test('a clock is never ahead of the database, however long opening a connection took', async () => {
  const clock = new DatabaseClock()
  let connectMs = 200
  await clock.synchronise(async () => {
    await sleep(connectMs)
    connectMs = 0
    return Date.now()
  })
  for (let reading = 0; reading < 100; reading += 1) {
    assert.ok(clock.now().epochMilliseconds <= Date.now())
  }
})

test('a clock that is ahead of the database is set back', async () => {
  const clock = new DatabaseClock()
  clock.set(Date.now() + HOUR, monotonicMs())
  const databaseTime = Temporal.Now.instant()
  assert.ok((await clock.confirm(async () => databaseTime)).equals(databaseTime))
  assert.ok(clock.now().epochMilliseconds <= Date.now())
})

test('a node whose clock is ahead of the database fires nothing early', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  const dueAt = (await world.database.readTime()) + HOUR
  const { calendarId } = await world.book(
    Temporal.Instant.fromEpochMilliseconds(Math.round(dueAt + 24 * HOUR)),
  )
  const clock = new DatabaseClock()
  clock.set(dueAt + HOUR, monotonicMs())
  const engine = startEngine(world, { clock })
  await engine.fire()
  assert.equal(await engine.fire(), 0, 'the clock was corrected')
  const { body } = await world.call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
  assert.deepEqual(
    body.map((trigger: { status: string }) => trigger.status),
    ['SCHEDULED'],
  )
})
