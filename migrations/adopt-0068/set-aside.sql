-- Adopts a database of the former migrations, 0001 to 0068, in two steps: this file moves its tables
-- to the schema bellwether_0068, then the baseline migrations create the tables of today, and
-- copy-rows.sql copies the rows. So the result is the baseline, whatever the database went through.
-- It needs as much free disk space as the database has data.

drop view any_trigger, audit_entry;

-- With the functions go the triggers and policies that use them.
do $$
declare
  former text;
begin
  foreach former in array array(
    select p.oid::regprocedure::text from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proowner = current_user::regrole
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e'))
  loop
    execute format('drop routine if exists %s cascade', former);
  end loop;
end $$;

drop collation name_order;

create schema bellwether_0068;
do $$
declare
  former text;
begin
  foreach former in array array[
    'api_key', 'api_key_use', 'audit', 'business', 'calendar', 'class_schedule', 'client', 'client_word',
    'disclaimer', 'disclaimer_form', 'email', 'email_category', 'email_template', 'event_action',
    'event_definition', 'event_trigger', 'idempotency_key', 'invitation', 'invitation_campaign', 'lane',
    'link_seal', 'location', 'operator_key', 'password_link', 'professional', 'reason', 'recall',
    'reconciliation', 'report_run', 'report_run_part', 'sending', 'sending_epoch', 'session',
    'setup_mark', 'status', 'status_history', 'suppression', 'time_zone_data', 'user_account', 'waiting',
    'work_lease']
  loop
    execute format('alter table public.%I set schema bellwether_0068', former);
  end loop;
end $$;
