import { countColumn } from '../measures.ts'
import { barsOf, countsOverTime } from './charts.ts'
import { join, raw, sql } from '../../database/sql.ts'
import { countKpi, type Groups, type Report, type Scope } from '../report.ts'
import {
  anyOf,
  inRange,
  local,
  localAtAnyTime,
  ofScope,
  statusesOf,
  tagged,
  joinNames,
} from './conditions.ts'
import { NOT_AUTOMATED } from './objects.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

/** The outcomes of appointments after a change. */
const RESULTS = [
  { name: 'toKept', label: 'Kept', outcome: 'KEPT', tone: 'kept' },
  { name: 'toMissed', label: 'No-show', outcome: 'MISSED', tone: 'missed' },
  { name: 'toCancelled', label: 'Cancelled', outcome: 'CANCELLED', tone: 'cancelled' },
  { name: 'toPending', label: 'Open again or confirmed', outcome: 'PENDING', tone: 'ahead' },
] as const

const outcomeOfStatus = (status: string, scope: Scope) => {
  const cases = (['KEPT', 'MISSED', 'CANCELLED'] as const).map(
    (outcome) =>
      sql`when ${raw(status)} = any (${statusesOf('CALENDAR', outcome, scope)}::text[]) then ${outcome}`,
  )
  return sql`case ${join(cases, ' ')} else 'PENDING' end`
}

/**
 * The changes of status in the period, one row each, from the audit. `local_start` is the time of the
 * change at the location that the appointment has now.
 */
const statusChanges = (scope: Scope) => sql`
  select u.audit_id, u.time, u.username, u.old_status, u.new_status,
         c.calendar_id, c.client_id, c.professional_id, c.reason_id, c.location_id, c.start_time,
         ${local('u.time', 'c.location_id', scope)} as local_start,
         ${outcomeOfStatus('u.old_status', scope)} as old_outcome,
         ${outcomeOfStatus('u.new_status', scope)} as new_outcome
  from (select t.business_id, t.audit_id, t.time, t.username, t.before ->> 'status' as old_status,
               t.after ->> 'status' as new_status,
               -- Other objects have ids that are not numbers.
               case when t.object = 'calendar' then t.id::bigint end as calendar_id
        from audit_entry t
        where t.business_id = ${scope.businessId} and t.object = 'calendar' and t.change = 'CHANGED'
          and t.time >= ${scope.from} and t.time < ${scope.until}) u
  join calendar c using (business_id, calendar_id)
  where c.active and u.old_status <> u.new_status
    and ${inRange('u.time', 'c.location_id', scope)}
    ${ofScope('c', scope)} ${anyOf('c.client_id', scope.clientIds)}
    ${anyOf('u.new_status', scope.statuses, 'text')} ${tagged('c', scope)}`

const becomes = (outcome: string) => `new_outcome = '${outcome}'`
const CORRECTED = `old_outcome not in ('PENDING', new_outcome)`

const COUNTS = join(
  [
    sql`count(f.audit_id) as changes, count(distinct f.calendar_id) as "changedAppointments"`,
    ...RESULTS.map(({ name, outcome }) =>
      raw(`count(*) filter (where ${becomes(outcome)}) as "${name}"`),
    ),
    raw(`count(*) filter (where ${CORRECTED}) as corrected`),
  ],
  ', ',
)

const groups: Groups = {
  columns: [
    countColumn({ name: 'changes', label: 'Changes' }),
    // Without a total, because an appointment can be in several lines.
    { name: 'changedAppointments', label: 'Appointments', type: 'integer', width: 7 },
    ...RESULTS.map((result) => countColumn(result)),
    countColumn({ name: 'corrected', label: 'Corrected' }),
  ],
  rows: statusChanges,
  cells: () => COUNTS,
}

export const changedStatuses: Report = {
  reportId: 203,
  category: 'APPOINTMENTS',
  reportName: 'Status changes',
  reportFileName: 'status-changes',
  description:
    'Every change of the status of an appointment in the period: from what to what, when and by whom.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_STAFF_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(['date', 'time']),
    { name: 'fromStatus', label: 'From', type: 'text', width: 10, fixedWords: 'status' },
    { name: 'toStatus', label: 'To', type: 'text', width: 10, fixedWords: 'status' },
    { name: 'changedBy', label: 'By', type: 'text', width: 12 },
    { name: 'client', label: 'Client', type: 'text', width: 17 },
    { name: 'appointment', label: 'Appointment', type: 'text', width: 16, isDate: true },
    ...listColumns(['service', 'staff', 'location']),
  ],
  rows: (scope) => sql`
    select to_char(f.local_start, 'YYYY-MM-DD') as date,
           to_char(f.local_start, 'HH24:MI') as time,
           coalesce(o.label, f.old_status) as "fromStatus",
           coalesce(n.label, f.new_status) as "toStatus",
           f.username as "changedBy",
           cl.first_name || ' ' || cl.last_name as client,
           to_char(${localAtAnyTime('f.start_time', 'f.location_id', scope)}, 'YYYY-MM-DD HH24:MI') as appointment,
           ${cellsOf(['service', 'staff', 'location'])},
           f.audit_id as key_line
    from (${statusChanges(scope)}) f
    ${joinNames('f', ['client', 'reason', 'professional', 'location'], scope)}
    left join status o on (o.business_id, o.object_type, o.status) = (${scope.businessId}, 'CALENDAR', f.old_status)
    left join status n on (n.business_id, n.object_type, n.status) = (${scope.businessId}, 'CALENDAR', f.new_status)
    order by f.local_start, f.time, f.audit_id`,
  beginning: ({ businessId }) => sql`
    select min(t.time) as began from audit t where t.business_id = ${businessId} and t.object = 'calendar'`,
  figures: (scope) => sql`select ${COUNTS} from (${statusChanges(scope)}) f`,
  kpis: [
    countKpi('changes', 'Changes', {
      definition:
        'Changes of the status of an appointment in the period, whenever it begins. The status that it was booked with is not a change. A filter by status is one by the status after the change.',
      tense: 'past',
    }),
    countKpi('changedAppointments', 'Appointments changed', {
      definition: 'Appointments whose status changed in the period at least once.',
      tense: 'past',
    }),
    countKpi('toCancelled', 'Cancellations', {
      definition:
        'Changes to a status that counts as cancelled, made in the period. Cancelled appointments of other reports are those that begin in the period.',
      better: 'less',
      tense: 'past',
      meaninglessWith: ['statusList'],
    }),
    countKpi('corrected', 'Corrected', {
      definition:
        'Changes of a status that already said how the appointment ended, to one that counts as something else.',
      better: 'less',
      tense: 'past',
    }),
  ],
  charts: [
    countsOverTime({
      name: 'changes',
      title: 'Status changes',
      rows: statusChanges,
      series: RESULTS.map(({ label, outcome, tone }) => ({
        name: label,
        tone,
        where: becomes(outcome),
      })),
    }),
    {
      rows: (scope) => sql`
        select coalesce(o.label, f.old_status) || ' → ' || coalesce(n.label, f.new_status) as change,
               count(*) as changes
        from (${statusChanges(scope)}) f
        left join status o on (o.business_id, o.object_type, o.status) = (${scope.businessId}, 'CALENDAR', f.old_status)
        left join status n on (n.business_id, n.object_type, n.status) = (${scope.businessId}, 'CALENDAR', f.new_status)
        group by 1 order by 2 desc, 1 limit 12`,
      draw: (rows) => [
        barsOf(rows, {
          name: 'byChange',
          title: 'The most frequent changes',
          fixedWords: 'status',
          label: 'change',
          series: [{ name: 'Changes', column: 'changes' }],
        }),
      ],
    },
  ],
  groups,
  drillDown: {
    objects: (scope) => sql`
      select f.*, f.new_status as status, 'CALENDAR' as object_type, f.calendar_id as object_id, ${NOT_AUTOMATED},
             null::text as name, f.audit_id::text as row_key, f.audit_id::text as line
      from (${statusChanges(scope)}) f`,
    keys: () => ['line'],
    figures: {
      changes: {},
      changedAppointments: { oncePer: 'object_id' },
      ...Object.fromEntries(
        RESULTS.map(({ name, outcome }) => [name, { where: becomes(outcome) }]),
      ),
      corrected: { where: CORRECTED },
    },
  },
}
