import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
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
      insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
                                 anchor_time, scheduled_time, next_attempt_time, created_date)
      select business_id, ${eventDefnId}::bigint, defn_version, object_type, object_id,
             anchor_time, scheduled_time, next_attempt_time, created_date
      from pending_trigger limit 1`)
  for (const id of [theirs.eventDefnId, 999_999_999]) {
    const refused = { code: '23503', constraint: 'pending_trigger_names' }
    await assert.rejects(copyTo(id), refused)
  }
  const moved = db.query(sql`update pending_trigger set event_defn_id = ${ours.eventDefnId}`)
  await assert.rejects(moved, /stays that of its definition/)
  await copyTo(ours.eventDefnId)
})

test('an appointment names what its business has, when it is written and ever after', async (t) => {
  const world = await startWorld(t)
  const { book, clock, db, ids } = world
  const other = await addBusiness(world)
  await book(clock.in({ hours: 24 }))

  for (const [column, id] of Object.entries({
    client_id: other.ids.clientId,
    professional_id: other.ids.professionalId,
    reason_id: other.ids.reasonId,
    location_id: 999_999_999,
  })) {
    const named = { ...OWN_NAMES, [column]: sql`${id}::bigint` }
    const copied = db.query(sql`
      insert into calendar (business_id, client_id, professional_id, reason_id, location_id,
                            start_time, end_time, status, created_date, created_user,
                            modified_date, modified_user)
      select business_id, ${named.client_id}, ${named.professional_id}, ${named.reason_id},
             ${named.location_id}, start_time, end_time, status, created_date, created_user,
             modified_date, modified_user
      from calendar limit 1`)
    await assert.rejects(copied, { code: '23503', constraint: 'calendar_names' })
    const moved = db.query(sql`update calendar set ${raw(column)} = ${id}`)
    await assert.rejects(moved, { code: '23503', constraint: 'calendar_other_names' })
  }
  await db.query(sql`update calendar set reason_id = ${ids.reasonId}, note = 'the same'`)
})

const OWN_NAMES = {
  client_id: raw('client_id'),
  professional_id: raw('professional_id'),
  reason_id: raw('reason_id'),
  location_id: raw('location_id'),
}
