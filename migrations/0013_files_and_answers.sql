-- Files that mails attach, and what clients can answer by the links in a mail.

create table file_library (
  business_id   bigint not null references business,
  file_uuid     text not null,
  name          text not null,   -- with its extension, as readers of a mail see it
  type          text not null,   -- the media type, checked against the content
  size          integer not null,
  sha256        text not null,
  active        boolean not null default true,
  version       bigint not null default 1,
  created_date  timestamptz not null,
  created_user  text not null,
  modified_date timestamptz not null,
  modified_user text not null,
  primary key (business_id, file_uuid)
);
comment on table file_library is
  'A file that templates attach to mails, or the logo of the business. Its content never changes.';
-- Lists.
create index file_library_by_date on file_library (business_id, created_date, file_uuid) where active;
-- A save of a template or a business locks its files against deletion; for that the operator needs
-- update (version).
call secure_table('file_library', app => 'select, insert, update', engine => 'select',
  operator => 'select, update (version)');
call audit_table('file_library', 'fileLibrary', 'file_uuid');

create table file_content (
  business_id bigint not null,
  file_uuid   text not null,
  bytes       bytea not null,
  primary key (business_id, file_uuid),
  foreign key (business_id, file_uuid) references file_library
);
comment on table file_content is
  'The bytes of a file. A mail names its files and is sent with their bytes, so these outlive a deleted file for a while.';
-- Most files are compressed already.
alter table file_content alter bytes set storage external;
call secure_table('file_content', app => 'select, insert', engine => 'select, delete');

-- What a mail attaches, as it is listed: [{ fileUUId, name, type, size }]. Null for none.
alter table email add attachments jsonb;
-- An answer link names a mail: its appointment and client are part of what the link's seal covers.
grant select (object_type, object_id, client_id) on email to bellwether_operator;

alter table business
  add logo               text,     -- a PNG or JPEG of the file library
  add confirm_status     text,     -- of an appointment that its client confirms; null: CONFIRMED
  add cancel_status      text,     -- of one that its client cancels; null: CANCELLED
  add cancel_until_hours integer,  -- so long before the start a client can cancel; null: until the start
  add booking_url        text,
  add constraint business_logo foreign key (business_id, logo) references file_library;

-- The operator can set the statuses above, which must exist.
create policy bellwether_operator on status to bellwether_operator using (true);
grant select on status to bellwether_operator;
