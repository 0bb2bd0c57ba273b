-- A mail is written with six indexes instead of eight (docs/decisions/0056). Lists of all mails go by
-- their outcomes, a page of each; the mails of an object are found by its triggers.
drop index email_by_time;
drop index email_of_object;
-- What people send by hand has no trigger.
create index email_of_object on email (business_id, object_id, object_uuid)
  where event_trigger_id is null;
