-- Only one at a time looks at the tables, and nobody waits for that: whoever comes second would find
-- nothing new.
create or replace function look_at_tables() returns void
language plpgsql security definer set search_path = public as $$
begin
  if not pg_try_advisory_xact_lock(7230005) then return; end if;
  analyze location, professional, reason, client, client_word, calendar, class_schedule,
          invitation_campaign, invitation, recall, disclaimer_form, disclaimer;
end $$;
