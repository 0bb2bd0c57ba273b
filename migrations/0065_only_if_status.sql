-- When a trigger fires, the status of its object must be one of these; empty: any.
alter table event_definition add column only_if_status text[] not null default '{}';
