import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

test('a trigger names a definition of its business, and the same one for ever', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, clock, db, save } = world
  const other = await addBusiness(world)
  await save('/eventDefinition', reminder(businessId, -2))
  const theirs = await other.save('/eventDefinition', reminder(other.businessId, -2))
  const ours = await save('/eventDefinition', reminder(businessId, -3, { active: false }))
  await book(clock.in({ hours: 24 }))

  const copyTo = (eventDefnId: number) =>
    db.query(sql`
      insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
                                 anchor_time, scheduled_time, created_date)
      select business_id, ${eventDefnId}::bigint, defn_version, object_type, object_id,
             anchor_time, scheduled_time, created_date
      from event_trigger limit 1`)
  for (const id of [theirs.eventDefnId, 999_999_999]) {
    const refused = { code: '23503', constraint: 'event_trigger_names' }
    await assert.rejects(copyTo(id), refused)
  }
  const moved = db.query(sql`update event_trigger set event_defn_id = ${ours.eventDefnId}`)
  await assert.rejects(moved, /stays that of its definition/)
  await copyTo(ours.eventDefnId)
})
