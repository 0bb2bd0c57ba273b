import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { deleteDefinition, saveDefinition } from '../../src/automation/define.ts'
import { createEngine, type EngineParts } from '../../src/automation/engine.ts'
import { planDefinition } from '../../src/automation/plan.ts'
import { objectKind } from '../../src/contract/objects.ts'
import type { Database, Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import { saveObject, saveObjects } from '../../src/scheduling/save.ts'
import { isFull, proofSeed, randomFrom, type Random } from './random.ts'
import { rewriting, withoutLocks } from './without-guards.ts'
import { startWorld, type World } from './simulation.ts'
import { capturing } from '../support/capturing-engine.ts'
import { stepsOf } from '../support/engine-steps.ts'

/**
 * Reminders fire while their appointments are moved or cancelled and their definition is switched off.
 * A change counts the earlier mails under its lock. There must be no later ones.
 */
const RACES = isFull ? 10_000 : 120
const AT_ONCE = 25
/** About as many statements as two nodes send in a round. */
const MAX_STATEMENTS = 60
const HOUR = 3_600_000

test('no reminder is sent after its appointment was moved or cancelled, or its definition switched off', async (t) => {
  const { races, stale, sent, prevented } = await race(t, RACES)
  assert.deepEqual(stale, [])
  assert.ok(
    sent > races * 0.02 && prevented > races * 0.02,
    'both the mail and the change came first',
  )
})

for (const [name, mutation] of [
  ['is not checked', { parts: { decide: () => 'fire' as const } }],
  ['is checked outside the lock', { rewrite: rewriting(withoutLocks) }],
] as [string, Mutation][]) {
  test(`a stale reminder is sent if it ${name} when it fires`, async (t) => {
    const { stale } = await race(t, 5_000, mutation)
    assert.ok(stale.length > 0)
  })
}

type Mutation = { parts?: Partial<EngineParts>; rewrite?: (statement: Sql) => Sql }

async function race(t: TestContext, maxRaces: number, mutation: Mutation = {}) {
  const random = randomFrom(proofSeed(t))
  const world = await startWorld(t)
  const counts: Counts = { races: 0, stale: [], sent: 0, prevented: 0 }
  while (counts.races < maxRaces && counts.stale.length === 0) {
    await round(world, random, mutation, counts)
  }
  const { races, sent, prevented, stale } = counts
  t.diagnostic(`${races} races, ${sent} sent before, ${prevented} not sent, ${stale.length} stale`)
  return counts
}

/** `stale`: reminders sent after the change; `sent`: before it. */
type Counts = { races: number; stale: string[]; sent: number; prevented: number }

async function round(world: World, random: Random, mutation: Mutation, counts: Counts) {
  const { db, businessId, clock, moveClock } = world
  const eventDefnId = await define(world)
  const startTime = clock.now().epochMilliseconds + 24 * HOUR + 1_000
  const times = { startTime, endTime: startTime + HOUR }
  const bodies = Array.from({ length: AT_ONCE }, () => ({ ...world.ids, ...times }))
  const saving = { businessId, user: 'key:race', now: clock.now(), settings: new SettingsCache() }
  const calendar = objectKind('calendar')!
  const booked = await db.transaction((tx) => saveObjects(tx, calendar, bodies, saving))
  const ids = booked.flatMap((outcome) =>
    outcome.refused ? [] : Number(outcome.object.calendarId),
  )
  moveClock(2_000)

  const seen = new Map<number, number>()
  const errors: unknown[] = []
  const progress = new Progress()
  const nodes = [0, 1].map(() => startNode(world, random, mutation, errors, progress))
  const change = random.pick(['move', 'cancel', 'deactivate'])
  const changes =
    change === 'deactivate'
      ? [() => deactivate(world, eventDefnId, ids, seen)]
      : ids.map((id) => () => changeOne(world, id, change, seen))
  await Promise.all([
    Promise.all(
      nodes.map(async ({ fire }) => {
        while ((await fire()) > 0);
      }),
    ).finally(() => progress.end()),
    ...changes.map(async (work) => {
      await progress.reach(random.below(MAX_STATEMENTS))
      await work()
    }),
  ])
  if (errors.length > 0) throw errors[0]
  moveClock(11_000)
  for (const { takeOver, fire } of nodes) {
    await takeOver()
    while ((await fire()) > 0);
  }
  const mails = await mailsOf(db, ids)
  for (const id of ids) {
    const [before, after] = [seen.get(id) ?? 0, mails.get(id) ?? 0]
    if (after > before) counts.stale.push(`appointment ${id}: mail after its ${change}`)
    if (before > 0) counts.sent += 1
    else counts.prevented += 1
  }
  counts.races += ids.length
  await deactivate(world, eventDefnId, [], seen)
  moveClock(60 * 24 * HOUR)
}

/** Counts the statements of the nodes. A change begins after a number of them, not after a time. */
class Progress {
  #statements = 0
  #hasEnded = false
  #waiting: { after: number; begin: () => void }[] = []

  reach(after: number) {
    return new Promise<void>((begin) => {
      this.#waiting.push({ after, begin })
      this.#release()
    })
  }

  count() {
    this.#statements += 1
    this.#release()
  }

  /** The nodes have ended: the remaining changes begin now. */
  end() {
    this.#hasEnded = true
    this.#release()
  }

  #release() {
    const isReached = ({ after }: { after: number }) => this.#hasEnded || after <= this.#statements
    for (const { begin } of this.#waiting.filter(isReached)) begin()
    this.#waiting = this.#waiting.filter((one) => !isReached(one))
  }
}

function startNode(
  world: World,
  random: Random,
  mutation: Mutation,
  errors: unknown[],
  progress: Progress,
) {
  const { database, clock } = world
  const rewrite = (statement: Sql) => {
    progress.count()
    return mutation.rewrite ? mutation.rewrite(statement) : statement
  }
  const viewOf = (db: Db): Db => ({
    ...db,
    query: (statement) => db.query(rewrite(statement)),
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          ...tx,
          query: (one) => tx.query(rewrite(one)),
          send: (one) => tx.send(rewrite(one)),
        }),
      ),
  })
  const engine = createEngine({
    database: {
      ...database,
      engine: viewOf(database.engine),
    } satisfies Database,
    clock,
    ...capturing(),
    onError: (error) => void errors.push(error),
    batchSize: 1 + random.below(8),
    ...mutation.parts,
  })
  return stepsOf(engine)
}

async function define({ db, database, businessId, clock, emailTemplateId }: World) {
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const body = {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: -24,
    triggerMinutes: 0,
    eventType: { eventTypeId: 3 },
    eventActions: [action],
  }
  const defining = { businessId, user: 'key:race', now: clock.now(), settings: new SettingsCache() }
  const { definition } = await db.transaction((tx) => saveDefinition(tx, body, defining))
  await planDefinition(database, definition, () => clock.now())
  return definition.eventDefnId
}

/** Changes an appointment. In the same transaction, under its lock, it counts the mails before it. */
async function changeOne(world: World, calendarId: number, how: string, seen: Map<number, number>) {
  const { db, businessId, clock } = world
  const startTime = clock.now().epochMilliseconds + 30 * 24 * HOUR
  const body = how === 'cancel' ? { status: 'CANCELLED' } : { startTime, endTime: startTime + HOUR }
  const saving = { businessId, user: 'key:race', now: clock.now(), settings: new SettingsCache() }
  await db.transaction(async (tx) => {
    await saveObject(tx, objectKind('calendar')!, { calendarId, ...body }, saving)
    seen.set(calendarId, (await mailsOf(tx, [calendarId])).get(calendarId) ?? 0)
  })
}

async function deactivate(
  world: World,
  eventDefnId: number,
  ids: number[],
  seen: Map<number, number>,
) {
  const { db, database, businessId, clock } = world
  const defining = { businessId, user: 'key:race', now: clock.now(), settings: new SettingsCache() }
  const definition = await db.transaction(async (tx) => {
    const saved = await deleteDefinition(tx, eventDefnId, defining, () => {})
    const mails = await mailsOf(tx, ids)
    for (const id of ids) seen.set(id, mails.get(id) ?? 0)
    return saved!
  })
  await planDefinition(database, definition, () => clock.now())
}

async function mailsOf(db: Db, ids: number[]) {
  const rows = await db.query<{ id: number; count: number }>(sql`
    select object_id as id, count(*) from email
    where object_type = 'CALENDAR' and object_id = any (${ids}::bigint[]) group by object_id`)
  return new Map(rows.map((row) => [row.id, row.count]))
}
