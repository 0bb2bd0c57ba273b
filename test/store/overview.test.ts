import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listFailures } from '../../src/store/overview.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'

const { database } = await cloneDatabase({ after })
const FAILURES = 6_000

test('of very many failures the newest count', async () => {
  const to = Temporal.Instant.from('2026-03-02T09:00:00Z')
  await asOwner(
    database,
    'set session_replication_role = replica',
    `insert into event_definition (business_id, event_defn_id, event_type_id, object_type, active, description, created_date, created_user, modified_date, modified_user)
     overriding system value values (1, 1, 3, 'CALENDAR', true, 'Reminder', now(), 'x', now(), 'x')`,
    `insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
                                scheduled_time, status, status_reason, created_date)
     overriding system value
     select 1, i, 1, 1, 'CALENDAR', i, time, time, 'FAILED', '550 5.7.1 refused', time
     from (select i, '${to}'::timestamptz - i * interval '1 second' as time from generate_series(1, ${FAILURES}) i) g`,
    'analyze',
  )
  const span = { from: to.subtract({ hours: 7 * 24 }), to, visibility: null }
  const [failure, ...others] = await listFailures(database.forBusiness(1, 'x'), 1, span)
  assert.deepEqual([failure?.count, failure?.eventTriggerId, others.length], [5_000, 1, 0])
})
