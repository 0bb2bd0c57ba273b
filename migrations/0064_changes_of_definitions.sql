-- Which changes a definition of a CHANGED type waits for; empty: any of the watched properties.
alter table event_definition add column changes text[] not null default '{}'
  check (changes <@ array['TIME', 'STAFF', 'LOCATION', 'SERVICE', 'CLIENT', 'STATUS', 'STUDENTS',
                          'EXPIRY']);
