-- A client may ask to be forgotten. What is personal is overwritten where it stands, so that every
-- count stays what it was; only the owner of the tables can do that to the audit and to what is
-- final, and lends the right to these functions alone.

-- Erasure takes the words out of a reason that a mail server wrote, and changes nothing else.
create or replace function refuse_final_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
     and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid)
     and to_jsonb(old) - 'status_reason' = to_jsonb(new) - 'status_reason' then
    return new;
  end if;
  raise exception 'event trigger % is %, which is final', old.event_trigger_id, old.status;
end $$;

-- How many rows of each table were overwritten; null where there is no such client.
create function erase_client(business bigint, client bigint, moment timestamptz) returns jsonb
language plpgsql security definer set search_path = public as $$
declare
  who text := app_user();
  known public.client;
  addresses text[];
  counts jsonb := '{}';
  touched bigint;
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
        status = case when e.status in ('QUEUED', 'SENDING', 'RETRYING', 'UNCERTAIN')
                      then 'CANCELLED' else e.status end,
        next_attempt_time = null, lease_worker = null, lease_until = null
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
                                      'eventTrigger', (select count(*) from reasons))
  into counts;

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

-- What one row of the audit holds of the client, overwritten.
create function erased(object text, kept jsonb) returns jsonb language sql immutable
return case
  when kept is null then null
  when object = 'client' then kept || '{"first_name": "Erased", "last_name": "client",
    "email_address": null, "phone": null, "time_zone": null, "language": null, "tags": {}, "external_id": null}'
  when object = 'calendar' then kept || '{"note": null, "change_note": null, "tags": {}, "external_id": null}'
  else kept || '{"tags": {}, "external_id": null}'
end;

-- A page of the audit; what it had before, and what the erasure itself has just written there.
-- Gives back the last row of the page, or null after the last page.
create function erase_client_audit(business bigint, client bigint, after_id bigint, page int,
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
    and (a.before ->> 'client_id' = client::text or a.after ->> 'client_id' = client::text);
  get diagnostics overwritten = row_count;
end $$;

revoke execute on function erase_client, erase_client_audit from public;
grant execute on function erase_client, erase_client_audit to bellwether_operator;
