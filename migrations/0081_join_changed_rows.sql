-- These triggers join the old rows of a statement with the new ones. Requests run without hash and
-- merge joins (docs/database.md, query plans), and a nested loop over 500 rows twice took 1.7 s.
do $$
declare
  target regprocedure;
begin
  for target in
    select oid::regprocedure from pg_proc
    where pronamespace = 'public'::regnamespace
      and (proname like '%\_audit\_update' or proname like '%\_status\_moved')
  loop
    execute format('alter function %s set enable_hashjoin = on', target);
  end loop;
end $$;
