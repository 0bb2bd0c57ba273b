import { sql } from '../../database/sql.ts'
import { percent, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, drillToAppointments } from './appointments.ts'
import { appointmentRows, statusesOf, todayAt } from './conditions.ts'
import { appointmentObjects } from './objects.ts'

/** The last kept appointment in the period of each client, and whether anything follows it. */
const lastVisits = (scope: Scope) => sql`
  select v.*, exists (
           select from calendar n
           where n.business_id = ${scope.businessId} and n.client_id = v.client_id and n.active
             and n.start_time > v.start_time
             and (n.start_time > ${scope.now} or n.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[]))
             and not n.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])) as has_next,
         ${todayAt('v.location_id', scope)} - v.local_start::date as days
  from (select distinct on (a.client_id) a.*
        from (${appointmentRows(scope)}) a
        where a.outcome = 'KEPT'
        order by a.client_id, a.start_time desc, a.calendar_id desc) v
  join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, v.client_id) and cl.active`

const LONG_DAYS = 90

export const lapsedClients: Report = {
  reportId: 503,
  category: 'CLIENTS',
  reportName: 'Lapsed clients',
  reportFileName: 'lapsed-clients',
  description:
    'A call list of clients whose last visit was in the period: they have not come since and have nothing booked.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'phone', label: 'Phone', type: 'text', width: 15 },
    { name: 'emailAddress', label: 'Email', type: 'text', width: 22 },
    { name: 'lastVisit', label: 'Last visit', type: 'date', width: 10 },
    { name: 'days', label: 'Days ago', type: 'integer', width: 6 },
    { name: 'service', label: 'Last service', type: 'text', width: 16 },
    { name: 'staff', label: 'With', type: 'text', width: 16 },
    { name: 'location', label: 'Location', type: 'text', width: 12, unlessOneLocation: true },
    { name: 'visits', label: 'Visits', type: 'integer', width: 6 },
  ],
  rows: (scope) => sql`
    select cl.first_name || ' ' || cl.last_name as client,
           cl.phone,
           cl.email_address as "emailAddress",
           to_char(v.local_start, 'YYYY-MM-DD') as "lastVisit",
           v.days,
           r.name as service,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           (select count(*) from calendar b
            where b.business_id = ${scope.businessId} and b.client_id = v.client_id and b.active
              and b.start_time <= ${scope.now}
              and b.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[])) as visits,
           v.calendar_id as "key_objectId"
    from (${lastVisits(scope)}) v
    join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, v.client_id)
    join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, v.reason_id)
    join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, v.professional_id)
    join location l on (l.business_id, l.location_id) = (${scope.businessId}, v.location_id)
    where not v.has_next
    order by visits desc, v.start_time desc, v.client_id`,
  figures: (scope) => sql`
    select f.*, v.seen, v.lapsed, v.long
    from (${appointmentFigures(scope)}) f,
         (select count(*) as seen, count(*) filter (where not has_next) as lapsed,
                 count(*) filter (where not has_next and days >= ${LONG_DAYS}) as long
          from (${lastVisits(scope)}) one) v`,
  kpis: [
    {
      name: 'lapsedClients',
      label: 'Lapsed clients',
      unit: 'count',
      definition:
        'Clients whose last kept appointment, with anybody, is in the period, and who have none ahead.',
      value: ({ lapsed }) => lapsed ?? 0,
      tense: 'past',
      isNotComparable: true,
    },
    {
      name: 'seenClients',
      label: 'Clients who came',
      unit: 'count',
      definition: 'Clients with a kept appointment in the period.',
      value: ({ seen }) => seen ?? 0,
      better: 'more',
      tense: 'past',
    },
    {
      name: 'lapsedShare',
      label: 'Lapsed',
      unit: 'percent',
      definition: 'Lapsed clients as a share of those who came in the period.',
      value: ({ lapsed, seen }) => percent(lapsed, seen),
      tense: 'past',
      isNotComparable: true,
    },
    {
      name: 'longLapsed',
      label: `Gone for ${LONG_DAYS} days`,
      unit: 'count',
      definition: `Lapsed clients whose last visit was at least ${LONG_DAYS} days ago.`,
      value: ({ long }) => long ?? 0,
      tense: 'past',
      isNotComparable: true,
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, v.local_start), 'YYYY-MM-DD') as step, count(*) as lapsed
        from (${lastVisits(scope)}) v where not v.has_next group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'lapsed',
          title: 'Lapsed clients by their last visit,',
          unit: 'count',
          series: [{ name: 'Lapsed', column: 'lapsed', tone: 'missed' }],
        }),
      ],
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    objects: (scope) => sql`
      select o.*, v.has_next, v.days from (${appointmentObjects(appointmentRows(scope))}) o
      left join (${lastVisits(scope)}) v using (calendar_id)`,
    listed: 'not has_next',
    figures: {
      lapsedClients: { where: 'not has_next' },
      seenClients: { where: 'has_next is not null' },
      longLapsed: { where: `not has_next and days >= ${LONG_DAYS}` },
    },
  }),
}
