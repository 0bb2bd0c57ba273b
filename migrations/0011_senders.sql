-- Sender domains with their DKIM keys and DNS checks, soft bounces, complaints. How they are used: docs/mail.md.

create table sender_domain (
  business_id     bigint not null references business,
  domain          text not null,
  -- Random, so that two businesses or two installations with the same domain publish different names.
  selector        text not null default 'bw' || left(replace(gen_random_uuid()::text, '-', ''), 8),
  rsa_key         text,  -- private, PEM; null until the keys are made
  ed25519_key     text,
  rsa_public      text,  -- as DNS publishes it
  ed25519_public  text,
  checks          jsonb not null default '[]',  -- [{ check, result, detail, todo }] of the last check
  checked_time    timestamptz,
  next_check_time timestamptz not null,
  created_date    timestamptz not null,
  primary key (business_id, domain),
  constraint sender_domain_keys check (num_nulls(rsa_key, ed25519_key, rsa_public, ed25519_public) in (0, 4))
);
comment on table sender_domain is
  'A domain from which the operator lets a business send, or has let it: a domain that is allowed again keeps its keys.';
create index sender_domain_due on sender_domain (next_check_time);
create index sender_domain_without_keys on sender_domain (business_id) where rsa_key is null;
-- The private keys are for the engine, which signs with them.
call secure_table('sender_domain',
  app => 'select (business_id, domain, selector, rsa_public, ed25519_public, checks, checked_time, next_check_time,
                  created_date), update (checks, checked_time, next_check_time)',
  engine => 'select, update',
  operator => 'select (business_id, domain, selector, rsa_public, ed25519_public, checks, checked_time,
                       next_check_time, created_date)');

-- However sender domains are set, each has its row, and is checked after the commit.
create function follow_sender_domains() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  insert into sender_domain (business_id, domain, created_date, next_check_time)
  select distinct new.business_id, allowed.domain, new.modified_date, new.modified_date
  from unnest(new.sender_domains) as allowed (domain)
  on conflict (business_id, domain) do update set next_check_time = excluded.next_check_time;
  return null;
end $$;
create trigger sender_domains_inserted after insert on business
  for each row when (new.sender_domains <> '{}') execute function follow_sender_domains();
create trigger sender_domains_updated after update on business
  for each row when (new.sender_domains is distinct from old.sender_domains)
  execute function follow_sender_domains();
insert into sender_domain (business_id, domain, created_date, next_check_time)
select distinct b.business_id, allowed.domain, b.modified_date, b.modified_date
from business b cross join unnest(b.sender_domains) as allowed (domain);

-- The address is read from the mail, so that erasing a client also ends the count for its address.
create table soft_bounce (
  business_id  bigint not null,
  email_id     bigint not null,
  bounced_time timestamptz not null,
  primary key (business_id, email_id),
  foreign key (business_id, email_id) references email
);
comment on table soft_bounce is
  'Mails of the last 30 days that were not delivered, though their mailbox may exist. Several of them suppress the address.';
create index soft_bounce_by_time on soft_bounce (business_id, bounced_time);
call secure_table('soft_bounce', app => 'select, insert, delete', engine => 'select, insert, delete');

alter table suppression drop constraint suppression_reason_check;
alter table suppression add constraint suppression_reason_check
  check (reason in ('UNSUBSCRIBED', 'BOUNCED', 'COMPLAINED'));
comment on table suppression is
  'Addresses to which a business does not write: unsubscribed from mails that are not transactional, bounced, or complained.';
