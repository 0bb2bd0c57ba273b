import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

test('an appointment that names what its business does not have is refused, new or changed', async (t) => {
  const world = await startWorld(t)
  const { book, clock, db, ids } = world
  const other = await addBusiness(world)
  const { calendarId } = await book(clock.in({ hours: 24 }))
  const columns = ['client_id', 'professional_id', 'reason_id', 'location_id']
  const foreign = [
    other.ids.clientId,
    other.ids.professionalId,
    other.ids.reasonId,
    other.ids.locationId,
  ]
  assert.ok(foreign.every((id) => !Object.values(ids).includes(id)))

  for (const [i, column] of columns.entries()) {
    for (const id of [foreign[i], 999_999_999]) {
      const name = raw(column)
      const changed = db.query(sql`
        update calendar set ${name} = ${id} where calendar_id = ${calendarId}`)
      const refused = { code: '23503', constraint: 'calendar_names_on_update' }
      await assert.rejects(changed, refused, `${column} ${id}`)
      const rest = raw(columns.filter((one) => one !== column).join(', '))
      const made = db.query(sql`
        insert into calendar (business_id, ${name}, ${rest}, start_time, end_time, status,
                              created_date, created_user, modified_date, modified_user)
        select business_id, ${id}::bigint, ${rest}, start_time, end_time, status,
               created_date, created_user, modified_date, modified_user from calendar`)
      await assert.rejects(made, { code: '23503', constraint: 'calendar_names_on_insert' })
    }
  }
})

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
    const refused = { code: '23503', constraint: 'event_trigger_names_on_insert' }
    await assert.rejects(copyTo(id), refused)
  }
  const moved = db.query(sql`update event_trigger set event_defn_id = ${ours.eventDefnId}`)
  await assert.rejects(moved, /stays that of its definition/)
  await copyTo(ours.eventDefnId)
})
