import assert from 'node:assert/strict'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { objectKind } from '../../src/contract/objects.ts'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import {
  CLIENT_USER,
  readAnswer,
  saveAnswer,
  type AnswerState,
  type Question,
} from '../../src/scheduling/answers.ts'
import { saveObject, saveObjects } from '../../src/scheduling/save.ts'
import { startWorld } from '../support/world.ts'
import { isFull, proofSeed, randomFrom, type Random } from './random.ts'

/**
 * Clients answer by their links while the business moves, cancels or reassigns the appointment. An
 * answer may only change an appointment that is what the link says: its time, its client, and live.
 */
const RACES = isFull ? 10_000 : 200
/** Two transactions each: as many as the database has connections. */
const AT_ONCE = 5
const HOUR = 3_600_000
const calendar = objectKind('calendar')!

test('no answer by a link changes an appointment that was moved, cancelled or given away', async (t) => {
  const { races, stale, answered, refused } = await race(t, RACES, saveAnswer)
  assert.deepEqual(stale, [])
  assert.ok(answered > races * 0.05 && refused > races * 0.05, 'both came first, now and then')
})

test('an answer that is decided before the lock is stale now and then', async (t) => {
  const { stale } = await race(t, 5_000, async (db, question, saving) => {
    const page = await readAnswer(db, question, saving.now)
    if (page.state !== 'ASKS') return page
    const body = { calendarId: question.calendarId, status: STATUS_OF[question.answer] }
    const author = { ...saving, businessId: question.businessId, user: CLIENT_USER }
    await db.transaction((tx) => saveObject(tx, calendar, body, author))
    return { ...page, state: 'DONE' }
  })
  assert.ok(stale.length > 0)
})

const STATUS_OF = { confirm: 'CONFIRMED', cancel: 'CANCELLED' }

type Click = typeof saveAnswer
type World = Awaited<ReturnType<typeof startWorld>>
type Told = { races: number; answered: number; refused: number; stale: string[] }

async function race(t: TestContext, most: number, click: Click): Promise<Told> {
  const random = randomFrom(proofSeed(t))
  const world = await startWorld(t)
  const { clientId } = await world.save('/client', {
    firstName: 'Ben',
    lastName: 'Other',
    emailAddress: 'ben@example.org',
  })
  const told: Told = { races: 0, answered: 0, refused: 0, stale: [] }
  // One is enough to know.
  while (told.races < most && told.stale.length === 0) {
    await raceOnce(world, random, { click, otherClientId: clientId }, told)
  }
  const { races, answered, refused, stale } = told
  t.diagnostic(`${races} races, ${answered} answered, ${refused} refused, ${stale.length} stale`)
  return told
}

async function raceOnce(
  world: World,
  random: Random,
  { click, otherClientId }: { click: Click; otherClientId: number },
  told: Told,
) {
  const { businessId, clock, database, db, ids, settings } = world
  const now = clock.now()
  const saving = { businessId, user: 'key:race', now, settings }
  const startTime = now.epochMilliseconds + 24 * HOUR
  const body = { ...ids, startTime, endTime: startTime + HOUR }
  const bodies = Array.from({ length: AT_ONCE }, () => body)
  const booked = await db.transaction((tx) => saveObjects(tx, calendar, bodies, saving))
  const asClient = database.forBusiness(businessId, CLIENT_USER)

  const states = new Map<number, AnswerState>()
  const tasks = booked.flatMap((outcome) => {
    if (outcome.refused) throw outcome.refused
    const calendarId = Number(outcome.object.calendarId)
    const question: Question = {
      answer: random.pick(['confirm', 'cancel'] as const),
      businessId,
      calendarId,
      clientId: ids.clientId,
      toAddress: 'anna@example.org',
      startTime: Temporal.Instant.fromEpochMilliseconds(startTime),
    }
    const change = random.pick([
      { startTime: startTime + HOUR, endTime: startTime + 2 * HOUR },
      { status: 'CANCELLED' },
      { status: 'CHECKED_IN' },
      { clientId: otherClientId },
    ])
    const answerIt = async () => {
      const { state } = await click(asClient, question, { settings, now })
      states.set(calendarId, state)
    }
    const changeIt = () =>
      db.transaction((tx) => saveObject(tx, calendar, { calendarId, ...change }, saving))
    return [answerIt, changeIt]
  })
  await Promise.all(
    tasks.map(async (task) => {
      for (let i = random.below(30); i > 0; i -= 1) await nextIteration()
      await task()
    }),
  )
  for (const [calendarId, state] of states) {
    if (state === 'DONE') told.answered += 1
    else told.refused += 1
    told.stale.push(...(await findStale(db, { calendarId, startTime, clientId: ids.clientId })))
  }
  told.races += AT_ONCE
}

type Entry = {
  username: string
  before: { start_time: string; status: string; client_id: number } | null
}

/** Answers in the audit to an appointment that was no longer what their link says. */
async function findStale(
  db: Db,
  { calendarId, startTime, clientId }: { calendarId: number; startTime: number; clientId: number },
) {
  const entries = await db.query<Entry>(sql`
    select username, before from audit_entry
    where object = 'calendar' and id = ${String(calendarId)} order by audit_id`)
  return entries
    .filter(({ username }) => username === CLIENT_USER)
    .filter(
      ({ before }) =>
        Date.parse(before!.start_time) !== startTime ||
        before!.status !== 'OPEN' ||
        before!.client_id !== clientId,
    )
    .map(({ before }) => `appointment ${calendarId} was answered as ${JSON.stringify(before)}`)
}
