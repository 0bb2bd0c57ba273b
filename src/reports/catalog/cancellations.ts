import { sql } from '../../database/sql.ts'
import { measureKpi } from '../measures.ts'
import { countKpi, rateKpi, type Report, type Scope } from '../report.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, drillToAppointments } from './appointments.ts'
import { countsOverTime } from './charts.ts'
import { appointmentRows, localAtAnyTime, statusesOf } from './conditions.ts'
import { listAppointments, listColumns, priceColumns } from './listed-appointments.ts'
import { appointmentObjects } from './objects.ts'
import { timeOfStatus } from './status-history.ts'

const cancelled = (scope: Scope) => ({
  object: 'calendar' as const,
  id: 'a.calendar_id',
  statuses: statusesOf('CALENDAR', 'CANCELLED', scope),
})

/** Cancelled appointments with the minutes from the cancellation to the start; 0 if it came later. */
const cancellations = (scope: Scope) => sql`
  select c.*,
         (extract(epoch from greatest(c.start_time, c.cancelled_time) - c.cancelled_time) / 60)::float8 as notice
  from (select a.*, ${timeOfStatus(cancelled(scope), scope)} as cancelled_time
        from (${appointmentRows(scope)}) a
        where a.outcome = 'CANCELLED') c`

const LATE_MINUTES = 24 * 60

const LISTED = [
  'date',
  'time',
  'client',
  'phone',
  'service',
  'staff',
  'location',
  'status',
] as const

/** The upper limits of the bars, in minutes. */
const NOTICES: [label: string, below: number][] = [
  ['under 2 h', 120],
  ['2–24 h', LATE_MINUTES],
  ['1–3 days', 3 * 1440],
  ['3–7 days', 7 * 1440],
  ['1–4 weeks', 28 * 1440],
  ['longer', Infinity],
]

export const cancelledAppointments: Report = {
  reportId: 202,
  category: 'NO_SHOWS',
  reportName: 'Cancellations',
  reportFileName: 'cancellations',
  description: 'All cancelled appointments of the period, with the notice that was given.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(LISTED),
    { name: 'cancelledOn', label: 'Cancelled on', type: 'text', width: 16, isDate: true },
    { name: 'noticeHours', label: 'Notice (hours)', type: 'integer', width: 7 },
    ...priceColumns({ measure: 'cancelledValue' }),
  ],
  rows: (scope) =>
    listAppointments(
      {
        names: LISTED,
        others: sql`
          to_char(${localAtAnyTime('a.cancelled_time', 'a.location_id', scope)}, 'YYYY-MM-DD HH24:MI') as "cancelledOn",
          floor(a.notice / 60) as "noticeHours"`,
        from: cancellations(scope),
      },
      scope,
    ),
  figures: (scope) => sql`
    select f.*, n.late, n.known, n.median, n."lateCancelled"
    from (${appointmentFigures(scope)}) f,
         (select count(*) filter (where a.notice < ${LATE_MINUTES}) as late,
                 count(a.notice) as known,
                 count(*) filter (where a.status = any (${statusesOf('CALENDAR', 'LATE_CANCELLED', scope)}::text[])) as "lateCancelled",
                 percentile_cont(0.5) within group (order by a.notice) as median
          from (${cancellations(scope)}) a) n`,
  kpis: [
    measureKpi('cancelled'),
    rateKpi('cancellationRate', 'Cancellation rate', {
      explainedBy: 'cancelled',
      definition: 'Cancelled appointments as a share of all appointments of the period.',
      of: ({ cancelled, appointments }) => [cancelled, appointments],
      better: 'less',
      meaninglessWith: ['statusList'],
    }),
    countKpi('lateCancelled', 'Cancelled late', {
      definition:
        'Cancelled appointments whose status says that it was too late. They are cancellations, not no-shows.',
      better: 'less',
      base: ({ appointments }) => appointments ?? undefined,
    }),
    rateKpi('lateShare', 'With less than 24 hours', {
      definition:
        'The share of cancellations that came less than 24 hours before the start or later, of those whose time is known. An appointment that was saved as cancelled from the beginning has no notice.',
      of: ({ late, known }) => [late, known],
      better: 'less',
    }),
    {
      name: 'medianNotice',
      label: 'Median notice',
      unit: 'minutes',
      definition: 'Half of the cancellations came with more notice than this, half with less.',
      value: ({ median }) => median ?? null,
      better: 'more',
    },
    measureKpi('cancelledValue'),
  ],
  charts: [
    {
      rows: (scope) => sql`
        select width_bucket(a.notice, ${NOTICES.slice(0, -1).map(([, below]) => below)}::float8[]) as bucket,
               count(*) as cancelled
        from (${cancellations(scope)}) a where a.notice is not null group by 1`,
      draw: (rows) => {
        const counts = new Map(rows.map((row) => [Number(row.bucket), Number(row.cancelled)]))
        return [
          {
            kind: 'bar',
            name: 'notice',
            title: 'Cancellations by notice',
            unit: 'count',
            fixedWords: true,
            labels: NOTICES.map(([label]) => label),
            series: [
              {
                name: 'Cancelled',
                tone: 'cancelled',
                values: NOTICES.map((_, i) => counts.get(i) ?? 0),
              },
            ],
          },
        ]
      },
    },
    countsOverTime({
      name: 'cancellations',
      title: 'Cancelled appointments',
      rows: appointmentRows,
      series: [{ name: 'Cancelled', tone: 'cancelled', where: `outcome = 'CANCELLED'` }],
    }),
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    objects: (scope) => sql`
      select o.*, o.status = any (${statusesOf('CALENDAR', 'LATE_CANCELLED', scope)}::text[]) as is_late
      from (${appointmentObjects(appointmentRows(scope))}) o`,
    listed: `outcome = 'CANCELLED'`,
    figures: { lateCancelled: { where: 'is_late' } },
  }),
}
