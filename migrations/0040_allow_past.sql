-- A definition can leave out what is only recorded: appointments that were over when they were saved.
alter table event_definition add allow_past boolean not null default true;
comment on column event_definition.allow_past is
  'Whether it also writes about appointments and classes that were over when they were saved.';
