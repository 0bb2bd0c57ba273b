-- A reader can unsubscribe from the mails of one category.

alter table suppression
  add email_category_id bigint,  -- null: mails of every category
  add topic bigint not null generated always as (coalesce(email_category_id, 0)) stored,
  add foreign key (business_id, email_category_id) references email_category,
  add constraint suppression_topic_check check (email_category_id is null or reason = 'UNSUBSCRIBED');
alter table suppression drop constraint suppression_pkey;
alter table suppression add primary key (business_id, email_address, reason, topic);
comment on column suppression.topic is 'For the primary key, which cannot contain null.';

-- Stored definitions keep their value. A new one sends nothing about visits that were over when they were saved.
alter table event_definition alter allow_past set default false;
