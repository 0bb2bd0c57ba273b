import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { eraseClient } from '../../src/scheduling/erase-client.ts'
import { eraseAudit, eraseClientRows, eraseMails, eraseTraces } from '../../src/store/erasure.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'

const { database } = await cloneDatabase({ after })
const now = Temporal.Instant.from('2026-03-02T09:00:00Z')
const client = { businessId: 1, clientId: 7 }
const [CLIENTS, MAILS] = [1_000, 20_000]

/** Ten mails about two appointments of each client, and an audit of all of it. */
before(() =>
  asOwner(
    database,
    `insert into business (business_id, name, time_zone, created_date, created_user, modified_date, modified_user)
     values (1, 'B', 'UTC', now(), 'x', now(), 'x')`,
    'set session_replication_role = replica',
    `insert into client (business_id, client_id, first_name, last_name, email_address, created_date, created_user, modified_date, modified_user)
     overriding system value
     select 1, i, 'First' || i, 'Last' || i, 'c' || i || '@example.org', now(), 'x', now(), 'x' from generate_series(1, ${CLIENTS}) i`,
    `insert into calendar (business_id, calendar_id, client_id, location_id, professional_id, reason_id, start_time, end_time,
                           status, note, created_date, created_user, modified_date, modified_user)
     overriding system value
     select 1, i, 1 + i % ${CLIENTS}, 1, 1, 1, now(), now() + interval '1 hour', 'OPEN', 'secret', now(), 'x', now(), 'x'
     from generate_series(1, ${2 * CLIENTS}) i`,
    `insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
                                scheduled_time, status, created_date)
     overriding system value
     select 1, i, 1 + i / ${2 * CLIENTS}, 1, 'CALENDAR', 1 + i % ${2 * CLIENTS}, now(), now(), 'SKIPPED', now()
     from generate_series(1, ${MAILS}) i`,
    `insert into email (business_id, email_id, event_trigger_id, event_action_id, object_type, object_id, client_id, recipient_key,
                        to_address, from_address, subject, message_id, status, created_date)
     overriding system value
     select 1, i, i, 1, 'CALENDAR', 1 + i % ${2 * CLIENTS}, 1 + (1 + i % ${2 * CLIENTS}) % ${CLIENTS}, 'client ' || i,
            'c' || (1 + (1 + i % ${2 * CLIENTS}) % ${CLIENTS}) || '@example.org', 'x@example.org', 'Hello', 'm' || i, 'SENT', now()
     from generate_series(1, ${MAILS}) i`,
    `insert into audit (business_id, time, username, object, id, change, after)
     select 1, now(), 'x', 'client', client_id::text, 'CREATED', to_jsonb(c) from client c`,
    'analyze',
  ),
)

type Step = { name: string; run(tx: Db): Promise<unknown> }
const page = { after: 0, limit: 1_000 }

const STEPS: Step[] = [
  { name: 'client and objects', run: (tx) => eraseClientRows(tx, client, now) },
  { name: 'a page of mails', run: (tx) => eraseMails(tx, client, page, now) },
  { name: 'traces', run: (tx) => eraseTraces(tx, client) },
  { name: 'a page of the audit', run: (tx) => eraseAudit(tx, client, page) },
]

test('no step of an erasure scans a whole large table', async () => {
  for (const { name, run } of STEPS) {
    const scanned = await rolledBack(async (tx) => {
      await run(tx)
      return tx.query(sql`
        select relname, seq_tup_read from pg_stat_xact_user_tables
        where seq_tup_read > 100 and relname in ('email', 'event_trigger', 'audit', 'client', 'calendar', 'pending_trigger')`)
    })
    assert.deepEqual(scanned, [], name)
  }
})

test('an erasure that was interrupted after any step is completed by running it again', async () => {
  await database.maintenance.transaction((tx) => eraseClientRows(tx, client, now))
  await database.maintenance.transaction((tx) => eraseMails(tx, client, page, now))
  const erased = await eraseClient(database, client, now)
  assert.equal(erased!.calendar, 0, 'done before')
  const [left] = await database.engine.query(sql`
    select count(*) filter (where to_address = 'c7@example.org') as address,
           count(*) filter (where subject = 'Erased') as mails from email`)
  assert.deepEqual(left, { address: 0, mails: MAILS / CLIENTS })
})

/** The result of `work` in a transaction that is rolled back. */
async function rolledBack<T>(work: (tx: Db) => Promise<T>): Promise<T> {
  class RolledBack extends Error {}
  let result: T
  await database.maintenance
    .transaction(async (tx) => {
      result = await work(tx)
      throw new RolledBack()
    })
    .catch((error) => {
      if (!(error instanceof RolledBack)) throw error
    })
  return result!
}
