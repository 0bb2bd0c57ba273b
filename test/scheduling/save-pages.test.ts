import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { objectKind } from '../../src/contract/objects.ts'
import { sql } from '../../src/database/sql.ts'
import { saveObjects } from '../../src/scheduling/save.ts'
import type { Allow, SaveOutcome } from '../../src/scheduling/saving.ts'
import { reminder, startWorld } from '../support/world.ts'

const COUNT = 400
const HOUR = 3_600_000

const objectOf = (outcome: SaveOutcome) => (outcome.refused ? undefined : outcome.object)

/** Four hundred appointments with a reminder each, which are then saved in one batch. */
async function start(t: TestContext) {
  const world = await startWorld(t)
  const { businessId, clock, db, ids, save, settings } = world
  const calendar = objectKind('calendar')!
  const first = clock.in({ hours: 72 }).epochMilliseconds
  const saveBatch = (bodies: object[], allows: (Allow | undefined)[] = []) => {
    const saving = { businessId, user: 'key:test', now: clock.now(), settings }
    return db.transaction((tx) => saveObjects(tx, calendar, bodies, saving, allows))
  }
  await save('/eventDefinition', reminder(businessId, -24))
  const booked = await saveBatch(
    Array.from({ length: COUNT }, (_, i) => ({
      ...ids,
      startTime: first + i * HOUR,
      endTime: first + (i + 1) * HOUR,
    })),
  )
  const calendarIds = booked.map((outcome) => objectOf(outcome)!.calendarId as number)
  const moveOf = (calendarId: number, startTime: number) => ({
    calendarId,
    startTime,
    endTime: startTime + HOUR,
  })
  /** When each appointment starts, and when its reminder is due. */
  const readTimes = async () => {
    const rows = await db.query<{ id: number; start: number; due: number }>(sql`
      select c.calendar_id as id, (extract(epoch from c.start_time) * 1000)::bigint as start,
             (extract(epoch from t.scheduled_time) * 1000)::bigint as due
      from calendar c join pending_trigger t on t.object_id = c.calendar_id
      order by c.calendar_id`)
    return rows.map(({ id, start, due }) => [id, start, due])
  }
  return { ...world, calendarIds, first, moveOf, saveBatch, readTimes }
}

test('a batch that is saved in pages moves each object and its reminder, in any order', async (t) => {
  const { calendarIds, first, moveOf, saveBatch, readTimes } = await start(t)
  const moved = calendarIds.map((id, i) => ({ id, start: first + (1_000 - i) * HOUR }))
  const outcomes = await saveBatch(moved.map(({ id, start }) => moveOf(id, start)).toReversed())

  assert.deepEqual(
    outcomes.map((outcome) => objectOf(outcome)?.calendarId),
    calendarIds.toReversed(),
    'each outcome is at the index of its body',
  )
  assert.deepEqual(
    await readTimes(),
    moved.map(({ id, start }) => [id, start, start - 24 * HOUR]),
  )
})

test('a batch that only moves keeps all other fields; one that changes more fields writes them too', async (t) => {
  const { calendarIds, call, first, moveOf, saveBatch } = await start(t)
  const some = calendarIds.slice(0, 3)
  const bodies = some.map((id, i) => moveOf(id, first + (500 + i) * HOUR))
  await saveBatch(bodies.map((body, i) => ({ ...body, note: `note ${i}`, tags: { vip: ['yes'] } })))
  await saveBatch(some.map((id, i) => moveOf(id, first + (600 + i) * HOUR)))
  const seen = async () => {
    const read = await Promise.all(some.map((id) => call('GET', `/calendar/${id}`)))
    return read.map(({ body: { note, tags, startTime, status } }) => [
      note,
      tags,
      startTime,
      status,
    ])
  }
  const tags = { vip: ['yes'] }
  assert.deepEqual(
    await seen(),
    some.map((_, i) => [`note ${i}`, tags, first + (600 + i) * HOUR, 'OPEN']),
  )
  const [one, two, three] = some.map((id, i) => moveOf(id, first + (700 + i) * HOUR))
  await saveBatch([one!, { ...two, status: 'CONFIRMED' }, { ...three, note: 'another' }])
  assert.deepEqual(await seen(), [
    ['note 0', tags, first + 700 * HOUR, 'OPEN'],
    ['note 1', tags, first + 701 * HOUR, 'CONFIRMED'],
    ['another', tags, first + 702 * HOUR, 'OPEN'],
  ])
})

test('faults in a batch are reported at their index, and the rest is saved', async (t) => {
  const { calendarIds, first, moveOf, saveBatch } = await start(t)
  const bodies = calendarIds.map((id, i) => moveOf(id, first + (500 + i) * HOUR))
  bodies[10] = moveOf(999_999_999, first)
  bodies[390] = { ...bodies[390]!, endTime: first }
  const outcomes = await saveBatch(bodies)

  const refused = outcomes.flatMap((outcome, index) => (outcome.refused ? index : []))
  assert.deepEqual(refused, [10, 390])
})

test('an object that is twice in a batch ends as its last body says', async (t) => {
  const { calendarIds, first, moveOf, saveBatch, readTimes } = await start(t)
  const movedBy = (hours: number) =>
    calendarIds.map((id, i) => moveOf(id, first + (hours + i) * HOUR))
  const outcomes = await saveBatch([...movedBy(500), ...movedBy(2_000)])

  const versions = outcomes.map((outcome) => objectOf(outcome)?.version)
  assert.deepEqual(versions, [...Array(COUNT).fill(2), ...Array(COUNT).fill(3)])
  assert.deepEqual(
    await readTimes(),
    movedBy(2_000).map(({ calendarId, startTime }) => [
      calendarId,
      startTime,
      startTime - 24 * HOUR,
    ]),
  )
})

test('if one page fails, nothing of the batch is saved, and its error is reported', async (t) => {
  const { calendarIds, first, moveOf, saveBatch, readTimes } = await start(t)
  const before = await readTimes()
  const allows = calendarIds.map((_, i) =>
    i === 200
      ? () => {
          throw new Error('broken')
        }
      : undefined,
  )
  const bodies = calendarIds.map((id, i) => moveOf(id, first + (500 + i) * HOUR))

  await assert.rejects(saveBatch(bodies, allows), /broken/)
  assert.deepEqual(await readTimes(), before)
})
