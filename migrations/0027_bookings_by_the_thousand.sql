-- Bookings and plans write rows by the thousand, and all who book at once name the same places,
-- services and definitions. A foreign key asks for each row by itself whether what it names is there,
-- and locks it: a quarter of what an appointment and a trigger cost. None of these is ever deleted
-- (no role may), so it is enough to ask when they are written, once for all rows of a statement.
-- Arguments: the table, a column, the table whose id it is, and so on.
create procedure ask_once(target regclass, variadic named text[])
language plpgsql as $$
declare
  unknown text;
  event text;
begin
  select string_agg(format('n.%1$I is not null and (select true from %2$I r
           where (r.business_id, r.%1$I) = (n.business_id, n.%1$I)) is null', named[i], named[i + 1]), ' or ')
  into unknown from generate_series(1, cardinality(named), 2) i;
  -- With a plan that is kept, and that reads by the key even if it was made while a table was small.
  execute format($f$
    create function %I() returns trigger
    language plpgsql security definer set search_path = public set enable_seqscan = off as $body$
    begin
      if exists (select from written n where %s) then
        raise exception '%% names what its business does not have', tg_table_name
          using errcode = 'foreign_key_violation', constraint = tg_name;
      end if;
      return null;
    end $body$ $f$, target || '_names', unknown);
  -- They need no arguments; who reads the schema finds there what is asked for.
  foreach event in array '{insert,update}'::text[] loop
    execute format('create trigger %I after %s on %s referencing new table as written
                    for each statement execute function %I(%s)',
                   target || '_names_on_' || event, event, target, target || '_names',
                   (select string_agg(quote_literal(word), ', ') from unnest(named) word));
  end loop;
end $$;

alter table calendar
  drop constraint calendar_business_id_client_id_fkey,
  drop constraint calendar_business_id_professional_id_fkey,
  drop constraint calendar_business_id_reason_id_fkey,
  drop constraint calendar_business_id_location_id_fkey;
call ask_once('calendar', 'client_id', 'client', 'professional_id', 'professional',
              'reason_id', 'reason', 'location_id', 'location');

alter table event_trigger drop constraint event_trigger_business_id_event_defn_id_fkey;
call ask_once('event_trigger', 'event_defn_id', 'event_definition');
-- Which definition a trigger is of never changes, however often the trigger does.
drop trigger event_trigger_names_on_update on event_trigger;
create function refuse_other_definition() returns trigger language plpgsql as $$
begin
  raise exception 'event trigger % stays that of its definition', old.event_trigger_id;
end $$;
create trigger same_definition before update of event_defn_id on event_trigger for each row
  when (old.event_defn_id <> new.event_defn_id) execute function refuse_other_definition();
