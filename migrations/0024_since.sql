-- Since when a definition asks for what is not yet planned whole; null once it is. However often its
-- plan is interrupted or asked for again, what comes due meanwhile is late, not lost.
alter table event_definition add column asked_since timestamptz;
update event_definition set asked_since = modified_date
where planned_version >= 0 and planned_version < version;

drop trigger audit_insert on event_definition;
drop trigger audit_update on event_definition;
call audited('event_definition', 'eventDefinition', 'event_defn_id', 'planned_version,asked_since');

-- Since when the object of a running trigger asks for another time: it is counted from then when it
-- can be planned at last, however long the worker, or the mail server, takes.
alter table event_trigger add column replan_since timestamptz;
