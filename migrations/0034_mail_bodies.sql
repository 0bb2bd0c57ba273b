-- Contents of mails, compressed with a dictionary of what the mails of one template have in common. How
-- they are stored: docs/mail.md, src/store/message-bodies.ts.

create table mail_dictionary (
  business_id    bigint not null references business,
  dictionary_key bytea not null,  -- the first 6 bytes of the SHA-256 of the content
  content        bytea not null,
  primary key (business_id, dictionary_key)
);
comment on table mail_dictionary is
  'What the mails of one version of a template have in common: its text without the data of clients. A row never changes, and is deleted when no mail uses it.';
-- To lock a row against deletion, a role must be allowed to update one of its columns.
call secure_table('mail_dictionary', app => 'select, insert, update (business_id)',
  engine => 'select, insert, update (business_id), delete');

-- Stores a dictionary unless it is stored, and locks it until the transaction ends.
create function keep_mail_dictionary(business bigint, key bytea, bytes bytea) returns void
language plpgsql set search_path = public as $$
begin
  loop
    perform from mail_dictionary d
    where d.business_id = business and d.dictionary_key = key for key share;
    exit when found;
    insert into mail_dictionary (business_id, dictionary_key, content) values (business, key, bytes)
    on conflict do nothing;
  end loop;
end $$;

-- A content is short now: it stays in its row, and the row has free space for one more version of it.
alter table email reset (toast_tuple_target);
alter table email set (fillfactor = 70);
alter table email alter message set storage external;
comment on column email.message is
  'The content, and the headers unless it was captured; null once it is deleted. Begins with x02 and the key of its dictionary, or zeros for none; see src/store/message-bodies.ts. Older versions stored the message as it was sent.';
comment on column email.html is 'Only in mails of older versions, until they are converted.';
comment on column email.text is 'Only in mails of older versions, until they are converted.';

-- Contents to delete after BODY_RETENTION_DAYS, and whether a dictionary is in use.
drop index email_with_body;
create index email_with_body on email (business_id, substring(message from 1 for 7), created_date)
  where message is not null;
-- Contents in the form of older versions, which the service converts; empty after that.
create index email_to_convert on email (business_id, email_id)
  where html is not null or text is not null or substring(message from 1 for 1) > '\x02';
