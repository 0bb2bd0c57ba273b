import { join, sql } from '../../database/sql.ts'
import {
  measureColumn,
  measureKpi,
  noShowRate,
  noShowRateColumn,
  selectCells,
} from '../measures.ts'
import { percent, type MeasureName, type Report, type Scope } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  measuresBy,
  drillToAppointments,
  clientsWith,
  NOT_CANCELLED,
} from './appointments.ts'
import { drawOutcomesBy } from './charts.ts'
import { appointmentRows, statusesOf } from './conditions.ts'
import { appointmentObjects } from './objects.ts'

const SHOWN: MeasureName[] = [
  'appointments',
  'kept',
  'missed',
  'cancelled',
  'unclosed',
  'ahead',
  'bookedMinutes',
  'revenue',
]

const REBOOKING_DAYS = 7

/** Appointments that were not cancelled; a kept one is rebooked if the client soon booked a later one. */
const visits = (scope: Scope) => sql`
  select a.calendar_id, a.professional_id, a.client_id,
         a.outcome = 'KEPT' and exists (
           select from calendar n
           where n.business_id = ${scope.businessId} and n.client_id = a.client_id and n.active
             and n.start_time > a.start_time
             and n.booked_time <= a.end_time + make_interval(days => ${REBOOKING_DAYS})
             and not n.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])) as is_rebooked
  from (${appointmentRows(scope)}) a
  where a.outcome <> 'CANCELLED'`

export const staffPerformance: Report = {
  reportId: 302,
  category: 'STAFF',
  reportName: 'Staff performance',
  reportFileName: 'staff-performance',
  description:
    'For each member of staff: appointments, outcomes, clients, revenue, and how many visits led to the next booking.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_STAFF_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'staff', label: 'Staff', type: 'text', width: 18 },
    { name: 'clients', label: 'Clients', type: 'integer', width: 6 },
    measureColumn('appointments', { label: 'Appts' }),
    measureColumn('kept'),
    measureColumn('missed'),
    noShowRateColumn(),
    measureColumn('cancelled'),
    measureColumn('unclosed'),
    measureColumn('ahead'),
    { name: 'rebooked', label: 'Rebooked', type: 'integer', width: 6, total: 'sum', tense: 'past' },
    {
      name: 'rebookingRate',
      label: 'Rebooking rate',
      type: 'percent',
      width: 7,
      tense: 'past',
      total: { percentOf: ['rebooked', 'completed'] },
    },
    measureColumn('bookedMinutes'),
    measureColumn('revenue'),
  ],
  rows: (scope) => sql`
    with measured as (${measuresBy(scope, sql`a.professional_id`, SHOWN)}),
    visited as (
      select v.professional_id, count(distinct v.client_id) as clients,
             count(*) filter (where v.is_rebooked) as rebooked
      from (${visits(scope)}) v group by 1
    )
    select p.first_name || ' ' || p.last_name as staff,
           coalesce(v.clients, 0) as clients,
           ${join(selectCells(SHOWN, scope), ', ')},
           round(100.0 * missed / nullif(kept + missed, 0), 1) as "noShowRate",
           coalesce(v.rebooked, 0) as rebooked,
           round(100.0 * coalesce(v.rebooked, 0) / nullif(kept, 0), 1) as "rebookingRate",
           m.key as key_staff
    from measured m
    join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, m.key)
    left join visited v on v.professional_id = m.key
    order by p.first_name collate name_order, p.last_name collate name_order, p.professional_id`,
  figures: (scope) => sql`
    select f.*, v.clients, v.rebooked
    from (${appointmentFigures(scope)}) f,
         (select count(distinct client_id) as clients, count(*) filter (where is_rebooked) as rebooked
          from (${visits(scope)}) one) v`,
  kpis: [
    measureKpi('kept'),
    {
      name: 'rebookingRate',
      label: 'Rebooking rate',
      unit: 'percent',
      definition: `The share of kept appointments whose client has a later appointment that was booked at most ${REBOOKING_DAYS} days after the visit and was not cancelled.`,
      value: ({ rebooked, kept }) => percent(rebooked, kept),
      better: 'more',
      tense: 'past',
    },
    noShowRate,
    {
      name: 'visitingClients',
      label: 'Clients',
      unit: 'count',
      definition:
        'Clients with an appointment in the period that was not cancelled; a client of two members of staff counts once here and once for each.',
      value: ({ clients }) => clients ?? 0,
      better: 'more',
    },
    measureKpi('revenue'),
  ],
  charts: [drawOutcomesBy('staff', 'Appointments by staff')],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['staff'], {
    objects: (scope) => sql`
      select o.*, o.object_id in (select v.calendar_id from (${visits(scope)}) v where v.is_rebooked) as is_rebooked
      from (${appointmentObjects(appointmentRows(scope))}) o`,
    figures: {
      rebooked: { where: 'is_rebooked' },
      clients: clientsWith(NOT_CANCELLED),
      visitingClients: clientsWith(NOT_CANCELLED),
    },
  }),
}
