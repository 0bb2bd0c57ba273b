import { sql } from '../../database/sql.ts'
import { countKpi, rateKpi, type Report, type Scope } from '../report.ts'
import { appointmentRows, localAtAnyTime, statusesOf, joinNames } from './conditions.ts'
import { appointmentObjects } from './objects.ts'
import { drillToAppointments, clientsWith, NOT_CANCELLED } from './appointments.ts'
import { listColumns } from './listed-appointments.ts'

/** Why no email reaches a client: the first of these that applies. */
const CAUSES = {
  NO_ADDRESS: 'No address',
  BOUNCED: 'Address bounced',
  COMPLAINED: 'Marked as spam',
  UNSUBSCRIBED: 'Unsubscribed',
}

const SUPPRESSIONS = Object.keys(CAUSES).slice(1)

/** The clients of the period with the cause; null if they can be reached. */
const clientsOf = (scope: Scope) => sql`
  select cl.client_id, cl.first_name, cl.last_name, cl.email_address, cl.phone, v.last_here,
         case when coalesce(cl.email_address, '') = '' then 'NO_ADDRESS' else s.reason end as cause,
         s.created_date as since
  from (select a.client_id, max(a.local_start) as last_here
        from (${appointmentRows(scope)}) a where a.outcome <> 'CANCELLED' group by 1) v
  ${joinNames('v', ['client'], scope)}
  left join lateral (
    select n.reason, n.created_date from suppression n
    where n.business_id = ${scope.businessId} and n.email_address = lower(cl.email_address)
      and n.email_category_id is null
    order by array_position(${SUPPRESSIONS}::text[], n.reason) limit 1) s on true
  where cl.active`

const nextVisit = (scope: Scope) => sql`
  (select to_char(${localAtAnyTime('b.start_time', 'b.location_id', scope)}, 'YYYY-MM-DD')
   from calendar b
   where b.business_id = ${scope.businessId} and b.client_id = c.client_id and b.active
     and b.start_time > ${scope.now}
     and not b.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])
   order by b.start_time limit 1)`

const UNREACHABLE = `${NOT_CANCELLED} and cause is not null`

export const unreachableClients: Report = {
  reportId: 505,
  category: 'CLIENTS',
  reportName: 'Clients who cannot be reached',
  reportFileName: 'unreachable-clients',
  description:
    'Clients of the period who get no email: without an address, bounced, unsubscribed or marked as spam.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'cause', label: 'Cause', type: 'text', width: 14, fixedWords: true },
    { name: 'since', label: 'Since', type: 'date', width: 10 },
    ...listColumns(['emailAddress', 'phone']),
    { name: 'lastVisit', label: 'Last in the period', type: 'date', width: 10 },
    { name: 'nextVisit', label: 'Next booking', type: 'date', width: 10 },
  ],
  rows: (scope) => sql`
    select c.first_name || ' ' || c.last_name as client,
           ${JSON.stringify(CAUSES)}::jsonb ->> c.cause as cause,
           case when c.cause <> 'NO_ADDRESS'
             then to_char(${localAtAnyTime('c.since', 'null::bigint', scope)}, 'YYYY-MM-DD') end as since,
           nullif(c.email_address, '') as "emailAddress",
           c.phone,
           to_char(c.last_here, 'YYYY-MM-DD') as "lastVisit",
           ${nextVisit(scope)} as "nextVisit",
           c.client_id as key_client
    from (${clientsOf(scope)}) c
    where c.cause is not null
    order by c.last_name collate name_order, c.first_name collate name_order, c.client_id`,
  figures: (scope) => sql`
    select count(*) as clients, count(c.cause) as unreachable,
           count(*) filter (where c.cause = 'NO_ADDRESS') as "noAddress",
           count(*) filter (where c.cause <> 'NO_ADDRESS') as suppressed
    from (${clientsOf(scope)}) c`,
  kpis: [
    countKpi('unreachable', 'Cannot be reached', {
      definition:
        'Clients with an appointment in the period that was not cancelled, and without an address or with one that gets no email.',
      better: 'less',
      base: ({ clients }) => clients ?? undefined,
    }),
    rateKpi('unreachableShare', 'Of all clients', {
      definition: 'Their share of all clients with an appointment that was not cancelled.',
      of: ({ unreachable, clients }) => [unreachable, clients],
      better: 'less',
    }),
    countKpi('noAddress', 'Without an address', {
      definition: 'Clients without an email address.',
      better: 'less',
      base: ({ clients }) => clients ?? undefined,
    }),
    countKpi('suppressed', 'Suppressed', {
      definition: 'Clients whose address bounced, who unsubscribed or who marked an email as spam.',
      better: 'less',
      base: ({ clients }) => clients ?? undefined,
    }),
  ],
  charts: [
    {
      rows: (scope) => sql`
        select c.cause, count(*) as clients from (${clientsOf(scope)}) c
        where c.cause is not null group by 1`,
      draw: (rows) => {
        const counts = new Map(rows.map(({ cause, clients }) => [cause, Number(clients)]))
        return [
          {
            kind: 'bar',
            named: true,
            name: 'causes',
            title: 'Clients by cause',
            unit: 'count',
            fixedWords: true,
            labels: Object.values(CAUSES),
            series: [
              {
                name: 'Clients',
                tone: 'missed',
                values: Object.keys(CAUSES).map((cause) => counts.get(cause) ?? 0),
              },
            ],
          },
        ]
      },
    },
  ],
  drillDown: drillToAppointments(['client'], {
    objects: (scope) => sql`
      select o.*, c.cause from (${appointmentObjects(appointmentRows(scope))}) o
      left join (${clientsOf(scope)}) c using (client_id)`,
    listed: UNREACHABLE,
    figures: {
      unreachable: clientsWith(UNREACHABLE),
      noAddress: clientsWith(`${UNREACHABLE} and cause = 'NO_ADDRESS'`),
      suppressed: clientsWith(`${UNREACHABLE} and cause <> 'NO_ADDRESS'`),
    },
  }),
}
