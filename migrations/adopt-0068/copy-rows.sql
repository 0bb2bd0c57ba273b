-- Second step of the adoption: see set-aside.sql.

-- The former tables get the names and columns of today, so that all can be copied alike.
set local search_path = bellwether_0068;

alter table waiting rename to pending_trigger;
alter table pending_trigger rename column claims to attempts;
alter table lane rename to worker_lease;
alter table sending rename to email_queue;
alter table sending_epoch rename to server_epoch;
alter table setup_mark rename to settings_version;
alter table settings_version rename column mark to version;

-- Triggers and mails wait in queues of one shape. No node runs during a migration: every claim of a
-- trigger is released. A mail that was being sent may have been sent: its claim stays, for takeover.
update pending_trigger
set attempts = case when attempts = 1 then 0 else attempts end, worker = null
where worker is not null;
alter table pending_trigger add column next_attempt_time timestamptz;
update pending_trigger set next_attempt_time = scheduled_time;
alter table email_queue add column attempts integer;
update email_queue q set attempts = e.attempt_count
from email e where (e.business_id, e.email_id) = (q.business_id, q.email_id);
alter table email drop column attempt_count;
alter table worker_lease drop column latest;
insert into worker_lease (worker, lease_until)
select worker, min(lease_until) from email_queue where worker is not null group by worker
on conflict do nothing;
alter table email_queue drop column lease_until;

-- Written, but never read. The changes of status are in the audit too.
drop table status_history;
alter table status drop column external_id, drop column address;
alter table operator_key drop column created_date;
alter table link_seal drop column created_date;
alter table password_link drop column created_date;
alter table time_zone_data drop column modified_date;

set local search_path = public;

-- Copies every table, with its ids. A former column that the table of today lacks is an error, so that
-- nothing is lost by mistake; a new column takes its default. Tables are copied in the order in which
-- they were created, which is that of their references. Triggers are off: the rows were audited
-- and checked when they were written.
do $$
declare
  copied record;
  columns text;
  lost text;
  sequence text;
begin
  for copied in
    select c.relname as name, former.oid as former from pg_class c
    join pg_class former on former.relname = c.relname
      and former.relnamespace = 'bellwether_0068'::regnamespace
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.oid
  loop
    select string_agg(quote_ident(f.attname), ', ') filter (where a.attgenerated = ''),
           string_agg(f.attname, ', ') filter (where a.attname is null)
    into columns, lost
    from pg_attribute f
    left join pg_attribute a on a.attrelid = copied.name::regclass and a.attname = f.attname
      and not a.attisdropped
    where f.attrelid = copied.former and f.attnum > 0 and not f.attisdropped;
    if lost is not null then
      raise exception 'the table % has no column for: %', copied.name, lost;
    end if;
    execute format('alter table %I disable trigger user', copied.name);
    execute format('insert into %I (%s) overriding system value select %s from bellwether_0068.%I',
                   copied.name, columns, columns, copied.name);
    execute format('alter table %I enable trigger user', copied.name);
    execute format('analyze %I', copied.name);
    for sequence in
      select s.relname from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
      where d.refobjid = copied.name::regclass and d.deptype = 'i'
    loop
      execute format('select setval(%L, last_value, is_called) from bellwether_0068.%I', sequence, sequence);
    end loop;
    execute format('drop table bellwether_0068.%I cascade', copied.name);
  end loop;
end $$;

-- Fails if a table is left that was not copied.
drop schema bellwether_0068;
