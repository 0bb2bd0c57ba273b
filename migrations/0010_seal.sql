-- The secret that seals links in mails, made at the first start. It belongs to the installation:
-- every node makes the same link, and takes those that another one made.
create table link_seal (
  only_one     boolean primary key default true check (only_one),
  secret       text not null,
  created_date timestamptz not null
);
call wall('link_seal', '', '', 'select, insert');
-- A link in a mail names the mail: whoever opens it has no other credential.
grant select (business_id, email_id, to_address) on email to bellwether_operator;
create policy bellwether_operator on email to bellwether_operator using (true);
