-- A change becomes JSON twice, as it was and as it is, and no longer four times: half of what the
-- audit of a moved appointment cost.
create or replace function audit_update() returns trigger
language plpgsql security definer set search_path = public as $$
declare
  who text := app_user();
  secrets text[] := string_to_array(coalesce(tg_argv[2], ''), ',');
begin
  insert into audit (business_id, time, username, object, id, change, before, after)
  with o as materialized (
    select business_id, written ->> tg_argv[1] as id, written - secrets as written
    from (select r.business_id, to_jsonb(r) as written from old_rows r offset 0) was
  ), n as materialized (
    select business_id, modified_date, written ->> tg_argv[1] as id, written - secrets as written
    from (select r.business_id, r.modified_date, to_jsonb(r) as written from new_rows r offset 0) became
  )
  select n.business_id, n.modified_date, who, tg_argv[0], n.id,
         case when o.written -> 'active' = 'true' and n.written -> 'active' = 'false'
              then 'DELETED' else 'CHANGED' end,
         o.written, n.written
  from o join n using (business_id, id)
  where o.written is distinct from n.written;
  return null;
end $$;
