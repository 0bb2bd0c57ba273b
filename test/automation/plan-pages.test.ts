import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { reminder, startWorld } from '../support/world.ts'

test('a row that stands in the way of a page keeps none of the others from being planned', async (t) => {
  const { book, businessId, call, clock, db, save } = await startWorld(t)
  const ids: number[] = []
  for (let i = 0; i < 3; i += 1) ids.push((await book(clock.in({ hours: 72 + i }))).calendarId)
  const asleep = await save('/eventDefinition', reminder(businessId, -24, { active: false }))
  const { eventDefnId } = asleep
  // Of another kind, so that the plan does not see it, and in another's hands, so that it stays.
  await db.query(sql`
    insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
                               anchor_time, scheduled_time, status, created_date)
    values (${businessId}, ${eventDefnId}, 1, 'CLASS_SCHEDULE', ${ids[1]}, ${clock.now()},
            ${clock.now()}, 'RUNNING', ${clock.now()})`)

  await save('/eventDefinition', reminder(businessId, -24, { eventDefnId }))
  const planned = await Promise.all(
    ids.map(async (id) => (await call('GET', `/eventTriggers/CALENDAR/${id}`)).body.length),
  )
  assert.deepEqual(planned, [1, 0, 1])
})
