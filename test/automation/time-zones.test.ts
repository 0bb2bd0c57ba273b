import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planUnplanned } from '../../src/automation/planner.ts'
import { followTimeZones } from '../../src/automation/time-zones.ts'
import { sql } from '../../src/database/sql.ts'
import { reminder, startWorld } from '../support/world.ts'

test('new time zone rules plan calendar definitions again, and log it', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, database, db, save } = world
  const logged: Record<string, unknown>[] = []
  const log = { info: (fields: object) => void logged.push({ ...fields }) }
  const follow = (version: string) => followTimeZones({ database, log }, version)

  await save('/eventDefinition', reminder(businessId, -1))
  const byCalendar = { offsetMode: 'CALENDAR' }
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24, byCalendar))
  const { calendarId } = await book(Temporal.Instant.from('2026-03-29T10:00:00Z'))
  const timesOf = async () => {
    const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
    return body.map((each: { scheduledTime: number }) =>
      Temporal.Instant.fromEpochMilliseconds(each.scheduledTime).toString(),
    )
  }
  // Noon in Zurich, on the day on which summer time begins.
  const right = ['2026-03-28T11:00:00Z', '2026-03-29T09:00:00Z']
  assert.deepEqual(await timesOf(), right)

  assert.equal(await follow('2025b'), 0, 'a new installation has nothing planned by other rules')
  assert.deepEqual(logged, [])

  // As if planned by a runtime without summer time rules.
  await db.query(sql`
    update pending_trigger set scheduled_time = scheduled_time - interval '1 hour'
    where event_defn_id = ${eventDefnId}`)
  assert.equal(await follow('2025b'), 0, 'the same rules: nothing is planned again')
  assert.notDeepEqual(await timesOf(), right)

  assert.equal(await follow('2026a'), 1, 'one definition has offsetMode CALENDAR')
  assert.deepEqual(logged, [{ before: '2025b', version: '2026a', definitions: 1 }])
  const planned: object[] = []
  const plan = (timeZoneVersion: string) =>
    planUnplanned({
      database,
      timeZoneVersion,
      now: () => clock.now(),
      onError: assert.ifError,
      onPlanned: (definition, counts) => void planned.push({ ...definition, ...counts }),
    })
  assert.equal(await plan('2025b'), 0, 'a node with the old rules does not plan it')
  assert.equal(await plan('2026a'), 1)
  assert.deepEqual(planned, [{ businessId, eventDefnId, created: 0, updated: 1 }])
  assert.deepEqual(await timesOf(), right)
  assert.equal(await follow('2026a'), 0)
  assert.equal(logged.length, 1)
})
