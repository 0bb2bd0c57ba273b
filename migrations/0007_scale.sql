-- Every filter of a list finds its rows by an index, in the order in which they are listed. The id,
-- which comes last in that order, is left out: an index that holds it may be taken, as long as the
-- server knows little of a new table, for the one by which an id is found.
create index calendar_by_location on calendar (business_id, location_id, start_time);
create index calendar_by_reason on calendar (business_id, reason_id, start_time);
create index calendar_by_status on calendar (business_id, status, start_time);
drop index calendar_by_time;
create index calendar_by_time on calendar (business_id, start_time);

drop index class_schedule_by_time;
create index class_schedule_by_time on class_schedule (business_id, start_time);
create index class_schedule_by_professional on class_schedule (business_id, professional_id, start_time);
create index class_schedule_by_location on class_schedule (business_id, location_id, start_time);
create index class_schedule_by_reason on class_schedule (business_id, reason_id, start_time);
create index class_schedule_by_status on class_schedule (business_id, status, start_time);

drop index invitation_by_campaign, invitation_by_client;
create index invitation_by_campaign on invitation (business_id, invitation_campaign_id, created_date);
create index invitation_by_client on invitation (business_id, client_id, created_date);
create index invitation_by_status on invitation (business_id, status, created_date);

drop index recall_by_client, recall_by_time;
create index recall_by_time on recall (business_id, due_time);
create index recall_by_client on recall (business_id, client_id, due_time);
create index recall_by_professional on recall (business_id, professional_id, due_time);
create index recall_by_location on recall (business_id, location_id, due_time);
create index recall_by_status on recall (business_id, status, due_time);

drop index disclaimer_by_client;
create index disclaimer_by_client on disclaimer (business_id, client_id, disclaimer_id);
create index disclaimer_by_form on disclaimer (business_id, disclaimer_form_id, disclaimer_id);
create index disclaimer_by_calendar on disclaimer (business_id, calendar_id, disclaimer_id);
create index disclaimer_by_status on disclaimer (business_id, status, disclaimer_id);

-- `@>` is not leakproof, so behind the wall it may use no index. In here it may, and the wall is
-- the first thing that is asked.
create function classes_of_client(client bigint) returns setof bigint
language sql stable security definer set search_path = public
begin atomic
  select class_schedule_id from class_schedule
  where business_id = app_business() and client_id_list @> array[client];
end;
revoke execute on function classes_of_client from public;
grant execute on function classes_of_client to bellwether_app;

-- The operator may change a business's zone, and with it when its reminders are due.
grant select (business_id, event_defn_id, active, event_type_id, version, planned_version),
      update (planned_version) on event_definition to bellwether_operator;
create policy bellwether_operator on event_definition to bellwether_operator using (true);

-- What is written beside every row of a save costs as much as the row itself; so it is done as
-- cheaply as it can be.

-- Rows that a trigger writes have the business of the row they are about, and that of an object is
-- held by its other keys.
alter table audit drop constraint audit_business_id_fkey;
alter table status_history drop constraint status_history_business_id_fkey;
alter table calendar drop constraint calendar_business_id_fkey;
alter table client_word drop constraint client_word_business_id_fkey;

-- The row becomes JSON once, and who did it is asked once.
create or replace function audit_insert() returns trigger
language plpgsql security definer set search_path = public as $$
declare
  who text := app_user();
  secrets text[] := string_to_array(coalesce(tg_argv[2], ''), ',');
begin
  insert into audit (business_id, time, username, object, id, change, after)
  select business_id, modified_date, who, tg_argv[0], written ->> tg_argv[1], 'CREATED', written - secrets
  from (select n.business_id, n.modified_date, to_jsonb(n) as written from new_rows n offset 0) created;
  return null;
end $$;

-- What never leaves its table is no change either.
create or replace function audit_update() returns trigger
language plpgsql security definer set search_path = public as $$
declare
  who text := app_user();
  secrets text[] := string_to_array(coalesce(tg_argv[2], ''), ',');
begin
  insert into audit (business_id, time, username, object, id, change, before, after)
  with o as materialized (
    select business_id, to_jsonb(r) ->> tg_argv[1] as id, to_jsonb(r) - secrets as written from old_rows r
  ), n as materialized (
    select business_id, modified_date, to_jsonb(r) ->> tg_argv[1] as id, to_jsonb(r) - secrets as written
    from new_rows r
  )
  select n.business_id, n.modified_date, who, tg_argv[0], n.id,
         case when o.written -> 'active' = 'true' and n.written -> 'active' = 'false'
              then 'DELETED' else 'CHANGED' end,
         o.written, n.written
  from o join n using (business_id, id)
  where o.written is distinct from n.written;
  return null;
end $$;

-- How far a definition's plan has come is no change of it.
drop trigger audit_insert on event_definition;
drop trigger audit_update on event_definition;
call audited('event_definition', 'eventDefinition', 'event_defn_id', 'planned_version');

-- Each kind of object gets functions of its own that name its id, instead of looking it up in the
-- row's JSON. Arguments: the table, its type of object, the columns of history and object for the id.
create procedure keep_status_history(target regclass, object_type text, kept text, id text)
language plpgsql as $$
begin
  execute format('drop trigger status_begun on %s', target);
  execute format('drop trigger status_moved on %s', target);
  execute format($f$
    create function %I() returns trigger
    language plpgsql security definer set search_path = public as $body$
    declare
      who text := app_user();
    begin
      insert into status_history (business_id, object_type, %I, new_status, time, username)
      select n.business_id, %L, n.%I, n.status, n.created_date, who from new_rows n;
      return null;
    end $body$ $f$, target || '_status_begun', kept, object_type, id);
  execute format($f$
    create function %I() returns trigger
    language plpgsql security definer set search_path = public as $body$
    declare
      who text := app_user();
    begin
      insert into status_history (business_id, object_type, %I, old_status, new_status, time, username)
      select n.business_id, %L, n.%I, o.status, n.status, n.modified_date, who
      from old_rows o join new_rows n using (business_id, %I)
      where n.status is distinct from o.status;
      return null;
    end $body$ $f$, target || '_status_moved', kept, object_type, id, id);
  execute format('create trigger status_begun after insert on %s referencing new table as new_rows
                  for each statement execute function %I()', target, target || '_status_begun');
  execute format('create trigger status_moved after update on %s referencing old table as old_rows new table as new_rows
                  for each statement execute function %I()', target, target || '_status_moved');
end $$;

call keep_status_history('calendar', 'CALENDAR', 'object_id', 'calendar_id');
call keep_status_history('class_schedule', 'CLASS_SCHEDULE', 'object_id', 'class_schedule_id');
call keep_status_history('invitation', 'INVITATION', 'object_uuid', 'invitation_uuid');
call keep_status_history('recall', 'RECALL', 'object_id', 'recall_id');
call keep_status_history('disclaimer', 'DISCLAIMER', 'object_id', 'disclaimer_id');
drop function status_begun, status_moved;

-- A table that has just been filled is taken for empty until it is looked at, and a plan made then,
-- such as that of every foreign key's check, reads too much. An import looks now and then.
create function look_at_tables() returns void
language plpgsql security definer set search_path = public as $$
begin
  analyze location, professional, reason, client, client_word, calendar, class_schedule,
          invitation_campaign, invitation, recall, disclaimer_form, disclaimer;
end $$;
revoke execute on function look_at_tables from public;
grant execute on function look_at_tables to bellwether_app;
