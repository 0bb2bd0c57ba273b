-- A student who cancels by a link may say why. The note is that of `answered_client_id`.

alter table class_schedule add answer_note text;  -- why the student cancelled, in their words
create index class_schedule_answered_by on class_schedule (business_id, answered_client_id)
  where answered_client_id is not null;
comment on index class_schedule_answered_by is 'The classes of which erase_client overwrites the note of a student';

-- The classes that a client has ever answered: mails to staff name them, and the audit has their notes.
create function classes_answered_by(business bigint, client bigint) returns setof bigint
language sql stable set search_path = public set enable_seqscan = off as $$
  select class_schedule_id from class_schedule s where s.business_id = business and s.answered_client_id = client
  union
  select a.id::bigint from audit a
  where a.business_id = business and a.object = 'classSchedule'
    and client::text in (a.before ->> 'answered_client_id', a.after ->> 'answered_client_id')
$$;
revoke execute on function classes_answered_by from public;

-- As before, and the note of a student.
create or replace function erase_client(business bigint, client bigint, moment timestamptz) returns jsonb
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
  perform from class_schedule s where s.business_id = business
    and (s.client_id_list @> array[client] or s.answered_client_id = client)
  order by class_schedule_id for no key update;
  perform from disclaimer d where d.business_id = business and d.client_id = client
  order by disclaimer_id for no key update;
  perform from invitation i where i.business_id = business and i.client_id = client
  order by invitation_uuid for no key update;
  perform from recall r where r.business_id = business and r.client_id = client
  order by recall_id for no key update;

  with erased as (
    delete from feed_match m where m.business_id = business and m.kind = 'client' and m.object_id = client
    returning m.feed_id, m.match_key)
  update feed_entry e
  set state = case when e.state = 'GONE' then 'GONE' else 'SKIPPED' end, reason_code = 'erased',
      reason = 'Its client was erased.', title = null, source = '{}', applied = '{}', decisions = '[]',
      correction = null, person_keys = '{}', is_erased = true
  where e.business_id = business and not e.is_erased
    and (exists (select from erased x where x.feed_id = e.feed_id and e.person_keys @> array[x.match_key])
         or e.object_type = 'CALENDAR' and e.object_id in (
              select c.calendar_id from calendar c where c.business_id = business and c.client_id = client));
  get diagnostics overwritten = row_count;
  counts := counts || jsonb_build_object('feedEntry', overwritten);

  delete from client_word w where w.business_id = business and w.client_id = client;
  update public.client c
  set first_name = 'Erased', last_name = 'client', email_address = null, phone = null,
      time_zone = null, language = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = username
  where c.business_id = business and c.client_id = client
    and (c.first_name, c.last_name, c.email_address, c.phone, c.time_zone, c.language, c.tags, c.external_id)
      is distinct from ('Erased', 'client', null, null, null, null, '{}'::jsonb, null);

  update calendar c
  set note = null, change_note = null, answer_note = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = username
  where c.business_id = business and c.client_id = client
    and (c.note, c.change_note, c.answer_note, c.tags, c.external_id)
      is distinct from (null, null, null, '{}'::jsonb, null);
  get diagnostics overwritten = row_count;
  counts := counts || jsonb_build_object('calendar', overwritten);

  update class_schedule s
  set answer_note = null, version = version + 1, modified_date = moment, modified_user = username
  where s.business_id = business and s.answered_client_id = client and s.answer_note is not null;
  get diagnostics overwritten = row_count;
  counts := counts || jsonb_build_object('classSchedule', overwritten);

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
  set signed_name = case when d.signed_name is not null then 'Erased' end, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = username
  where d.business_id = business and d.client_id = client
    and (coalesce(d.signed_name, 'Erased'), d.tags, d.external_id)
      is distinct from ('Erased', '{}'::jsonb, null);
  get diagnostics overwritten = row_count;
  return counts || jsonb_build_object('disclaimer', overwritten);
end $$;

-- As before, and mails to others about classes that the client answered.
create or replace function erase_client_mails(business bigint, client bigint, after_id bigint, page int, moment timestamptz,
                                   out last_id bigint, out mails bigint, out triggers bigint)
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  former text[];
  classes bigint[];
  ids bigint[];
  trigger_ids bigint[];
  uncertain bigint[];
begin
  select max(email_id) into last_id
  from (select email_id from email
        where business_id = business and email_id > after_id order by email_id limit page) read;
  if last_id is null then return; end if;
  select v.addresses into former from former_values_of_client(business, client) v;
  classes := array(select classes_answered_by(business, client));
  select coalesce(array_agg(e.email_id), '{}'),
         coalesce(array_agg(distinct e.event_trigger_id) filter (where e.event_trigger_id is not null), '{}')
  into ids, trigger_ids
  from email e
  where e.business_id = business and e.email_id > after_id and e.email_id <= last_id
    and (e.client_id = client or lower(e.to_address) = any (former)
         or (e.object_type, e.object_id) in (select object_type, object_id from objects_of_client(business, client))
         or (e.object_type, e.object_uuid) in (select object_type, object_uuid from objects_of_client(business, client))
         or e.client_id is null and e.object_type = 'CLASS_SCHEDULE' and e.object_id = any (classes))
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

-- As before, and the notes of a student. An entry of a class keeps what other students wrote.
create or replace function erase_client_audit(business bigint, client bigint, after_id bigint, page int,
                                   out last_id bigint, out overwritten bigint)
language plpgsql security definer set search_path = public as $$
declare
  note constant jsonb := '{"answer_note": null}';
  notes bigint;
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
  update audit a
  set before = case when a.before ->> 'answered_client_id' = client::text then a.before || note else a.before end,
      after = case when a.after ->> 'answered_client_id' = client::text then a.after || note else a.after end
  where a.business_id = business and a.audit_id > after_id and a.audit_id <= last_id
    and a.object = 'classSchedule'
    and client::text in (a.before ->> 'answered_client_id', a.after ->> 'answered_client_id');
  get diagnostics notes = row_count;
  overwritten := overwritten + notes;
end $$;
