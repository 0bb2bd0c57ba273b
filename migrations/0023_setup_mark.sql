-- Every save goes by things that few ever change: definitions, statuses, the business's clock, its
-- places, staff and services. A node keeps them in memory as long as this mark is the same; it is
-- read in the transaction of the save, and becomes another with each change, in that one's.
create table setup_mark (
  business_id bigint primary key references business,
  mark        uuid not null default gen_random_uuid()
);
call wall('setup_mark', 'select');

create function change_setup_mark() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  insert into setup_mark (business_id)
  select distinct business_id from changed_rows order by business_id
  on conflict (business_id) do update set mark = excluded.mark;
  return null;
end $$;

do $$
declare
  target text;
begin
  foreach target in array array['business', 'event_definition', 'status', 'location', 'professional', 'reason'] loop
    execute format('create trigger setup_grown after insert on %I referencing new table as changed_rows
                    for each statement execute function change_setup_mark()', target);
    execute format('create trigger setup_changed after update on %I referencing new table as changed_rows
                    for each statement execute function change_setup_mark()', target);
  end loop;
end $$;

insert into setup_mark (business_id) select business_id from business;
