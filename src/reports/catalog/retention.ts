import { join, raw, sql, type Sql } from '../../database/sql.ts'
import { groupedColumns, groupedRows } from '../grouping.ts'
import {
  countKpi,
  rateKpi,
  percent,
  type Groups,
  type Kpi,
  type Report,
  type Scope,
} from '../report.ts'
import { countsOverTime } from './charts.ts'
import { appointmentRows, localAtAnyTime, statusesOf, todayAt } from './conditions.ts'
import { appointmentObjects } from './objects.ts'

/** The numbers of months after which the report checks whether clients have come back. */
const MONTHS = [1, 2, 3, 6, 12]

/**
 * The first kept appointment ever of each client, if it is in the scope, with the day of the next kept
 * one. A second appointment on the same day is part of the same visit.
 */
const firstVisits = (scope: Scope) => sql`
  select v.*, n.day as next_day, v.local_start::date as first_day, ${todayAt('v.location_id', scope)} as today,
         exists (select from calendar h
                 where h.business_id = ${scope.businessId} and h.client_id = v.client_id and h.active
                   and h.start_time > ${scope.now}
                   and not h.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])) as has_ahead
  from (select distinct on (a.client_id) a.*
        from (${appointmentRows(scope)}) a
        where a.outcome = 'KEPT'
        order by a.client_id, a.start_time, a.calendar_id) v
  left join lateral (
    select k.day
    from (select e.start_time, ${localAtAnyTime('e.start_time', 'e.location_id', scope)}::date as day
          from calendar e
          where e.business_id = ${scope.businessId} and e.client_id = v.client_id and e.active
            and e.start_time > v.start_time and e.start_time <= ${scope.now}
            and e.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[])) k
    where k.day > v.local_start::date
    order by k.start_time limit 1) n on true
  where not exists (
    select from calendar e
    where e.business_id = ${scope.businessId} and e.client_id = v.client_id and e.active
      and e.start_time < v.start_time and e.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[]))`

/** `f`: the months have passed; the client came back within them. */
const hasPassed = (months: number) =>
  raw(`(f.first_day + make_interval(months => ${months}))::date < f.today`)
const isBackWithin = (months: number) =>
  raw(`f.next_day <= (f.first_day + make_interval(months => ${months}))::date`)

const COUNTS: Sql = sql`
  count(f.client_id) as clients,
  count(f.next_day) as "cameBack",
  count(*) filter (where f.next_day is null and f.has_ahead) as booked,
  count(*) filter (where f.next_day is null and not f.has_ahead) as gone`

/** Null unless the months have passed for all clients of the line. */
const shareWithin = (months: number) => sql`
  case when bool_and(${hasPassed(months)})
       then round(100.0 * count(*) filter (where ${isBackWithin(months)}) / count(f.client_id), 1)
  end as ${raw(`within${months}`)}`

const monthWords = (months: number) => (months === 1 ? '1 month' : `${months} months`)

const groups: Groups = {
  columns: [
    { name: 'clients', label: 'First visits', type: 'integer', width: 7, total: 'sum' },
    { name: 'cameBack', label: 'Came back', type: 'integer', width: 7, total: 'sum' },
    { name: 'booked', label: 'Only booked', type: 'integer', width: 7, total: 'sum' },
    { name: 'gone', label: 'Not back', type: 'integer', width: 7, total: 'sum' },
    {
      name: 'cameBackShare',
      label: 'Back so far',
      type: 'percent',
      width: 7,
      total: { percentOf: ['cameBack', 'clients'] },
    },
    ...MONTHS.map((months) => ({
      name: `within${months}`,
      label: `In ${monthWords(months)}`,
      type: 'percent' as const,
      width: 7,
    })),
  ],
  rows: firstVisits,
  cells: () => sql`
    ${COUNTS},
    round(100.0 * count(f.next_day) / nullif(count(f.client_id), 0), 1) as "cameBackShare",
    ${join(MONTHS.map(shareWithin), ', ')}`,
}

/** For each number of months: how many clients had that time, and how many of them came back in it. */
const observed = (months: number) => sql`
  count(*) filter (where ${hasPassed(months)}) as ${raw(`seen${months}`)},
  count(*) filter (where ${hasPassed(months)} and ${isBackWithin(months)}) as ${raw(`back${months}`)}`

const selectObserved = (scope: Scope) => sql`
  select ${COUNTS}, ${join(MONTHS.map(observed), ', ')} from (${firstVisits(scope)}) f`

const retentionWithin = (months: number): Kpi =>
  rateKpi(`within${months}`, `Back in ${monthWords(months)}`, {
    definition: `The share of clients who came again on a later day within ${monthWords(months)}, at any location and with anybody, of those who first came at least ${monthWords(months)} ago. In a line it is empty until this is so for all its clients.`,
    of: (figures) => [figures[`back${months}`], figures[`seen${months}`]],
    better: 'more',
    tense: 'past',
  })

export const retention: Report = {
  reportId: 504,
  category: 'CLIENTS',
  reportName: 'Retention by cohort',
  reportFileName: 'retention',
  description:
    'Clients by the month of their first visit: how many of them came back, and how soon.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: groupedColumns(['month'], { groups }),
  rows: (scope) => groupedRows(scope, { about: 'appointments', groups }, ['month']),
  groups,
  groupedBy: () => ['month'],
  figures: selectObserved,
  kpis: [
    countKpi('firstVisits', 'First visits', {
      definition:
        'Clients whose first kept appointment ever, with anybody, is in the period. Each is in the line of that appointment.',
      of: 'clients',
      better: 'more',
      tense: 'past',
    }),
    retentionWithin(1),
    retentionWithin(3),
    retentionWithin(12),
    countKpi('gone', 'Not back', {
      definition: 'These clients who have come on one day only, and have nothing booked.',
      tense: 'past',
      isNotComparable: true,
    }),
  ],
  charts: [
    {
      rows: selectObserved,
      draw: ([counts = {}]) => [
        {
          kind: 'bar',
          named: true,
          name: 'retention',
          title: 'Clients who came back (%)',
          unit: 'percent',
          fixedWords: true,
          labels: MONTHS.map((months) => `In ${monthWords(months)}`),
          series: [
            {
              name: 'Came back',
              tone: 'kept',
              values: MONTHS.map((months) =>
                percent(Number(counts[`back${months}`]), Number(counts[`seen${months}`])),
              ),
            },
          ],
        },
      ],
    },
    countsOverTime({
      name: 'firstVisits',
      title: 'First visits',
      rows: firstVisits,
      series: [
        { name: 'Came back', tone: 'kept', where: 'next_day is not null' },
        { name: 'Only booked', tone: 'ahead', where: 'next_day is null and has_ahead' },
        { name: 'Not back', tone: 'missed', where: 'next_day is null and not has_ahead' },
      ],
    }),
  ],
  drillDown: {
    objects: (scope) => appointmentObjects(firstVisits(scope)),
    keys: () => ['month'],
    figures: {
      clients: {},
      firstVisits: {},
      cameBack: { where: 'next_day is not null' },
      booked: { where: 'next_day is null and has_ahead' },
      gone: { where: 'next_day is null and not has_ahead' },
    },
  },
}
