-- Bookings and plans write triggers by the thousand, and all of a plan are of one definition. A foreign
-- key asks for each row by itself whether what it names is there, and locks it. No definition is ever
-- deleted (no role may), so it is enough to ask when triggers are written, once for all of a statement.
alter table event_trigger drop constraint event_trigger_business_id_event_defn_id_fkey;
-- With a plan that is kept, and that reads by the key even if it was made while the table was small.
create function refuse_unknown_definition() returns trigger
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
begin
  if exists (
    select from (select distinct business_id, event_defn_id from written) n
    where (select true from event_definition r
           where (r.business_id, r.event_defn_id) = (n.business_id, n.event_defn_id)) is null
  ) then
    raise exception 'an event trigger names a definition that its business does not have'
      using errcode = 'foreign_key_violation', constraint = tg_name;
  end if;
  return null;
end $$;
create trigger event_trigger_names after insert on event_trigger referencing new table as written
  for each statement execute function refuse_unknown_definition(
    -- As it is looked up, for whoever asks the catalogue.
    'event_defn_id', 'event_definition');

-- Which definition a trigger is of never changes, however often the trigger does.
create function refuse_other_definition() returns trigger language plpgsql as $$
begin
  raise exception 'event trigger % stays that of its definition', old.event_trigger_id;
end $$;
create trigger same_definition before update of event_defn_id on event_trigger for each row
  when (old.event_defn_id <> new.event_defn_id) execute function refuse_other_definition();
