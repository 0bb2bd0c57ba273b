-- What waits to be sent stands in the narrow table from the moment in which it is made until it has
-- its answer: when it is next tried, and who has it in hand. A mail's own row is written once, with its
-- indexes, and changes in place when the answer comes: nothing that an index holds is another then.
alter table sending
  add next_attempt_time timestamptz,
  alter worker drop not null,
  alter lease_until drop not null;
update sending s set next_attempt_time = coalesce(e.next_attempt_time, s.lease_until)
from email e where (e.business_id, e.email_id) = (s.business_id, s.email_id);
insert into sending (business_id, email_id, next_attempt_time)
select business_id, email_id, next_attempt_time from email where next_attempt_time is not null
on conflict do nothing;
alter table sending
  alter next_attempt_time set not null,
  add constraint sending_in_hand check ((worker is null) = (lease_until is null) and (worker is not null or not message_ended));
alter table sending set (fillfactor = 30);
create index sending_due on sending (next_attempt_time);
-- By business: the herd of one does not hold up the others.
create index sending_due_in_turn on sending (business_id, next_attempt_time);
-- A mail that is sent again, or for a test, is written by a request.
grant insert on sending to bellwether_app;
drop index email_due;
drop index email_due_in_turn;

-- The list of one status has its index by what a mail is, or will be if all goes well.
drop index email_by_status;
alter table email
  add outcome text generated always as
    (case when status in ('QUEUED', 'RETRYING', 'UNCERTAIN') then 'SENT' else status end) stored;
create index email_by_status on email (business_id, outcome, created_date, email_template_id);
-- Room for the answer on the page of the mail.
alter table email set (fillfactor = 60);
