-- Firing writes mails by the thousand. Six foreign keys asked for each of them, one by one, whether
-- what it names is there: two thirds of what a mail cost. None of what a mail names is ever deleted
-- (no role may), so it is enough to ask when they are written, once for all mails of a statement.
alter table email
  drop constraint email_business_id_fkey,
  drop constraint email_business_id_event_trigger_id_fkey,
  drop constraint email_business_id_event_action_id_fkey,
  drop constraint email_business_id_email_template_id_fkey,
  drop constraint email_business_id_email_category_id_fkey,
  drop constraint email_business_id_client_id_fkey,
  -- It is made of business and id, whose key the table has.
  drop constraint email_business_id_message_id_key;

-- The arguments: a column, the table whose id it is, and so on.
create function refuse_unknown_ids() returns trigger
language plpgsql security definer set search_path = public as $$
declare
  unknown text := 'not exists (select from business r where r.business_id = n.business_id)';
  bad jsonb;
begin
  for i in 0 .. tg_nargs - 1 by 2 loop
    -- Each by its key: left to choose, the planner may read the whole table.
    unknown := unknown || format(
      ' or n.%1$I is not null and (select true from %2$I r
          where (r.business_id, r.%1$I) = (n.business_id, n.%1$I)) is null', tg_argv[i], tg_argv[i + 1]);
  end loop;
  execute 'select to_jsonb(n) from written n where ' || unknown || ' limit 1' into bad;
  if bad is not null then
    raise exception '% of business % names what that business does not have', tg_table_name, bad ->> 'business_id'
      using errcode = 'foreign_key_violation', constraint = tg_name;
  end if;
  return null;
end $$;
create trigger email_names after insert on email referencing new table as written
  for each statement execute function refuse_unknown_ids(
    'event_trigger_id', 'event_trigger', 'event_action_id', 'event_action',
    'email_template_id', 'email_template', 'email_category_id', 'email_category', 'client_id', 'client');

-- Nearly all mails are SENT or CAPTURED: those are found by time. What waits has the queue's index.
drop index email_by_status;
create index email_by_status on email (business_id, status, created_date)
  where status in ('RETRYING', 'FAILED', 'SUPPRESSED', 'UNCERTAIN', 'CANCELLED');
