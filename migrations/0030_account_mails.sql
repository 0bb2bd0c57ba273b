-- Mails about accounts have limits of their own, because they ignore the pause and the daily limit of
-- their business: docs/mail.md. The recipient is read from the mail, so that it is stored once.

create table account_mail (
  business_id  bigint not null,
  email_id     bigint not null,
  purpose      text not null check (purpose in ('INVITATION', 'FORGOTTEN', 'NOTICE')),
  sender       text,                  -- who asked for it, if that is known
  created_date timestamptz not null,
  primary key (business_id, email_id),
  foreign key (business_id, email_id) references email on delete cascade
);
comment on table account_mail is
  'Invitations, password links and notices that the service sent within the last day. They are counted against its limits.';
call secure_table('account_mail', app => 'select, insert, delete');
