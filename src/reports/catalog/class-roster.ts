import { sql } from '../../database/sql.ts'
import { measureKpi, selectMeasures } from '../measures.ts'
import { countKpi, rateKpi, type Report, type Scope } from '../report.ts'
import { countsOverTime } from './charts.ts'
import { anyOf, classRows, joinNames } from './conditions.ts'
import { classObjects } from './objects.ts'
import { NOT_CANCELLED } from './appointments.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

/** Each place taken in a class that was not cancelled; `present` is null if it was not recorded. */
const students = (scope: Scope) => sql`
  select k.*, s.client_id, s.place,
         (select (e ->> 'present')::boolean from jsonb_array_elements(k.attendance) e
          where (e ->> 'clientId')::bigint = s.client_id limit 1) as present
  from (${classRows(scope)}) k
  cross join lateral unnest(k.client_id_list) with ordinality s (client_id, place)
  where k.outcome <> 'CANCELLED' ${anyOf('s.client_id', scope.clientIds)}`

/** Each place of a class, and one row without a client for a class without students. */
const places = (scope: Scope) =>
  classObjects(
    sql`
      select k.*, s.client_id as student_id, k.class_schedule_id || ' ' || coalesce(s.place, 0) as place_key,
             s.client_id is not null ${anyOf('s.client_id', scope.clientIds)} as is_listed,
             (select (e ->> 'present')::boolean from jsonb_array_elements(k.attendance) e
              where (e ->> 'clientId')::bigint = s.client_id limit 1) as present
      from (${classRows(scope)}) k
      left join lateral unnest(k.client_id_list) with ordinality s (client_id, place) on true`,
    { client: 'k.student_id', key: 'k.place_key' },
  )

export const classRoster: Report = {
  reportId: 602,
  category: 'CLASSES',
  reportName: 'Class roster',
  reportFileName: 'class-roster',
  description: 'Who takes part in each class of the period, and who was present.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'classes',
  columns: [
    ...listColumns(['date', 'time']),
    { name: 'class', label: 'Class', type: 'text', width: 18 },
    ...listColumns(['staff', 'location', 'client', 'phone', 'emailAddress']),
    { name: 'presence', label: 'Presence', type: 'text', width: 12, fixedWords: true },
  ],
  rows: (scope) => sql`
    select to_char(k.local_start, 'YYYY-MM-DD') as date,
           to_char(k.local_start, 'HH24:MI') as time,
           k.name as class,
           ${cellsOf(['staff', 'location', 'client', 'phone', 'emailAddress'])},
           case when k.outcome = 'AHEAD' then 'Booked ahead' when k.present then 'Present'
                when not k.present then 'Absent' else 'Not recorded' end as presence,
           k.class_schedule_id as "key_objectId",
           k.client_id as key_client
    from (${students(scope)}) k
    ${joinNames('k', ['client', 'professional', 'location'], scope)}
    order by k.local_start, k.start_time, k.class_schedule_id, k.place`,
  figures: (scope) => sql`
    select m.*, s.present, s.absent
    from (select ${selectMeasures(['classes', 'students'], scope)} from (${classRows(scope)}) k) m,
         (select count(*) filter (where k.present) as present,
                 count(*) filter (where not k.present) as absent
          from (${students(scope)}) k where k.outcome <> 'AHEAD') s`,
  kpis: [
    measureKpi('classes'),
    // A class has its other students too.
    measureKpi('students', { meaninglessWith: ['clientIdList'] }),
    countKpi('present', 'Present', {
      definition: 'Places whose student was recorded as present, in classes that have begun.',
      better: 'more',
      tense: 'past',
    }),
    rateKpi('presence', 'Presence', {
      definition: 'Present students as a share of those whose presence was recorded.',
      of: ({ present, absent }) => [present, (present ?? 0) + (absent ?? 0)],
      better: 'more',
      tense: 'past',
    }),
  ],
  charts: [
    countsOverTime({
      name: 'students',
      title: 'Students',
      rows: students,
      series: [
        { name: 'In classes that have begun', tone: 'kept', where: `outcome <> 'AHEAD'` },
        { name: 'Booked ahead', tone: 'ahead', where: `outcome = 'AHEAD'` },
      ],
    }),
  ],
  measures: ['classes', 'students', 'places'],
  drillDown: {
    objects: places,
    keys: () => ['objectId', 'client'],
    listed: `is_listed and ${NOT_CANCELLED}`,
    figures: {
      classes: { where: NOT_CANCELLED, oncePer: 'object_id' },
      students: { where: `client_id is not null and ${NOT_CANCELLED}` },
      places: { of: 'capacity', where: NOT_CANCELLED, oncePer: 'object_id' },
      present: { where: `is_listed and present and outcome not in ('CANCELLED', 'AHEAD')` },
    },
  },
}
