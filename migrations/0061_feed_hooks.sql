-- Webhooks of feeds: during a change of the address both count, and a hint asks for a second pull.

alter table feed add former_hook_token_hash bytea unique;  -- valid for a day after hook_changed_time
alter table feed_state add pull_again_time timestamptz;    -- a source may answer from a replica that is behind

drop trigger audit_insert on feed;
drop trigger audit_update on feed;
call audit_table('feed', 'feed', 'feed_id', 'secret', 'hook_token_hash', 'hook_secret', 'former_hook_token_hash',
                 'former_hook_secret', 'hook_changed_time');
