-- A change says what the object became; what it was before, the entry before says already
-- (docs/decisions/0058). Half of what the audit of a moved appointment cost, and of the room it took.
-- Each table has functions of its own, which name its key instead of looking it up in JSON.
-- Arguments: the table, the object's name, the column of its id, columns that never leave their table.
create or replace procedure audited(target regclass, object text, id text, secrets text default '')
language plpgsql as $$
declare
  -- What leaves its table of a row, and whether an object is given up rather than changed.
  shown text := 'to_jsonb(%s)' || case when secrets <> '' then format(' - %L::text[]', '{' || secrets || '}') else '' end;
  kept text := format(shown, 'n');
  key text := concat_ws(', ', 'business_id', nullif(quote_ident(id), 'business_id'));
  deleted text := case when exists (select from pg_attribute a where a.attrelid = target and a.attname = 'active')
                       then 'o.active and not n.active' else 'false' end;
begin
  execute format($f$
    create or replace function %1$I() returns trigger
    language plpgsql security definer set search_path = public as $body$
    declare
      who text := app_user();
    begin
      insert into audit (business_id, time, username, object, id, change, after)
      select n.business_id, n.modified_date, who, %2$L, n.%3$I::text, 'CREATED', %4$s from new_rows n;
      return null;
    end $body$ $f$, target || '_audit_insert', object, id, kept);
  -- What never leaves its table is no change either. Made for one row, a plan must do for thousands.
  execute format($f$
    create or replace function %1$I() returns trigger
    language plpgsql security definer set search_path = public set enable_nestloop = off as $body$
    declare
      who text := app_user();
    begin
      insert into audit (business_id, time, username, object, id, change, after)
      select n.business_id, n.modified_date, who, %2$L, n.%3$I::text,
             case when %4$s then 'DELETED' else 'CHANGED' end, %5$s
      from old_rows o join new_rows n using (%6$s)
      where %7$s;
      return null;
    end $body$ $f$, target || '_audit_update', object, id, deleted, kept, key,
    case secrets when '' then 'o is distinct from n' else format(shown, 'o') || ' <> ' || kept end);
  execute format('create or replace trigger audit_insert after insert on %s referencing new table as new_rows
                  for each statement execute function %I()', target, target || '_audit_insert');
  execute format('create or replace trigger audit_update after update on %s referencing old table as old_rows new table as new_rows
                  for each statement execute function %I()', target, target || '_audit_update');
end $$;

do $$
declare
  audited record;
begin
  for audited in
    select tgrelid::regclass as target, string_to_array(encode(tgargs, 'escape'), '\000') as said
    from pg_trigger where tgfoid = 'audit_update'::regproc
  loop
    call audited(audited.target, audited.said[1], audited.said[2], audited.said[3]);
  end loop;
end $$;
drop function audit_insert(), audit_update();

-- As it is read. Entries from before this migration say themselves what was.
create view audit_entry with (security_invoker = true) as
select business_id, audit_id, time, username, object, id, change,
       coalesce(before, case when change <> 'CREATED' then
         (select p.after from audit p
          where (p.business_id, p.object, p.id) = (a.business_id, a.object, a.id) and p.audit_id < a.audit_id
          order by p.audit_id desc limit 1) end) as before,
       after
from audit a;
grant select on audit_entry to bellwether_app;

-- All entries of what ever was the client's: an appointment that was given to another may go on saying
-- what was said of the first. Looked up one by one, or a page would read all of its business.
create or replace function erase_client_audit(business bigint, client bigint, after_id bigint, page int,
                                              out last_id bigint, out overwritten bigint)
language plpgsql security definer set search_path = public as $$
begin
  select max(audit_id) into last_id
  from (select audit_id from audit
        where business_id = business and audit_id > after_id order by audit_id limit page) read;
  update audit a
  set before = erased(a.object, a.before), after = erased(a.object, a.after)
  where a.business_id = business and a.audit_id > after_id and a.audit_id <= last_id
    and a.object in ('client', 'calendar', 'invitation', 'recall', 'disclaimer')
    and (select true from audit p
         where (p.business_id, p.object, p.id) = (a.business_id, a.object, a.id)
           and client::text in (p.after ->> 'client_id', p.before ->> 'client_id') limit 1);
  get diagnostics overwritten = row_count;
end $$;
