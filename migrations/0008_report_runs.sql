-- Reports that somebody waits for elsewhere: asked for, printed in the background, fetched later.
-- The file stands in the database, so that any node can hand it out.
create table report_run (
  business_id  bigint not null references business,
  run_id       bigint generated always as identity,
  credential   text not null,  -- who asked, and so who may fetch it
  report_id    integer not null,
  format       text not null,
  attach       boolean not null,
  status       text not null default 'QUEUED' check (status in ('QUEUED', 'RUNNING', 'COMPLETED', 'FAILED')),
  failure      text,
  rows_done    bigint not null default 0,
  rows_total   bigint,
  file_name    text not null,
  file_size    bigint,
  created_date timestamptz not null,
  beat_time    timestamptz not null,  -- of the node that prints it; one that stays silent is gone
  primary key (business_id, run_id),
  check ((status = 'COMPLETED') = (file_size is not null)),
  check ((status = 'FAILED') = (failure is not null))
);
create index report_run_by_age on report_run (business_id, created_date);
call wall('report_run', 'select, insert, update, delete');

create table report_run_part (
  business_id bigint not null,
  run_id      bigint not null,
  part        integer not null,
  bytes       bytea not null,
  primary key (business_id, run_id, part),
  foreign key (business_id, run_id) references report_run on delete cascade
);
alter table report_run_part alter bytes set storage external;
call wall('report_run_part', 'select, insert, delete');
