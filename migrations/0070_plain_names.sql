-- Tables of the engine are named by what they hold: pending triggers, worker leases, the email queue.
alter table waiting rename to pending_trigger;
alter table pending_trigger rename column claims to attempts;
alter table pending_trigger rename constraint waiting_check to pending_trigger_check;
alter index waiting_by_id rename to pending_trigger_by_id;
alter index waiting_due rename to pending_trigger_due;
alter index waiting_in_turn rename to pending_trigger_by_business;
alter index waiting_of_definition rename to pending_trigger_of_definition;
alter index waiting_with_error rename to pending_trigger_with_error;
alter trigger waiting_names on pending_trigger rename to pending_trigger_names;

alter table lane rename to worker_lease;
alter index lane_pkey rename to worker_lease_pkey;

alter table sending rename to email_queue;
alter table email_queue rename constraint sending_in_hand to email_queue_claim;
alter table email_queue rename constraint sending_status_check to email_queue_status_check;
alter index sending_pkey rename to email_queue_pkey;
alter index sending_due rename to email_queue_due;
alter index sending_due_in_turn rename to email_queue_by_business;
alter trigger sending_names on email_queue rename to email_queue_names;

alter table sending_epoch rename to server_epoch;
alter index sending_epoch_pkey rename to server_epoch_pkey;

-- Functions name tables in their text.
do $$
begin
  execute replace(pg_get_functiondef('erase_client_mails'::regproc), 'delete from sending s', 'delete from email_queue s');
  execute replace(pg_get_functiondef('erase_client_errors'::regproc), 'update waiting w', 'update pending_trigger w');
  execute replace(pg_get_functiondef('look_at_tables'::regproc), 'waiting', 'pending_trigger');
end $$;
