-- The statuses of a new business name their outcomes, so that only src/contract/status.ts guesses one.
create or replace function create_default_statuses() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  insert into status (business_id, object_type, status, label, outcome, live, live_after,
                      created_date, created_user, modified_date, modified_user)
  select new.business_id, s.object_type, s.status, s.label, s.outcome, s.live, s.live_after,
         new.created_date, 'SYSTEM', new.created_date, 'SYSTEM'
  from (values
    ('CALENDAR', 'OPEN', 'Open', 'PENDING', true, true),
    ('CALENDAR', 'CONFIRMED', 'Confirmed', 'PENDING', true, true),
    ('CALENDAR', 'CHECKED_IN', 'Checked in', 'PENDING', true, true),
    ('CALENDAR', 'IN_PROGRESS', 'In progress', 'PENDING', true, true),
    ('CALENDAR', 'COMPLETED', 'Completed', 'KEPT', false, true),
    ('CALENDAR', 'CANCELLED', 'Cancelled', 'CANCELLED', false, false),
    ('CALENDAR', 'NO_SHOW', 'No-show', 'MISSED', false, false),
    ('CLASS_SCHEDULE', 'OPEN', 'Open', 'PENDING', true, true),
    ('CLASS_SCHEDULE', 'CLOSED', 'Closed', 'KEPT', false, true),
    ('CLASS_SCHEDULE', 'CANCELLED', 'Cancelled', 'CANCELLED', false, false),
    ('INVITATION', 'SENT', 'Sent', 'PENDING', true, true),
    ('INVITATION', 'COMPLETED', 'Completed', 'KEPT', false, false),
    ('INVITATION', 'EXPIRED', 'Expired', 'MISSED', false, false),
    ('INVITATION', 'CANCELLED', 'Cancelled', 'CANCELLED', false, false),
    ('RECALL', 'DUE', 'Due', 'PENDING', true, true),
    ('RECALL', 'COMPLETED', 'Completed', 'KEPT', false, false),
    ('RECALL', 'CANCELLED', 'Cancelled', 'CANCELLED', false, false),
    ('DISCLAIMER', 'PENDING', 'Pending', 'PENDING', true, true),
    ('DISCLAIMER', 'SIGNED', 'Signed', 'KEPT', false, false),
    ('DISCLAIMER', 'WAIVED', 'Waived', 'CANCELLED', false, false)
  ) as s (object_type, status, label, outcome, live, live_after);
  return null;
end $$;

drop function default_outcome;
