-- Mails above the daily limit of a business, and mails that wait for no limit: docs/mail.md.

alter table email_queue
  add above_limit_until timestamptz,              -- the business has sent its mails of the day: it waits until then
  add is_account boolean not null default false;  -- a mail about an account waits for no limit and no pause

-- If the operator raises the limit, the mails above it are due at once. A worker that postpones mails
-- holds this advisory lock too, and reads the limit again under it: rows that it has locked can be skipped.
-- Security definer: neither the business nor the operator may write this queue.
create function raise_daily_mail_limit() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  perform pg_advisory_xact_lock(7230008, hashint8(new.business_id));
  update email_queue q
  set next_attempt_time = least(q.next_attempt_time, new.modified_date), above_limit_until = null
  from (select business_id, email_id from email_queue
        where business_id = new.business_id and worker is null and above_limit_until > new.modified_date
        for update skip locked) above
  where (q.business_id, q.email_id) = (above.business_id, above.email_id);
  return null;
end $$;
create trigger raise_daily_mail_limit after update on business
  for each row when (new.daily_mail_limit is null and old.daily_mail_limit is not null
                     or new.daily_mail_limit > old.daily_mail_limit)
  execute function raise_daily_mail_limit();

-- When the approval of a trigger's call was released: it is not late before that.
alter table pending_trigger add released_time timestamptz;
alter table event_trigger add released_time timestamptz;
