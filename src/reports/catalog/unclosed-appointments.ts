import { sql } from '../../database/sql.ts'
import { measureKpi } from '../measures.ts'
import { rateKpi, type Report } from '../report.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, drillToAppointments } from './appointments.ts'
import { countsOverTime } from './charts.ts'
import { appointmentRows } from './conditions.ts'
import { listAppointments, listColumns, priceColumns } from './listed-appointments.ts'

const UNCLOSED = `outcome = 'UNCLOSED'`

const LISTED = ['date', 'time', 'client', 'service', 'staff', 'location', 'status'] as const

/** An earlier period has had more time to be closed. */
const TOO_EARLY_TO_COMPARE = { isNotComparable: true } as const

export const unclosedAppointments: Report = {
  reportId: 206,
  category: 'APPOINTMENTS',
  reportName: 'Appointments never closed',
  reportFileName: 'unclosed-appointments',
  description: 'Appointments that have begun and whose status does not say how they ended.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(LISTED),
    { name: 'days', label: 'Days ago', type: 'integer', width: 5 },
    ...priceColumns(),
  ],
  rows: (scope) =>
    listAppointments(
      {
        names: LISTED,
        others: sql`floor(extract(epoch from ${scope.now} - a.start_time) / 86400)::int as days`,
        from: appointmentRows(scope),
        where: sql`a.outcome = 'UNCLOSED'`,
      },
      scope,
    ),
  figures: (scope) => sql`
    select f.*, (select floor(extract(epoch from ${scope.now} - min(a.start_time)) / 86400)::int
                 from (${appointmentRows(scope)}) a where a.outcome = 'UNCLOSED') as oldest
    from (${appointmentFigures(scope)}) f`,
  kpis: [
    measureKpi('unclosed', TOO_EARLY_TO_COMPARE),
    rateKpi('unclosedShare', 'Share not closed', {
      definition:
        'Appointments that are not closed as a share of all that have begun and were not cancelled.',
      of: ({ unclosed, kept, missed }) => [unclosed, (unclosed ?? 0) + (kept ?? 0) + (missed ?? 0)],
      better: 'less',
      tense: 'past',
      meaninglessWith: ['statusList'],
      ...TOO_EARLY_TO_COMPARE,
    }),
    {
      name: 'oldestDays',
      label: 'Oldest, in days',
      unit: 'count',
      definition: 'Full days since the beginning of the oldest one of the period.',
      value: ({ oldest }) => oldest ?? null,
      better: 'less',
      variance: () => null,
      tense: 'past',
      ...TOO_EARLY_TO_COMPARE,
    },
  ],
  charts: [
    countsOverTime({
      name: 'unclosed',
      title: 'Not closed',
      rows: appointmentRows,
      series: [{ name: 'Not closed', tone: 'unclosed', where: UNCLOSED }],
    }),
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    listed: UNCLOSED,
    figures: { price: { of: 'price', where: UNCLOSED, isMoney: true } },
  }),
}
