import { sql } from '../../database/sql.ts'
import { measureKpi } from '../measures.ts'
import { countKpi, type Report, type Scope } from '../report.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, NOT_CANCELLED } from './appointments.ts'
import { barsOf } from './charts.ts'
import {
  appointmentRows,
  classRows,
  local,
  statusesOf,
  STUDENT_WORDS,
  studentsInWords,
  joinNames,
} from './conditions.ts'
import { appointmentAndClassObjects } from './objects.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

/** Appointments and classes that were not cancelled, as one list. */
const entries = (scope: Scope) => sql`
  select 'CALENDAR' as object_type, a.professional_id, a.local_start, ${local('a.end_time', 'a.location_id', scope)} as local_end, a.start_time, a.minutes, a.location_id, a.calendar_id as id,
         ${cellsOf(['client', 'service'])},
         coalesce(s.label, a.status) as status,
         a.note,
         not exists (
           select from calendar e
           where e.business_id = ${scope.businessId} and e.client_id = a.client_id and e.active
             and e.start_time < a.start_time
             and not e.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])) as is_first
  from (${appointmentRows(scope)}) a
  ${joinNames('a', ['client', 'reason'], scope)}
  left join status s on s.business_id = ${scope.businessId} and s.object_type = 'CALENDAR' and s.status = a.status
  where a.outcome <> 'CANCELLED'
  union all
  select 'CLASS_SCHEDULE', k.professional_id, k.local_start, ${local('k.end_time', 'k.location_id', scope)}, k.start_time, k.minutes, k.location_id, k.class_schedule_id,
         ${studentsInWords('k.enrolled')}, k.name,
         coalesce(s.label, k.status), null, false
  from (${classRows(scope)}) k
  left join status s on s.business_id = ${scope.businessId} and s.object_type = 'CLASS_SCHEDULE' and s.status = k.status
  where k.outcome <> 'CANCELLED'`

export const dailySchedule: Report = {
  reportId: 103,
  category: 'APPOINTMENTS',
  reportName: 'Daily schedule by staff',
  reportFileName: 'daily-schedule',
  description:
    'The appointments and classes of each member of staff that were not cancelled, by time, with a page for each person.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  newPageFor: 'staff',
  columns: [
    ...listColumns(['staff', 'date']),
    { name: 'time', label: 'From', type: 'time', width: 5 },
    { name: 'endTime', label: 'To', type: 'time', width: 5 },
    { name: 'client', label: 'Client', type: 'text', width: 17, fixedWords: STUDENT_WORDS },
    { name: 'firstVisit', label: 'First visit', type: 'text', width: 5, fixedWords: true },
    ...listColumns(['service', 'location', 'status']),
    { name: 'note', label: 'Note', type: 'text', width: 20 },
    {
      name: 'minutes',
      label: 'Min',
      type: 'minutes',
      width: 5,
      total: 'sum',
    },
  ],
  rows: (scope) => sql`
    select p.first_name || ' ' || p.last_name as staff,
           to_char(e.local_start, 'YYYY-MM-DD') as date,
           to_char(e.local_start, 'HH24:MI') as time,
           to_char(e.local_end, 'HH24:MI') as "endTime",
           e.client,
           case when e.is_first then 'yes' end as "firstVisit",
           e.service,
           l.name as location,
           e.status,
           e.note,
           e.minutes,
           e.object_type as "key_objectType",
           e.id as "key_objectId"
    from (${entries(scope)}) e
    ${joinNames('e', ['professional', 'location'], scope)}
    order by p.first_name collate name_order, p.last_name collate name_order, p.professional_id,
             e.local_start, e.start_time, e.id`,
  figures: (scope) => sql`
    select f.*, d.entries, d.people, d.firsts, d."entryMinutes"
    from (${appointmentFigures(scope)}) f,
         (select count(*) as entries, count(distinct e.professional_id) as people,
                 count(*) filter (where e.is_first) as firsts,
                 coalesce(sum(e.minutes), 0) as "entryMinutes"
          from (${entries(scope)}) e) d`,
  kpis: [
    countKpi('entries', 'Appointments and classes', {
      definition: 'All appointments and classes that begin in the period and were not cancelled.',
      better: 'more',
    }),
    countKpi('people', 'Staff', {
      definition: 'Members of staff with at least one of them.',
    }),
    {
      name: 'entryMinutes',
      label: 'Time booked',
      unit: 'minutes',
      definition: 'The length of these appointments and classes.',
      value: ({ entryMinutes }) => entryMinutes ?? 0,
      better: 'more',
    },
    countKpi('firstVisits', 'First visits', {
      definition: 'Appointments of clients who had none before that was not cancelled.',
      of: 'firsts',
      better: 'more',
    }),
    measureKpi('cancelled'),
  ],
  charts: [
    {
      rows: (scope) => sql`
        select p.first_name || ' ' || p.last_name as staff, sum(e.minutes) / 60 as hours
        from (${entries(scope)}) e
        ${joinNames('e', ['professional'], scope)}
        group by p.professional_id, p.first_name, p.last_name
        order by 2 desc, 1, p.professional_id limit 12`,
      draw: (rows) => [
        barsOf(rows, {
          name: 'hours',
          title: 'Hours booked, the twelve busiest',
          label: 'staff',
          series: [
            { name: 'Hours', column: 'hours', write: (hours) => Math.round(10 * hours) / 10 },
          ],
        }),
      ],
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: {
    objects: (scope) => sql`
      select o.*, o.object_type = 'CALENDAR' and o.object_id in (
               select e.id from (${entries(scope)}) e where e.is_first) as is_first
      from (${appointmentAndClassObjects(scope)}) o`,
    keys: () => ['objectType', 'objectId'],
    listed: NOT_CANCELLED,
    figures: {
      entries: { where: NOT_CANCELLED },
      minutes: { of: 'minutes', where: NOT_CANCELLED },
      entryMinutes: { of: 'minutes', where: NOT_CANCELLED },
      firstVisits: { where: 'is_first' },
    },
  },
}
