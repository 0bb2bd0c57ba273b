-- By which rules about clock changes the pending triggers were last planned, of all businesses.
create table time_zone_data (
  only_one      boolean primary key default true check (only_one),
  version       text not null,
  modified_date timestamptz not null
);
call wall('time_zone_data', '', 'select, insert, update');
