import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

test('a trigger refers to a definition of its business, and never to another one later', async (t) => {
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
    const refused = { code: '23503', constraint: 'check_references' }
    await assert.rejects(copyTo(id), refused)
  }
  const moved = db.query(sql`update pending_trigger set event_defn_id = ${ours.eventDefnId}`)
  await assert.rejects(moved, /cannot be given another definition/)
  await copyTo(ours.eventDefnId)
})

test('an appointment refers only to rows of its business, on insert and on update', async (t) => {
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
    const references = { ...OWN_REFERENCES, [column]: sql`${id}::bigint` }
    const copied = db.query(sql`
      insert into calendar (business_id, client_id, professional_id, reason_id, location_id,
                            start_time, end_time, status, created_date, created_user,
                            modified_date, modified_user)
      select business_id, ${references.client_id}, ${references.professional_id}, ${references.reason_id},
             ${references.location_id}, start_time, end_time, status, created_date, created_user,
             modified_date, modified_user
      from calendar limit 1`)
    const refused = { code: '23503', constraint: `calendar_business_id_${column}_fkey` }
    await assert.rejects(copied, refused)
    const moved = db.query(sql`update calendar set ${raw(column)} = ${id}`)
    await assert.rejects(moved, refused)
  }
  await db.query(sql`update calendar set reason_id = ${ids.reasonId}, note = 'the same'`)
})

const OWN_REFERENCES = {
  client_id: raw('client_id'),
  professional_id: raw('professional_id'),
  reason_id: raw('reason_id'),
  location_id: raw('location_id'),
}
