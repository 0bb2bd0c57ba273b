import { TRIGGER_STATUSES } from '../contract/event-trigger.ts'
import type { Db } from '../database/database.ts'
import { raw, sql, type Sql } from '../database/sql.ts'
import { anyOf } from './catalog/conditions.ts'
import type { Report, ReportSubject, Scope } from './report.ts'

/** The time of the first row that a report can count; null if there is none. */
export async function findBeginning(
  tx: Db,
  { about, beginning = BEGINNINGS[about] }: Pick<Report, 'about' | 'beginning'>,
  scope: Scope,
) {
  const first = await tx.getRow<{ began: Temporal.Instant | null }>(beginning(scope))
  return first.began
}

/** The first time of a table, read from an index if there is one. */
export const firstOf = (
  table: string,
  time: string,
  conditions: (scope: Scope) => Sql = () => raw(''),
) => {
  return (scope: Scope) => sql`
    select min(${raw(time)}) as began from ${raw(table)} t
    where t.business_id = ${scope.businessId} and t.active ${conditions(scope)}`
}

/** The filters that have an index by time: with them the data may begin later. */
export const narrowed = ({ locationIds, professionalIds, reasonIds }: Scope) => sql`
  ${anyOf('t.location_id', locationIds)} ${anyOf('t.professional_id', professionalIds)}
  ${anyOf('t.reason_id', reasonIds)}`

export const firstAppointment = firstOf('calendar', 't.start_time', narrowed)

/** Each query reads an index from its start. Triggers and emails have an index by status and time. */
const BEGINNINGS: Record<ReportSubject, (scope: Scope) => Sql> = {
  appointments: firstAppointment,
  clients: firstOf('calendar', 't.start_time'),
  classes: firstOf('class_schedule', 't.start_time', narrowed),
  recalls: firstOf('recall', 't.due_time', narrowed),
  invitations: firstOf('invitation', 't.created_date'),
  disclaimers: firstOf('disclaimer', 't.created_date'),
  triggers: ({ businessId }) => sql`
    select min(f.first) as began
    from unnest(${TRIGGER_STATUSES}::text[]) s (status), lateral (
      select min(t.scheduled_time) as first from event_trigger t
      where t.business_id = ${businessId} and t.status = s.status) f`,
  emails: ({ businessId }) => sql`
    select min(f.first) as began
    from unnest('{SENT,CAPTURED,FAILED,SUPPRESSED,CANCELLED}'::text[]) s (outcome), lateral (
      select min(t.created_date) as first from email t
      where t.business_id = ${businessId} and t.outcome = s.outcome) f`,
  feeds: ({ businessId }) => sql`
    select min(t.started_time) as began from feed_run t
    where t.business_id = ${businessId} and t.kind = 'RECONCILE'`,
}
