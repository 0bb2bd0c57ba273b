-- Who was put on the list of addresses that get nothing, and who was taken off it, is a change like
-- any other. The audit names the address by its digest: it is kept for good, an address is personal.
create function audit_suppression() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  insert into audit (business_id, time, username, object, id, change, before, after)
  select s.business_id, case tg_op when 'INSERT' then s.created_date else statement_timestamp() end,
         app_user(), 'suppression', encode(sha256(convert_to(s.email_address, 'UTF8')), 'hex'),
         case tg_op when 'INSERT' then 'CREATED' else 'DELETED' end,
         case tg_op when 'DELETE' then jsonb_build_object('reason', s.reason, 'active', true) end,
         jsonb_build_object('reason', s.reason, 'active', tg_op = 'INSERT')
  from changed_rows s;
  return null;
end $$;

create trigger audit_insert after insert on suppression referencing new table as changed_rows
  for each statement execute function audit_suppression();
create trigger audit_delete after delete on suppression referencing old table as changed_rows
  for each statement execute function audit_suppression();
