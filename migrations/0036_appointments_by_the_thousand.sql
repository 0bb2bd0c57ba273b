-- A booking wrote its appointment into nine indexes. In the order of time the one that reports read
-- serves lists as well; and only what has an `externalId` is looked for by it.
drop index calendar_by_time;
drop index calendar_business_id_external_id_idx;
create unique index calendar_by_external_id on calendar (business_id, external_id)
  where external_id is not null;

-- When a status moved is read in the order in which it was written, by nobody yet in another.
drop index status_history_of_object, status_history_by_time;

-- A foreign key asks for each row by itself whether what it names is there, and locks it: for the
-- four of an appointment a tenth of a booking. None of what they name is ever deleted (no role may),
-- so it is enough to ask when appointments are written, once for all of a statement.
alter table calendar drop constraint calendar_business_id_client_id_fkey,
  drop constraint calendar_business_id_professional_id_fkey,
  drop constraint calendar_business_id_reason_id_fkey,
  drop constraint calendar_business_id_location_id_fkey;

-- With a plan that is kept, and that reads by the key even if it was made while the tables were small.
create function refuse_unknown_names_of_appointments() returns trigger
language plpgsql security definer
set search_path = public set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  if exists (
    select from (select distinct business_id, client_id, professional_id, reason_id, location_id
                 from written) n
    where (select true from client r
           where r.business_id = n.business_id and r.client_id = n.client_id) is null
       or (select true from professional r
           where r.business_id = n.business_id and r.professional_id = n.professional_id) is null
       or (select true from reason r
           where r.business_id = n.business_id and r.reason_id = n.reason_id) is null
       or (select true from location r
           where r.business_id = n.business_id and r.location_id = n.location_id) is null
  ) then
    raise exception 'an appointment names what its business does not have'
      using errcode = 'foreign_key_violation', constraint = tg_name;
  end if;
  return null;
end $$;
create trigger calendar_names after insert on calendar referencing new table as written
  for each statement execute function refuse_unknown_names_of_appointments(
    -- As it is looked up, for whoever asks the catalogue.
    'client_id', 'client', 'professional_id', 'professional', 'reason_id', 'reason',
    'location_id', 'location');

-- Few appointments ever get another client, member of staff, service or place: those are asked for one
-- by one, and the others not at all.
create function refuse_other_names_of_appointment() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  if not exists (select from client r where (r.business_id, r.client_id) = (new.business_id, new.client_id))
    or not exists (select from professional r
                   where (r.business_id, r.professional_id) = (new.business_id, new.professional_id))
    or not exists (select from reason r where (r.business_id, r.reason_id) = (new.business_id, new.reason_id))
    or not exists (select from location r
                   where (r.business_id, r.location_id) = (new.business_id, new.location_id))
  then
    raise exception 'an appointment names what its business does not have'
      using errcode = 'foreign_key_violation', constraint = tg_name;
  end if;
  return null;
end $$;
create trigger calendar_other_names
  after update of business_id, client_id, professional_id, reason_id, location_id on calendar
  for each row when ((old.business_id, old.client_id, old.professional_id, old.reason_id, old.location_id)
    is distinct from (new.business_id, new.client_id, new.professional_id, new.reason_id, new.location_id))
  execute function refuse_other_names_of_appointment();
