-- After the clock of the database was set back, the engine plans again what was planned while it was ahead:
-- src/store/set-back.ts.

grant update (next_run_time, done_until) on report_schedule to bellwether_engine;
grant update (next_check_time) on report_target to bellwether_engine;
