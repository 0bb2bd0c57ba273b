import { sql } from '../../database/sql.ts'
import { countKpi, rateKpi, type Report, type Scope } from '../report.ts'
import { countsOverTime } from './charts.ts'
import { filtered, inRange, local, localAtAnyTime, statusesOf, joinNames } from './conditions.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

/** Recalls that are due in the period. A pending one is BOOKED if the client has an appointment ahead. */
const recalls = (scope: Scope) => sql`
  select r.*, ${local('r.due_time', 'r.location_id', scope)} as local_due,
         n.start_time as next_start, n.location_id as next_location,
         case when r.status = any (${statusesOf('RECALL', 'KEPT', scope)}::text[]) then 'DONE'
              when r.status = any (${[...statusesOf('RECALL', 'CANCELLED', scope), ...statusesOf('RECALL', 'MISSED', scope)]}::text[]) then 'CANCELLED'
              when n.start_time is not null then 'BOOKED'
              when r.due_time <= ${scope.now} then 'OVERDUE'
              else 'AHEAD' end as state
  from recall r
  left join lateral (
    select c.start_time, c.location_id from calendar c
    where c.business_id = r.business_id and c.client_id = r.client_id and c.active
      and c.start_time > ${scope.now}
      and not c.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])
    order by c.start_time limit 1) n on true
  where r.business_id = ${scope.businessId} and r.active
    and ${inRange('r.due_time', 'r.location_id', scope)} ${filtered('r', scope)}`

const STATE_WORDS = sql`case v.state when 'DONE' then 'Done' when 'CANCELLED' then 'Cancelled'
  when 'BOOKED' then 'Booked' when 'OVERDUE' then 'Overdue' else 'To come' end`

const countOf = (state: string) => sql`count(*) filter (where v.state = ${state})`

export const recallsDue: Report = {
  reportId: 703,
  category: 'CLIENTS',
  reportName: 'Recalls due',
  reportFileName: 'recalls-due',
  description:
    'All clients who are due to come again in the period, with their phone number and their next appointment.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'recalls',
  columns: [
    { name: 'dueDate', label: 'Due', type: 'date', width: 10 },
    ...listColumns(['client', 'phone', 'emailAddress', 'service', 'staff', 'location']),
    { name: 'state', label: 'State', type: 'text', width: 9, fixedWords: true },
    { name: 'nextAppointment', label: 'Next appointment', type: 'text', width: 16, isDate: true },
  ],
  rows: (scope) => sql`
    select to_char(v.local_due, 'YYYY-MM-DD') as "dueDate",
           ${cellsOf(['client', 'phone', 'emailAddress'])},
           s.name as service,
           ${cellsOf(['staff', 'location'])},
           ${STATE_WORDS} as state,
           to_char(${localAtAnyTime('v.next_start', 'v.next_location', scope)}, 'YYYY-MM-DD HH24:MI') as "nextAppointment",
           v.recall_id as "key_objectId"
    from (${recalls(scope)}) v
    ${joinNames('v', ['client'], scope)}
    left join reason s on (s.business_id, s.reason_id) = (${scope.businessId}, v.reason_id)
    left join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, v.professional_id)
    left join location l on (l.business_id, l.location_id) = (${scope.businessId}, v.location_id)
    order by v.local_due, v.due_time, v.recall_id`,
  figures: (scope) => sql`
    select count(*) as recalls, ${countOf('DONE')} as done, ${countOf('CANCELLED')} as cancelled,
           ${countOf('BOOKED')} as booked, ${countOf('OVERDUE')} as overdue
    from (${recalls(scope)}) v`,
  kpis: [
    countKpi('recalls', 'Recalls due', {
      definition: 'Recalls with a due time in the period, in any status.',
    }),
    rateKpi('doneRate', 'Done', {
      definition:
        'Recalls whose status counts as kept, as a share of those that were not cancelled.',
      of: ({ done, recalls: count, cancelled }) => [done, (count ?? 0) - (cancelled ?? 0)],
      better: 'more',
      isNotComparable: true,
      meaninglessWith: ['statusList'],
    }),
    countKpi('bookedRecalls', 'Booked', {
      definition: 'Recalls that are not done, of clients who have an appointment ahead.',
      of: 'booked',
      isNotComparable: true,
    }),
    countKpi('overdueRecalls', 'Overdue', {
      definition: 'Recalls whose time has come that are not done, of clients with nothing booked.',
      of: 'overdue',
      better: 'less',
      isNotComparable: true,
    }),
  ],
  charts: [
    countsOverTime({
      name: 'recalls',
      title: 'Recalls due',
      rows: recalls,
      time: 'local_due',
      series: [
        { name: 'Done', tone: 'kept', where: `state = 'DONE'` },
        { name: 'Cancelled', tone: 'cancelled', where: `state = 'CANCELLED'` },
        { name: 'Overdue', tone: 'unclosed', where: `state = 'OVERDUE'` },
        { name: 'Booked or to come', tone: 'ahead', where: `state in ('BOOKED', 'AHEAD')` },
      ],
    }),
  ],
  drillDown: {
    objects: (scope) => sql`
      select v.*, 'RECALL' as object_type, v.recall_id as object_id, null::text as object_uuid,
             null::bigint as event_trigger_id, null::bigint as email_id, v.due_time as time,
             v.local_due as local_start, null::text as name, v.recall_id::text as row_key
      from (${recalls(scope)}) v`,
    keys: () => ['objectId'],
    figures: {
      recalls: {},
      bookedRecalls: { where: `state = 'BOOKED'` },
      overdueRecalls: { where: `state = 'OVERDUE'` },
    },
  },
}
