-- What a trigger is at, in as few words as its indexes need. While it waits it makes no difference to
-- them whether a worker has it in hand: so a claim changes no column that any index knows, and
-- PostgreSQL writes nothing but the row (docs/decisions/0055).
alter table event_trigger add column stage text not null generated always as (
  case status
    when 'SCHEDULED' then 'waiting'
    when 'RUNNING' then case when lease_worker is null then 'leaving' else 'waiting' end
    when 'FAILED' then 'failed'
    when 'CANCELLED' then 'cancelled'
    else 'done'
  end) stored;
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

-- Each trigger is in one of these three: by time it is looked for in all.
create index event_trigger_due_of_business on event_trigger (business_id, scheduled_time, event_trigger_id)
  where stage = 'waiting';
create index event_trigger_leaving on event_trigger (business_id, scheduled_time, event_trigger_id)
  where stage = 'leaving';
create index event_trigger_by_time on event_trigger (business_id, scheduled_time, event_trigger_id)
  where stage in ('done', 'failed', 'cancelled');
create index event_trigger_due on event_trigger (scheduled_time) where stage = 'waiting';

-- And in one of these two: what stands for an object, each of its moments once, and the rest.
create unique index event_trigger_once_per_anchor
  on event_trigger (business_id, object_id, object_uuid, event_defn_id, anchor_time)
  nulls not distinct where stage <> 'cancelled' and occurrence is null;
create index event_trigger_of_object on event_trigger (business_id, object_id, object_uuid)
  where stage = 'cancelled' or occurrence is not null;

create unique index event_trigger_one_pending on event_trigger (business_id, event_defn_id, object_id, object_uuid)
  nulls not distinct where stage in ('waiting', 'leaving') and occurrence is null;
create index event_trigger_failed on event_trigger (modified_date) where stage = 'failed';
create index event_trigger_late on event_trigger (modified_date)
  where stage in ('done', 'failed') and modified_date - scheduled_time > interval '1 minute';
create index event_trigger_taken_back on event_trigger (business_id, event_defn_id, object_id, object_uuid)
  where stage = 'cancelled' and modified_user <> 'SYSTEM' and occurrence is null;

-- Room on each page for what a claim writes beside what it found.
alter table event_trigger set (fillfactor = 50);

-- Erasing asks whether a trigger is in hand: the same question in the new words.
do $$
begin
  execute replace(pg_get_functiondef('erase_client'::regproc), 't.lease_until is null', 't.lease_worker is null');
end $$;
