import { TRIGGER_STATUSES } from '../../contract/event-trigger.ts'
import { EVENT_TYPES } from '../../contract/event-type.ts'
import { sql } from '../../database/sql.ts'
import { anyOf, inRange, local, objectsOf } from './conditions.ts'
import { percent, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'

const triggersIn = (scope: Scope) => sql`
  t.business_id = ${scope.businessId} and t.status = any (${TRIGGER_STATUSES}::text[])
  and ${inRange('t.scheduled_time', 'null::bigint', scope)}
  ${anyOf('t.status', scope.statuses, 'text')} ${objectsOf(scope)}`

export const triggerLog: Report = {
  reportId: 901,
  category: 'AUTOMATION',
  reportName: 'Trigger log',
  reportFileName: 'trigger-log',
  description: 'All triggers that were scheduled for the period, with their outcome.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_EMAIL_REPORTS'],
  about: 'triggers',
  columns: [
    { name: 'scheduledTime', label: 'Scheduled', type: 'dateTime', width: 19 },
    { name: 'eventType', label: 'Event', type: 'text', width: 24 },
    { name: 'definition', label: 'Definition', type: 'text', width: 24 },
    { name: 'objectType', label: 'Object', type: 'text', width: 17 },
    { name: 'object', label: 'Id', type: 'text', width: 9 },
    { name: 'status', label: 'Status', type: 'text', width: 15 },
    { name: 'completedTime', label: 'Completed', type: 'dateTime', width: 19 },
    { name: 'reason', label: 'Reason', type: 'text', width: 22 },
  ],
  rows: (scope) => sql`
    select t.scheduled_time as "scheduledTime",
           e.name as "eventType",
           coalesce(d.description, 'Definition ' || d.event_defn_id) as definition,
           t.object_type as "objectType",
           coalesce(t.object_id::text, t.object_uuid) as object,
           t.status,
           t.completed_time as "completedTime",
           t.status_reason as reason
    from any_trigger t
    join event_definition d on (d.business_id, d.event_defn_id) = (t.business_id, t.event_defn_id)
    join unnest(${EVENT_TYPES.map((type) => type.eventTypeId)}::int[], ${EVENT_TYPES.map((type) => type.eventType)}::text[]) as e (id, name)
      on e.id = d.event_type_id
    where ${triggersIn(scope)}
    order by t.scheduled_time, t.event_trigger_id`,
  figures: (scope) => sql`
    select count(*) as triggers,
           count(*) filter (where t.status = 'COMPLETED') as completed,
           count(*) filter (where t.status = 'FAILED') as failed,
           count(*) filter (where t.status in ('COMPLETED', 'FAILED')) as ended,
           count(*) filter (where t.status = 'SCHEDULED') as waiting
    from any_trigger t
    where ${triggersIn(scope)}`,
  kpis: [
    {
      name: 'triggers',
      label: 'Triggers',
      unit: 'count',
      definition: 'All triggers scheduled for the period.',
      value: ({ triggers }) => triggers ?? 0,
    },
    {
      name: 'completed',
      label: 'Completed',
      unit: 'percent',
      definition: 'COMPLETED triggers as a share of COMPLETED and FAILED ones.',
      value: ({ completed, ended }) => percent(completed, ended),
      better: 'more',
    },
    {
      name: 'failed',
      label: 'Failed',
      unit: 'count',
      definition: 'Triggers with at least one email that was permanently refused.',
      value: ({ failed }) => failed ?? 0,
      better: 'less',
    },
    {
      name: 'waiting',
      label: 'Still to come',
      unit: 'count',
      definition: 'Triggers of the period that are still pending.',
      value: ({ waiting }) => waiting ?? 0,
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, ${local('t.scheduled_time', 'null::bigint', scope)}), 'YYYY-MM-DD') as step,
               count(*) filter (where t.status = 'COMPLETED') as completed,
               count(*) filter (where t.status in ('SCHEDULED', 'RUNNING')) as waiting,
               count(*) filter (where t.status in ('CANCELLED', 'SKIPPED', 'EXPIRED')) as dropped,
               count(*) filter (where t.status = 'FAILED') as failed
        from any_trigger t
        where ${triggersIn(scope)}
        group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'triggers',
          title: 'Triggers',
          stacked: true,
          unit: 'count',
          series: [
            { name: 'Completed', column: 'completed' },
            { name: 'Waiting', column: 'waiting' },
            { name: 'Not sent', column: 'dropped' },
            { name: 'Failed', column: 'failed' },
          ],
        }),
      ],
    },
  ],
}
