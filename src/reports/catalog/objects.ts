import { raw, sql, type Sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'
import { mailRows, triggerRows } from './automation-rows.ts'
import { appointmentRows, classRows } from './conditions.ts'

/*
 * The objects that figures are made of, one row each, for `GET /report/{id}/rows`. All have the columns
 * that drill-down.ts reads; `row_key` is unique.
 */

export const NOT_AUTOMATED = raw(
  'null::text as object_uuid, null::bigint as event_trigger_id, null::bigint as email_id',
)

/** Appointments at the time when they were booked, from `bookingRows`. */
export const bookingObjects = (rows: Sql) => sql`
  select a.*, 'CALENDAR' as object_type, a.calendar_id as object_id, ${NOT_AUTOMATED},
         a.booked_time as time, null::text as name, a.calendar_id::text as row_key
  from (${rows}) a`

export const appointmentObjects = (rows: Sql) => sql`
  select a.*, 'CALENDAR' as object_type, a.calendar_id as object_id, ${NOT_AUTOMATED},
         a.start_time as time, null::text as name, a.calendar_id::text as row_key
  from (${rows}) a`

/** `rows`: classes; or places in classes, with the client and the key of each. */
export const classObjects = (
  rows: Sql,
  { client = 'null::bigint', key = 'k.class_schedule_id' } = {},
) => sql`
  select k.*, 'CLASS_SCHEDULE' as object_type, k.class_schedule_id as object_id, ${NOT_AUTOMATED},
         k.start_time as time, ${raw(client)} as client_id, ${raw(key)}::text as row_key
  from (${rows}) k`

const SHARED =
  raw(`object_type, object_id, object_uuid, event_trigger_id, email_id, client_id, professional_id,
  reason_id, location_id, status, outcome, time, local_start, minutes, name, n`)

/** Appointments and classes together. The key of a class is marked: ids of both kinds overlap. */
export const appointmentAndClassObjects = (scope: Scope) => sql`
  select ${SHARED}, price, currency, row_key, null::int as enrolled, null::int as capacity
  from (${appointmentObjects(appointmentRows(scope))}) a
  union all
  select ${SHARED}, null, null, 'class ' || row_key, enrolled, capacity
  from (${classObjects(classRows(scope))}) k`

/** `t`: joins the client, staff, service and location of the object of a trigger, an email or a difference as `p`. */
export const PARTS_OF_OBJECT = raw(`
  left join lateral (
    select x.client_id, x.professional_id, x.reason_id, x.location_id from calendar x
    where t.object_type = 'CALENDAR' and (x.business_id, x.calendar_id) = (t.business_id, t.object_id)
    union all
    select null, x.professional_id, x.reason_id, x.location_id from class_schedule x
    where t.object_type = 'CLASS_SCHEDULE' and (x.business_id, x.class_schedule_id) = (t.business_id, t.object_id)
    union all
    select x.client_id, x.professional_id, x.reason_id, x.location_id from recall x
    where t.object_type = 'RECALL' and (x.business_id, x.recall_id) = (t.business_id, t.object_id)
    union all
    select x.client_id, null, null, null from invitation x
    where t.object_type = 'INVITATION' and (x.business_id, x.invitation_uuid) = (t.business_id, t.object_uuid)
    union all
    select x.client_id, null, null, null from disclaimer x
    where t.object_type = 'DISCLAIMER' and (x.business_id, x.disclaimer_id) = (t.business_id, t.object_id)
  ) p on true`)

/** `rows`: triggers, from `triggerRows`. */
export const triggerObjects = (scope: Scope, rows = triggerRows(scope)) => sql`
  select t.*, p.client_id, p.professional_id, p.reason_id, p.location_id, null::bigint as email_id,
         t.scheduled_time as time, t.local_time as local_start, d.description as name,
         t.event_trigger_id::text as row_key, t.event_defn_id::text as line
  from (${rows}) t
  join event_definition d on (d.business_id, d.event_defn_id) = (${scope.businessId}, t.event_defn_id)
  ${PARTS_OF_OBJECT}`

export const mailObjects = (scope: Scope) => sql`
  select t.object_type, t.object_id, t.object_uuid, t.event_trigger_id, t.email_id, t.status, t.result,
         coalesce(t.client_id, p.client_id) as client_id, p.professional_id, p.reason_id, p.location_id,
         t.created_date as time, t.local_time as local_start, t.subject as name, t.email_id::text as row_key,
         coalesce(t.email_template_id::text, '') as line
  from (${mailRows(scope)}) t ${PARTS_OF_OBJECT}`
