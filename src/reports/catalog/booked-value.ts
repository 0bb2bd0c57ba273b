import { join, sql } from '../../database/sql.ts'
import { measureColumn, measureKpi, selectCells, selectMeasures } from '../measures.ts'
import type { MeasureName, Report, Scope } from '../report.ts'
import { appointmentFigures, measuresBy, drillToAppointments } from './appointments.ts'
import { barsOf } from './charts.ts'
import { appointmentRows, joinNames } from './conditions.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

/** The value, and the parts that add up to it. */
const MONEY: MeasureName[] = [
  'value',
  'revenue',
  'lostValue',
  'cancelledValue',
  'unclosedValue',
  'aheadValue',
]
const SHOWN: MeasureName[] = ['appointments', 'kept', ...MONEY]

/** The measures of each service and member of staff. */
const byServiceAndStaff = (scope: Scope) => sql`
  select c.reason_id, c.professional_id, ${selectMeasures(SHOWN, scope)}
  from (select a.reason_id, a.professional_id, a.outcome, a.price, a.currency, count(*) as n
        from (${appointmentRows(scope)}) a
        group by 1, 2, 3, 4, 5) c
  group by 1, 2`

export const bookedValue: Report = {
  reportId: 951,
  category: 'APPOINTMENTS',
  reportName: 'Value by service and staff',
  reportFileName: 'value-by-service-and-staff',
  description:
    'What was booked for each service with each member of staff, and how much of it was kept, missed, cancelled, not closed or is still ahead.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_REVENUE_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(['service', 'staff']),
    ...SHOWN.map((measure) => measureColumn(measure)),
  ],
  rows: (scope) => sql`
    select ${cellsOf(['service', 'staff'])},
           ${join(selectCells(SHOWN, scope), ', ')},
           m.reason_id as key_service,
           m.professional_id as key_staff
    from (${byServiceAndStaff(scope)}) m
    ${joinNames('m', ['reason', 'professional'], scope)}
    order by r.name collate name_order, r.reason_id, p.first_name collate name_order,
             p.last_name collate name_order, p.professional_id`,
  figures: appointmentFigures,
  kpis: MONEY.map((measure) => measureKpi(measure)),
  charts: [
    {
      rows: (scope) => sql`
        select r.name as service, m.*
        from (${measuresBy(scope, sql`a.reason_id`, MONEY)}) m
        join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, m.key)
        order by r.name collate name_order, r.reason_id`,
      draw: (rows) => [
        barsOf(
          rows.filter(({ value }) => Number(value) > 0),
          {
            name: 'value',
            title: 'Value by service',
            unit: 'money',
            stacked: true,
            label: 'service',
            size: 'value',
            series: [
              { name: 'Kept', tone: 'kept', column: 'revenue' },
              { name: 'No-show', tone: 'missed', column: 'lostValue' },
              { name: 'Cancelled', tone: 'cancelled', column: 'cancelledValue' },
              { name: 'Not closed', tone: 'unclosed', column: 'unclosedValue' },
              { name: 'Booked ahead', tone: 'ahead', column: 'aheadValue' },
            ],
          },
        ),
      ],
    },
  ],
  measures: SHOWN,
  drillDown: drillToAppointments(['service', 'staff']),
}
