import { sql } from '../../database/sql.ts'
import { classesIn, dateOf, local, timeOf } from './conditions.ts'
import { percent, type Report } from '../report.ts'
import { chartOverTime, stepOf } from './time-steps.ts'

export const classAttendance: Report = {
  reportId: 601,
  category: 'CLASSES',
  reportName: 'Class attendance',
  reportFileName: 'class-attendance',
  description: 'All classes of the period with their students and places.',
  securityFunctions: ['PRINT_REPORTS'],
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    { name: 'class', label: 'Class', type: 'text', width: 20 },
    { name: 'staff', label: 'Staff', type: 'text', width: 17 },
    { name: 'location', label: 'Location', type: 'text', width: 14, unlessOneLocation: true },
    { name: 'status', label: 'Status', type: 'text', width: 10 },
    { name: 'students', label: 'Students', type: 'integer', width: 5, total: 'sum' },
    { name: 'capacity', label: 'Places', type: 'integer', width: 5, total: 'sum' },
    { name: 'filled', label: 'Filled', type: 'percent', width: 7 },
  ],
  rows: (scope) => sql`
    select ${dateOf('k.start_time', scope)} as date,
           ${timeOf('k.start_time', scope)} as time,
           k.name as class,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           coalesce(s.label, k.status) as status,
           cardinality(k.client_id_list) as students,
           k.capacity,
           round(100.0 * cardinality(k.client_id_list) / nullif(k.capacity, 0), 1) as filled
    from class_schedule k
    join professional p on (p.business_id, p.professional_id) = (k.business_id, k.professional_id)
    join location l on (l.business_id, l.location_id) = (k.business_id, k.location_id)
    left join status s on s.business_id = k.business_id and s.object_type = 'CLASS_SCHEDULE' and s.status = k.status
    where ${classesIn(scope)}
    order by k.start_time, k.class_schedule_id`,
  figures: (scope) => sql`
    select count(*) as classes,
           coalesce(sum(cardinality(k.client_id_list)), 0) as students,
           coalesce(sum(cardinality(k.client_id_list)) filter (where k.capacity > 0), 0) as seated,
           coalesce(sum(k.capacity), 0) as places
    from class_schedule k
    where ${classesIn(scope)} and k.status <> 'CANCELLED'`,
  kpis: [
    {
      name: 'classes',
      label: 'Classes',
      unit: 'count',
      definition: 'Classes that begin in the period and were not cancelled.',
      value: ({ classes }) => classes ?? 0,
      better: 'more',
    },
    {
      name: 'students',
      label: 'Students',
      unit: 'count',
      definition: 'Places taken in these classes; a student in two classes counts twice.',
      value: ({ students }) => students ?? 0,
      better: 'more',
    },
    {
      name: 'filled',
      label: 'Filled',
      unit: 'percent',
      definition:
        'Places taken as a share of all places, in classes whose number of places is known.',
      value: ({ seated, places }) => percent(seated, places),
      better: 'more',
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, ${local('k.start_time', scope)}), 'YYYY-MM-DD') as step,
               sum(cardinality(k.client_id_list)) as students
        from class_schedule k
        where ${classesIn(scope)} and k.status <> 'CANCELLED'
        group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'students',
          title: 'Students',
          unit: 'count',
          series: [{ name: 'Students', column: 'students' }],
        }),
      ],
    },
  ],
}
