-- The price of an appointment is stored when it is booked: a later price of its service does not
-- change what was agreed (docs/decisions/0171).
alter table calendar
  add column price numeric(12, 2),
  add column currency text,
  -- The service always writes it. The default serves rows that are written by hand.
  add column booked_time timestamptz not null default now();

-- Existing appointments take the present price of their service: none was stored before. Nobody
-- changed them, so neither the audit nor the status history records this.
alter table calendar disable trigger user;
update calendar c
set price = r.price, currency = upper(r.currency), booked_time = c.created_date
from reason r
where (r.business_id, r.reason_id) = (c.business_id, c.reason_id);
alter table calendar enable trigger user;

-- Reports read prices from the index alone, with everything else that they count.
drop index calendar_for_reports;
create index calendar_for_reports on calendar (business_id, start_time)
  include (end_time, status, reason_id, location_id, professional_id, client_id, price, currency)
  where active;
