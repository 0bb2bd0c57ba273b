-- What reports count an object as: see docs/reports.md, measures.
alter table status add column outcome text not null default 'PENDING'
  check (outcome in ('PENDING', 'KEPT', 'MISSED', 'CANCELLED'));

-- The outcome of a status whose author names none; `defaultOutcome` in src/contract/status.ts is the same.
create function default_outcome(object_type text, status text, live boolean, live_after boolean) returns text
language sql immutable
return case
  when (object_type, status) = ('DISCLAIMER', 'SIGNED') then 'KEPT'
  when (object_type, status) = ('DISCLAIMER', 'WAIVED') then 'CANCELLED'
  when status ~* 'cancel|storn|annul' then 'CANCELLED'
  when status ~* 'no.?show|missed|absent|expired' then 'MISSED'
  when status ~* 'complete|closed|attended' then 'KEPT'
  when live_after and not live then 'KEPT'
  else 'PENDING'
end;

-- A new column with its first value is not a change that anybody made, so it is not audited.
alter table status disable trigger user;
update status set outcome = default_outcome(object_type, status, live, live_after);
alter table status enable trigger user;

-- The statuses of a new business, with their outcomes.
create or replace function create_default_statuses() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  insert into status (business_id, object_type, status, label, outcome, live, live_after,
                      created_date, created_user, modified_date, modified_user)
  select new.business_id, s.object_type, s.status, s.label,
         default_outcome(s.object_type, s.status, s.live, s.live_after), s.live, s.live_after,
         new.created_date, 'SYSTEM', new.created_date, 'SYSTEM'
  from (values
    ('CALENDAR', 'OPEN', 'Open', true, true),
    ('CALENDAR', 'CONFIRMED', 'Confirmed', true, true),
    ('CALENDAR', 'CHECKED_IN', 'Checked in', true, true),
    ('CALENDAR', 'IN_PROGRESS', 'In progress', true, true),
    ('CALENDAR', 'COMPLETED', 'Completed', false, true),
    ('CALENDAR', 'CANCELLED', 'Cancelled', false, false),
    ('CALENDAR', 'NO_SHOW', 'No-show', false, false),
    ('CLASS_SCHEDULE', 'OPEN', 'Open', true, true),
    ('CLASS_SCHEDULE', 'CLOSED', 'Closed', false, true),
    ('CLASS_SCHEDULE', 'CANCELLED', 'Cancelled', false, false),
    ('INVITATION', 'SENT', 'Sent', true, true),
    ('INVITATION', 'COMPLETED', 'Completed', false, false),
    ('INVITATION', 'EXPIRED', 'Expired', false, false),
    ('INVITATION', 'CANCELLED', 'Cancelled', false, false),
    ('RECALL', 'DUE', 'Due', true, true),
    ('RECALL', 'COMPLETED', 'Completed', false, false),
    ('RECALL', 'CANCELLED', 'Cancelled', false, false),
    ('DISCLAIMER', 'PENDING', 'Pending', true, true),
    ('DISCLAIMER', 'SIGNED', 'Signed', false, false),
    ('DISCLAIMER', 'WAIVED', 'Waived', false, false)
  ) as s (object_type, status, label, live, live_after);
  return null;
end $$;

alter table class_schedule add column attendance jsonb not null default '[]';  -- [{ clientId, present }]
alter table professional add column working_exceptions jsonb not null default '[]';  -- [{ startDate, endDate, from, to, locationId }]
