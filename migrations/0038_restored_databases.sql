-- A restored database sends nothing until a person releases it: see docs/backup.md.

create table installation (
  only_one        boolean primary key default true check (only_one),
  installation_id uuid not null default gen_random_uuid(),  -- each node notes it outside the database, with seen_time
  place           text not null,                -- the server, the database and the folder that hold the tables
  timeline        text not null,                -- another one after a failover or a recovery to a point in time
  seen_time       timestamptz not null,         -- a node was connected then
  held_since      timestamptz,                  -- until it is released, nothing is fired and no mail is sent
  held_reason     text,
  lost_from       timestamptz,                  -- changes after it are lost
  lost_until      timestamptz,                  -- null: not known
  newer_state     jsonb,                        -- what was taken from a newer backup or export
  expires_until   timestamptz,                  -- triggers and mails that were due by then end without being sent
  released_time   timestamptz,
  released_user   text,
  constraint installation_held check ((held_since is null) = (held_reason is null))
);
comment on table installation is
  'One row: where the database was last seen, and whether it was restored and is held. Written at the first start.';
call secure_table('installation', engine => 'select', operator => 'select, insert, update');

-- The tables are the same ones while this text is: a restored dump has other tables, another server
-- another identifier. A copy of the files has the same text.
create function database_place() returns text language sql stable set search_path = public as $$
  select concat_ws(' ', system_identifier, (select oid from pg_database where datname = current_database()),
                   'calendar'::regclass::oid)
  from pg_control_system()
$$;

create function database_timeline() returns text language sql stable
return left(pg_walfile_name(pg_current_wal_lsn()), 8);

-- A number that a business can read without a table: the last id of the audit at the last restore that was
-- noticed. Smaller ids may be of changes that were lost.
create sequence restored_audit_id minvalue 0 start 0;
grant select on sequence restored_audit_id to bellwether_app, bellwether_engine, bellwether_operator;

-- Positions of changedSince also end when a restore is noticed in another way, such as a copy of the files.
create or replace function change_epoch() returns text language sql stable set search_path = public as $$
  select md5(concat_ws(' ', system_identifier, database_timeline(),
                       (select oid from pg_database where datname = current_database()),
                       'calendar'::regclass::oid, (select nullif(last_value, 0) from restored_audit_id)))
  from pg_control_system()
$$;

-- Holds the database. Every sequence moves on, so that no id that was given out in the lost time is given
-- to another row. Only the owner of the sequences can do this.
create function hold_database(reason text, lost_until timestamptz, moment timestamptz) returns void
language plpgsql security definer set search_path = public as $$
declare
  sequence regclass;
begin
  for sequence in select c.oid from pg_class c
                  where c.relkind = 'S' and c.relnamespace = 'public'::regnamespace
                    and c.relname <> 'restored_audit_id' loop
    execute format('select setval(%L, last_value + 1000000) from %s', sequence, sequence);
  end loop;
  -- A database that no service has used yet.
  insert into installation (place, timeline, seen_time) values ('', '', moment) on conflict do nothing;
  update installation
  set held_since = moment, held_reason = reason, lost_from = seen_time, lost_until = hold_database.lost_until,
      newer_state = null, expires_until = null, released_time = null, released_user = null;
  perform setval('restored_audit_id', last_value) from audit_audit_id_seq;
end $$;
revoke execute on function hold_database from public;
grant execute on function hold_database to bellwether_operator;

-- Reports that were due by then are not printed for that time.
create function skip_report_schedules(moment timestamptz) returns void
language sql security definer set search_path = public
begin atomic
  update report_schedule set done_until = greatest(done_until, moment) where done_until < moment and next_run_time <= moment;
end;
revoke execute on function skip_report_schedules from public;
grant execute on function skip_report_schedules to bellwether_operator;
