-- Mails with reports that wait, and people who lose a right: docs/reports.md.

-- A mail with a report that waits is not sent to a person who has lost a right since: see docs/reports.md.
-- Security definer: the business may not write the queue.
create function cancel_report_mails() returns trigger
language plpgsql security definer set search_path = public as $$
declare
  ids bigint[] := array(select d.email_id from report_delivery d join email_queue using (business_id, email_id)
                        where d.business_id = new.business_id and d.user_id = new.user_id order by 1);
  uncertain bigint[];
begin
  with gone as (
    delete from email_queue q where q.business_id = new.business_id and q.email_id = any (ids)
    returning q.email_id, q.status = 'UNCERTAIN' or q.message_ended
      or q.worker is not null and q.epoch is distinct from (select epoch from server_epoch) as may_be_sent
  )
  select coalesce(array_agg(email_id) filter (where may_be_sent), '{}') into uncertain from gone;
  update email e
  set status = case when e.email_id = any (uncertain) then 'FAILED' else 'CANCELLED' end,
      status_reason = 'the rights of the recipient changed before it was sent', next_attempt_time = null
  where e.business_id = new.business_id and e.email_id = any (ids) and e.next_attempt_time is not null;
  return null;
end $$;
create trigger cancel_report_mails after update on user_account
  for each row when (old.active and not new.active or old.role <> new.role
                     or old.role = 'USER' and old.professional_id is distinct from new.professional_id
                     or old.role = 'LOCATION_SUPER_USER' and not new.location_id_list @> old.location_id_list)
  execute function cancel_report_mails();
