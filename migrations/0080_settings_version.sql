-- A node caches the settings of a business (src/store/settings.ts) as long as this version is the
-- same. It is read in the transaction that uses them and replaced in each transaction that changes them.
alter table setup_mark rename to settings_version;
alter table settings_version rename column mark to version;
alter table settings_version rename constraint setup_mark_pkey to settings_version_pkey;
alter table settings_version rename constraint setup_mark_business_id_fkey to settings_version_business_id_fkey;

alter function change_setup_mark() rename to change_settings_version;
create or replace function change_settings_version() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  insert into settings_version (business_id)
  select distinct business_id from changed_rows order by business_id
  on conflict (business_id) do update set version = excluded.version;
  return null;
end $$;

do $$
declare
  target text;
begin
  foreach target in array array['business', 'event_definition', 'status', 'location', 'professional', 'reason'] loop
    execute format('alter trigger setup_grown on %I rename to settings_inserted', target);
    execute format('alter trigger setup_changed on %I rename to settings_updated', target);
  end loop;
end $$;
