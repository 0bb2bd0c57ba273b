-- Answers that clients give by the links in mails: to appointments and classes, and signatures of forms.

alter table calendar
  add previous_start_time timestamptz,  -- before the last move
  add answered_time       timestamptz,  -- when its client last answered by a link
  add answer_note         text;         -- why the client cancelled, in their words

alter table class_schedule
  add previous_start_time      timestamptz,
  add confirmed_client_id_list bigint[] not null default '{}',  -- students who confirmed by a link
  add answered_time            timestamptz,
  add answered_client_id       bigint,                          -- the student who answered last
  add foreign key (business_id, answered_client_id) references client;
create trigger check_confirmed_client_id_list before insert or update of confirmed_client_id_list on class_schedule
  for each row execute function check_array_references('confirmed_client_id_list', 'client', 'client_id');

alter table disclaimer
  add signed_name text,
  add signed_time timestamptz,
  add signed_text text;  -- the form as the client read it

-- A definition can wait for the answer of a client.
alter table event_definition drop constraint event_definition_changes_check;
alter table event_definition add constraint event_definition_changes_check check (changes <@ array[
  'TIME', 'STAFF', 'LOCATION', 'SERVICE', 'CLIENT', 'STATUS', 'STUDENTS', 'EXPIRY', 'ANSWER']);

-- What an erased client answered is overwritten with the rest.
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
  set note = null, change_note = null, answer_note = null, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = username
  where c.business_id = business and c.client_id = client
    and (c.note, c.change_note, c.answer_note, c.tags, c.external_id)
      is distinct from (null, null, null, '{}'::jsonb, null);
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
  set signed_name = case when d.signed_name is not null then 'Erased' end, tags = '{}', external_id = null,
      version = version + 1, modified_date = moment, modified_user = username
  where d.business_id = business and d.client_id = client
    and (coalesce(d.signed_name, 'Erased'), d.tags, d.external_id)
      is distinct from ('Erased', '{}'::jsonb, null);
  get diagnostics overwritten = row_count;
  return counts || jsonb_build_object('disclaimer', overwritten);
end $$;

create or replace function erase_audit_row(object text, "row" jsonb) returns jsonb language sql immutable
return case
  when "row" is null then null
  when object = 'client' then "row" || '{"first_name": "Erased", "last_name": "client",
    "email_address": null, "phone": null, "time_zone": null, "language": null, "tags": {}, "external_id": null}'
  when object = 'calendar' then "row" || '{"note": null, "change_note": null, "answer_note": null, "tags": {}, "external_id": null}'
  when object = 'disclaimer' and "row" ->> 'signed_name' is not null
    then "row" || '{"signed_name": "Erased", "tags": {}, "external_id": null}'
  else "row" || '{"tags": {}, "external_id": null}'
end;
