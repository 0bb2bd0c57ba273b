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
 * Clients answer by the links in their mails while the business moves, cancels or reassigns the
 * appointment. An answer may change it only if time, client and status have not changed since the mail.
 */
const RACES = isFull ? 10_000 : 100
/** Two transactions each: as many as the database has connections. */
const AT_ONCE = 5
const HOUR = 3_600_000
const calendar = objectKind('calendar')!

test('no answer by a link changes an appointment that was moved, cancelled or given to another client', async (t) => {
  const { races, stale, answered, refused } = await race(t, RACES, saveAnswer)
  assert.deepEqual(stale, [])
  assert.ok(
    answered > races * 0.05 && refused > races * 0.05,
    'both the answer and the change came first',
  )
})

test('an answer that is checked before the lock changes an appointment that was changed meanwhile', async (t) => {
  const { stale } = await race(t, 5_000, async (db, question, _, saving) => {
    const page = await readAnswer(db, question, saving.now)
    if (page.state !== 'ASKS') return page
    const body = { calendarId: question.objectId, status: STATUS_OF[question.answer] }
    const author = { ...saving, businessId: question.businessId, user: CLIENT_USER }
    await db.transaction((tx) => saveObject(tx, calendar, body, author))
    return { ...page, state: 'DONE' }
  })
  assert.ok(stale.length > 0)
})

const STATUS_OF = { confirm: 'CONFIRMED', cancel: 'CANCELLED', sign: '' }
const NOTHING_ELSE = { note: null, name: null, isUndo: false }

type Click = typeof saveAnswer
type World = Awaited<ReturnType<typeof startWorld>>
type Counts = { races: number; answered: number; refused: number; stale: string[] }

async function race(t: TestContext, maxRaces: number, click: Click): Promise<Counts> {
  const random = randomFrom(proofSeed(t))
  const world = await startWorld(t)
  const { clientId } = await world.save('/client', {
    firstName: 'Ben',
    lastName: 'Other',
    emailAddress: 'ben@example.org',
  })
  const counts: Counts = { races: 0, answered: 0, refused: 0, stale: [] }
  while (counts.races < maxRaces && counts.stale.length === 0) {
    await raceOnce(world, random, { click, otherClientId: clientId }, counts)
  }
  const { races, answered, refused, stale } = counts
  t.diagnostic(`${races} races, ${answered} answered, ${refused} refused, ${stale.length} stale`)
  return counts
}

async function raceOnce(
  world: World,
  random: Random,
  { click, otherClientId }: { click: Click; otherClientId: number },
  counts: Counts,
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
      objectType: 'CALENDAR',
      objectId: calendarId,
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
      const { state } = await click(asClient, question, NOTHING_ELSE, { settings, now })
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
    if (state === 'DONE') counts.answered += 1
    else counts.refused += 1
    counts.stale.push(...(await findStale(db, { calendarId, startTime, clientId: ids.clientId })))
  }
  counts.races += AT_ONCE
}

type Entry = {
  username: string
  before: { start_time: string; status: string; client_id: number } | null
}

/** Answers in the audit that changed an appointment with another time, client or status. */
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
