-- What the operator's page says of the nodes and of backups.
create table node (
  node_id      uuid primary key,             -- of one run of the program
  host         text not null,
  role         text not null check (role in ('all', 'api', 'worker')),
  version      text not null,
  started_time timestamptz not null,
  seen_time    timestamptz not null,
  stopped_time timestamptz                   -- null: it runs, or ended without saying so
);
comment on table node is 'The runs of the program in the last 30 days. A node notes that it runs when it checks in.';
call secure_table('node', engine => 'select', operator => 'select, insert, update, delete');

alter table installation add backup_time timestamptz;  -- of the last backup by the command of that name
