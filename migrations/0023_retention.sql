-- Triggers and mails that ended can be deleted after RETENTION_MONTHS. A trigger whose mails are being
-- sent cannot.

drop trigger never_deleted on event_trigger;
create function refuse_running_deletion() returns trigger language plpgsql as $$
begin
  raise exception 'event trigger % is running', old.event_trigger_id;
end $$;
create trigger not_deleted_while_running before delete on event_trigger for each row
  when (old.status = 'RUNNING') execute function refuse_running_deletion();
grant delete on event_trigger, email to bellwether_engine;

-- Rows that refer to a mail do not prevent its deletion.
alter table email drop constraint email_repeats,
  add constraint email_repeats foreign key (business_id, repeats_email_id)
    references email (business_id, email_id) on delete set null (repeats_email_id);
alter table soft_bounce drop constraint soft_bounce_business_id_email_id_fkey,
  add constraint soft_bounce_business_id_email_id_fkey foreign key (business_id, email_id)
    references email (business_id, email_id) on delete cascade;
alter table password_link drop constraint password_link_business_id_email_id_fkey,
  add constraint password_link_business_id_email_id_fkey foreign key (business_id, email_id)
    references email (business_id, email_id) on delete cascade;
