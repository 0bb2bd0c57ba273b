import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError } from '../../src/database/postgres-errors.ts'
import { REASONS } from '../../src/contract/reasons.ts'
import { decide } from '../../src/automation/decide.ts'
import type { EngineParts } from '../../src/automation/engine.ts'
import type { Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { lockExpiredLeases } from '../../src/store/queue.ts'
import { takeOverTriggers } from '../../src/store/trigger-queue.ts'
import { asOwner } from '../support/owner.ts'
import { isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** A reminder a day before, which mails the client. */
async function remind({ businessId, save }: World) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  return save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
}

const triggerOf = async ({ call }: World, { calendarId }: { calendarId: number }) =>
  (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body[0] as {
    status: string
    statusReason: string | null
  }

/** How many failed attempts the pending trigger of this appointment has. */
const failedAttempts = async ({ db }: World, { calendarId }: { calendarId: number }) =>
  (
    await db.query<{ attempts: number }>(
      sql`select attempts from pending_trigger where object_id = ${calendarId}`,
    )
  )[0]!.attempts

/** An engine whose transactions first run another statement. */
function startEngineWith(
  world: World,
  first: () => Sql | undefined,
  more: Partial<EngineParts> = {},
) {
  const { engine } = world.database
  const transaction: Db['transaction'] = (work) =>
    engine.transaction(async (tx) => {
      const statement = first()
      if (statement) await tx.query(statement)
      return work(tx)
    })
  const database = { ...world.database, engine: { ...engine, transaction } }
  return startEngine(world, { database, ...more })
}

/** An outcome of the reminder of an appointment, whose insertion by another transaction firing waits for. */
const sameOutcome = ({ calendarId }: { calendarId: number }) => `
  insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
    anchor_time, scheduled_time, status, status_reason, created_date)
  select business_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
    scheduled_time, 'SKIPPED', 'no address', created_date
  from pending_trigger where object_id = ${calendarId}`

for (const setting of ['lock_timeout', 'statement_timeout']) {
  test(`a trigger that waits for another transaction beyond the ${setting} does not collect failed attempts`, async (t) => {
    const world = await startWorld(t)
    await remind(world)
    const locked = await world.book(world.clock.in({ hours: 25 }))
    const other = await world.book(world.clock.in({ hours: 25 }))
    world.clock.advance({ hours: 1 })
    const engine = startEngineWith(world, () => sql`select set_config(${setting}, '50ms', true)`)
    const rolledBack = world.database.engine.transaction(async (tx) => {
      await tx.query({ text: sameOutcome(locked), values: [] })
      for (let round = 0; round < 3; round += 1) {
        await engine.fire()
        world.clock.advance({ seconds: 11 })
        await engine.takeOver()
      }
      const { status, statusReason } = await triggerOf(world, locked)
      assert.equal(status, 'SCHEDULED')
      assert.match(statusReason!, /^last attempt failed: canceling statement due to \w+ timeout$/)
      assert.equal(await failedAttempts(world, locked), 0)
      assert.equal((await triggerOf(world, other)).status, 'COMPLETED')
      throw new Error('rolled back')
    })
    await assert.rejects(rolledBack, /rolled back/)
    assert.equal(await engine.fire(), 1)
    const { status, statusReason } = await triggerOf(world, locked)
    assert.deepEqual([status, statusReason], ['COMPLETED', null])
  })
}

for (const [what, code] of Object.entries({
  'a serialization failure occurs': '40001',
  'a deadlock occurs': '40P01',
  'the administrator ends the connection': '57P01',
  'the server has no memory left': '53200',
})) {
  test(`an attempt during which ${what} does not count`, async (t) => {
    const world = await startWorld(t)
    await remind(world)
    const booked = await world.book(world.clock.in({ hours: 25 }))
    world.clock.advance({ hours: 1 })
    let isFailing = true
    const raise: Sql = {
      text: `do $$ begin raise exception 'the server said so' using errcode = '${code}'; end $$`,
      values: [],
    }
    let failedBefore: number | undefined
    const engine = startEngineWith(world, () => (isFailing ? raise : undefined), {
      decide: (trigger, ...rest) => {
        failedBefore = trigger.attempts
        return decide(trigger, ...rest)
      },
    })
    // One more failed attempt in a batch of its own would be the last.
    await world.database.engine.query(sql`update pending_trigger set attempts = 3`)
    world.clock.advance({ seconds: 11 })
    for (let round = 0; round < 5; round += 1) {
      // If the database is down, the worker tries again long before its lease expires.
      const isDown = await engine.fire().then(
        () => false,
        () => true,
      )
      if (isDown) continue
      world.clock.advance({ seconds: 11 })
    }
    isFailing = false
    assert.equal(await engine.fire(), 1)
    assert.equal(failedBefore, 3)
    assert.equal((await triggerOf(world, booked)).status, 'COMPLETED')
  })
}

test('an outage of the database that outlasts the lease is not a failed attempt', async (t) => {
  const world = await startWorld(t)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  // One more failed attempt in a batch of its own would be the last.
  await world.database.engine.query(sql`update pending_trigger set attempts = 3`)
  const { engine } = world.database
  let isDown = false
  const lost = () => Promise.reject(new ConnectionError(new Error('Connection terminated')))
  const database = {
    ...world.database,
    engine: {
      ...engine,
      query: ((statement) => (isDown ? lost() : engine.query(statement))) as Db['query'],
      transaction: (async () => {
        isDown = true
        return lost()
      }) as Db['transaction'],
    },
  }
  const holder = startEngine(world, { database })
  const other = startEngine(world, { database })
  world.clock.advance({ seconds: 11 })
  await assert.rejects(holder.fire(), /terminated/)
  world.clock.advance({ seconds: 11 })
  await assert.rejects(other.loops.takeover.runOnce(), /terminated/)
  await assert.rejects(holder.loops.takeover.runOnce(), /terminated/)
  isDown = false
  database.engine.transaction = engine.transaction
  const startedAfterOutage = startEngine(world)
  for (const { loops } of [other, startedAfterOutage, holder])
    assert.equal(await loops.takeover.runOnce(), 0)
  assert.equal(await holder.fire(), 1)
  assert.equal((await triggerOf(world, booked)).status, 'COMPLETED')
})

test('a trigger that fails in a batch of its own is given up after three attempts, with the last error', async (t) => {
  const world = await startWorld(t)
  await remind(world)
  const bad = await world.book(world.clock.in({ hours: 25 }))
  const good = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  let attempts = 0
  const engine = startEngine(world, {
    decide: (trigger, ...rest) => {
      if (trigger.objectId === bad.calendarId) throw new Error(`fault ${(attempts += 1)}\n\u0007`)
      return decide(trigger, ...rest)
    },
  })
  world.clock.advance({ seconds: 11 })
  for (let alone = 1; alone <= 3; alone += 1) {
    assert.ok((await engine.fire()) > 0)
    // The first attempt was in one batch with the other trigger.
    assert.equal(attempts, alone + 1)
    if (alone === 3) break
    const { status, statusReason } = await triggerOf(world, bad)
    assert.equal(status, 'SCHEDULED')
    assert.equal(statusReason, `last attempt failed: fault ${attempts}`)
    world.clock.advance({ seconds: 10 * alone - 1 })
    assert.equal(await engine.fire(), 0, 'the backoff grows after each attempt')
    world.clock.advance({ seconds: 1 })
  }
  const { status, statusReason } = await triggerOf(world, bad)
  assert.equal(status, 'FAILED')
  assert.equal(statusReason, 'gave up after 3 failed attempts: fault 4')
  assert.equal((await triggerOf(world, good)).status, 'COMPLETED')
})

test('a trigger that is postponed when it fires starts again without failed attempts', async (t) => {
  const world = await startWorld(t)
  await remind(world)
  const booked = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  await world.database.engine.query(
    sql`update pending_trigger set attempts = 3, last_error = 'a fault'`,
  )
  const { engine } = world.database
  const transaction: Db['transaction'] = (work) => {
    world.clock.advance({ minutes: -1 })
    return engine.transaction(work)
  }
  const { fire } = startEngine(world, {
    database: { ...world.database, engine: { ...engine, transaction } },
  })
  world.clock.advance({ seconds: 11 })
  await fire()
  const { status, statusReason } = await triggerOf(world, booked)
  assert.deepEqual([status, statusReason], ['SCHEDULED', null])
  assert.equal(await failedAttempts(world, booked), 0)
})

test('a reminder that moves while its trigger is given up is planned for its new time', async (t) => {
  const world = await startWorld(t)
  const { clock, database, save } = world
  await remind(world)
  const { calendarId } = await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await loseLastAttempt(world)
  const saved = await database.engine.transaction(async (tx) => {
    await takeOver(world, tx)
    const startTime = clock.in({ hours: 96 }).epochMilliseconds
    // In an object, so that the promise is not awaited here.
    const saved = {
      done: save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 }),
    }
    await until(() => isLockAwaited(database.engine))
    return saved
  })
  await saved.done
  assert.deepEqual(await statusesOf(world, calendarId), ['FAILED', 'SCHEDULED'])
})

test('a trigger that is given up is CANCELLED if its reminder has an outcome already', async (t) => {
  const world = await startWorld(t)
  const { clock, database } = world
  await remind(world)
  const booked = await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  // The state that a failed restore would leave.
  await asOwner(
    database,
    `insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
       anchor_time, scheduled_time, status, status_reason, created_date)
     select business_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
       scheduled_time - interval '1 hour', 'SKIPPED', 'no address', created_date from pending_trigger`,
  )
  await loseLastAttempt(world)
  await database.engine.transaction((tx) => takeOver(world, tx))
  const { body } = await world.call('GET', `/eventTriggers/CALENDAR/${booked.calendarId}`)
  assert.deepEqual(
    body.map(({ status, statusReason }: Record<string, string>) => [status, statusReason]),
    [
      ['SKIPPED', 'no address'],
      ['CANCELLED', REASONS.alreadyReminded],
    ],
  )
})

test('an object has at most one pending reminder of a definition', async (t) => {
  const world = await startWorld(t)
  await remind(world)
  await world.book(world.clock.in({ hours: 48 }))
  const double = asOwner(
    world.database,
    `insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
       anchor_time, scheduled_time, next_attempt_time, created_date)
     select business_id, event_defn_id, defn_version, object_type, object_id,
       anchor_time + interval '1 hour', scheduled_time, next_attempt_time, created_date from pending_trigger`,
  )
  await assert.rejects(double, /pending_trigger_of_definition/)
})

/** The worker that died had one attempt left. */
const loseLastAttempt = ({ clock, database }: World) =>
  database.engine.query(sql`
    with lease as (insert into worker_lease values ('dead', ${clock.now().subtract({ seconds: 1 })}))
    update pending_trigger
    set worker = 'dead', attempts = 3, scheduled_time = ${clock.now().subtract({ seconds: 2 })},
        next_attempt_time = ${clock.now().subtract({ seconds: 2 })}`)

async function takeOver({ clock }: World, tx: Db) {
  const now = clock.now()
  const expired = await lockExpiredLeases(tx, now)
  assert.equal(await takeOverTriggers(tx, expired, { retrySeconds: 10, now }), 1)
}

const statusesOf = async ({ call }: World, calendarId: number) =>
  (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body.map(
    (trigger: { status: string }) => trigger.status,
  )
