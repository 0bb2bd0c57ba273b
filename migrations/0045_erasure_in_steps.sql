-- Erasing a client runs in steps, each a short transaction that may be repeated: an erasure that was
-- interrupted is completed by running it again (docs/decisions/0121). The audit of the client is the
-- record of its former names and addresses, so it is overwritten last.
drop function erase_client(bigint, bigint, timestamptz);

-- Every address and name that the client ever had here.
create function former_words_of_client(business bigint, client bigint, out addresses text[], out words text[])
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
          and e.to_address <> 'erased@erased.invalid') said
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

-- First step: the client and its objects. Returns how many rows of each table were overwritten; null if
-- there is no such client. The locks wait for workers that are writing mails with the former values.
create function erase_client(business bigint, client bigint, moment timestamptz) returns jsonb
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  who text := app_user();
  counts jsonb := '{}';
  touched bigint;
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
      version = version + 1, modified_date = moment, modified_user = who
  where c.business_id = business and c.client_id = client
    and (c.first_name, c.last_name, c.email_address, c.phone, c.time_zone, c.language, c.tags, c.external_id)
      is distinct from ('Erased', 'client', null, null, null, null, '{}'::jsonb, null);

  update calendar c
  set note = null, change_note = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = who
  where c.business_id = business and c.client_id = client
    and (c.note, c.change_note, c.tags, c.external_id) is distinct from (null, null, '{}'::jsonb, null);
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('calendar', touched);

  update invitation i
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = who
  where i.business_id = business and i.client_id = client
    and (i.tags, i.external_id) is distinct from ('{}'::jsonb, null);
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('invitation', touched);

  update recall r
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = who
  where r.business_id = business and r.client_id = client
    and (r.tags, r.external_id) is distinct from ('{}'::jsonb, null);
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('recall', touched);

  update disclaimer d
  set tags = '{}', external_id = null, version = version + 1, modified_date = moment, modified_user = who
  where d.business_id = business and d.client_id = client
    and (d.tags, d.external_id) is distinct from ('{}'::jsonb, null);
  get diagnostics touched = row_count;
  return counts || jsonb_build_object('disclaimer', touched);
end $$;

-- Second step: a page of the business's mails. Overwrites those to the client and those about its
-- objects, such as mails to staff. Returns the last mail of the page, or null after the last page.
-- Triggers are locked before mails (docs/engine.md, lock order).
create function erase_client_mails(business bigint, client bigint, after_id bigint, page int, moment timestamptz,
                                   out last_id bigint, out mails bigint, out triggers bigint)
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  former text[];
  ids bigint[];
  trigger_ids bigint[];
begin
  select max(email_id) into last_id
  from (select email_id from email
        where business_id = business and email_id > after_id order by email_id limit page) read;
  if last_id is null then return; end if;
  select w.addresses into former from former_words_of_client(business, client) w;
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
  -- A worker that has one of these mails in hand finds its claim gone and does not end the message.
  delete from sending s where s.business_id = business and s.email_id = any (ids);
  update email e
  set to_address = case when lower(e.to_address) = any (former) or e.recipient_key = 'client ' || client
                        then 'erased@erased.invalid' else e.to_address end,
      subject = 'Erased', html = null, text = null, message = null,
      status_reason = case when e.status_reason is not null then 'erased' end,
      attempts = (select coalesce(jsonb_agg(one || case when one ->> 'reply' is null then '{}'::jsonb
                                                        else '{"reply": "erased"}' end), '[]')
                  from jsonb_array_elements(e.attempts) one),
      -- A mail that has not been sent is never sent.
      status = case when e.status in ('QUEUED', 'RETRYING', 'UNCERTAIN') then 'CANCELLED' else e.status end,
      next_attempt_time = null
  where e.business_id = business and e.email_id = any (ids);
  get diagnostics mails = row_count;

  update event_trigger t
  set status_reason = 'erased'
  where t.business_id = business and t.event_trigger_id = any (trigger_ids) and t.status_reason is not null
    and t.status_reason <> 'erased' and (t.status = 'FAILED' or position('@' in t.status_reason) > 0);
  get diagnostics triggers = row_count;
  -- No worker ends a trigger whose last mail was cancelled here.
  update event_trigger t
  set status = case when failed or t.status_reason is not null then 'FAILED'
                    when sent then 'COMPLETED' else 'CANCELLED' end,
      status_reason = case when failed or t.status_reason is not null or not sent then 'erased' end,
      completed_time = case when sent and not failed and t.status_reason is null then moment end,
      modified_date = moment, modified_user = 'SYSTEM'
  from (select e.event_trigger_id, bool_or(e.next_attempt_time is not null) as waits,
               bool_or(e.status = 'FAILED') as failed, bool_or(e.status in ('SENT', 'CAPTURED')) as sent
        from email e
        where e.business_id = business and e.event_trigger_id = any (trigger_ids)
        group by e.event_trigger_id) mails
  where t.business_id = business and t.event_trigger_id = mails.event_trigger_id
    and t.status = 'RUNNING' and not waits;
end $$;

-- Third step: reasons of triggers, suppressed addresses, stored answers and printed reports.
create function erase_client_traces(business bigint, client bigint) returns jsonb
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  former record;
  touched bigint;
  counts jsonb := '{}';
begin
  select * into former from former_words_of_client(business, client);
  -- Each object by the two indexes that together hold all of its triggers.
  update event_trigger t
  set status_reason = 'erased'
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
      and x.object_type = o.object_type and (x.status = 'CANCELLED' or x.occurrence is not null)) about
  where t.business_id = business and t.event_trigger_id = about.event_trigger_id
    and t.status_reason is not null and t.status_reason <> 'erased'
    and (t.status = 'FAILED' or position('@' in t.status_reason) > 0);
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('eventTrigger', touched);

  -- Unless another client has the same address, such as a parent with a child.
  update suppression s
  set email_address = 'erased-' || client || '-' || md5(s.email_address || random()) || '@erased.invalid',
      detail = null
  where s.business_id = business and s.email_address = any (former.addresses)
    and not exists (select from public.client c
                    where c.business_id = business and c.client_id <> client
                      and lower(c.email_address) = s.email_address);
  get diagnostics touched = row_count;
  counts := counts || jsonb_build_object('suppression', touched);

  delete from idempotency_key k
  where k.business_id = business
    and (k.answer ~ ('"clientId":' || client || '\M')
         or exists (select from unnest(former.words) word where position(word in k.answer) > 0));
  delete from report_run r where r.business_id = business;
  return counts;
end $$;

revoke execute on function former_words_of_client, objects_of_client, erase_client, erase_client_mails,
  erase_client_traces from public;
grant execute on function erase_client, erase_client_mails, erase_client_traces to bellwether_operator;
