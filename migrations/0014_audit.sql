-- What the audit did not say clearly.

-- A change of password shows no value; when it was does. Null: it is still the first.
alter table user_account add column password_date timestamptz;

-- A status belongs to a kind of object: OPEN alone is two of them. Where it is read says which.
alter table status add column address text generated always as (object_type || '/' || status) stored;
drop trigger audit_insert on status;
drop trigger audit_update on status;
call audited('status', 'status', 'address', 'address');
update audit set id = (after ->> 'object_type') || '/' || id where object = 'status';
