import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saveDefinition } from '../../src/automation/define.ts'
import { sql } from '../../src/database/sql.ts'
import { findLastReconciliation } from '../../src/store/reconciliation.ts'
import { claimWork } from '../../src/store/work-leases.ts'
import { countLockWaits, isLockAwaited } from '../support/locks.ts'
import { asOwner } from '../support/owner.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** As after a change of the business's time zone: the planner must plan the definition again. */
const markUnplanned = ({ db }: World, eventDefnId: number) =>
  db.query(sql`
    update event_definition set planned_version = least(planned_version, 0) - 1
    where event_defn_id = ${eventDefnId}`)

const countUnplanned = async ({ db }: World) => {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) from event_definition where planned_version < version`)
  return row!.count
}

/** Locks an appointment while `work` runs, so that every plan that reaches it waits. */
const whileLocked = <T>({ db }: World, calendarId: number, work: () => Promise<T>) =>
  db.transaction(async (tx) => {
    await tx.query(sql`select from calendar where calendar_id = ${calendarId} for share`)
    return work()
  })

test('a definition whose event type changes while the planner is busy keeps its new triggers', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, db, save } = world
  const first = await save('/eventDefinition', reminder(businessId, -24))
  const second = await save('/eventDefinition', reminder(businessId, -48))
  const { calendarId } = await book(clock.in({ hours: 72 }))
  for (const saved of [first, second]) await markUnplanned(world, saved.eventDefnId)

  const { eventDefnId } = second
  const defining = { businessId, user: 'key:test', now: clock.now() }
  const { planned, later } = await whileLocked(world, calendarId, async () => {
    const planned = startEngine(world).plan()
    await until(() => isLockAwaited(db))
    // Counts from the change itself: one hour after the booking.
    const body = reminder(businessId, 1, { eventDefnId, eventType: { eventTypeId: 1 } })
    await db.transaction((tx) => saveDefinition(tx, body, defining))
    const later = await book(clock.in({ hours: 96 }))
    return { planned: () => planned, later }
  })
  await planned()
  await startEngine(world).plan()
  const { body } = await call('GET', `/eventTriggers/CALENDAR/${later.calendarId}`)
  const ofSecond = body.filter(
    (trigger: { eventDefnId: number }) => trigger.eventDefnId === eventDefnId,
  )
  assert.deepEqual(
    ofSecond.map(({ status }: { status: string }) => status),
    ['SCHEDULED'],
  )
})

test('while one node plans a definition, another skips it, and takes over when the lease ends', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, clock, database, db, save } = world
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  const { calendarId } = await book(clock.in({ hours: 72 }))
  await markUnplanned(world, eventDefnId)
  const [one, other] = [startEngine(world), startEngine(world)]
  const planned = await whileLocked(world, calendarId, async () => {
    const planned = one.plan()
    await until(() => isLockAwaited(db))
    assert.equal(await other.plan(), 0)
    assert.equal(await countUnplanned(world), 1)
    return () => planned
  })
  assert.equal(await planned(), 1)
  assert.equal(await countUnplanned(world), 0)

  // The state that a node leaves if it dies while planning.
  await markUnplanned(world, eventDefnId)
  const leaseUntil = clock.in({ seconds: 10 })
  const claim = { name: `plan ${businessId} ${eventDefnId}`, worker: 'dead' }
  assert.ok(await claimWork(database.engine, claim, { now: clock.now(), leaseUntil }))
  assert.equal(await other.plan(), 0)
  clock.advance({ seconds: 11 })
  assert.equal(await other.plan(), 1)
})

test('a dead node’s triggers are taken over while every node is busy with a plan', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, clock, db, save } = world
  const definitions: number[] = []
  for (const hours of [-24, -25]) {
    definitions.push((await save('/eventDefinition', reminder(businessId, hours))).eventDefnId)
  }
  const locked = await book(clock.in({ hours: 72 }))
  const due = await book(clock.in({ hours: 26 }))
  clock.advance({ hours: 1, seconds: 1 })
  const [trigger] = await triggersOf(world, due.calendarId)
  await claimForDeadWorker(world, trigger!.eventTriggerId)
  clock.advance({ seconds: 2 })
  for (const eventDefnId of definitions) await markUnplanned(world, eventDefnId)

  const stopping = new AbortController()
  t.after(() => stopping.abort())
  const running = await whileLocked(world, locked.calendarId, async () => {
    const nodes = definitions.map(() => startEngine(world, { leaseSeconds: 1 }))
    // A node retries failed triggers once it has been up for a lease.
    clock.advance({ seconds: 1 })
    const running = nodes.map((node) => node.run(stopping.signal))
    await until(async () => (await countLockWaits(db)) >= 2)
    const isPending = async () => PENDING.has((await triggersOf(world, due.calendarId))[0]!.status)
    await until(async () => !(await isPending()))
    assert.equal(await countUnplanned(world), 2, 'both plans are still running')
    return running
  })
  await until(async () => (await countUnplanned(world)) === 0)
  stopping.abort()
  await Promise.all(running)
})

test('definitions that always fail to plan do not keep the others from being planned', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, clock, database, save } = world
  const definitions: number[] = []
  for (let i = 0; i <= 20; i += 1) {
    const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24 - i))
    definitions.push(eventDefnId)
  }
  const good = definitions.at(-1)!
  const { calendarId } = await book(clock.in({ hours: 72 }))
  await asOwner(
    database,
    'delete from pending_trigger',
    `create function fail() returns trigger language plpgsql as
       $$ begin raise exception 'cannot be planned'; end $$`,
    `create trigger fails before insert on pending_trigger for each row when (new.event_defn_id <> ${good})
     execute function fail()`,
  )
  for (const eventDefnId of definitions) await markUnplanned(world, eventDefnId)
  const { errors, plan } = startEngine(world)
  assert.equal(await plan(), 1)
  assert.equal(errors.length, 20)
  assert.deepEqual(
    (await triggersOf(world, calendarId)).map((trigger) => trigger.eventDefnId),
    [good],
  )
})

test('only one worker of all nodes reconciles, and another takes over when its lease ends', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, database, save } = world
  for (const hours of [-1, -2]) await save('/eventDefinition', reminder(businessId, hours))
  const [one, other] = [startEngine(world), startEngine(world)]
  const isDone = async () => (await findLastReconciliation(database.engine)) !== undefined
  await one.reconcile()
  const [lease] = await leases(world)
  await other.reconcile()
  assert.deepEqual(await leases(world), [lease], 'the other one does not reconcile')
  clock.advance({ seconds: 60 })
  await other.reconcile()
  assert.notEqual((await leases(world))[0]!.worker, lease!.worker)
  await one.reconcile()
  while (!(await isDone())) await other.reconcile()
  assert.deepEqual(await leases(world), [])
  await one.reconcile()
  assert.deepEqual(await leases(world), [], 'the next reconciliation is not due yet')
})

const PENDING = new Set(['SCHEDULED', 'RUNNING'])

const leases = ({ database }: World) =>
  database.engine.query<{ worker: string }>(sql`select name, worker from work_lease`)

async function triggersOf({ call }: World, calendarId: number) {
  const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
  return body as { eventTriggerId: number; eventDefnId: number; status: string }[]
}

/** The lease of the dead worker ends a second later. */
const claimForDeadWorker = ({ clock, database }: World, eventTriggerId: number) =>
  database.engine.query(sql`
    with lease as (
      insert into worker_lease (worker, lease_until) values ('dead', ${clock.in({ seconds: 1 })}))
    update pending_trigger set worker = 'dead' where event_trigger_id = ${eventTriggerId}`)
