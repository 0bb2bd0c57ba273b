-- The order in which mails leave after an outage, why a mail was postponed, a mail server that is to be
-- tried at once, and failures that only the operator can fix. How they work: docs/mail.md.

alter table email_queue
  add useful_until timestamptz,     -- the mail is of no use after this time
  add postponed_reason text;        -- why it waits for next_attempt_time; for people

update email_queue q
set useful_until = coalesce(
  (select case when t.anchor_time > t.scheduled_time then t.anchor_time
               else t.scheduled_time + interval '72 hours' end
   from email e join event_trigger t using (business_id, event_trigger_id)
   where (e.business_id, e.email_id) = (q.business_id, q.email_id) and not t.fire_now),
  q.created_date + interval '72 hours');
alter table email_queue alter useful_until set not null;

-- With next_attempt_time as its last column, mails that are not due are skipped without reading their rows.
create index email_queue_by_use on email_queue (business_id, useful_until, next_attempt_time);

alter table mail_server add retry_requested_time timestamptz;  -- a person asked to try it at once

create table operator_problem (
  problem     text primary key,      -- what fails, such as the DKIM key of a domain
  only_business_id bigint references business,  -- the business that it concerns; null: all
  detail      text not null,
  since       timestamptz not null,
  last_time   timestamptz not null
);
comment on table operator_problem is
  'Failures of an installation that only the operator can fix. The work that they stop waits. Deleted when it succeeds again.';
create index operator_problem_of_business on operator_problem (only_business_id);
call secure_table('operator_problem', engine => 'select, insert, update, delete');
