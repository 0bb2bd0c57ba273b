-- A key never has more rights than the person who made it. A key that an OWNER or the operator makes
-- belongs to the business (maker_user_id is null); any other key is bound to its maker and ends when that
-- person is deactivated or gets another role (docs/decisions/0161-rights-of-a-key.md).
alter table api_key
  add maker_user_id bigint,
  add foreign key (business_id, maker_user_id) references user_account;

update api_key k
set maker_user_id = u.user_id,
    active = k.active and u.active and u.role = 'ADMINISTRATOR',
    version = k.version + 1, modified_date = statement_timestamp(), modified_user = 'SYSTEM'
from user_account u
where u.business_id = k.business_id and u.username = k.created_user and u.role <> 'OWNER';
