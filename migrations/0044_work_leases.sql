-- Work that one worker at a time must do: planning a definition, reconciliation. A worker claims it by
-- its name and extends its lease while it works. Another worker may claim it once the lease has expired.
create table work_lease (
  name        text primary key,
  worker      text not null,
  lease_until timestamptz not null
);
call wall('work_lease', '', 'select, insert, update, delete');

-- The findings of the last complete reconciliation. One node runs it; every node shows its findings.
create table reconciliation (
  only_one boolean primary key default true check (only_one),
  ended_at timestamptz not null,
  findings jsonb not null
);
call wall('reconciliation', '', 'select, insert, update');
