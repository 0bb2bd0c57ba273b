-- Every filter of the list of mails finds its page by an index: also those of a status that a business
-- has few of, or none (all are SENT, none CAPTURED), and of a template beside it. What is QUEUED has the
-- queue's index.
drop index email_by_status;
create index email_by_status on email (business_id, status, created_date, email_template_id)
  where status <> 'QUEUED';
