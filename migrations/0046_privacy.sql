-- The end of data: the audit after RETENTION_MONTHS, and a business that leaves.

-- As before, and it also stores the state before the change if the object was last changed more than 27 days
-- ago: its last entry may be deleted by then, because RETENTION_MONTHS is at least one month.
create or replace function audit_update() returns trigger
language plpgsql security definer set search_path = public set enable_nestloop = off set enable_hashjoin = on as $$
declare
  username text := app_user();
begin
  insert into audit (business_id, time, username, object, id, change, before, after)
  select business_id, n.modified_date, username, tg_argv[0], id,
         case when o.active and not n.active then 'DELETED' else 'CHANGED' end,
         case when n.modified_date - o.modified_date > interval '27 days' then o.before end, n.after
  from (select business_id, row ->> tg_argv[1] as id, active, modified_date, row - tg_argv[2:] as before
        from (select r.business_id, r.active, r.modified_date, to_jsonb(r) - 'changed_in' as row
              from old_rows r offset 0) was) o
  join (select business_id, row ->> tg_argv[1] as id, active, modified_date, row - tg_argv[2:] as after
        from (select r.business_id, r.active, r.modified_date, to_jsonb(r) - 'changed_in' as row
              from new_rows r offset 0) is_now) n
    using (business_id, id)
  where o.before <> n.after;
  return null;
end $$;

-- Deletes at most `page` entries of before this time, the oldest of each business first; returns how many. The
-- first entry of an object that stays keeps the state before it, which it read from the one that is deleted.
create function delete_old_audit(moment timestamptz, page int) returns bigint
language plpgsql security definer set search_path = public set enable_seqscan = off as $$
declare
  deleted bigint;
begin
  with old as materialized (
    select a.business_id, a.audit_id, a.object, a.id, a.after
    from business b cross join lateral (
      select x.business_id, x.audit_id, x.object, x.id, x.after from audit x
      where x.business_id = b.business_id and x.time < moment
      order by x.time, x.audit_id limit page) a
    limit page),
  completed as (
    update audit n set before = following.after
    from (select distinct on (o.business_id, o.object, o.id) o.business_id, next.audit_id, o.after
          from old o cross join lateral (
            select m.audit_id, m.time from audit m
            where (m.business_id, m.object, m.id) = (o.business_id, o.object, o.id) and m.audit_id > o.audit_id
            order by m.audit_id limit 1) next
          where next.time >= moment
          order by o.business_id, o.object, o.id, o.audit_id desc) following
    where (n.business_id, n.audit_id) = (following.business_id, following.audit_id)
      and n.before is null and n.change <> 'CREATED'
    returning 1)
  delete from audit a using old
  where (a.business_id, a.audit_id) = (old.business_id, old.audit_id);
  get diagnostics deleted = row_count;
  return deleted;
end $$;
revoke execute on function delete_old_audit from public;
grant execute on function delete_old_audit to bellwether_operator;

-- Deletes at most `page` rows of each table of a business that was deactivated; returns how many. Called until
-- it returns 0, it deletes everything, the business last. Tables that others refer to are tried again by the
-- next call, so that the order of the tables does not matter.
create function delete_business_rows(business bigint, page int) returns bigint
language plpgsql security definer set search_path = public as $$
declare
  target record;
  deleted bigint;
  total bigint := 0;
begin
  perform from public.business b where b.business_id = business and not b.active;
  if not found then return 0; end if;
  for target in
    select c.oid::regclass as name,
           (select string_agg(format('%I desc', a.attname), ', ' order by k.place)
            from pg_index i cross join unnest(i.indkey) with ordinality k (attnum, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
            where i.indrelid = c.oid and i.indisprimary) as newest_first
    from pg_class c join pg_attribute b on b.attrelid = c.oid and b.attname = 'business_id' and b.attnum > 0
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'business'
    order by c.oid desc
  loop
    begin
      execute format('delete from %1$s where ctid = any (array(select ctid from %1$s where business_id = $1
                      order by %2$s limit $2))', target.name, coalesce(target.newest_first, '1')) using business, page;
      get diagnostics deleted = row_count;
      total := total + deleted;
    exception when foreign_key_violation then
      total := total + 1;
    end;
  end loop;
  if total = 0 then
    delete from public.business b where b.business_id = business;
    total := 1;
  end if;
  return total;
end $$;
revoke execute on function delete_business_rows from public;
grant execute on function delete_business_rows to bellwether_operator;
