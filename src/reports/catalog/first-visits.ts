import { raw, sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'
import { localAtAnyTime, statusesOf } from './conditions.ts'

/** The local time of a client's first appointment ever, with anybody, that was not cancelled. */
export const firstVisitOf = (client: string, scope: Scope) => sql`
  (select ${localAtAnyTime('e.start_time', 'e.location_id', scope)} from calendar e
   where e.business_id = ${scope.businessId} and e.client_id = ${raw(client)} and e.active
     and not e.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])
   order by e.start_time, e.calendar_id limit 1)`

/** A client of the period is new if their first visit is in it, by the calendar of its location. */
export const isNewInPeriod = (firstVisit: string, { startDate }: Scope) =>
  sql`${raw(firstVisit)}::date >= ${startDate}::date`
