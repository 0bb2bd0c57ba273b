import { sql } from '../../database/sql.ts'
import { measureKpi, noShowRate } from '../measures.ts'
import { countKpi, type Report } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  drillToAppointments,
  clientsWith,
} from './appointments.ts'
import { countsOverTime } from './charts.ts'
import { appointmentRows, statusesOf } from './conditions.ts'
import { listAppointments, listColumns, priceColumns } from './listed-appointments.ts'

const MISSED = `outcome = 'MISSED'`

const LISTED = ['date', 'time', 'client', 'phone', 'service', 'staff', 'location'] as const

export const noShows: Report = {
  reportId: 201,
  category: 'NO_SHOWS',
  reportName: 'No-shows',
  reportFileName: 'no-shows',
  description: 'Who did not come, what it cost and how often they missed appointments before.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(LISTED),
    { name: 'before', label: 'Before', type: 'integer', width: 4 },
    ...priceColumns({ label: 'Lost', measure: 'lostValue' }),
  ],
  rows: (scope) =>
    listAppointments(
      {
        names: LISTED,
        others: sql`
          (select count(*) from calendar b
           where b.business_id = ${scope.businessId} and b.client_id = a.client_id and b.active
             and b.status = any (${statusesOf('CALENDAR', 'MISSED', scope)}::text[])
             and b.start_time < a.start_time) as before`,
        from: appointmentRows(scope),
        where: sql`a.outcome = 'MISSED'`,
      },
      scope,
    ),
  figures: (scope) => sql`
    select f.*, (select count(distinct a.client_id) from (${appointmentRows(scope)}) a
                 where a.outcome = 'MISSED') as clients
    from (${appointmentFigures(scope)}) f`,
  kpis: [
    measureKpi('missed'),
    noShowRate,
    countKpi('noShowClients', 'Clients who missed', {
      definition: 'The number of clients who missed at least one appointment.',
      of: 'clients',
      better: 'less',
      base: ({ kept, missed }) => (kept ?? 0) + (missed ?? 0),
      tense: 'past',
    }),
    measureKpi('lostValue'),
  ],
  charts: [
    countsOverTime({
      name: 'noShows',
      title: 'No-shows',
      rows: appointmentRows,
      series: [{ name: 'No-shows', tone: 'missed', where: MISSED }],
    }),
    {
      meaninglessWith: ['statusList'],
      rows: (scope) => sql`
        select extract(isodow from a.local_start)::int as weekday,
               round(100.0 * count(*) filter (where a.outcome = 'MISSED') / count(*), 1) as share
        from (${appointmentRows(scope)}) a
        where a.outcome in ('MISSED', 'KEPT') and not a.is_unrated
        group by 1`,
      draw: (rows) => {
        const shares = new Map(rows.map((row) => [Number(row.weekday), Number(row.share)]))
        return [
          {
            kind: 'bar',
            name: 'byWeekday',
            title: 'No-show rate by weekday (%)',
            unit: 'percent',
            fixedWords: true,
            labels: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
            series: [
              {
                name: 'No-show rate',
                tone: 'missed',
                values: [1, 2, 3, 4, 5, 6, 7].map((n) => shares.get(n) ?? null),
              },
            ],
          },
        ]
      },
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    listed: MISSED,
    figures: { noShowClients: clientsWith(MISSED) },
  }),
}
