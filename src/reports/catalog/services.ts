import { join, sql } from '../../database/sql.ts'
import {
  measureColumn,
  measureKpi,
  noShowRate,
  noShowRateColumn,
  NO_SHOW_RATE,
  unratedColumn,
  selectCells,
} from '../measures.ts'
import { countKpi, rateKpi, type MeasureName, type Report } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  measuresBy,
  drillToAppointments,
  clientsWith,
  NOT_CANCELLED,
} from './appointments.ts'
import { drawOutcomesBy } from './charts.ts'
import { appointmentRows } from './conditions.ts'

const SHOWN: MeasureName[] = [...APPOINTMENT_MEASURES, 'unrated']

/** A filter by service would make the shares meaningless. */
const OF_ALL_SERVICES = { meaninglessWith: ['reasonIdList'] } as const

export const servicesByPopularity: Report = {
  reportId: 401,
  category: 'APPOINTMENTS',
  reportName: 'Services by popularity',
  reportFileName: 'services-by-popularity',
  description: 'How often each service was booked and how it ended, the most popular first.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'service', label: 'Service', type: 'text', width: 20 },
    measureColumn('appointments', { label: 'Appts' }),
    {
      name: 'share',
      label: 'Share',
      type: 'percent',
      width: 7,
      ...OF_ALL_SERVICES,
    },
    { name: 'clients', label: 'Clients', type: 'integer', width: 6 },
    measureColumn('kept'),
    measureColumn('missed'),
    noShowRateColumn(),
    unratedColumn,
    measureColumn('cancelled'),
    measureColumn('unclosed'),
    measureColumn('ahead'),
    measureColumn('bookedMinutes'),
    measureColumn('revenue'),
    measureColumn('aheadValue'),
  ],
  rows: (scope) => sql`
    with measured as (${measuresBy(scope, sql`a.reason_id`, SHOWN)}),
    used as (
      select a.reason_id, count(distinct a.client_id) filter (where a.outcome <> 'CANCELLED') as clients
      from (${appointmentRows(scope)}) a group by 1
    )
    select r.name as service,
           ${join(selectCells(SHOWN, scope), ', ')},
           round(100.0 * appointments / nullif(sum(appointments) over (), 0), 1) as share,
           used.clients,
           ${NO_SHOW_RATE} as "noShowRate",
           m.key as key_service
    from measured m
    join used on used.reason_id = m.key
    join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, m.key)
    order by m.appointments desc, r.name collate name_order, r.reason_id`,
  figures: (scope) => sql`
    select f.*, s.services, s.most,
           (select r.name from reason r where (r.business_id, r.reason_id) = (${scope.businessId}, s.first)) as popular
    from (${appointmentFigures(scope)}) f,
         (select count(*) as services, max(n) as most, (array_agg(reason_id order by n desc, reason_id))[1] as first
          from (select a.reason_id, count(*) as n from (${appointmentRows(scope)}) a group by 1) one) s`,
  kpis: [
    measureKpi('appointments'),
    countKpi('servicesBooked', 'Services booked', {
      definition: 'Services with at least one appointment in the period, in any status.',
      of: 'services',
      ...OF_ALL_SERVICES,
    }),
    rateKpi('topShare', 'Most popular service', {
      definition: 'The share of all appointments that the most popular service has.',
      of: ({ most, appointments }) => [most, appointments],
      describe: ({ popular }) => (typeof popular === 'string' ? popular : undefined),
      ...OF_ALL_SERVICES,
    }),
    noShowRate,
    measureKpi('revenue'),
  ],
  charts: [drawOutcomesBy('service', 'Appointments by service')],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['service'], {
    figures: { clients: clientsWith(NOT_CANCELLED) },
  }),
}
