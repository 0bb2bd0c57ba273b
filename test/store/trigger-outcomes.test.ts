import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { asOwner } from '../support/owner.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** A world with one finished reminder. */
async function start(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t)
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  const booked = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  assert.equal(await startEngine(world).runEngine(), 1)
  return { ...world, booked }
}

test('the outcome of a trigger cannot be changed, and only the engine can delete it', async (t) => {
  const { database, db } = await start(t)
  for (const role of [db, database.engine]) {
    const changes = [
      sql`update event_trigger set status = 'RUNNING'`,
      sql`update event_trigger set status_reason = 'another'`,
      sql`update event_trigger set scheduled_time = scheduled_time + interval '1 day'`,
    ]
    for (const change of changes) await assert.rejects(role.query(change), /which is final/)
  }
  await assert.rejects(db.query(sql`delete from event_trigger`), /permission denied/)
  await database.engine.query(sql`delete from event_trigger`)
})

test('without the database trigger final_states an outcome can be changed', async (t) => {
  const { booked, call, database } = await start(t)
  await asOwner(database, 'drop trigger final_states on event_trigger')
  await database.engine.query(sql`update event_trigger set status = 'RUNNING'`)
  const { body } = await call('GET', `/eventTriggers/CALENDAR/${booked.calendarId}`)
  assert.equal(body[0].status, 'RUNNING')
})

test('a trigger is either in pending_trigger or in event_trigger', async (t) => {
  const { booked, clock, db, save } = await start(t)
  const { calendarId } = booked
  const startTime = clock.in({ hours: 72 }).epochMilliseconds
  await save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  const count = async () => {
    const [row] = await db.query<Record<string, number>>(sql`
      select (select count(*) from pending_trigger) as pending, (select count(*) from event_trigger) as finished`)
    return row
  }
  assert.deepEqual(await count(), { pending: 1, finished: 1 })
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  assert.deepEqual(await count(), { pending: 0, finished: 2 })
  const again = sql`
    insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type,
      object_id, anchor_time, scheduled_time, status, created_date)
    select business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id,
           anchor_time, scheduled_time, 'EXPIRED', created_date
    from event_trigger limit 1`
  await assert.rejects(db.query(again), { code: '23505' }, 'it is written once')
})
