-- The Idempotency-Key of an import is claimed before its body is read, in a transaction of its own:
-- a client can take hours to send it. A row without an answer is such a claim. The node that holds it
-- sets created_time again every 20 s; a claim that is a minute old belongs to a node that has died.
alter table idempotency_key
  alter column body_digest drop not null,
  alter column status drop not null,
  alter column headers drop not null,
  alter column answer drop not null,
  add check (num_nulls(body_digest, status, headers, answer) in (0, 4));
