-- What went wrong with a pending trigger may name the client that it is about: an erasure overwrites
-- it like the reason of a trigger that has ended.
create index waiting_with_error on waiting (business_id) where last_error is not null;

create function erase_client_errors(business bigint, client bigint) returns bigint
language sql security definer set search_path = public set enable_seqscan = off as $$
  with erased as (
    update waiting w set last_error = 'erased'
    where w.business_id = business and w.last_error is not null and w.last_error <> 'erased'
      and exists (select from objects_of_client(business, client) o
                  where o.object_type = w.object_type
                    and (o.object_id = w.object_id or o.object_uuid = w.object_uuid))
    returning 1
  )
  select count(*) from erased
$$;
revoke execute on function erase_client_errors from public;
grant execute on function erase_client_errors to bellwether_operator;
