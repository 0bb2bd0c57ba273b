import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcileAll } from '../../src/automation/reconcile.ts'
import { sql } from '../../src/database/sql.ts'
import { saveLastReconciliation } from '../../src/store/reconciliation.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { asOwner } from '../support/owner.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

const findings = ({ database, clock }: World) => reconcileAll(database.engine, () => clock.now())
const health = ({ database, clock }: World) => readQueueHealth(database.engine, clock.now(), 10)
const change = ({ database }: World, statement: ReturnType<typeof sql>) =>
  database.engine.query(statement)

test('queue health counts overdue triggers and shows since when the oldest is due', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(world.clock.in({ hours: 25 }))
  await world.book(world.clock.in({ hours: 26 }))
  const due = world.clock.in({ hours: 1 })
  assert.equal((await health(world)).overdue, 0)
  world.clock.advance({ hours: 3 })
  const { overdue, oldestOverdue } = await health(world)
  assert.equal(overdue, 2)
  assert.equal(String(oldestOverdue), String(due))

  await startEngine(world).runEngine()
  const after = await health(world)
  assert.equal(after.overdue, 0)
  assert.equal(after.oldestOverdue, null)
})

test('queue health counts late and expired triggers after an outage', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(world.clock.in({ hours: 30 }))
  await world.book(world.clock.in({ hours: 26 }))
  world.clock.advance({ hours: 28 })
  await startEngine(world).runEngine()
  const { late, expired, mostLateSeconds } = await health(world)
  assert.deepEqual([late, expired, mostLateSeconds], [1, 1, 26 * 3600])
  world.clock.advance({ hours: 25 })
  assert.equal((await health(world)).late, 0, 'only the last day counts')
})

test('queue health counts stuck leases and triggers that were given up', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  const until = world.clock.in({ seconds: 10 })
  await change(
    world,
    sql`with held as (insert into worker_lease values ('dead', ${until}))
        update pending_trigger set worker = 'dead', attempts = 9`,
  )
  world.clock.advance({ seconds: 12 })
  assert.equal((await health(world)).stuckLeases, 0, 'there is still time to take it over')
  world.clock.advance({ seconds: 4 })
  assert.equal((await health(world)).stuckLeases, 1)

  await startEngine(world).takeOver()
  const { stuckLeases, gaveUp } = await health(world)
  assert.deepEqual([stuckLeases, gaveUp], [0, 1])
})

test('an expired lease counts as stuck only after other nodes had time to take it over', async (t) => {
  const world = await startWorld(t)
  const { database, clock } = world
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await change(
    world,
    sql`with held as (insert into worker_lease values ('dead', ${clock.now()}))
        update pending_trigger set worker = 'dead'`,
  )
  const stuckAfter = async (seconds: number, leaseSeconds: number) => {
    const moment = clock.now().add({ seconds })
    return (await readQueueHealth(database.engine, moment, leaseSeconds)).stuckLeases
  }
  assert.equal(await stuckAfter(1_000, 3_600), 0, 'takeover runs every 900 s')
  assert.equal(await stuckAfter(1_900, 3_600), 1)
  assert.equal(await stuckAfter(1, 1), 1, 'takeover runs every 0.25 s')
})

test('a trigger whose worker has no lease at all counts as stuck', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  await world.database.engine.query(sql`
    update pending_trigger set worker = 'without a lease'`)
  assert.equal((await health(world)).stuckLeases, 1)
})

test('reconciliation finds no fault in what the service plans', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.save('/eventDefinition', reminder(world.businessId, 2))
  const [moved, cancelled] = [
    await world.book(world.clock.in({ hours: 72 })),
    await world.book(world.clock.in({ hours: 48 })),
  ]
  const { calendarId } = moved
  await world.save('/calendar', {
    calendarId,
    startTime: world.clock.in({ hours: 96 }).epochMilliseconds,
    endTime: world.clock.in({ hours: 97 }).epochMilliseconds,
  })
  await world.save('/calendar', { calendarId: cancelled.calendarId, status: 'CANCELLED' })
  await world.book(world.clock.in({ hours: 2 })) // after its reminder's time
  const found = await findings(world)
  assert.deepEqual(
    { ...found, samples: [] },
    {
      definitions: 2,
      objects: found.objects,
      missing: 0,
      unfounded: 0,
      doubled: 0,
      stoppedMatching: 0,
      stoppedDefinitionIds: [],
      samples: [],
    },
  )
  assert.ok(found.objects >= 6)
})

test('reconciliation finds missing, unfounded and doubled reminders', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  const [lost, gone, twice] = [
    await world.book(world.clock.in({ hours: 72 })),
    await world.book(world.clock.in({ hours: 73 })),
    await world.book(world.clock.in({ hours: 74 })),
  ]
  // Changes the tables directly, as a failed restore would.
  await change(world, sql`delete from pending_trigger where object_id = ${lost.calendarId}`)
  await world.db.query(
    sql`update calendar set status = 'CANCELLED' where calendar_id = ${gone.calendarId}`,
  )
  await asOwner(
    world.database,
    `drop index pending_trigger_of_definition;
     insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
       anchor_time, scheduled_time, next_attempt_time, created_date)
     select business_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
       scheduled_time, next_attempt_time, created_date from pending_trigger where object_id = ${twice.calendarId}`,
  )
  const { missing, unfounded, doubled, samples } = await findings(world)
  assert.deepEqual({ missing, unfounded, doubled }, { missing: 1, unfounded: 1, doubled: 1 })
  assert.deepEqual(
    new Set(samples.map((sample) => `${sample.fault} ${sample.object}`)),
    new Set([
      `missing ${lost.calendarId}`,
      `unfounded ${gone.calendarId}`,
      `doubled ${twice.calendarId}`,
    ]),
  )
})

test('a manually cancelled reminder is neither planned again nor reported as missing', async (t) => {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  const { calendarId } = await world.book(world.clock.in({ hours: 72 }))
  const triggers = async () =>
    (await world.call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body as {
      eventTriggerId: number
      status: string
    }[]
  const [trigger] = await triggers()
  await world.call('POST', `/eventTriggers/${trigger!.eventTriggerId}/cancel`)
  await world.save('/calendar', { calendarId, status: 'CONFIRMED' })
  assert.deepEqual(
    (await triggers()).map((one) => one.status),
    ['CANCELLED'],
  )
  assert.equal((await findings(world)).missing, 0)
})

test('a definition that matched every booking and now matches none has stopped matching, and the list shows it', async (t) => {
  const world = await startWorld(t)
  const { locationId } = world.ids
  const { eventDefnId } = await world.save(
    '/eventDefinition',
    reminder(world.businessId, -24, { locationIdList: [locationId] }),
  )
  const bookMany = async (count: number, more: object = {}) => {
    for (let i = 0; i < count; i += 1) await world.book(world.clock.in({ hours: 72 }), more)
  }
  await bookMany(30)
  world.clock.advance({ hours: 24 * 8 })
  assert.equal((await findings(world)).stoppedMatching, 0, 'no booking since')

  // The practice moved, and the definition still selects the old location.
  const { locationId: newLocationId } = await world.save('/location', { name: 'New house' })
  await bookMany(19, { locationId: newLocationId })
  assert.equal((await findings(world)).stoppedMatching, 0, 'too few bookings to tell')
  await bookMany(2, { locationId: newLocationId })
  const found = await findings(world)
  assert.equal(found.stoppedMatching, 1)
  assert.deepEqual(found.stoppedDefinitionIds, [eventDefnId])
  await saveLastReconciliation(world.database.engine, {
    endedAt: world.clock.now(),
    findings: found,
  })
  const { body } = await world.call('GET', '/eventDefinition?expand=activity')
  assert.equal(body.items[0].activity.hasStoppedMatching, true)
  await bookMany(1)
  assert.equal((await findings(world)).stoppedMatching, 0)
})
