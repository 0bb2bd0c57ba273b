import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planDefinition } from '../../src/automation/plan.ts'
import { sql } from '../../src/database/sql.ts'
import { isLockAwaited } from '../support/locks.ts'
import { until } from '../support/until.ts'
import { reminder, startWorld } from '../support/world.ts'

test('a plan that waits for a firing trigger locks no other trigger of the appointment', async (t) => {
  const { book, businessId, clock, database, db, save } = await startWorld(t)
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  const { calendarId } = await book(clock.in({ hours: 2 })) // its reminder time has passed
  const startTime = clock.in({ hours: 72 }).epochMilliseconds
  await save('/calendar', { calendarId, startTime, endTime: startTime + 1_800_000 })
  const { free, planning } = await database.engine.transaction(async (tx) => {
    const pending = sql`select 'SCHEDULED' as status from pending_trigger where object_id = ${calendarId}`
    const finished = sql`select status from event_trigger where object_id = ${calendarId}`
    await tx.query(sql`select from calendar where calendar_id = ${calendarId} for share`)
    await tx.query(sql`${pending} for update`)
    const saved = save('/eventDefinition', reminder(businessId, -1, { eventDefnId }))
    await until(() => isLockAwaited(db))
    const rows = await Promise.all(
      [pending, finished].map((all) =>
        tx.query<{ status: string }>(sql`${all} for update skip locked`),
      ),
    )
    const free = rows.flat().map((row) => row.status)
    return { free: free.toSorted(), planning: () => saved }
  })
  await planning()
  assert.deepEqual(free, ['EXPIRED', 'SCHEDULED'])
})

test('a plan reads the clock as often for one row as for a page of rows', async (t) => {
  const { book, businessId, clock, database, db, save } = await startWorld(t)
  const body = reminder(businessId, 1, { eventType: { eventTypeId: 1 } })
  const { eventDefnId } = await save('/eventDefinition', body)
  const countReadings = async () => {
    await db.query(sql`update event_definition set planned_version = planned_version - 1`)
    let readings = 0
    const now = () => {
      readings += 1
      return clock.now()
    }
    const planned = await planDefinition(database, { businessId, eventDefnId }, now)
    return { readings, updated: planned?.updated }
  }
  await book(clock.in({ hours: 72 }))
  const one = await countReadings()
  for (let i = 0; i < 4; i += 1) await book(clock.in({ hours: 72 }))
  assert.deepEqual(await countReadings(), { readings: one.readings, updated: 5 })
})
