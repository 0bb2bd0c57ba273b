import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { migrate, readMigrations } from '../../src/database/migrate.ts'
import { createEmptyDatabase } from '../support/database.ts'

test('mails that are under way while the schema is brought up to date are neither lost nor taken for unsent', async (t) => {
  const { url, client } = await databaseOf(t, 26)
  await client.query(`
    insert into business (business_id, name, time_zone, created_date, created_user, modified_date, modified_user)
    values (1, 'Old', 'UTC', now(), 'x', now(), 'x');
    insert into email (business_id, email_id, to_address, from_address, subject, message_id, status,
                       attempts, attempt_count, next_attempt_time, message_ended, lease_worker, lease_until,
                       sent_time, created_date)
    values (1, 1, 'a@b.c', 'd@e.f', 's', '<1>', 'SENDING', '[]', 1, null, false, 'w', now(), null, now()),
           (1, 2, 'a@b.c', 'd@e.f', 's', '<2>', 'SENDING', '[{"time": 1, "phase": "rcpt", "reply": "451"}]', 2, null, true, 'w', now(), null, now()),
           (1, 3, 'a@b.c', 'd@e.f', 's', '<3>', 'QUEUED', '[]', 0, now(), false, null, null, null, now()),
           (1, 4, 'a@b.c', 'd@e.f', 's', '<4>', 'UNCERTAIN', '[{"time": 1, "phase": "end", "reply": "lost"}]', 1, now(), true, null, null, null, now()),
           (1, 5, 'a@b.c', 'd@e.f', 's', '<5>', 'SENT', '[]', 1, null, true, null, null, now(), now())`)
  await migrate(url)
  const { rows } = await client.query(`
    select e.email_id::int as id, e.status, coalesce(s.attempts, 1) as tried, s.worker,
           (s.next_attempt_time, s.status, s.created_date) = (e.next_attempt_time, e.status, e.created_date) as waits,
           s.message_ended as ended
    from email e left join email_queue s using (business_id, email_id) order by 1`)
  await client.end()
  assert.deepEqual(rows, [
    { id: 1, status: 'QUEUED', tried: 0, worker: 'w', waits: true, ended: false },
    { id: 2, status: 'RETRYING', tried: 1, worker: 'w', waits: true, ended: true },
    { id: 3, status: 'QUEUED', tried: 0, worker: null, waits: true, ended: false },
    { id: 4, status: 'UNCERTAIN', tried: 1, worker: null, waits: true, ended: false },
    { id: 5, status: 'SENT', tried: 1, worker: null, waits: null, ended: null },
  ])
})

test('triggers that wait, are in a worker’s hands or have mails leaving go on as what they were', async (t) => {
  const { url, client } = await databaseOf(t, 38)
  await client.query(`
    insert into business (business_id, name, time_zone, created_date, created_user, modified_date, modified_user)
    values (1, 'Old', 'UTC', now(), 'x', now(), 'x');
    set session_replication_role = replica;
    insert into event_definition (business_id, event_defn_id, active, event_type_id, object_type, version,
      planned_version, created_date, created_user, modified_date, modified_user)
    overriding system value
    select 1, n, true, 3, 'CALENDAR', 4, 4, now(), 'x', now(), 'x' from generate_series(1, 2) n;
    insert into event_trigger (object_id, event_defn_id, status, lease_worker, claims, fire_now, replan_since,
      completed_time, replan, business_id, defn_version, object_type, anchor_time, scheduled_time, created_date)
    select s.*, replan_since is not null, 1, 1, 'CALENDAR', now(), now(), now()
    from (values
      (1, 1, 'SCHEDULED', null, 0, true, null::timestamptz, null::timestamptz),
      (2, 2, 'RUNNING', 'dead', 2, false, to_timestamp(7), null),
      (3, 1, 'RUNNING', null, 1, false, to_timestamp(7), null),
      (4, 1, 'COMPLETED', null, 1, false, null, now()),
      (5, 1, 'CANCELLED', null, 0, false, null, null))
      as s (id, definition, status, worker, claims, fire_now, replan_since, completed_time);
    set session_replication_role = origin`)
  await migrate(url)
  const rowsOf = async (statement: string) => (await client.query(statement)).rows
  const waiting = await rowsOf(`
    select object_id::int as id, worker, attempts, fire_now as asked from pending_trigger order by 1`)
  const recorded = await rowsOf(`
    select object_id::int as id, status, replan_since is not null as marked from event_trigger order by 1`)
  const definitions = await rowsOf(`
    select event_defn_id::int as id, planned_version::int as planned,
           extract(epoch from asked_since)::int as since
    from event_definition order by 1`)
  const known = await rowsOf(`
    select pg_stat_get_last_analyze_time('pending_trigger'::regclass) is not null as looked`)
  await client.end()
  assert.deepEqual(known, [{ looked: true }], 'the server has looked at them')
  assert.deepEqual(waiting, [
    { id: 1, worker: null, attempts: 0, asked: true },
    { id: 2, worker: null, attempts: 2, asked: false },
  ])
  assert.deepEqual(recorded, [
    { id: 3, status: 'RUNNING', marked: true },
    { id: 4, status: 'COMPLETED', marked: false },
    { id: 5, status: 'CANCELLED', marked: false },
  ])
  assert.deepEqual(definitions, [
    { id: 1, planned: 4, since: null },
    { id: 2, planned: 3, since: 7 },
  ])
})

test('what was written into the audit before goes on saying what it said, and what follows is written by the new way', async (t) => {
  const { url, client } = await databaseOf(t, 39)
  const who = `created_date, created_user, modified_date, modified_user`
  await client.query(`
    insert into business (business_id, name, time_zone, ${who}) values (1, 'Old', 'UTC', now(), 'x', now(), 'x');
    insert into location (business_id, location_id, name, ${who}) values (1, 1, 'Nord', now(), 'x', now(), 'x');
    insert into user_account (business_id, user_id, username, password_hash, role, ${who})
    values (1, 1, 'anna', 'secret', 'OWNER', now(), 'x', now(), 'x');
    update business set name = 'Older';
    update location set name = 'Süd'`)
  await migrate(url)
  await client.query(`
    update business set name = 'New';
    update location set name = 'Ost';
    update location set name = 'West', active = false;
    update user_account set password_hash = 'another secret';
    update user_account set username = 'berta'`)
  const { rows } = await client.query(`
    select object, id, change, before ->> case object when 'user' then 'username' else 'name' end as was,
           after ->> case object when 'user' then 'username' else 'name' end as is
    from audit_entry where object in ('business', 'location', 'user') order by object, audit_id`)
  const { rows: secrets } = await client.query(`select from audit where after::text ~ 'secret'`)
  await client.end()
  assert.deepEqual(secrets, [])
  assert.deepEqual(
    rows.map((row) => Object.values(row).join(' ')),
    [
      'business 1 CREATED  Old',
      'business 1 CHANGED Old Older',
      'business 1 CHANGED Older New',
      'location 1 CREATED  Nord',
      'location 1 CHANGED Nord Süd',
      'location 1 CHANGED Süd Ost',
      'location 1 DELETED Ost West',
      'user 1 CREATED  anna',
      'user 1 CHANGED anna berta',
    ],
  )
})

test('an appointment of an older version takes the present price of its service, and nobody changed it', async (t) => {
  const { url, client } = await databaseOf(t, 53)
  const who = `created_date, created_user, modified_date, modified_user`
  const stamp = `'2020-05-05T10:00Z', 'x', '2021-06-06T10:00Z', 'x'`
  await client.query(`
    insert into business (business_id, name, time_zone, ${who}) values (1, 'Old', 'UTC', ${stamp});
    insert into location (business_id, location_id, name, ${who}) values (1, 1, 'Nord', ${stamp});
    insert into professional (business_id, professional_id, first_name, last_name, ${who})
    values (1, 1, 'E', 'G', ${stamp});
    insert into client (business_id, client_id, first_name, last_name, ${who})
    values (1, 1, 'A', 'M', ${stamp});
    insert into reason (business_id, reason_id, name, price, currency, ${who})
    values (1, 1, 'Massage', 120.5, 'CHF', ${stamp}), (1, 2, 'Talk', null, null, ${stamp});
    insert into calendar (business_id, calendar_id, client_id, professional_id, reason_id, location_id,
                          start_time, end_time, status, ${who})
    select 1, n, 1, 1, n, 1, now(), now() + interval '1 hour', 'OPEN', ${stamp} from generate_series(1, 2) n`)
  await migrate(url)
  const { rows } = await client.query(`
    select price, currency, booked_time = created_date as "isBookedAtCreation", version::int,
           (select count(*)::int from audit a where a.object = 'calendar' and a.id = calendar_id::text) as audited,
           (select count(*)::int from pg_trigger where tgrelid = 'calendar'::regclass and tgenabled = 'D') as disabled
    from calendar order by calendar_id`)
  await client.end()
  const unchanged = { isBookedAtCreation: true, version: 1, audited: 1, disabled: 0 }
  assert.deepEqual(rows, [
    { price: '120.50', currency: 'CHF', ...unchanged },
    { price: null, currency: null, ...unchanged },
  ])
})

test('keys that an ADMINISTRATOR made before are bound to that person, and end if the person has left', async (t) => {
  const { url, client } = await databaseOf(t, 50)
  const who = `created_date, created_user, modified_date, modified_user`
  await client.query(`
    insert into business (business_id, name, time_zone, ${who}) values (1, 'Old', 'UTC', now(), 'x', now(), 'x');
    insert into user_account (business_id, user_id, username, password_hash, role, active, ${who})
    select 1, n, name, '', role, active, now(), 'x', now(), 'x'
    from (values (1, 'olga', 'OWNER', true), (2, 'adam', 'ADMINISTRATOR', true),
                 (3, 'gone', 'ADMINISTRATOR', false), (4, 'lower', 'USER', true)) as u (n, name, role, active);
    insert into api_key (business_id, api_key_id, name, prefix, key_hash, scopes, ${who})
    select 1, n, maker, 'bw_', maker::bytea, '{admin}', now(), maker, now(), maker
    from (values (1, 'OPERATOR'), (2, 'olga'), (3, 'adam'), (4, 'gone'), (5, 'lower'), (6, 'key:sync'))
      as k (n, maker)`)
  await migrate(url)
  const { rows } = await client.query(
    `select name, maker_user_id::int as maker, active from api_key order by api_key_id`,
  )
  await client.end()
  assert.deepEqual(
    rows.map((row) => Object.values(row).join(' ')),
    [
      'OPERATOR  true',
      'olga  true',
      'adam 2 true',
      'gone 3 false',
      'lower 4 false',
      'key:sync  true',
    ],
  )
})

/** A database as a version of ours left it that knew the migrations up to this one. */
async function databaseOf(t: TestContext, last: number) {
  const { url } = await createEmptyDatabase(t)
  const all = await readMigrations()
  await migrate(
    url,
    all.filter(({ version }) => version <= last),
  )
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { url, client }
}
