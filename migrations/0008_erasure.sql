-- Erasing a client on request. Personal data is overwritten in place, so that counts stay as they were.
-- Only the owner of the tables may change the audit and final triggers, so these functions run as the
-- owner. Each step is a short transaction that can be repeated: an interrupted erasure is completed by
-- running it again. The audit is the record of former names and addresses, so it is overwritten last.
-- `enable_seqscan = off` makes PostgreSQL look up the rows of the client also in a small table.

-- Every address and name that the client has had.
create function former_values_of_client(business bigint, client bigint, out addresses text[], out words text[])
language sql stable set search_path = public set enable_seqscan = off as $$
  select coalesce(array_agg(distinct lower(address)) filter (where address is not null), '{}'),
         coalesce(array_agg(distinct word) filter (where length(word) > 1), '{}')
  from (select entry ->> 'email_address' as address,
               unnest(array[lower(entry ->> 'email_address'), entry ->> 'email_address', entry ->> 'phone',
                            entry ->> 'first_name', entry ->> 'last_name']) as word
        from (select unnest(array[a.before, a.after]) as entry from audit a
              where a.business_id = business and a.object = 'client' and a.id = client::text) entries
        where (entry ->> 'first_name', entry ->> 'last_name') is distinct from ('Erased', 'client')
        union all
        select e.to_address, lower(e.to_address) from email e
        where e.business_id = business and e.client_id = client and e.recipient_key = 'client ' || client
          and e.to_address <> 'erased@erased.invalid') former
$$;

create function objects_of_client(business bigint, client bigint)
returns table (object_type text, object_id bigint, object_uuid text)
language sql stable set search_path = public set enable_seqscan = off as $$
  select 'CALENDAR', calendar_id, null from calendar c where c.business_id = business and c.client_id = client
  union all
  select 'RECALL', recall_id, null from recall r where r.business_id = business and r.client_id = client
  union all
  select 'DISCLAIMER', disclaimer_id, null from disclaimer d where d.business_id = business and d.client_id = client
  union all
  select 'INVITATION', null, invitation_uuid from invitation i where i.business_id = business and i.client_id = client
$$;

-- Step 1: the client and its objects. Returns how many rows of each table were overwritten; null if
-- there is no such client. The locks wait for workers that are writing mails with the former values.
create function erase_client(business bigint, client bigint, moment timestamptz) returns jsonb
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  username text := app_user();
  counts jsonb := '{}';
  overwritten bigint;
begin
  perform from public.client c where c.business_id = business and c.client_id = client for no key update;
  if not found then return null; end if;
  perform from calendar c where c.business_id = business and c.client_id = client
  order by calendar_id for no key update;
  perform from class_schedule s where s.business_id = business and s.client_id_list @> array[client]
  order by class_schedule_id for no key update;
  perform from disclaimer d where d.business_id = business and d.client_id = client
  order by disclaimer_id for no key update;
  perform from invitation i where i.business_id = business and i.client_id = client
  order by invitation_uuid for no key update;
  perform from recall r where r.business_id = business and r.client_id = client
  order by recall_id for no key update;

  delete from client_word w where w.business_id = business and w.client_id = client;
  update public.client c
  set first_name = 'Erased', last_name = 'client', email_address = null, phone = null,
      time_zone = null, language = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = username
  where c.business_id = business and c.client_id = client
    and (c.first_name, c.last_name, c.email_address, c.phone, c.time_zone, c.language, c.tags, c.external_id)
      is distinct from ('Erased', 'client', null, null, null, null, '{}'::jsonb, null);

  update calendar c
  set note = null, change_note = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = username
  where c.business_id = business and c.client_id = client
    and (c.note, c.change_note, c.tags, c.external_id) is distinct from (null, null, '{}'::jsonb, null);
  get diagnostics overwritten = row_count;
  counts := counts || jsonb_build_object('calendar', overwritten);

  update invitation i
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = username
  where i.business_id = business and i.client_id = client
    and (i.tags, i.external_id) is distinct from ('{}'::jsonb, null);
  get diagnostics overwritten = row_count;
  counts := counts || jsonb_build_object('invitation', overwritten);

  update recall r
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = username
  where r.business_id = business and r.client_id = client
    and (r.tags, r.external_id) is distinct from ('{}'::jsonb, null);
  get diagnostics overwritten = row_count;
  counts := counts || jsonb_build_object('recall', overwritten);

  update disclaimer d
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = username
  where d.business_id = business and d.client_id = client
    and (d.tags, d.external_id) is distinct from ('{}'::jsonb, null);
  get diagnostics overwritten = row_count;
  return counts || jsonb_build_object('disclaimer', overwritten);
end $$;

-- Step 2: a page of the business's mails. Overwrites those to the client and those about its objects,
-- such as mails to staff. Returns the last mail of the page; null after the last page.
-- Triggers are locked before mails (docs/engine.md, lock order).
create function erase_client_mails(business bigint, client bigint, after_id bigint, page int, moment timestamptz,
                                   out last_id bigint, out mails bigint, out triggers bigint)
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  former text[];
  ids bigint[];
  trigger_ids bigint[];
  uncertain bigint[];
begin
  select max(email_id) into last_id
  from (select email_id from email
        where business_id = business and email_id > after_id order by email_id limit page) read;
  if last_id is null then return; end if;
  select v.addresses into former from former_values_of_client(business, client) v;
  select coalesce(array_agg(e.email_id), '{}'),
         coalesce(array_agg(distinct e.event_trigger_id) filter (where e.event_trigger_id is not null), '{}')
  into ids, trigger_ids
  from email e
  where e.business_id = business and e.email_id > after_id and e.email_id <= last_id
    and (e.client_id = client or lower(e.to_address) = any (former)
         or (e.object_type, e.object_id) in (select object_type, object_id from objects_of_client(business, client))
         or (e.object_type, e.object_uuid) in (select object_type, object_uuid from objects_of_client(business, client)))
    and (e.subject <> 'Erased' or e.html is not null or e.text is not null or e.message is not null
         or e.next_attempt_time is not null);

  perform from event_trigger t where t.business_id = business and t.event_trigger_id = any (trigger_ids)
  order by t.event_trigger_id for no key update;
  -- A worker that has claimed one of these mails finds its claim gone and does not end the message.
  -- The mail server may already have those whose message it ended (see takeOverEmails).
  with gone as (
    delete from email_queue q where q.business_id = business and q.email_id = any (ids)
    returning q.email_id, q.status = 'UNCERTAIN' or q.message_ended
      or q.worker is not null and q.epoch is distinct from (select epoch from server_epoch) as may_be_sent
  )
  select coalesce(array_agg(email_id) filter (where may_be_sent), '{}') into uncertain from gone;
  update email e
  set to_address = case when lower(e.to_address) = any (former) or e.recipient_key = 'client ' || client
                        then 'erased@erased.invalid' else e.to_address end,
      subject = 'Erased', html = null, text = null, message = null,
      status_reason = case when e.status_reason is not null or e.email_id = any (uncertain) then 'erased' end,
      attempts = (select coalesce(jsonb_agg(one || case when one ->> 'reply' is null then '{}'::jsonb
                                                        else '{"reply": "erased"}' end), '[]')
                  from jsonb_array_elements(e.attempts) one),
      -- A mail that has not been sent is never sent.
      status = case when e.email_id = any (uncertain) then 'FAILED'
                    when e.status in ('QUEUED', 'RETRYING', 'UNCERTAIN') then 'CANCELLED' else e.status end,
      next_attempt_time = null
  where e.business_id = business and e.email_id = any (ids);
  get diagnostics mails = row_count;

  update event_trigger t
  set status_reason = 'erased'
  where t.business_id = business and t.event_trigger_id = any (trigger_ids) and t.status_reason is not null
    and t.status_reason <> 'erased' and (t.status = 'FAILED' or position('@' in t.status_reason) > 0);
  get diagnostics triggers = row_count;
  -- No worker ends a trigger whose last mail was cancelled here. If its object moved, the replan loop
  -- ends it and plans it again.
  update event_trigger t
  set status = case when failed or t.status_reason is not null then 'FAILED'
                    when sent then 'COMPLETED' else 'CANCELLED' end,
      status_reason = case when failed or t.status_reason is not null or not sent then 'erased' end,
      completed_time = case when sent and not failed and t.status_reason is null then moment end,
      modified_date = moment, modified_user = 'SYSTEM'
  from (select e.event_trigger_id, bool_or(e.next_attempt_time is not null) as is_queued,
               bool_or(e.status = 'FAILED') as failed, bool_or(e.status in ('SENT', 'CAPTURED')) as sent
        from email e
        where e.business_id = business and e.event_trigger_id = any (trigger_ids)
        group by e.event_trigger_id) mails
  where t.business_id = business and t.event_trigger_id = mails.event_trigger_id
    and t.status = 'RUNNING' and t.replan_since is null and not is_queued;
end $$;

-- Step 3: errors and reasons of triggers, suppressed addresses, stored answers and printed reports.
create function erase_client_traces(business bigint, client bigint) returns jsonb
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  former record;
  pending bigint;
  ended_ids bigint[];
  ended bigint;
  suppressions bigint;
begin
  select * into former from former_values_of_client(business, client);

  -- Pending triggers before finished ones, each in the order of their ids (docs/engine.md, lock order).
  update pending_trigger p set last_error = 'erased'
  where p.business_id = business and p.event_trigger_id = any (array(
    select w.event_trigger_id from pending_trigger w
    where w.business_id = business and w.last_error is not null and w.last_error <> 'erased'
      and exists (select from objects_of_client(business, client) o
                  where o.object_type = w.object_type
                    and (o.object_id = w.object_id or o.object_uuid = w.object_uuid))
    order by w.event_trigger_id for update));
  get diagnostics pending = row_count;

  -- Each object by the two indexes that together contain all of its triggers.
  select coalesce(array_agg(about.event_trigger_id), '{}') into ended_ids
  from objects_of_client(business, client) o cross join lateral (
    select event_trigger_id from event_trigger x
    where x.business_id = business and x.object_id = o.object_id and x.object_uuid is null
      and x.object_type = o.object_type and x.status <> 'CANCELLED' and x.occurrence is null
    union all
    select event_trigger_id from event_trigger x
    where x.business_id = business and x.object_id = o.object_id and x.object_uuid is null
      and x.object_type = o.object_type and (x.status = 'CANCELLED' or x.occurrence is not null)
    union all
    select event_trigger_id from event_trigger x
    where x.business_id = business and x.object_id is null and x.object_uuid = o.object_uuid
      and x.object_type = o.object_type and x.status <> 'CANCELLED' and x.occurrence is null
    union all
    select event_trigger_id from event_trigger x
    where x.business_id = business and x.object_id is null and x.object_uuid = o.object_uuid
      and x.object_type = o.object_type and (x.status = 'CANCELLED' or x.occurrence is not null)) about;
  perform from event_trigger t where t.business_id = business and t.event_trigger_id = any (ended_ids)
    and t.status_reason is not null
  order by t.event_trigger_id for no key update;
  update event_trigger t
  set status_reason = 'erased'
  where t.business_id = business and t.event_trigger_id = any (ended_ids)
    and t.status_reason is not null and t.status_reason <> 'erased'
    and (t.status = 'FAILED' or position('@' in t.status_reason) > 0);
  get diagnostics ended = row_count;

  -- Unless another client has the same address, such as a parent with a child.
  update suppression s
  set email_address = 'erased-' || client || '-' || md5(s.email_address || random()) || '@erased.invalid',
      detail = null
  where s.business_id = business and s.email_address = any (former.addresses)
    and not exists (select from public.client c
                    where c.business_id = business and c.client_id <> client
                      and lower(c.email_address) = s.email_address);
  get diagnostics suppressions = row_count;

  delete from idempotency_key k
  where k.business_id = business
    and (k.answer ~ ('"clientId":' || client || '\M')
         or exists (select from unnest(former.words) word where position(word in k.answer) > 0));
  delete from report_run r where r.business_id = business;
  return jsonb_build_object('eventTrigger', pending + ended, 'suppression', suppressions);
end $$;

-- What an audit entry says of an erased client, or of one of its objects.
create function erase_audit_row(object text, "row" jsonb) returns jsonb language sql immutable
return case
  when "row" is null then null
  when object = 'client' then "row" || '{"first_name": "Erased", "last_name": "client",
    "email_address": null, "phone": null, "time_zone": null, "language": null, "tags": {}, "external_id": null}'
  when object = 'calendar' then "row" || '{"note": null, "change_note": null, "tags": {}, "external_id": null}'
  else "row" || '{"tags": {}, "external_id": null}'
end;

-- Step 4: a page of the audit. Overwrites all entries of every object that has ever belonged to the
-- client. Returns the last entry of the page; null after the last page.
create function erase_client_audit(business bigint, client bigint, after_id bigint, page int,
                                   out last_id bigint, out overwritten bigint)
language plpgsql security definer set search_path = public as $$
begin
  select max(audit_id) into last_id
  from (select audit_id from audit
        where business_id = business and audit_id > after_id order by audit_id limit page) read;
  update audit a
  set before = erase_audit_row(a.object, a.before), after = erase_audit_row(a.object, a.after)
  where a.business_id = business and a.audit_id > after_id and a.audit_id <= last_id
    and a.object in ('client', 'calendar', 'invitation', 'recall', 'disclaimer')
    -- Looked up one by one: joined, a page would read the whole audit of the business.
    and (select true from audit p
         where (p.business_id, p.object, p.id) = (a.business_id, a.object, a.id)
           and client::text in (p.after ->> 'client_id', p.before ->> 'client_id') limit 1);
  get diagnostics overwritten = row_count;
end $$;

revoke execute on function former_values_of_client, objects_of_client, erase_client, erase_client_mails,
  erase_client_traces, erase_client_audit from public;
grant execute on function erase_client, erase_client_mails, erase_client_traces, erase_client_audit
  to bellwether_operator;
