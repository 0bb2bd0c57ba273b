import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { DatabaseClock, monotonicMs } from '../src/clock.ts'
import { followDatabaseTime } from '../src/cli/serve.ts'
import { until } from './support/until.ts'
import { reminder, startEngine, startWorld } from './support/world.ts'

const HOUR = 3_600_000

test('a clock is never ahead of the database, however long opening a connection took', async () => {
  const clock = new DatabaseClock()
  let connectMs = 200
  const read = async () => {
    await sleep(connectMs)
    connectMs = 0
    return Date.now()
  }
  await clock.read(read)
  await clock.read(read)
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

test('a clock follows a step of the database at the next reading, and reports one that goes back', async () => {
  const clock = new DatabaseClock()
  const steps: number[] = []
  clock.onSetBack((stepMs) => steps.push(stepMs))
  let databaseAheadMs = 0
  const read = () => clock.read(async () => Date.now() + databaseAheadMs)
  const aheadMs = () => clock.now().epochMilliseconds - Date.now()
  await read()
  databaseAheadMs = 30_000
  await read()
  assert.ok(aheadMs() > 29_000 && aheadMs() <= 30_000)
  databaseAheadMs = HOUR
  await read()
  assert.deepEqual(steps, [])
  databaseAheadMs = 0
  await read()
  assert.ok(aheadMs() <= 0)
  assert.equal(steps.length, 1)
  assert.ok(Math.abs(steps[0]! - HOUR) < 10_000)
})

test('a node reads the time of the database every second', async () => {
  const readAt: number[] = []
  const readTime = async () => {
    readAt.push(monotonicMs())
    return Date.now()
  }
  const stop = await followDatabaseTime(new DatabaseClock(), { readTime }, { warn: () => {} })
  await until(() => readAt.length >= 3)
  await stop()
  const [, first, second] = readAt
  assert.ok(second! - first! >= 990 && second! - first! < 20_000, `${second! - first!} ms`)
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
