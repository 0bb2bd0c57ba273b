-- Notices of appointments that are cancelled only here have limits of their own: docs/mail.md.

alter table account_mail drop constraint account_mail_purpose_check;
alter table account_mail add constraint account_mail_purpose_check
  check (purpose in ('INVITATION', 'FORGOTTEN', 'NOTICE', 'CANCELLED_HERE'));
