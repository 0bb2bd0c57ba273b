-- What the figures of a saved view and of a mailed report are compared with.
alter table report_view add compare_with text not null default 'PREVIOUS_PERIOD'
  check (compare_with in ('PREVIOUS_PERIOD', 'LAST_YEAR', 'NONE'));
alter table report_schedule add compare_with text not null default 'PREVIOUS_PERIOD'
  check (compare_with in ('PREVIOUS_PERIOD', 'LAST_YEAR', 'NONE'));
