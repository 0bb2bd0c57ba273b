-- Samples of dry runs name clients, also those without an entry: an erasure deletes all of the business.
create function erase_feed_samples(business bigint) returns bigint
language plpgsql security definer set search_path = public as $$
declare
  overwritten bigint;
begin
  update feed_run r set result = r.result - 'samples'
  where r.business_id = business and r.result ? 'samples';
  get diagnostics overwritten = row_count;
  return overwritten;
end $$;
revoke execute on function erase_feed_samples from public;
grant execute on function erase_feed_samples to bellwether_operator;
