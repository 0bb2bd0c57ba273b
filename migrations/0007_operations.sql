-- What the service itself needs to run: report files, stored answers, leases, caches.

create table report_run (
  business_id  bigint not null references business,
  run_id       bigint generated always as identity,
  credential   text not null,  -- who asked for it, and may fetch it
  report_id    integer not null,
  format       text not null,
  attach       boolean not null,
  status       text not null default 'QUEUED' check (status in ('QUEUED', 'RUNNING', 'COMPLETED', 'FAILED')),
  failure      text,
  rows_done    bigint not null default 0,
  rows_total   bigint,
  file_name    text not null,
  file_size    bigint,
  created_date timestamptz not null,
  beat_time    timestamptz not null,  -- heartbeat of the node that prints it
  primary key (business_id, run_id),
  constraint report_run_completed check ((status = 'COMPLETED') = (file_size is not null)),
  constraint report_run_failed check ((status = 'FAILED') = (failure is not null))
);
comment on table report_run is 'A report that is printed in the background and fetched later.';
-- Runs that have expired.
create index report_run_by_age on report_run (business_id, created_date);
call secure_table('report_run', app => 'select, insert, update, delete');

create table report_run_part (
  business_id bigint not null,
  run_id      bigint not null,
  part        integer not null,
  bytes       bytea not null,
  primary key (business_id, run_id, part),
  foreign key (business_id, run_id) references report_run on delete cascade
);
comment on table report_run_part is 'The file of a report run, in parts. In the database, so that any node can answer with it.';
-- Files are compressed already.
alter table report_run_part alter bytes set storage external;
call secure_table('report_run_part', app => 'select, insert, delete');

create table idempotency_key (
  business_id  bigint not null,  -- 0: the operator
  digest       bytea not null,   -- of credential, method, path and key
  body_digest  bytea,
  status       integer check (status between 200 and 499),
  headers      jsonb,
  answer       text,             -- as it was sent, without secrets; null: claimed by a request that still runs
  created_time timestamptz not null,  -- of a claim: renewed every 20 s, and given up after a minute
  primary key (business_id, digest),
  constraint idempotency_key_answered check (num_nulls(body_digest, status, headers, answer) in (0, 4))
);
comment on table idempotency_key is
  'The answers to requests with an Idempotency-Key. Written in the transaction of the request, so that a repeated request is not executed again.';
-- Answers that have expired.
create index idempotency_key_by_age on idempotency_key (created_time);
call secure_table('idempotency_key', app => 'select, insert, update, delete', engine => 'select, delete',
                  operator => 'select, insert, update, delete');

create table settings_version (
  business_id bigint primary key references business,
  version     uuid not null default gen_random_uuid()
);
comment on table settings_version is
  'Changes with every change of a business''s settings. Nodes cache the settings as long as it is the same.';
call secure_table('settings_version', app => 'select', engine => 'select');

create function change_settings_version() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  insert into settings_version (business_id)
  select distinct business_id from changed_rows order by business_id
  on conflict (business_id) do update set version = excluded.version;
  return null;
end $$;
do $$
declare
  target text;
begin
  foreach target in array array['business', 'event_definition', 'status', 'location', 'professional', 'reason'] loop
    execute format('create trigger settings_inserted after insert on %I referencing new table as changed_rows
                    for each statement execute function change_settings_version()', target);
    execute format('create trigger settings_updated after update on %I referencing new table as changed_rows
                    for each statement execute function change_settings_version()', target);
  end loop;
end $$;

create table worker_lease (
  worker      text primary key,
  lease_until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table worker_lease is 'The lease of a worker for all triggers and mails that it has claimed.';
call secure_table('worker_lease', engine => 'select, insert, update, delete');

create table work_lease (
  name        text primary key,
  worker      text not null,
  lease_until timestamptz not null
);
comment on table work_lease is
  'Work that one node at a time does, by its name: planning a definition, reconciliation.';
call secure_table('work_lease', engine => 'select, insert, update, delete');

create table reconciliation (
  only_one boolean primary key default true check (only_one),
  ended_at timestamptz not null,
  findings jsonb not null
);
comment on table reconciliation is 'The findings of the last complete reconciliation, which all nodes show.';
call secure_table('reconciliation', engine => 'select, insert, update');

create table time_zone_data (
  only_one boolean primary key default true check (only_one),
  version  text not null
);
comment on table time_zone_data is
  'The version of the time zone rules by which the pending triggers of all businesses were scheduled.';
call secure_table('time_zone_data', engine => 'select, insert, update');
