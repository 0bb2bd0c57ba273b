-- What went wrong when a pending trigger last failed, for the list of triggers and for the reason
-- with which the trigger is given up.
alter table waiting add column last_error text;

create or replace view any_trigger with (security_invoker = true) as
select business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id, object_uuid,
       occurrence, anchor_time, scheduled_time,
       case when worker is null then 'SCHEDULED' else 'RUNNING' end as status,
       'last attempt failed: ' || last_error as status_reason,
       null::timestamptz as completed_time, created_date, created_user, modified_date, modified_user
from waiting
union all
select business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id, object_uuid,
       occurrence, anchor_time, scheduled_time, status, status_reason, completed_time, created_date,
       created_user, modified_date, modified_user
from event_trigger where status <> 'CANCELLED' and occurrence is null
union all
select business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id, object_uuid,
       occurrence, anchor_time, scheduled_time, status, status_reason, completed_time, created_date,
       created_user, modified_date, modified_user
from event_trigger where status = 'CANCELLED' or occurrence is not null;

-- Reminders that must be planned again when their last mail has ended. The engine looks for those
-- that a failed plan or a killed node left behind.
create index event_trigger_to_replan on event_trigger (event_trigger_id)
  where status = 'RUNNING' and replan_since is not null;
