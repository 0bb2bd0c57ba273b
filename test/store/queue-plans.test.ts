import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { claimEmailShares, claimUselessEmails } from '../../src/store/email-queue.ts'
import { listTriggersOfClient, listTriggersOfObject } from '../../src/store/event-triggers.ts'
import {
  countOtherKinds,
  listPendingEvents,
  listReminders,
} from '../../src/store/planned-triggers.ts'
import { listBusinessesInQueue } from '../../src/store/queue.ts'
import { claimDueTriggers, takeOverTriggers, TRIGGER_QUEUE } from '../../src/store/trigger-queue.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'
import { statementOf } from '../support/statement.ts'

const BUSINESSES = 20
const { database } = await cloneDatabase({ after })

const trigger = `
  1 + (i / 5) % ${BUSINESSES}, 1 + i % 7, 1, 'CALENDAR', i, case when i % 2 = 0 then 'x ' || i end, time, time, time
  from (select i, to_timestamp(1700000000 + i * 60) as time from generate_series(1, 40000) i) g`

/** Many pending triggers and far more finished ones, so that reading all of either would be slow. */
before(async () => {
  await asOwner(
    database,
    `insert into business (business_id, name, time_zone, created_date, created_user, modified_date, modified_user)
     select i, 'B', 'UTC', now(), 'x', now(), 'x' from generate_series(1, ${BUSINESSES}) i`,
    'set session_replication_role = replica',
    `insert into pending_trigger (business_id, event_defn_id, defn_version, object_type, object_id, occurrence,
                          anchor_time, scheduled_time, created_date, next_attempt_time)
     select ${trigger.replace('from', ', time from')} where i % 5 = 0`,
    `insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id, occurrence,
                                anchor_time, scheduled_time, created_date, status)
     select ${trigger.replace('from', `, 'SKIPPED' from`)} where i % 5 > 0`,
    `insert into email_queue (business_id, email_id, created_date, next_attempt_time, useful_until)
     select 1 + i % ${BUSINESSES}, i, time, time, time + interval '3 days'
     from (select i, to_timestamp(1700000000 + i) as time from generate_series(1, 40000) i) g`,
    `insert into worker_lease select 'w' || i, to_timestamp(1700000600) from generate_series(1, 9) i`,
    'analyze',
  )
})

const now = Temporal.Instant.fromEpochMilliseconds(1_700_000_600_000)
const ofBusiness =
  /"Index Cond":"[^"]*business_id = [a-z_]+\.business_id\) AND \(scheduled_time <= /
const untilLatest = /"Index Cond":"[^"]*next_attempt_time <= /g

test('the fair share is read and claimed business by business', async () => {
  const page = { now, after: 0, limit: 200 }
  const plan = await planOf((db) => listBusinessesInQueue(db, TRIGGER_QUEUE, page))
  assert.match(plan, ofBusiness)
  const claim = { worker: 'w', now, leaseUntil: now, limit: 500 }
  const shares = { businessIds: [1, 2, 3], share: 50 }
  assert.match(
    await planOf((db) => claimDueTriggers(db, TRIGGER_QUEUE, claim, { shares })),
    ofBusiness,
  )
})

test('the mails of a business that lose their use first are claimed by an index', async () => {
  const then = now.add({ hours: 11 })
  const claim = { worker: 'w', now: then, leaseUntil: then, limit: 20 }
  const shares = { businessIds: [1, 2, 3], share: 5 }
  assert.match(await planOf((db) => claimEmailShares(db, claim, shares)), /email_queue_by_use/)
  assert.match(await planOf((db) => claimUselessEmails(db, claim)), /email_queue_by_use/)
})

test('the triggers of a dead worker are found among those due before its lease ended', async () => {
  const expired = [{ worker: 'w1', leaseUntil: now }]
  const plan = await planOf((db) => takeOverTriggers(db, expired, { retrySeconds: 10, now }))
  assert.equal(plan.match(untilLatest)?.length, 1)
})

test('pending triggers of a definition are found without reading finished ones', async () => {
  const definition = { businessId: 1, eventDefnId: 1 }
  const kind = { objectType: 'CALENDAR', isReminder: true } as const
  const events = await planOf((db) => listPendingEvents(db, 1, 1, { after: 0, limit: 1000 }))
  const first = { visibility: null, limit: 5 }
  const others = await planOf((db) => countOtherKinds(db, definition, kind, first))
  for (const plan of [events, others]) assert.match(plan, /pending_trigger_of_definition/)
})

test('triggers of an invitation are found by its UUID', async () => {
  const plan = await planOf((db) => listTriggersOfObject(db, 1, 'INVITATION', 'a1'))
  assert.equal(plan.match(/object_id IS NULL\) AND \(object_uuid = /g)?.length, 3)
})

test('triggers of a client are found without reading those of others', async () => {
  const plan = await planOf((db) => listTriggersOfClient(db, 1, 7, [1, 2]))
  assert.equal(plan.match(/event_trigger_id = ANY/g)?.length, 3)
})

test('the reminders of an object are found by its id, also in a business that is newer than the statistics', async () => {
  const ids = Array.from({ length: 100 }, (_, i) => i + 1)
  const statement = await statementOf((db) => listReminders(db, 99, 'CALENDAR', ids, [1, 2, 3]))
  const db = database.forBusiness(99, 'x')
  const plan = JSON.stringify(await db.query(sql`explain (format json) ${statement}`))
  assert.match(plan, /event_trigger_once_per_anchor/)
  assert.doesNotMatch(plan, /event_trigger_by_status/)
})

/** The server's plan of the engine's statement. */
async function planOf(ask: (db: Db) => Promise<unknown>): Promise<string> {
  const rows = await database.engine.query(sql`explain (format json) ${await statementOf(ask)}`)
  return JSON.stringify(rows).replaceAll('\\"', "'")
}
