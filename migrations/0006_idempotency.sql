-- The answers to POSTs that carried an Idempotency-Key, so that a repeated one is not done twice.
-- A row is written in the transaction of what it answers: neither is ever stored without the other.
create table idempotency_key (
  business_id  bigint not null,  -- 0: the operator's
  digest       bytea not null,   -- of credential, method, path and key
  body_digest  bytea not null,
  status       integer not null check (status between 200 and 499),
  headers      jsonb not null,
  answer       text not null,    -- as it was sent, without secrets
  created_time timestamptz not null,
  primary key (business_id, digest)
);
create index idempotency_key_by_age on idempotency_key (created_time);

call wall('idempotency_key', 'select, insert, update, delete', 'select, delete',
          'select, insert, update, delete');
