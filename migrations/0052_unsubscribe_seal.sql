-- The seal of an unsubscribe link covers the random part of the mail's Message-ID: after a backup was
-- restored, the link of a mail that the backup lacks does not act for the mail that gets its number.
grant select (message_id) on email to bellwether_operator;
