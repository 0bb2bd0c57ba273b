import { sql } from '../../database/sql.ts'
import { countKpi, rateKpi, type Report, type Scope, type SentenceSource } from '../report.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, drillToAppointments } from './appointments.ts'
import { countsOverTime } from './charts.ts'
import { appointmentRows, statusesOf, todayAt, joinNames } from './conditions.ts'
import { appointmentObjects } from './objects.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

/** From so many clients who came again on, a service has an interval of its own. */
const MIN_CLIENTS = 10

/** The years before the end of the period in which the usual intervals are observed. */
const OBSERVED_YEARS = 2

/** At least so long a client without another visit does not count as lapsed, unless the business says otherwise. */
export const LAPSED_AFTER_DAYS = 60

/**
 * After how many days without a visit a client of each service has lapsed: twice the interval at which half
 * of its clients come, and at least the days of the business.
 */
const lapsedAfter = (scope: Scope) => sql`
  select s.reason_id, greatest(least_days, 2 * s.usual)::int as lapsed_days
  from (select i.reason_id, case when count(*) >= ${MIN_CLIENTS}
                                 then percentile_cont(0.5) within group (order by i.days) end as usual
        from (select c.reason_id, extract(epoch from max(c.start_time) - min(c.start_time)) / 86400 / (count(*) - 1) as days
              from calendar c
              where c.business_id = ${scope.businessId} and c.active
                and c.start_time >= ${scope.until}::timestamptz - make_interval(years => ${OBSERVED_YEARS})
                and c.start_time < ${scope.until} and c.start_time <= ${scope.now}
                and c.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[])
              group by c.reason_id, c.client_id
              having count(*) > 1) i
        group by 1) s
  cross join (${leastDays(scope)}) b`

const leastDays = (scope: Scope) => sql`
  select coalesce(b.lapsed_after_days, ${LAPSED_AFTER_DAYS}) as least_days
  from business b where b.business_id = ${scope.businessId}`

/** The last kept appointment in the period of each client, whether anything follows it, and for how long. */
const lastVisits = (scope: Scope) => sql`
  select v.*, v.is_overdue and not v.has_next as has_lapsed
  from (select n.*, n.days >= coalesce(l.lapsed_days, b.least_days) as is_overdue
        from (${visitsWithNext(scope)}) n
        cross join (${leastDays(scope)}) b
        left join (${lapsedAfter(scope)}) l using (reason_id)) v`

const visitsWithNext = (scope: Scope) => sql`
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

/** Visits that are too recent: without this note, few or no lapsed clients would look like good news. */
const recentVisits: SentenceSource = {
  rows: (scope) => leastDays(scope),
  write: ([business], { endDate, now, timeZone }, { say, writeDate }) => {
    const days = Number(business!.least_days)
    const last = now.toZonedDateTimeISO(timeZone).toPlainDate().subtract({ days })
    if (Temporal.PlainDate.compare(endDate, last) <= 0) return []
    return [
      say(
        'Clients lapse after {days} days at the earliest: those who last came after {day} are not counted yet.',
        { days, day: writeDate(last.toString()) },
      ),
    ]
  },
}

const LONG_DAYS = 90

export const lapsedClients: Report = {
  reportId: 503,
  category: 'CLIENTS',
  reportName: 'Lapsed clients',
  reportFileName: 'lapsed-clients',
  description:
    'A call list of clients whose last visit was in the period: by the rhythm of their service they are overdue, and they have nothing booked.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(['client', 'phone', 'emailAddress']),
    { name: 'lastVisit', label: 'Last visit', type: 'date', width: 10 },
    { name: 'days', label: 'Days ago', type: 'integer', width: 6 },
    { name: 'service', label: 'Last service', type: 'text', width: 16 },
    { name: 'staff', label: 'With', type: 'text', width: 16 },
    { name: 'location', label: 'Location', type: 'text', width: 12, unlessOneLocation: true },
    { name: 'visits', label: 'Visits', type: 'integer', width: 6 },
  ],
  rows: (scope) => sql`
    select ${cellsOf(['client', 'phone', 'emailAddress'])},
           to_char(v.local_start, 'YYYY-MM-DD') as "lastVisit",
           v.days,
           ${cellsOf(['service', 'staff', 'location'])},
           (select count(*) from calendar b
            where b.business_id = ${scope.businessId} and b.client_id = v.client_id and b.active
              and b.start_time <= ${scope.now}
              and b.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[])) as visits,
           v.calendar_id as "key_objectId"
    from (${lastVisits(scope)}) v
    ${joinNames('v', ['client', 'reason', 'professional', 'location'], scope)}
    where v.has_lapsed
    order by visits desc, v.start_time desc, v.client_id`,
  figures: (scope) => sql`
    select f.*, v.seen, v.overdue, v.lapsed, v.long
    from (${appointmentFigures(scope)}) f,
         (select count(*) as seen, count(*) filter (where is_overdue) as overdue,
                 count(*) filter (where has_lapsed) as lapsed,
                 count(*) filter (where has_lapsed and days >= ${LONG_DAYS}) as long
          from (${lastVisits(scope)}) one) v`,
  kpis: [
    countKpi('lapsedClients', 'Lapsed clients', {
      definition: `Clients whose last kept appointment, with anybody, is in the period, who have none ahead, and who are away for twice as long as clients of that service usually are between two visits, at least the days that the business has set (else ${LAPSED_AFTER_DAYS}).`,
      of: 'lapsed',
      tense: 'past',
      isNotComparable: true,
    }),
    countKpi('seenClients', 'Clients who came', {
      definition: 'Clients with a kept appointment in the period.',
      of: 'seen',
      better: 'more',
      tense: 'past',
    }),
    rateKpi('lapsedShare', 'Lapsed', {
      definition:
        'Lapsed clients as a share of those who came in the period; no figure while all of them came too recently to have lapsed.',
      of: ({ lapsed, seen, overdue }) => [lapsed, overdue ? seen : 0],
      tense: 'past',
      isNotComparable: true,
    }),
    countKpi('longLapsed', `Gone for ${LONG_DAYS} days`, {
      definition: `Lapsed clients whose last visit was at least ${LONG_DAYS} days ago.`,
      of: 'long',
      tense: 'past',
      isNotComparable: true,
    }),
  ],
  sentences: recentVisits,
  charts: [
    countsOverTime({
      name: 'lapsed',
      title: 'Lapsed clients by their last visit,',
      rows: lastVisits,
      series: [{ name: 'Lapsed', tone: 'missed', where: 'has_lapsed' }],
    }),
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    objects: (scope) => sql`
      select o.*, v.has_lapsed, v.days from (${appointmentObjects(appointmentRows(scope))}) o
      left join (${lastVisits(scope)}) v using (calendar_id)`,
    listed: 'has_lapsed',
    figures: {
      lapsedClients: { where: 'has_lapsed' },
      seenClients: { where: 'has_lapsed is not null' },
      longLapsed: { where: `has_lapsed and days >= ${LONG_DAYS}` },
    },
  }),
}
