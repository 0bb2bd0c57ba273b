-- Triggers and mails wait in queues of one shape: a primary key, the worker that claimed the row,
-- failed attempts, the time of the next one. A lease belongs to a worker, never to a row.
-- No node runs during a migration: every claim is released.
update pending_trigger
set attempts = case when attempts = 1 then 0 else attempts end, worker = null
where worker is not null;
alter table pending_trigger add column next_attempt_time timestamptz;
update pending_trigger set next_attempt_time = scheduled_time;
alter table pending_trigger
  alter column next_attempt_time set not null,
  add primary key (business_id, event_trigger_id),
  add constraint attempt_not_early check (next_attempt_time >= scheduled_time);
drop index pending_trigger_by_id, pending_trigger_due;
create index pending_trigger_due on pending_trigger (next_attempt_time);
-- Triggers with failed attempts are claimed one at a time.
create index pending_trigger_failed on pending_trigger (next_attempt_time) where attempts > 0;

alter table email_queue drop constraint email_queue_claim;
alter table email_queue add column attempts integer not null default 0;
-- What was being sent may have been sent: the engine takes it over as it did before.
insert into worker_lease (worker, lease_until, latest)
select worker, min(lease_until), min(lease_until) from email_queue where worker is not null group by worker
on conflict do nothing;
update email_queue q set attempts = e.attempt_count
from email e where (e.business_id, e.email_id) = (q.business_id, q.email_id);
alter table email_queue drop column lease_until,
  add constraint email_queue_claim check (worker is not null or not message_ended);
alter table email drop column attempt_count;
alter table worker_lease drop column latest;
