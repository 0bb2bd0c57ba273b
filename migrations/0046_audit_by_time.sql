-- The audit of a range of time, and what a backtest of one day reads.
create index audit_by_time on audit (business_id, time, audit_id);
