-- What waits is listed by the queue: its status and its place in the list stand there too, so that a
-- page is cut before any mail is read.
alter table sending
  add status text not null default 'QUEUED' check (status in ('QUEUED', 'RETRYING', 'UNCERTAIN')),
  add created_date timestamptz;
update sending s set status = e.status, created_date = e.created_date
from email e where (e.business_id, e.email_id) = (s.business_id, s.email_id);
alter table sending alter created_date set not null;
