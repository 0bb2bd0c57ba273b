-- Said for every mail on its way, by itself or with a few others: planned once, not each time. The
-- commit does not wait for the disk; see docs/decisions/0068.
create function mark_message_ended(business bigint, mail bigint, worker text) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  found_status text;
  found_worker text;
begin
  -- By its key alone: with its state beside it, the index of all that is under way may be read.
  select status, lease_worker into found_status, found_worker from email
  where business_id = business and email_id = mail for no key update;
  if found_status is distinct from 'SENDING' or found_worker is distinct from worker then
    return false;
  end if;
  update email set message_ended = true where business_id = business and email_id = mail;
  perform set_config('synchronous_commit', 'off', true);
  return true;
end $$;
revoke execute on function mark_message_ended from public;
grant execute on function mark_message_ended to bellwether_engine;

-- A mail is written once and its state four times: what it says lies beside the row, so that a change
-- of state copies little and finds room on its page; and it is pressed by the faster way, where the
-- server has it.
alter table email set (toast_tuple_target = 256, fillfactor = 85);
do $$ begin
  alter table email alter column html set compression lz4, alter column text set compression lz4,
    alter column message set compression lz4;
exception when feature_not_supported then
  null;
end $$;
