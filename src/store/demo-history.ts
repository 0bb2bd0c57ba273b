import { REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import { columnsFor, rowTable } from './rows.ts'

/**
 * The past of the demo business, which no import can bring: when statuses changed, and which
 * messages were sent, refused or bounced. It is written once; loading the demo again adds nothing.
 */

/** An appointment that got another status after it was booked. */
export type PastStatusChange = { externalId: string; status: string; changedTime: Temporal.Instant }

const CHANGE_COLUMNS = columnsFor<PastStatusChange>({
  externalId: 'text',
  status: 'text',
  changedTime: 'timestamptz',
})

/** The audit compares all rows of a statement, which takes far longer for many at once. */
const CHANGES_AT_ONCE = 50

export async function recordPastStatuses(
  db: Db,
  businessId: number,
  changes: PastStatusChange[],
): Promise<void> {
  for (let first = 0; first < changes.length; first += CHANGES_AT_ONCE) {
    await db.query(sql`
      update calendar c
      set status = r.status, version = c.version + 1, modified_date = r.changed_time
      from ${rowTable(CHANGE_COLUMNS, changes.slice(first, first + CHANGES_AT_ONCE))}
      cross join lateral (
        select o.calendar_id from calendar o
        where o.business_id = ${businessId} and o.external_id = r.external_id offset 0) found
      where c.business_id = ${businessId} and c.calendar_id = found.calendar_id`)
  }
}

export async function hasObject(db: Db, businessId: number, externalId: string) {
  const found = await db.query(sql`
    select from calendar where business_id = ${businessId} and external_id = ${externalId}`)
  return found.length > 0
}

/** A definition, by its description, and since when its messages were sent. */
export type PastAutomation = { description: string; since: Temporal.Instant }

const AUTOMATION_COLUMNS = columnsFor<PastAutomation>({
  description: 'text',
  since: 'timestamptz',
})

type Messages = {
  automations: PastAutomation[]
  now: Temporal.Instant
  /** Statuses of appointments that were missed; their clients were reached less often. */
  missed: string[]
  /** Statuses in which no reminder is sent. */
  cancelled: string[]
}

/** Below 1, the same for the same object and definition in every business and at every load. */
const chanceOf = (object: string) =>
  raw(
    `('x' || left(md5(${object}.external_id || d.description), 8))::bit(32)::bigint / 4294967296.0`,
  )

/** `d` is a definition with one offset in hours, as those of the demo have. */
const scheduledFrom = (anchor: string) =>
  raw(`case d.offset_mode
    when 'CALENDAR' then ((${anchor} at time zone l.time_zone) + make_interval(hours => d.trigger_hours)) at time zone l.time_zone
    else ${anchor} + make_interval(hours => d.trigger_hours) end`)

const definitionsOf = (businessId: number, automations: PastAutomation[]) => sql`
  select d.business_id, d.event_defn_id, d.version, d.description, d.event_type_id, d.object_type, d.trigger_hours,
         d.offset_mode, d.trigger_anchor, d.filter_tag_map_json, r.since, a.event_action_id, a.email_template_id, t.email_category_id, t.template_name
  from ${rowTable(AUTOMATION_COLUMNS, automations)}
  join event_definition d on d.business_id = ${businessId} and d.description = r.description and d.deleted_date is null
  join event_action a on (a.business_id, a.event_defn_id) = (d.business_id, d.event_defn_id)
  join email_template t on (t.business_id, t.email_template_id) = (a.business_id, a.email_template_id)`

/** So that loading again writes nothing, and each message has its id before it is written. */
const ifNew = (anchor: string) => sql`
  select p.*, nextval('event_trigger_event_trigger_id_seq') as event_trigger_id,
         ${raw(anchor)} as anchor_time, scheduled_time + make_interval(secs => 2 + chance * 9) as ended_time
  from due p
  where not exists (
    select from event_trigger t
    where t.business_id = p.business_id and t.object_id = p.object_id and t.object_uuid is null
      and t.event_defn_id = p.event_defn_id and t.anchor_time = p.${raw(anchor)} and t.object_type = p.object_type
      and t.status <> 'CANCELLED' and t.occurrence is null)`

/** Each statement writes the messages of so many days, so that none takes long. */
const DAYS_AT_ONCE = 20

/** Reminders before and messages after past appointments, each with its mail. */
export async function recordPastMessages(db: Db, businessId: number, messages: Messages) {
  const { automations, now } = messages
  const latest = now.add({ hours: 72 })
  const since = automations.map((one) => one.since).toSorted(Temporal.Instant.compare)[0] ?? latest
  let from = since
  while (Temporal.Instant.compare(from, latest) < 0) {
    const until = from.add({ hours: 24 * DAYS_AT_ONCE })
    await recordMessagesOf(db, businessId, messages, { from, until })
    from = until
  }
}

type Days = { from: Temporal.Instant; until: Temporal.Instant }

async function recordMessagesOf(db: Db, businessId: number, messages: Messages, days: Days) {
  const { automations, now, missed, cancelled } = messages
  const visits = sql`
    select d.*, c.calendar_id as object_id, c.client_id, c.booked_time, c.status as visit_status,
           c.modified_date as visit_modified, cl.email_address, cl.first_name, l.time_zone, c.start_time,
           case d.trigger_anchor when 'END' then c.end_time else c.start_time end as anchor,
           ${scheduledFrom(`(case d.trigger_anchor when 'END' then c.end_time else c.start_time end)`)} as scheduled_time,
           ${chanceOf('c')} / case when c.status = any (${missed}::text[]) then 3 else 1 end as chance
    from (${definitionsOf(businessId, automations)}) d
    join calendar c on c.business_id = d.business_id and c.external_id like 'demo-appointment-%'
      and c.start_time >= ${days.from} and c.start_time < ${days.until}
    join client cl on (cl.business_id, cl.client_id) = (c.business_id, c.client_id)
    join location l on (l.business_id, l.location_id) = (c.business_id, c.location_id)
    where d.object_type = 'CALENDAR' and (d.filter_tag_map_json is null or cl.tags ? 'level')
      and (d.trigger_hours < 0 or not c.status = any (${[...missed, ...cancelled]}::text[]))`
  await db.query(sql`
    with due as (
      select v.*,
             case when visit_status = any (${cancelled}::text[]) and visit_modified < scheduled_time then 'CANCELLED'
                  when email_address is null then 'SKIPPED'
                  when scheduled_time > ${now.subtract({ hours: 48 })}::timestamptz then 'ACCEPTED'
                  when chance < 0.018 then 'FAILED'
                  when chance < 0.042 then 'BOUNCED'
                  when chance < 0.062 then 'EXPIRED'
                  else 'ACCEPTED' end as fate
      from (${visits}) v
      where scheduled_time between since and ${now}::timestamptz and booked_time < scheduled_time),
    planned as materialized (${ifNew('anchor')}),
    ended as (
      insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id,
        anchor_time, scheduled_time, status, status_reason, completed_time, created_date, modified_date, modified_user)
      select business_id, event_trigger_id, event_defn_id, version, object_type, object_id, anchor_time, scheduled_time,
             case when fate in ('ACCEPTED', 'BOUNCED') then 'COMPLETED' else fate end,
             case fate when 'CANCELLED' then 'the appointment’s status is ' || visit_status
                       when 'SKIPPED' then ${REASONS.noAddress}
                       when 'FAILED' then ${REFUSED}
                       when 'EXPIRED' then ${REASONS.alreadyPast} end,
             case when fate in ('ACCEPTED', 'BOUNCED') then ended_time end,
             greatest(booked_time, since),
             case when fate = 'CANCELLED' then visit_modified else ended_time end, 'SYSTEM'
      from planned)
    insert into email (${MAIL_COLUMNS})
    select business_id, event_trigger_id, event_action_id, email_template_id, email_category_id, object_type,
           object_id, client_id, 'client ' || client_id, email_address, ${FROM}, template_name,
           format(E'Hello %s,\n\nyour appointment is on %s.', first_name,
                  to_char(start_time at time zone time_zone, 'YYYY-MM-DD "at" HH24:MI')),
           ${MAIL_ENDING}
    from planned
    where fate in ('ACCEPTED', 'BOUNCED', 'FAILED')`)
}

/** Reminders of past classes: one trigger each, and a mail to every student with an address. */
export async function recordPastClassMessages(db: Db, businessId: number, messages: Messages) {
  const { automations, now, cancelled } = messages
  await db.query(sql`
    with due as (
      select * from (
        select d.*, c.class_schedule_id as object_id, c.client_id_list, c.start_time, c.name as class_name,
               l.time_zone, ${scheduledFrom('c.start_time')} as scheduled_time, 'ACCEPTED' as fate, 0.5 as chance
        from (${definitionsOf(businessId, automations)}) d
        join class_schedule c on c.business_id = d.business_id and c.external_id like 'demo-class-%'
          and not c.status = any (${cancelled}::text[])
        join location l on (l.business_id, l.location_id) = (c.business_id, c.location_id)
        where d.object_type = 'CLASS_SCHEDULE') c
      where scheduled_time between since and ${now}::timestamptz),
    planned as materialized (${ifNew('start_time')}),
    ended as (
      insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type, object_id,
        anchor_time, scheduled_time, status, completed_time, created_date, modified_date, modified_user)
      select business_id, event_trigger_id, event_defn_id, version, object_type, object_id, anchor_time, scheduled_time,
             'COMPLETED', ended_time, since, ended_time, 'SYSTEM'
      from planned)
    insert into email (${MAIL_COLUMNS})
    select business_id, event_trigger_id, event_action_id, email_template_id, email_category_id, object_type,
           object_id, client_id, 'client ' || client_id, email_address, ${FROM}, template_name,
           format(E'Hello %s,\n\n%s is on %s.', first_name, class_name,
                  to_char(start_time at time zone time_zone, 'YYYY-MM-DD "at" HH24:MI')),
           ${MAIL_ENDING}
    from (select p.*, cl.client_id, cl.email_address, cl.first_name
          from planned p
          join client cl on cl.business_id = p.business_id and cl.client_id = any (p.client_id_list)
            and cl.email_address is not null) p`)
}

const REFUSED = '550 5.7.1 message refused'
const BOUNCED = 'bounced: 5.2.2 the mailbox is full'
const FROM = 'hello@lindenhof.example'

const MAIL_COLUMNS =
  raw(`business_id, event_trigger_id, event_action_id, email_template_id, email_category_id,
  object_type, object_id, client_id, recipient_key, to_address, from_address, subject, text, message_id,
  status, status_reason, attempts, sent_time, created_date`)

/** The last columns: the answer of the mail server, a few seconds after the trigger was due. */
const MAIL_ENDING = raw(`
  '<demo-' || event_trigger_id || '-' || client_id || '@lindenhof.example>',
  case fate when 'FAILED' then 'FAILED' else 'SENT' end,
  case fate when 'FAILED' then '${REFUSED}' when 'BOUNCED' then '${BOUNCED}' end,
  jsonb_build_array(jsonb_build_object(
    'time', floor(extract(epoch from scheduled_time) * 1000) + 2000,
    'phase', case fate when 'FAILED' then 'rcpt' else 'end' end,
    'reply', case fate when 'FAILED' then '${REFUSED}' else '250 2.0.0 queued' end)),
  case when fate <> 'FAILED' then scheduled_time + interval '2 seconds' end,
  scheduled_time + interval '1 second'`)
