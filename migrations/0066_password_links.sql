-- People have an address, to which invitations and links to a new password are mailed. The same person
-- may work for several businesses: the address is not unique.
alter table user_account add email_address text;
create index user_account_email_address on user_account (lower(email_address))
  where email_address is not null;

-- Links that let a person choose a password: they work once and expire. Only the hash of a token is
-- stored here. A used link is deleted, so a mail holds a working link exactly if a row names it
-- (docs/decisions/0187-password-links.md).
create table password_link (
  business_id      bigint not null references business,
  password_link_id bigint generated always as identity,
  user_id          bigint not null,
  email_id         bigint not null,
  purpose          text not null check (purpose in ('INVITATION', 'FORGOTTEN')),
  token_hash       bytea not null unique,
  created_date     timestamptz not null,
  expires_time     timestamptz not null,
  primary key (business_id, password_link_id),
  foreign key (business_id, user_id) references user_account,
  foreign key (business_id, email_id) references email
);
create index password_link_of_user on password_link (business_id, user_id);
create index password_link_of_email on password_link (business_id, email_id);
create index password_link_by_expiry on password_link (expires_time);
call wall('password_link', 'select, insert, delete', '', 'select, delete');
