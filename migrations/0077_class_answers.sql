-- A class keeps the last answer of each student by a link, not only that of the student who answered last.

alter table class_schedule add answers jsonb not null default '[]';  -- [{ clientId, answer, time, note }], the latest last
-- No person changed these classes: no audit, no new versions.
alter table class_schedule disable trigger user;
update class_schedule
set answers = jsonb_build_array(jsonb_build_object(
      'clientId', answered_client_id,
      'answer', case when answered_client_id = any (confirmed_client_id_list) then 'CONFIRMED'
                     when answered_client_id = any (client_id_list) then 'RETURNED'
                     else 'CANCELLED' end,
      'time', floor(extract(epoch from coalesce(answered_time, modified_date)) * 1000),
      'note', answer_note))
where answered_client_id is not null;
alter table class_schedule enable trigger user;
drop index class_schedule_answered_by;
alter table class_schedule drop answered_client_id, drop answered_time, drop answer_note;
create index class_schedule_answered_by on class_schedule using gin (answers jsonb_path_ops);
comment on index class_schedule_answered_by is 'The classes of which erase_client overwrites the answer of a student';

-- Whether a row of class_schedule in the audit has an answer of the client, also one written before this migration.
create function has_class_answer("row" jsonb, client bigint) returns boolean
language sql immutable
return coalesce("row" ->> 'answered_client_id' = client::text, false)
  or coalesce("row" -> 'answers' @> jsonb_build_array(jsonb_build_object('clientId', client)), false);

create function erase_class_answer(answers jsonb, client bigint) returns jsonb
language sql immutable
return (select jsonb_agg(case when one -> 'clientId' = to_jsonb(client) then one || '{"note": null}' else one end
                         order by place)
        from jsonb_array_elements(answers) with ordinality as a (one, place));

create function erase_class_row("row" jsonb, client bigint) returns jsonb
language sql immutable
return case
  when not has_class_answer("row", client) then "row"
  when "row" ? 'answers' then "row" || jsonb_build_object('answers', erase_class_answer("row" -> 'answers', client))
  else "row" || '{"answer_note": null}' end;

-- The classes that a client has ever answered: mails to staff name them, and the audit has their notes.
create or replace function classes_answered_by(business bigint, client bigint) returns setof bigint
language sql stable set search_path = public set enable_seqscan = off as $$
  select class_schedule_id from class_schedule s where s.business_id = business and s.answers @> jsonb_build_array(jsonb_build_object('clientId', client))
  union
  select a.id::bigint from audit a
  where a.business_id = business and a.object = 'classSchedule'
    and (has_class_answer(a.before, client) or has_class_answer(a.after, client))
$$;

-- As before, with the answers of all students.
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
    and (s.client_id_list @> array[client] or s.answers @> jsonb_build_array(jsonb_build_object('clientId', client)))
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
  set answers = erase_class_answer(s.answers, client),
      version = version + 1, modified_date = moment, modified_user = username
  where s.business_id = business and s.answers @> jsonb_build_array(jsonb_build_object('clientId', client))
    and s.answers <> erase_class_answer(s.answers, client);
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

-- As before, with the answers of all students. An entry of a class keeps what other students wrote.
create or replace function erase_client_audit(business bigint, client bigint, after_id bigint, page int,
                                   out last_id bigint, out overwritten bigint)
language plpgsql security definer set search_path = public as $$
declare
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
  set before = erase_class_row(a.before, client), after = erase_class_row(a.after, client)
  where a.business_id = business and a.audit_id > after_id and a.audit_id <= last_id
    and a.object = 'classSchedule'
    and (has_class_answer(a.before, client) or has_class_answer(a.after, client));
  get diagnostics notes = row_count;
  overwritten := overwritten + notes;
end $$;
