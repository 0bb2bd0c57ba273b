-- A mail that is sent again names the first one that it repeats, also if it repeats a repetition.

alter table email add repeats_email_id bigint,
  add constraint email_repeats foreign key (business_id, repeats_email_id)
    references email (business_id, email_id);
create index email_repeated on email (business_id, repeats_email_id)
  where repeats_email_id is not null;
