-- The domains from which a business may send: set by the operator alone, none unless allowed
-- (docs/decisions/0163-sender-domains.md).
alter table business add sender_domains text[] not null default '{}';
