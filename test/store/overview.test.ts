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

test('a failure has all mails of its trigger that were refused, such as those of a class', async () => {
  const to = Temporal.Instant.from('2026-04-02T09:00:00Z')
  const addresses = ['anna@example.org', 'ben@example.org', 'cleo@example.org', 'dora@example.org']
  await asOwner(
    database,
    'set session_replication_role = replica',
    `insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
                                scheduled_time, status, status_reason, created_date)
     overriding system value
     select 1, 10000 + i, 1, 1, 'CLASS_SCHEDULE', i, time, time, 'FAILED', '550 5.7.1 refused', time
     from (select i, '${to}'::timestamptz - i * interval '1 hour' as time from generate_series(1, 2) i) g`,
    `insert into email (business_id, email_id, event_trigger_id, recipient_key, to_address, from_address, subject, message, message_id, status, created_date)
     overriding system value
     select 1, 500 + i, 10001, i, (array['${addresses.join("','")}'])[i], 'a@example.org', 'x', '', 'm' || i,
            case when i = 3 then 'SENT' else 'FAILED' end, '${to}'
     from generate_series(1, 4) i`,
  )
  const span = { from: to.subtract({ hours: 24 }), to, visibility: null }
  const [failure, ...others] = await listFailures(database.forBusiness(1, 'x'), 1, span)
  assert.deepEqual(others, [])
  assert.partialDeepStrictEqual(failure, {
    count: 2,
    emailIds: [501, 502, 504],
    names: ['anna@example.org', 'ben@example.org', 'dora@example.org'],
    emailId: 501,
    to: 'anna@example.org',
  })
})
