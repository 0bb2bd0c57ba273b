-- How the mails of a business look, and where replies to them go.

alter table business
  add accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  add website      text,
  add reply_to     text;
