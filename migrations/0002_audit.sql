-- The audit: every change of an audited table, written by triggers. No role may write to it.

create table audit (
  business_id bigint not null,
  audit_id    bigint generated always as identity,
  time        timestamptz not null,
  username    text not null,
  object      text not null,  -- the name in the API: calendar, eventDefinition, ...
  id          text not null,  -- of the object; kept after the object has gone
  change      text not null check (change in ('CREATED', 'CHANGED', 'DELETED')),
  before      jsonb,          -- only if the entry before does not say it: see audit_entry
  after       jsonb not null,
  primary key (business_id, audit_id)
);
comment on table audit is 'One row for each change of an audited object.';
-- It has no foreign key to business: triggers write it, from rows that have one. One more would cost 10 us
-- for each entry, as much as writing the entry.
-- The history of one object, and the entry before an entry.
create index audit_of_object on audit (business_id, object, id, audit_id);
-- The audit of a range of time, and the changes that a backtest reads.
create index audit_by_time on audit (business_id, time, audit_id);
call secure_table('audit', app => 'select');

create view audit_entry with (security_invoker = true) as
select business_id, audit_id, time, username, object, id, change,
       coalesce(before, case when change <> 'CREATED' then
         (select p.after from audit p
          where (p.business_id, p.object, p.id) = (a.business_id, a.object, a.id) and p.audit_id < a.audit_id
          order by p.audit_id desc limit 1) end) as before,
       after
from audit a;
comment on view audit_entry is
  'The audit with the state before each change: stored, or the state after the entry before.';
grant select on audit_entry to bellwether_app;

-- Arguments of both trigger functions: the object's name in the API, the column of its id, and any
-- columns that are never audited.
create function audit_insert() returns trigger
language plpgsql security definer set search_path = public as $$
declare
  username text := app_user();
begin
  insert into audit (business_id, time, username, object, id, change, after)
  select business_id, modified_date, username, tg_argv[0], after ->> tg_argv[1], 'CREATED',
         after - tg_argv[2:]
  from (select r.business_id, r.modified_date, to_jsonb(r) as after from new_rows r offset 0) n;
  return null;
end $$;

-- A change of nothing but unaudited columns is not recorded. The settings choose a hash join: a plan
-- that was made for one row must also serve thousands.
create function audit_update() returns trigger
language plpgsql security definer set search_path = public set enable_nestloop = off set enable_hashjoin = on as $$
declare
  username text := app_user();
begin
  insert into audit (business_id, time, username, object, id, change, after)
  select business_id, n.modified_date, username, tg_argv[0], id,
         case when o.active and not n.active then 'DELETED' else 'CHANGED' end, n.after
  from (select business_id, row ->> tg_argv[1] as id, active, row - tg_argv[2:] as before
        from (select r.business_id, r.active, to_jsonb(r) as row from old_rows r offset 0) was) o
  join (select business_id, row ->> tg_argv[1] as id, active, modified_date, row - tg_argv[2:] as after
        from (select r.business_id, r.active, r.modified_date, to_jsonb(r) as row from new_rows r offset 0) is_now) n
    using (business_id, id)
  where o.before <> n.after;
  return null;
end $$;

-- Audits a table. It must have the columns business_id, active and modified_date.
create procedure audit_table(target regclass, object text, id text, variadic unaudited text[] default '{}')
language plpgsql as $$
declare
  arguments text := (select string_agg(quote_literal(a), ', ') from unnest(array[object, id] || unaudited) a);
begin
  execute format('create trigger audit_insert after insert on %s referencing new table as new_rows
                  for each statement execute function audit_insert(%s)', target, arguments);
  execute format('create trigger audit_update after update on %s referencing old table as old_rows new table as new_rows
                  for each statement execute function audit_update(%s)', target, arguments);
end $$;

call audit_table('business', 'business', 'business_id');
