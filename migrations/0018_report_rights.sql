-- Printed files and their links work while their readers have the rights they were printed with: docs/reports.md.

-- What the file may show: security functions, locations, members of staff. Null: not known, so nobody reads it.
alter table report_run add reader jsonb;

-- The key that created the link, which works as long as the key; null: of a person.
alter table report_link add api_key_id bigint,
  add foreign key (business_id, api_key_id) references api_key;
