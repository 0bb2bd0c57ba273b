-- What the watchman looks for is found without reading the whole ledger: both indexes hold only
-- what went wrong.
create index event_trigger_failed on event_trigger (modified_date) where status = 'FAILED';
create index event_trigger_late on event_trigger (modified_date)
  where status in ('COMPLETED', 'FAILED', 'SKIPPED', 'EXPIRED')
    and modified_date - scheduled_time > interval '1 minute';
