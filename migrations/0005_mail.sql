-- One mail to one recipient: queue, ledger and evidence.
create table email (
  business_id       bigint not null references business,
  email_id          bigint generated always as identity,
  event_trigger_id  bigint,  -- null for tests and mails sent again by hand
  event_action_id   bigint,
  email_template_id bigint,
  email_category_id bigint,
  object_type       text,
  object_id         bigint,
  object_uuid       text,
  client_id         bigint,
  recipient_key     text not null default '',  -- whose copy: a class has one for each student
  to_address        text not null,
  from_address      text not null,
  subject           text not null,
  html              text,
  text              text,
  message           bytea,  -- as it goes over the wire; a second attempt sends the same bytes
  body_hash         text,
  message_id        text not null,
  test              boolean not null default false,
  status            text not null check (status in
                    ('QUEUED', 'SENDING', 'SENT', 'CAPTURED', 'RETRYING', 'FAILED', 'SUPPRESSED', 'UNCERTAIN', 'CANCELLED')),
  status_reason     text,
  attempts          jsonb not null default '[]',
  attempt_count     integer not null default 0,
  next_attempt_time timestamptz,
  message_ended     boolean not null default false,  -- the end of the message left; its answer is not known yet
  lease_worker      text,
  lease_until       timestamptz,
  sent_time         timestamptz,
  created_date      timestamptz not null,
  primary key (business_id, email_id),
  unique (business_id, message_id),
  foreign key (business_id, event_trigger_id) references event_trigger,
  foreign key (business_id, event_action_id) references event_action,
  foreign key (business_id, email_template_id) references email_template,
  foreign key (business_id, email_category_id) references email_category,
  foreign key (business_id, client_id) references client,
  check ((status = 'SENDING') = (lease_until is not null)),
  check ((status in ('QUEUED', 'RETRYING', 'UNCERTAIN')) = (next_attempt_time is not null))
);
create unique index email_once on email (business_id, event_trigger_id, event_action_id, recipient_key)
  where event_trigger_id is not null;
create index email_due on email (next_attempt_time) where next_attempt_time is not null;
create index email_leased on email (lease_until) where status = 'SENDING';
create index email_by_time on email (business_id, created_date, email_id);
create index email_of_object on email (business_id, object_type, object_id, object_uuid);
create index email_of_client on email (business_id, client_id);
create index email_kept on email (created_date) where html is not null;
call wall('email', 'select, insert, update', 'select, insert, update');

-- Addresses a business no longer writes to: unsubscribed from what is not needed, or bounced for good.
create table suppression (
  business_id   bigint not null references business,
  email_address text not null,
  reason        text not null check (reason in ('UNSUBSCRIBED', 'BOUNCED')),
  detail        text,
  created_date  timestamptz not null,
  created_user  text not null,
  primary key (business_id, email_address, reason)
);
call wall('suppression', 'select, insert, update, delete', 'select, insert, update');
