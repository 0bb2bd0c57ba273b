-- Reconciliation, health and closing of feeds: docs/feeds.md.

alter table feed_state
  add reconcile_time timestamptz,  -- the next reconciliation; null: it is planned by the next pull
  add reconcile_error text,        -- why the last reconciliation did not add up; a pull does not end it
  add late_time timestamptz,       -- no pull succeeded by then: LATE. null: the feed is not pulled
  add logged_health text not null default 'OK';  -- the last health in the log
comment on column feed_state.told_time is 'When people last got a mail about the health.';
-- Mirrored appointments that have ended, to be closed.
create index feed_entry_mirrored on feed_entry (business_id, feed_id, end_time)
  where state = 'MIRRORED' and object_id is not null;

-- Differences name clients like samples do. Their times and kinds stay.
create or replace function erase_feed_samples(business bigint) returns bigint
language plpgsql security definer set search_path = public as $$
declare
  overwritten bigint;
begin
  update feed_run r
  set result = (r.result - 'samples') || case when r.result ? 'differences' then jsonb_build_object(
        'differences', (select coalesce(jsonb_agg(d || '{"title": null, "source": null, "ours": null}'), '[]')
                        from jsonb_array_elements(r.result->'differences') d)) else '{}' end
  where r.business_id = business and (r.result ? 'samples' or r.result->'differences' <> '[]');
  get diagnostics overwritten = row_count;
  return overwritten;
end $$;
