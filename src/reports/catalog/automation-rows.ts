import { TRIGGER_STATUSES } from '../../contract/event-trigger.ts'
import { raw, sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'
import { anyOf, inRange, local, objectsOf, studentsInWords } from './conditions.ts'

/** `t`: the location of the object that a trigger or an email is about; null if it has none. */
const LOCATION = `coalesce(
  (select o.location_id from calendar o
   where t.object_type = 'CALENDAR' and (o.business_id, o.calendar_id) = (t.business_id, t.object_id)),
  (select o.location_id from class_schedule o
   where t.object_type = 'CLASS_SCHEDULE' and (o.business_id, o.class_schedule_id) = (t.business_id, t.object_id)),
  (select o.location_id from recall o
   where t.object_type = 'RECALL' and (o.business_id, o.recall_id) = (t.business_id, t.object_id)))`

/** The triggers of the scope that were scheduled for its range, one row each, for `from (…) t`. */
export const triggerRows = (scope: Scope) => sql`
  select t.*, ${local('t.scheduled_time', LOCATION, scope)} as local_time,
         t.status in ('RUNNING', 'COMPLETED', 'FAILED') as fired
  from any_trigger t
  where t.business_id = ${scope.businessId} and t.status = any (${TRIGGER_STATUSES}::text[])
    and ${inRange('t.scheduled_time', LOCATION, scope)}
    ${anyOf('t.status', scope.statuses, 'text')} ${objectsOf(scope)}`

/**
 * The emails of the scope that were created in its range, without tests. `result` is ACCEPTED,
 * BOUNCED, WAITING, FAILED, CAPTURED, SUPPRESSED or CANCELLED; see docs/reports.md.
 */
export const mailRows = (scope: Scope) => sql`
  select t.*, ${mailOutcome('t')} as result, ${local('t.created_date', LOCATION, scope)} as local_time
  from email t
  where t.business_id = ${scope.businessId} and not t.test
    -- The list of all outcomes lets PostgreSQL use the index by outcome and time.
    and t.outcome in ('SENT', 'CAPTURED', 'FAILED', 'SUPPRESSED', 'CANCELLED')
    and ${inRange('t.created_date', LOCATION, scope)}
    ${anyOf('t.status', scope.statuses, 'text')} ${objectsOf(scope)}`

/** The result of an email. A server accepted those that bounced; captured ones were never sent. */
export const mailOutcome = (email: string) =>
  raw(`case when ${email}.status = 'SENT' and ${email}.status_reason like 'bounced:%' then 'BOUNCED'
       when ${email}.status = 'SENT' then 'ACCEPTED'
       when ${email}.status in ('QUEUED', 'RETRYING', 'UNCERTAIN') then 'WAITING'
       else ${email}.status end`)

const NAME = raw(`(select l.first_name || ' ' || l.last_name from client l
      where (l.business_id, l.client_id) = (x.business_id, x.client_id))`)

/** The name of a recall without a service. */
export const RECALL = 'Recall'

/** `t`: joins the names of the object of a trigger: `o.client`, `o.subject`, `o.time`, `o.location_id`. */
export const objectNames = (scope: Scope) => sql`
  left join lateral (
    select ${NAME} as client, r.name as subject, x.start_time as time, x.location_id
    from calendar x join reason r on (r.business_id, r.reason_id) = (x.business_id, x.reason_id)
    where t.object_type = 'CALENDAR' and (x.business_id, x.calendar_id) = (${scope.businessId}, t.object_id)
    union all
    select ${studentsInWords('cardinality(x.client_id_list)')}, x.name, x.start_time, x.location_id
    from class_schedule x
    where t.object_type = 'CLASS_SCHEDULE' and (x.business_id, x.class_schedule_id) = (${scope.businessId}, t.object_id)
    union all
    select ${NAME}, coalesce(r.name, ${RECALL}), x.due_time, x.location_id
    from recall x left join reason r on (r.business_id, r.reason_id) = (x.business_id, x.reason_id)
    where t.object_type = 'RECALL' and (x.business_id, x.recall_id) = (${scope.businessId}, t.object_id)
    union all
    select ${NAME}, g.name, null, null
    from invitation x
    join invitation_campaign g on (g.business_id, g.invitation_campaign_id) = (x.business_id, x.invitation_campaign_id)
    where t.object_type = 'INVITATION' and (x.business_id, x.invitation_uuid) = (${scope.businessId}, t.object_uuid)
    union all
    select ${NAME}, g.name, c.start_time, c.location_id
    from disclaimer x
    join disclaimer_form g on (g.business_id, g.disclaimer_form_id) = (x.business_id, x.disclaimer_form_id)
    left join calendar c on (c.business_id, c.calendar_id) = (x.business_id, x.calendar_id)
    where t.object_type = 'DISCLAIMER' and (x.business_id, x.disclaimer_id) = (${scope.businessId}, t.object_id)
  ) o on true`
