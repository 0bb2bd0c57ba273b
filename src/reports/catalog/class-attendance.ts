import { sql } from '../../database/sql.ts'
import { measureColumn, measureKpi, selectMeasures } from '../measures.ts'
import { rateKpi, type MeasureName, type Report } from '../report.ts'
import { countsOverTime } from './charts.ts'
import { classRows, inOrder, joinNames } from './conditions.ts'
import { classObjects } from './objects.ts'
import { NOT_CANCELLED } from './appointments.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

const CLASS_MEASURES: MeasureName[] = ['classes', 'students', 'places']

/** Null if no presence was recorded. */
const present = sql`
  (select count(*) filter (where (e ->> 'present')::boolean)
   from jsonb_array_elements(k.attendance) e having count(*) > 0)`

export const classAttendance: Report = {
  reportId: 601,
  category: 'CLASSES',
  reportName: 'Class attendance',
  reportFileName: 'class-attendance',
  description: 'All classes of the period with their students and places.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'classes',
  columns: [
    ...listColumns(['date', 'time']),
    { name: 'class', label: 'Class', type: 'text', width: 20 },
    ...listColumns(['staff', 'location', 'status']),
    measureColumn('students', { width: 5 }),
    { name: 'present', label: 'Present', type: 'integer', width: 5, total: 'sum' },
    measureColumn('places', { width: 5 }),
    { name: 'filled', label: 'Filled', type: 'percent', width: 7 },
  ],
  rows: (scope) => sql`
    select to_char(k.local_start, 'YYYY-MM-DD') as date,
           to_char(k.local_start, 'HH24:MI') as time,
           k.name as class,
           ${cellsOf(['staff', 'location'])},
           coalesce(s.label, k.status) as status,
           case when k.outcome <> 'CANCELLED' then k.enrolled end as students,
           case when k.outcome <> 'CANCELLED' then ${present} end as present,
           case when k.outcome <> 'CANCELLED' then k.capacity end as capacity,
           case when k.outcome <> 'CANCELLED'
             then round(100.0 * k.enrolled / nullif(k.capacity, 0), 1) end as filled,
           k.class_schedule_id as "key_objectId"
    from (${classRows(scope)}) k
    ${joinNames('k', ['professional', 'location'], scope)}
    left join status s on s.business_id = ${scope.businessId} and s.object_type = 'CLASS_SCHEDULE' and s.status = k.status
    order by ${inOrder('k', 'class_schedule_id', scope)}`,
  figures: (scope) => sql`
    select ${selectMeasures(CLASS_MEASURES, scope)},
           coalesce(sum(enrolled) filter (where capacity > 0 and outcome <> 'CANCELLED'), 0) as seated
    from (${classRows(scope)}) k`,
  kpis: [
    measureKpi('classes'),
    measureKpi('students'),
    rateKpi('filled', 'Filled', {
      definition:
        'Places taken as a share of all places, in classes whose number of places is known.',
      of: ({ seated, places }) => [seated, places],
      better: 'more',
    }),
  ],
  charts: [
    countsOverTime({
      name: 'students',
      title: 'Students',
      rows: classRows,
      series: [{ name: 'Students', where: NOT_CANCELLED, of: 'enrolled' }],
    }),
  ],
  measures: CLASS_MEASURES,
  drillDown: {
    objects: (scope) =>
      sql`select k.*, ${present} as present from (${classObjects(classRows(scope))}) k`,
    keys: () => ['objectId'],
    figures: { present: { of: 'present', where: NOT_CANCELLED } },
  },
}
