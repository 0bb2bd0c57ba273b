-- What mails name is looked up by a statement that stands here and is planned once for each
-- connection. The one before was put together for each batch, and planning it cost more than a mail.
-- Action, template and category are the same for most mails of a batch: they are asked for once.
create function refuse_unknown_names_of_mails() returns trigger
language plpgsql security definer
set search_path = public set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  bad bigint;
begin
  select n.business_id into bad from written n
  where n.event_trigger_id is not null and (
          select true from event_trigger r
          where r.business_id = n.business_id and r.event_trigger_id = n.event_trigger_id) is null
     or n.client_id is not null and (
          select true from client r
          where r.business_id = n.business_id and r.client_id = n.client_id) is null
  limit 1;
  if bad is null then
    select n.business_id into bad
    from (select distinct business_id, event_action_id, email_template_id, email_category_id
          from written) n
    where (select true from business r where r.business_id = n.business_id) is null
       or n.event_action_id is not null and (
            select true from event_action r
            where r.business_id = n.business_id and r.event_action_id = n.event_action_id) is null
       or n.email_template_id is not null and (
            select true from email_template r
            where r.business_id = n.business_id and r.email_template_id = n.email_template_id) is null
       or n.email_category_id is not null and (
            select true from email_category r
            where r.business_id = n.business_id and r.email_category_id = n.email_category_id) is null
    limit 1;
  end if;
  if bad is not null then
    raise exception 'a mail of business % names what that business does not have', bad
      using errcode = 'foreign_key_violation', constraint = tg_name;
  end if;
  return null;
end $$;
drop trigger email_names on email;
create trigger email_names after insert on email referencing new table as written
  for each statement execute function refuse_unknown_names_of_mails(
    -- As it is looked up, for whoever asks the catalogue.
    'event_trigger_id', 'event_trigger', 'event_action_id', 'event_action',
    'email_template_id', 'email_template', 'email_category_id', 'email_category', 'client_id', 'client');
