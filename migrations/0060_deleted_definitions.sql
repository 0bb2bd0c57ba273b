-- A paused definition is listed and can be switched on again; a deleted one is listed nowhere.
-- Until now both were `active = false`: what is inactive today counts as deleted, as it was answered.
alter table event_definition add column deleted_date timestamptz;
update event_definition set deleted_date = modified_date where not active;
alter table event_definition add constraint deleted_is_inactive
  check (deleted_date is null or not active);
