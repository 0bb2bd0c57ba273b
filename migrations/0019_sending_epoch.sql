-- That a message ended is committed without waiting for the disk: it must outlive the worker, which
-- asks a server that lives on. Only a crash of the database itself may lose it; a crash also empties
-- an unlogged table. So a mail that was taken in an earlier epoch than the present one may have ended,
-- whatever its row says.
create unlogged table sending_epoch (
  only_one boolean primary key default true check (only_one),
  epoch    uuid not null default gen_random_uuid()
);
call wall('sending_epoch', '', 'select, insert');
alter table email add column epoch uuid;
