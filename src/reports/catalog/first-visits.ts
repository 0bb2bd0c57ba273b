import { raw, sql, type Sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'
import { localAtAnyTime, statusesOf } from './conditions.ts'

/**
 * The first appointment ever of each of the clients, with anybody, that was not cancelled: `first_time`,
 * and `first_start` on the clock of its location.
 */
export const firstVisits = (clients: Sql, scope: Scope) => sql`
  select e.client_id, e.first_time, ${localAtAnyTime('e.first_time', 'e.location_id', scope)} as first_start
  from (select e.client_id, min(e.start_time) as first_time,
               -- PostgreSQL skips this unless there are several zones.
               (array_agg(e.location_id order by e.start_time, e.calendar_id))[1] as location_id
        from calendar e
        where e.business_id = ${scope.businessId} and e.client_id in (${clients}) and e.active
          and not e.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])
        group by e.client_id) e`

/** A client of the period is new if their first visit is in it, by the calendar of its location. */
export const isNewInPeriod = (firstVisit: string, { startDate }: Scope) =>
  sql`${raw(firstVisit)}::date >= ${startDate}::date`
