-- The language in which a person reads the console.

alter table user_account
  add language text;  -- null: that of their browser
