-- Lists with changedSince follow commits: see docs/changes.md. Each row has the id of the transaction that
-- changed it last. A reader takes rows of transactions that are older than every open one, so none of
-- them can commit later.

create function stamp_change() returns trigger language plpgsql as $$
begin
  new.changed_in := pg_current_xact_id();
  return new;
end $$;

do $$
declare
  target text;
begin
  foreach target in array array['business', 'location', 'professional', 'reason', 'client', 'calendar',
      'class_schedule', 'invitation_campaign', 'invitation', 'recall', 'disclaimer_form', 'disclaimer',
      'email_category', 'email_template', 'event_definition', 'event_action'] loop
    -- A constant default does not rewrite the table: rows of before count as changed before any position.
    execute format('alter table %I add changed_in xid8 not null default ''0''', target);
    execute format('alter table %I alter changed_in set default pg_current_xact_id()', target);
    -- A plan updates a definition without changing it.
    execute format('create trigger stamp_change before update on %I for each row %s execute function stamp_change()',
                   target, case target when 'event_definition' then 'when (new.version <> old.version)' end);
  end loop;
end $$;

-- Lists with changedSince. Tables of a few hundred rows need no index.
create index client_by_change on client (business_id, changed_in, client_id);
create index calendar_by_change on calendar (business_id, changed_in, calendar_id);
create index class_schedule_by_change on class_schedule (business_id, changed_in, class_schedule_id);
create index invitation_by_change on invitation (business_id, changed_in, invitation_uuid);
create index recall_by_change on recall (business_id, changed_in, recall_id);
create index disclaimer_by_change on disclaimer (business_id, changed_in, disclaimer_id);

-- Lists of deleted objects.
create index client_deleted on client (business_id, client_id) where not active;
create index calendar_deleted on calendar (business_id, calendar_id) where not active;
create index class_schedule_deleted on class_schedule (business_id, class_schedule_id) where not active;
create index invitation_deleted on invitation (business_id, invitation_uuid) where not active;
create index recall_deleted on recall (business_id, recall_id) where not active;
create index disclaimer_deleted on disclaimer (business_id, disclaimer_id) where not active;

-- Names the history of transactions that positions of changedSince belong to. It is another one after a
-- restored dump (other tables), in another server, and after a failover or a recovery to a point in time
-- (another timeline).
create function change_epoch() returns text language sql stable set search_path = public as $$
  select md5(concat_ws(' ', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
                       (select oid from pg_database where datname = current_database()),
                       'calendar'::regclass::oid))
  from pg_control_system()
$$;

-- The audit leaves out changed_in.
create or replace function audit_insert() returns trigger
language plpgsql security definer set search_path = public as $$
declare
  username text := app_user();
begin
  insert into audit (business_id, time, username, object, id, change, after)
  select business_id, modified_date, username, tg_argv[0], after ->> tg_argv[1], 'CREATED',
         after - tg_argv[2:]
  from (select r.business_id, r.modified_date, to_jsonb(r) - 'changed_in' as after from new_rows r offset 0) n;
  return null;
end $$;

create or replace function audit_update() returns trigger
language plpgsql security definer set search_path = public set enable_nestloop = off set enable_hashjoin = on as $$
declare
  username text := app_user();
begin
  insert into audit (business_id, time, username, object, id, change, after)
  select business_id, n.modified_date, username, tg_argv[0], id,
         case when o.active and not n.active then 'DELETED' else 'CHANGED' end, n.after
  from (select business_id, row ->> tg_argv[1] as id, active, row - tg_argv[2:] as before
        from (select r.business_id, r.active, to_jsonb(r) - 'changed_in' as row from old_rows r offset 0) was) o
  join (select business_id, row ->> tg_argv[1] as id, active, modified_date, row - tg_argv[2:] as after
        from (select r.business_id, r.active, r.modified_date, to_jsonb(r) - 'changed_in' as row
              from new_rows r offset 0) is_now) n
    using (business_id, id)
  where o.before <> n.after;
  return null;
end $$;

-- Mails carry the name of the logo's file, which the settings cache holds.
create trigger settings_updated after update on file_library referencing new table as changed_rows
  for each statement execute function change_settings_version();
