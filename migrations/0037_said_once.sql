-- A mail that leaves says in its message what it says: its HTML and its text are not kept beside it.
-- So the message, too, tells that there is something to forget.
drop index email_kept;
create index email_kept on email (created_date) where html is not null or message is not null;
