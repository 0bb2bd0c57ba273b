import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { until } from '../support/until.ts'
import { reminder, startWorld } from '../support/world.ts'

test('a row that stands in the way of a page keeps none of the others from being planned', async (t) => {
  const { book, businessId, call, clock, database, db, save } = await startWorld(t)
  const ids: number[] = []
  for (let i = 0; i < 3; i += 1) ids.push((await book(clock.in({ hours: 72 + i }))).calendarId)
  const asleep = await save('/eventDefinition', reminder(businessId, -24, { active: false }))
  const { eventDefnId } = asleep
  // Written while the plan, which has looked and found nothing, waits for it.
  const planning = await database.engine.transaction(async (tx) => {
    await tx.query(sql`
      insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id,
                                 anchor_time, scheduled_time, status, created_date)
      values (${businessId}, ${eventDefnId}, 1, 'CALENDAR', ${ids[1]}, ${clock.now()},
              ${clock.now()}, 'RUNNING', ${clock.now()})`)
    const saved = save('/eventDefinition', reminder(businessId, -24, { eventDefnId }))
    await until(() => isAnyoneWaiting(db))
    return () => saved
  })
  await planning()
  const planned = await Promise.all(
    ids.map(async (id) => {
      const { body } = await call('GET', `/eventTriggers/CALENDAR/${id}`)
      return body.map((trigger: { status: string }) => trigger.status)
    }),
  )
  assert.deepEqual(planned, [['SCHEDULED'], ['RUNNING'], ['SCHEDULED']])
})

async function isAnyoneWaiting(db: Db) {
  const [row] = await db.query<{ waiting: boolean }>(sql`
    select exists (select from pg_locks join pg_stat_activity using (pid)
                   where not granted and datname = current_database()) as waiting`)
  return row!.waiting
}

test('a plan that waits for a trigger which fires holds no other of its appointment, which firing may want', async (t) => {
  const { book, businessId, clock, database, db, save } = await startWorld(t)
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  const { calendarId } = await book(clock.in({ hours: 2 })) // too late to be reminded of
  const startTime = clock.in({ hours: 72 }).epochMilliseconds
  await save('/calendar', { calendarId, startTime, endTime: startTime + 1_800_000 })
  const { free, planning } = await database.engine.transaction(async (tx) => {
    const triggers = sql`
      select event_trigger_id, status from event_trigger where object_id = ${calendarId}`
    await tx.query(sql`select from calendar where calendar_id = ${calendarId} for share`)
    await tx.query(sql`${triggers} and status = 'SCHEDULED' for update`)
    const saved = save('/eventDefinition', reminder(businessId, -1, { eventDefnId }))
    await until(() => isAnyoneWaiting(db))
    const rows = await tx.query<{ status: string }>(sql`${triggers} for update skip locked`)
    return { free: rows.map((row) => row.status).toSorted(), planning: () => saved }
  })
  await planning()
  assert.deepEqual(free, ['EXPIRED', 'SCHEDULED'])
})
