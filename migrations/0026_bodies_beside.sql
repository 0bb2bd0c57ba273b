-- A mail is written once and its state four times: what it says lies beside the row, so that a change
-- of state copies little and finds room on its page; and it is pressed by the faster way, where the
-- server has it.
alter table email set (toast_tuple_target = 256, fillfactor = 85);
do $$ begin
  alter table email alter column html set compression lz4, alter column text set compression lz4,
    alter column message set compression lz4;
exception when feature_not_supported then
  null;
end $$;
