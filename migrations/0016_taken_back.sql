-- Few rows: what a person cancelled is not planned again, and is looked for with every plan.
create index event_trigger_taken_back on event_trigger (business_id, event_defn_id, object_id, object_uuid)
  where status = 'CANCELLED' and modified_user <> 'SYSTEM' and occurrence is null;

-- Plans and claims go by how many are pending, which changes fast.
alter table event_trigger set (autovacuum_analyze_scale_factor = 0.02);
