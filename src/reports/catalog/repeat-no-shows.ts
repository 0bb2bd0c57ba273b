import { join, sql } from '../../database/sql.ts'
import { partColumn, selectCells, selectMeasures } from '../measures.ts'
import { countKpi, rateKpi, type MeasureName, type Report, type Scope } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  countedAppointments,
  drillToAppointments,
  clientsWith,
} from './appointments.ts'
import { barsOf } from './charts.ts'
import { appointmentRows, isUnrated, localAtAnyTime, statusesOf, joinNames } from './conditions.ts'
import { appointmentObjects } from './objects.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

const SHOWN: MeasureName[] = ['missed', 'lostValue']

/** Clients who missed an appointment in the period and at least two until its end. */
const repeaters = (scope: Scope) => sql`
  with counted as (${countedAppointments(scope, sql`a.client_id`)}),
  measured as (select key as client_id, ${selectMeasures(SHOWN, scope)} from counted group by 1)
  select m.*, h.*
  from measured m
  cross join lateral (
    select count(*) filter (where b.status = any (${statusesOf('CALENDAR', 'MISSED', scope)}::text[])) as missed_in_all,
           count(*) filter (where b.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[])) as kept_in_all,
           count(*) filter (where ${isUnrated('b', scope)}) as unrated_in_all
    from calendar b
    where b.business_id = ${scope.businessId} and b.client_id = m.client_id and b.active
      and b.start_time < ${scope.until} and b.start_time <= ${scope.now}) h
  where m."missed" > 0 and h.missed_in_all > 1`

/** `r`: a date of the client at any location. */
const dateOf = (scope: Scope, outcome: 'last' | 'next') => sql`
  (select to_char(${localAtAnyTime('b.start_time', 'b.location_id', scope)}, 'YYYY-MM-DD')
   from calendar b
   where b.business_id = ${scope.businessId} and b.client_id = r.client_id and b.active
     and ${
       outcome === 'last'
         ? sql`b.start_time < ${scope.until} and b.start_time <= ${scope.now}
               and b.status = any (${statusesOf('CALENDAR', 'MISSED', scope)}::text[])
               order by b.start_time desc`
         : sql`b.start_time > ${scope.now}
               and not b.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])
               order by b.start_time`
     } limit 1)`

/** The appointments of the period that these clients missed. */
const REPEATED = `outcome = 'MISSED' and is_repeated`

export const repeatNoShows: Report = {
  reportId: 204,
  category: 'NO_SHOWS',
  reportName: 'Repeat no-shows',
  reportFileName: 'repeat-no-shows',
  description: 'Clients who missed an appointment in the period, and not for the first time.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(['client', 'emailAddress', 'phone']),
    partColumn('missed', { label: 'Missed here' }),
    { name: 'missedInAll', label: 'Missed in all', type: 'integer', width: 6 },
    { name: 'keptInAll', label: 'Kept in all', type: 'integer', width: 6 },
    { name: 'share', label: 'Missed share', type: 'percent', width: 7, isNoShowRate: true },
    { name: 'lastMissed', label: 'Last missed', type: 'date', width: 10 },
    { name: 'nextVisit', label: 'Next booking', type: 'date', width: 10 },
    partColumn('lostValue'),
  ],
  rows: (scope) => sql`
    select ${cellsOf(['client', 'emailAddress', 'phone'])},
           ${join(selectCells(SHOWN, scope), ', ')},
           r.missed_in_all as "missedInAll",
           r.kept_in_all as "keptInAll",
           round(100.0 * r.missed_in_all / (r.missed_in_all + r.kept_in_all - r.unrated_in_all), 1) as share,
           ${dateOf(scope, 'last')} as "lastMissed",
           ${dateOf(scope, 'next')} as "nextVisit",
           r.client_id as key_client
    from (${repeaters(scope)}) r
    ${joinNames('r', ['client'], scope)}
    order by r.missed_in_all desc, cl.last_name collate name_order, cl.first_name collate name_order, cl.client_id`,
  figures: (scope) => sql`
    select f.*, c.clients, c.repeated, c.booked
    from (${appointmentFigures(scope)}) f,
         (select count(*) as clients, coalesce(sum(r."missed"), 0)::bigint as repeated,
                 count(${dateOf(scope, 'next')}) as booked
          from (${repeaters(scope)}) r) c`,
  kpis: [
    countKpi('repeatClients', 'Clients who repeat', {
      definition:
        'Clients who missed an appointment in the period and have missed two or more until its end.',
      of: 'clients',
      better: 'less',
      base: ({ kept, missed }) => (kept ?? 0) + (missed ?? 0),
      tense: 'past',
    }),
    countKpi('repeated', 'Their no-shows', {
      definition: 'Appointments of the period that these clients missed.',
      better: 'less',
      base: ({ kept, missed }) => (kept ?? 0) + (missed ?? 0),
      tense: 'past',
    }),
    rateKpi('shareOfNoShows', 'Of all no-shows', {
      definition: 'Their no-shows as a share of all no-shows of the period.',
      of: ({ repeated, missed }) => [repeated, missed],
      better: 'less',
      tense: 'past',
    }),
    countKpi('bookedAgain', 'Booked again', {
      definition: 'These clients with an appointment that has not begun and was not cancelled.',
      of: 'booked',
    }),
  ],
  charts: [
    {
      draw: (rows) => [
        barsOf(rows, {
          name: 'repeatNoShows',
          title: 'No-shows in all',
          label: 'client',
          series: [{ name: 'Missed in all', tone: 'missed', column: 'missedInAll' }],
          titleOfSome: 'No-shows of the first twelve',
        }),
      ],
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['client'], {
    objects: (scope) => sql`
      select o.*, o.client_id in (select r.client_id from (${repeaters(scope)}) r) as is_repeated
      from (${appointmentObjects(appointmentRows(scope))}) o`,
    listed: REPEATED,
    figures: {
      noShows: { where: REPEATED },
      repeated: { where: REPEATED },
      lost: { of: 'price', where: REPEATED, isMoney: true },
      repeatClients: clientsWith(REPEATED),
    },
  }),
}
