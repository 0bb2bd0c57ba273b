-- What reports need to count as people read them: docs/reports.md.

-- Prices have the digits of their currency: three for KWD. Without a scale no row is rewritten; the service
-- checks the digits (src/contract/currency-digits.ts).
alter table reason alter price type numeric;
alter table calendar alter price type numeric;

-- An appointment that was cancelled too late is neither a no-show nor an ordinary cancellation.
alter table status drop constraint status_outcome_check;
alter table status add constraint status_outcome_check
  check (outcome in ('PENDING', 'KEPT', 'MISSED', 'CANCELLED', 'LATE_CANCELLED'));

-- Clients count as lapsed after the usual interval of their service, but not before so many days; null: 60.
alter table business add lapsed_after_days integer check (lapsed_after_days between 1 and 3650);

-- The invitation whose link the client booked by.
alter table calendar add invitation_uuid text;
alter table calendar add foreign key (business_id, invitation_uuid) references invitation;
-- The appointments that were booked by the link of an invitation.
create index calendar_by_invitation on calendar (business_id, invitation_uuid) where invitation_uuid is not null;
