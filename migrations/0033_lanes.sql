-- Under which status the indexes file a trigger: one in a worker's hands is RUNNING, and filed as it was.
-- So a claim changes no column that any index knows, and PostgreSQL writes nothing but the row
-- (docs/decisions/0055).
alter table event_trigger add column filed_as text collate "C" not null generated always as (
  case when status = 'RUNNING' and lease_worker is not null then 'SCHEDULED' else status end) stored;
-- Nobody works while the database is migrated: what was in hand is free.
update event_trigger set status = 'SCHEDULED', lease_worker = null, lease_until = null
where status = 'RUNNING' and lease_until is not null;
drop index event_trigger_leased;
alter table event_trigger drop column lease_until,
  add check (status = 'RUNNING' or lease_worker is null);

-- A lease is the lane's, for all that it has in hand, and renewed in one row. A lane of which a trigger
-- is in hand has its row here.
create table lane (
  worker      text primary key,
  lease_until timestamptz not null,
  latest      timestamptz not null  -- none of what it has in hand was due later
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
call wall('lane', '', 'select, insert, update, delete');

drop index event_trigger_due, event_trigger_due_of_business, event_trigger_by_time,
  event_trigger_of_object, event_trigger_one_pending, event_trigger_once_per_anchor,
  event_trigger_failed, event_trigger_late, event_trigger_taken_back;

create index event_trigger_due on event_trigger (scheduled_time) where filed_as = 'SCHEDULED';
-- Whose turn it is, and all lists.
create index event_trigger_by_status on event_trigger (business_id, filed_as, scheduled_time, event_trigger_id);

-- Each is in one of these two: what stands for an object, each of its moments once, and the rest.
create unique index event_trigger_once_per_anchor
  on event_trigger (business_id, object_id, object_uuid, event_defn_id, anchor_time, object_type)
  nulls not distinct where filed_as <> 'CANCELLED' and occurrence is null;
create index event_trigger_of_object on event_trigger (business_id, object_id, object_uuid)
  where filed_as = 'CANCELLED' or occurrence is not null;

create unique index event_trigger_one_pending
  on event_trigger (business_id, event_defn_id, object_id, object_uuid, object_type)
  nulls not distinct where filed_as in ('SCHEDULED', 'RUNNING') and occurrence is null;
create index event_trigger_failed on event_trigger (modified_date) where filed_as = 'FAILED';
create index event_trigger_late on event_trigger (modified_date)
  where filed_as in ('COMPLETED', 'FAILED', 'SKIPPED', 'EXPIRED')
    and modified_date - scheduled_time > interval '1 minute';
create index event_trigger_taken_back on event_trigger (business_id, event_defn_id, object_id, object_uuid)
  where filed_as = 'CANCELLED' and modified_user <> 'SYSTEM' and occurrence is null;

-- Room on each page for what a claim writes beside what it found.
alter table event_trigger set (fillfactor = 50);

-- Erasing asks whether a trigger is in hand: the same question in the new words.
do $$
begin
  execute replace(pg_get_functiondef('erase_client'::regproc), 't.lease_until is null', 't.lease_worker is null');
end $$;
