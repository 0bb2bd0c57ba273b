-- Who fired a trigger now, by hand. Null in older rows, where it was not recorded.

alter table pending_trigger add fired_by text;
alter table event_trigger add fired_by text;
