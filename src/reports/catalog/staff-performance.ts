import { join, raw, sql } from '../../database/sql.ts'
import {
  measureColumn,
  measureKpi,
  noShowRate,
  noShowRateColumn,
  NO_SHOW_RATE,
  unratedColumn,
  selectCells,
  selectMeasures,
} from '../measures.ts'
import { countKpi, rateKpi, type MeasureName, type Report, type Scope } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  drillToAppointments,
  clientsWith,
  NOT_CANCELLED,
  OUTCOMES,
} from './appointments.ts'
import { drawOutcomesBy } from './charts.ts'
import { appointmentRows, statusesOf, joinNames } from './conditions.ts'
import { appointmentObjects } from './objects.ts'

const SHOWN: MeasureName[] = [...OUTCOMES, 'unrated', 'bookedMinutes', 'revenue']

const REBOOKING_DAYS = 7

/** The appointments; a kept one is rebooked if the client soon booked a later one. */
const visits = (scope: Scope) => sql`
  select a.*, a.outcome = 'KEPT'
              and a.next_booked <= a.end_time + make_interval(days => ${REBOOKING_DAYS}) as is_rebooked
  from (${appointmentRows(scope, withNextBooked(scope), raw(', c.next_booked'))}) a`

/** Appointments with the earliest time at which one of the later ones of the client was booked. */
const withNextBooked = (scope: Scope) => sql`
  (select c.*, min(c.booked_time) filter (where not c.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[]))
                 over (partition by c.client_id order by c.start_time desc
                       groups between unbounded preceding and 1 preceding) as next_booked
   from calendar c
   where c.business_id = ${scope.businessId} and c.active and c.start_time >= ${scope.from}
     and c.client_id in (select v.client_id from (${appointmentRows(scope)}) v))`

/** The clients of each member of staff. Grouping twice is cheaper than `count(distinct …)`, which sorts. */
const clientsOf = (scope: Scope) => sql`
  select v.professional_id, count(*) as clients
  from (select distinct a.professional_id, a.client_id from (${appointmentRows(scope)}) a
        where a.outcome <> 'CANCELLED') v
  group by 1`

const REBOOKED = raw('count(*) filter (where is_rebooked) as rebooked')

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
    unratedColumn,
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
    select p.first_name || ' ' || p.last_name as staff,
           coalesce(clients, 0) as clients,
           ${join(selectCells(SHOWN, scope), ', ')},
           ${NO_SHOW_RATE} as "noShowRate",
           rebooked,
           round(100.0 * rebooked / nullif(kept, 0), 1) as "rebookingRate",
           p.professional_id as key_staff
    from (select professional_id, ${selectMeasures(SHOWN, scope)}, ${REBOOKED}
          from (${visits(scope)}) v group by 1) m
    ${joinNames('m', ['professional'], scope)}
    left join (${clientsOf(scope)}) c on c.professional_id = m.professional_id
    order by p.first_name collate name_order, p.last_name collate name_order, p.professional_id`,
  figures: (scope) => sql`
    select ${selectMeasures(['kept', 'missed', 'unrated', 'revenue', 'unpriced'], scope)}, ${REBOOKED},
           count(distinct client_id) filter (where ${raw(NOT_CANCELLED)}) as clients
    from (${visits(scope)}) v`,
  kpis: [
    measureKpi('kept'),
    rateKpi('rebookingRate', 'Rebooking rate', {
      definition: `The share of kept appointments whose client has a later appointment that was booked at most ${REBOOKING_DAYS} days after the visit and was not cancelled.`,
      of: ({ rebooked, kept }) => [rebooked, kept],
      better: 'more',
      tense: 'past',
    }),
    noShowRate,
    countKpi('visitingClients', 'Clients', {
      definition:
        'Clients with an appointment in the period that was not cancelled; a client of two members of staff counts once here and once for each.',
      of: 'clients',
      better: 'more',
    }),
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
