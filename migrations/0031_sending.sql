-- Which mails are under way, and with whom: a few narrow rows beside the wide ones. A mail is written
-- once and changed once, when it has its answer; taking it, marking that its message ended and renewing
-- its lease touch nothing but this. A mail of which this table has a row is SENDING, whatever it was.
create table sending (
  business_id   bigint not null,
  email_id      bigint not null,
  worker        text not null,
  lease_until   timestamptz not null,
  message_ended boolean not null default false,  -- the end of the message left; its answer is not known yet
  epoch         uuid,
  primary key (business_id, email_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
call wall('sending', 'select', 'select, insert, update, delete');
create trigger sending_names after insert on sending referencing new table as written
  for each statement execute function refuse_unknown_ids('email_id', 'email');

insert into sending (business_id, email_id, worker, lease_until, message_ended, epoch)
select business_id, email_id, lease_worker, lease_until, message_ended, epoch
from email where status = 'SENDING';
drop index email_leased;
-- An earlier 0026 had it; its other half, how mails are stored, is what 0026 is now.
drop function if exists mark_message_ended(bigint, bigint, text);
alter table email drop constraint email_check, drop constraint email_check1;
update email
set status = case when attempts = '[]' then 'QUEUED' else 'RETRYING' end, next_attempt_time = lease_until,
    attempt_count = attempt_count - 1
where status = 'SENDING';
alter table email
  drop column lease_worker, drop column lease_until, drop column message_ended, drop column epoch,
  drop constraint email_status_check,
  add check (status in ('QUEUED', 'SENT', 'CAPTURED', 'RETRYING', 'FAILED', 'SUPPRESSED', 'UNCERTAIN', 'CANCELLED')),
  add constraint email_waits check
    ((status in ('QUEUED', 'RETRYING', 'UNCERTAIN')) = (next_attempt_time is not null));

-- Erasing takes a mail out of the hands of whoever has it. The rest of it is as it was.
create or replace function erase_client(business bigint, client bigint, moment timestamptz) returns jsonb
language plpgsql security definer set search_path = public as $$
declare
  who text := app_user();
  known public.client;
  addresses text[];
  counts jsonb := '{}';
  touched bigint;
  triggers bigint[];
begin
  select * into known from public.client c
  where c.business_id = business and c.client_id = client for update;
  if not found then return null; end if;

  -- Every address that the client ever had here.
  select coalesce(array_agg(distinct lower(a.address)), '{}') into addresses
  from (select known.email_address as address
        union all
        select unnest(array[au.before ->> 'email_address', au.after ->> 'email_address'])
        from audit au
        where au.business_id = business and au.object = 'client' and au.id = client::text
        union all
        select e.to_address from email e
        where e.business_id = business and e.client_id = client and e.recipient_key = 'client ' || client) a
  where a.address is not null;

  -- Mails to the client, and those about its appointments: to staff, say.
  with about as (
    select 'CALENDAR' as object_type, calendar_id as object_id, null as object_uuid from calendar c
    where c.business_id = business and c.client_id = client
    union all
    select 'RECALL', recall_id, null from recall r where r.business_id = business and r.client_id = client
    union all
    select 'DISCLAIMER', disclaimer_id, null from disclaimer d where d.business_id = business and d.client_id = client
    union all
    select 'INVITATION', null, invitation_uuid from invitation i where i.business_id = business and i.client_id = client
  ), mails as (
    select e.email_id from email e
    where e.business_id = business and (e.client_id = client or lower(e.to_address) = any (addresses))
    union
    select e.email_id from email e join about a
      on e.business_id = business and e.object_type = a.object_type
        and e.object_id is not distinct from a.object_id
        and e.object_uuid is not distinct from a.object_uuid
  ), erased as (
    update email e
    set to_address = case when lower(e.to_address) = any (addresses)
                          then 'erased@erased.invalid' else e.to_address end,
        subject = 'Erased', html = null, text = null, message = null,
        status_reason = case when e.status_reason is not null then 'erased' end,
        attempts = (select coalesce(jsonb_agg(one || case when one ->> 'reply' is null then '{}'::jsonb
                                                          else '{"reply": "erased"}' end), '[]')
                    from jsonb_array_elements(e.attempts) one),
        -- What has not left yet never will.
        status = case when e.status in ('QUEUED', 'RETRYING', 'UNCERTAIN')
                      then 'CANCELLED' else e.status end,
        next_attempt_time = null
    from mails m
    where e.business_id = business and e.email_id = m.email_id
    returning e.event_trigger_id
  ), reasons as (
    update event_trigger t
    set status_reason = 'erased'
    where t.business_id = business and t.status_reason is not null
      and (t.event_trigger_id in (select event_trigger_id from erased)
           or exists (select from about a
                      where t.object_type = a.object_type
                        and t.object_id is not distinct from a.object_id
                        and t.object_uuid is not distinct from a.object_uuid))
      and (t.status = 'FAILED' or position('@' in t.status_reason) > 0)
    returning 1
  )
  select counts || jsonb_build_object('email', (select count(*) from erased),
                                      'eventTrigger', (select count(*) from reasons)),
         array(select distinct event_trigger_id from erased where event_trigger_id is not null)
  into counts, triggers;

  -- Whoever has one in hand finds that it no longer is, and does not end the message. After the mails:
  -- one that was being taken was waited for there.
  delete from sending s using email e
  where s.business_id = business and (e.business_id, e.email_id) = (s.business_id, s.email_id)
    and e.next_attempt_time is null;
  -- And nobody comes back to end the triggers whose last mail that was.
  update event_trigger t
  set status = case when failed or t.status_reason is not null then 'FAILED'
                    when sent then 'COMPLETED' else 'CANCELLED' end,
      status_reason = case when failed or t.status_reason is not null or not sent then 'erased' end,
      completed_time = case when sent and not failed and t.status_reason is null then moment end,
      modified_date = moment, modified_user = 'SYSTEM'
  from (select e.event_trigger_id, bool_or(e.next_attempt_time is not null) as waits,
               bool_or(e.status = 'FAILED') as failed, bool_or(e.status in ('SENT', 'CAPTURED')) as sent
        from email e
        where e.business_id = business and e.event_trigger_id = any (triggers)
        group by e.event_trigger_id) mails
  where t.business_id = business and t.event_trigger_id = mails.event_trigger_id
    and t.status = 'RUNNING' and t.lease_until is null and not waits;

  -- Unless somebody else has the same address, such as a parent with a child.
  update suppression s
  set email_address = 'erased-' || client || '-' || md5(s.email_address || random()) || '@erased.invalid',
      detail = null
  where s.business_id = business and s.email_address = any (addresses)
    and not exists (select from public.client c
                    where c.business_id = business and c.client_id <> client
                      and lower(c.email_address) = s.email_address);
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('suppression', touched);

  -- Answers kept for repeated requests, and reports printed for somebody to fetch, are made again.
  delete from idempotency_key k
  where k.business_id = business
    and (k.answer ~ ('"clientId":' || client || '\M')
         or exists (select from unnest(addresses || array[known.phone, known.first_name, known.last_name]) word
                    where length(word) > 1 and position(word in k.answer) > 0));
  delete from report_run r where r.business_id = business;

  delete from client_word w where w.business_id = business and w.client_id = client;
  update public.client c
  set first_name = 'Erased', last_name = 'client', email_address = null, phone = null,
      time_zone = null, language = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = who
  where c.business_id = business and c.client_id = client;

  update calendar c
  set note = null, change_note = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = who
  where c.business_id = business and c.client_id = client;
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('calendar', touched);

  update invitation i
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = who
  where i.business_id = business and i.client_id = client;
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('invitation', touched);

  update recall r
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = who
  where r.business_id = business and r.client_id = client;
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('recall', touched);

  update disclaimer d
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = who
  where d.business_id = business and d.client_id = client;
  get diagnostics touched = row_count;
  return counts || jsonb_build_object('disclaimer', touched);
end $$;
