-- The change stream follows commits: see docs/changes.md. Each entry of the audit has the id of the transaction
-- that wrote it. Entries of before have none, and are not streamed. A column without a constant default does
-- not rewrite the table.
alter table audit add changed_in xid8;
alter table audit alter changed_in set default pg_current_xact_id();

create index audit_by_change on audit (business_id, changed_in, audit_id) where changed_in is not null;
comment on index audit_by_change is 'The changes of some transactions.';

create or replace view audit_entry with (security_invoker = true) as
select business_id, audit_id, time, username, object, id, change,
       coalesce(before, case when change <> 'CREATED' then
         (select p.after from audit p
          where (p.business_id, p.object, p.id) = (a.business_id, a.object, a.id) and p.audit_id < a.audit_id
          order by p.audit_id desc limit 1) end) as before,
       after, changed_in
from audit a;
