-- Every filter of the list of mails finds its rows by an index, in the order in which they are listed.
create index email_by_status on email (business_id, status, created_date);
create index email_by_template on email (business_id, email_template_id, created_date);
-- Mails that wait, by business: the herd of one does not hold up the others.
create index email_due_in_turn on email (business_id, next_attempt_time) where next_attempt_time is not null;
