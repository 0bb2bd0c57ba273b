-- The state of the mail server, and pausing all mail of a business. How both work: docs/mail.md.

create table mail_server (
  server             text primary key,  -- host and port of SMTP_URL
  last_accepted_time timestamptz,       -- when it last accepted a mail, within a few seconds
  failing_since      timestamptz,       -- it takes no mail since then; null: it does
  last_failed_time   timestamptz,
  phase              text,              -- of the SMTP dialogue in which it failed, and its answer
  reply              text,
  constraint mail_server_failing check (num_nulls(failing_since, last_failed_time, phase, reply) in (0, 4))
);
comment on table mail_server is
  'Whether the mail server takes mails, as the nodes that send found it. Shown by metrics, doctor and overview.';
call secure_table('mail_server', engine => 'select, insert, update');

alter table business
  add mail_paused        boolean not null default false,
  add mail_paused_reason text,
  add mail_resumed_time  timestamptz,  -- when the last pause ended: what became useless before it is cancelled
  add constraint business_mail_paused check (mail_paused or mail_paused_reason is null);

-- For share locks: a business cannot resume while a worker postpones its triggers.
grant update (version) on business to bellwether_engine;

-- A worker that finds a due trigger or mail of a paused business postpones it. When the business
-- resumes, all of them are due again at once. Security definer: neither the business nor the operator
-- may write these queues.
create function resume_mail() returns trigger
language plpgsql security definer set search_path = public as $$
begin
  update pending_trigger p
  set next_attempt_time = greatest(p.scheduled_time, new.mail_resumed_time), last_error = null
  where p.business_id = new.business_id and p.worker is null
    and p.last_error = 'all mail of the business is paused';
  update email_queue q
  set next_attempt_time = least(q.next_attempt_time, new.mail_resumed_time)
  where q.business_id = new.business_id and q.worker is null
    and q.next_attempt_time > new.mail_resumed_time;
  return null;
end $$;
create trigger resume_mail after update on business
  for each row when (old.mail_paused and not new.mail_paused)
  execute function resume_mail();
