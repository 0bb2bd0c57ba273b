import { sql } from '../../src/database/sql.ts'
import type { Database } from '../../src/database/database.ts'
import type { Lifetime } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'

export const NOW = Temporal.Instant.from('2026-11-10T12:00:00Z')
export const ALL_FUNCTIONS = new Set([
  'PRINT_REPORTS',
  'VIEW_CLIENT_REPORTS',
  'VIEW_STAFF_REPORTS',
  'VIEW_REVENUE_REPORTS',
  'VIEW_EMAIL_REPORTS',
])

/** A business in Zurich with a second location in New York, two members of staff and two services. */
export async function openBusiness(t: Lifetime) {
  const { database } = await cloneDatabase(t)
  return { database, ...(await fillBusiness(database)) }
}

export async function fillBusiness(database: Database, name = 'Praxis am See') {
  const [business] = await database.operator.query<{ businessId: number }>(sql`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    values (${name}, 'Europe/Zurich', ${NOW}, 'TEST', ${NOW}, 'TEST')
    returning business_id as "businessId"`)
  const { businessId } = business!
  const db = database.forBusiness(businessId, 'TEST')
  const stamp = sql`${NOW}, 'TEST', ${NOW}, 'TEST'`
  const stamps = sql`created_date, created_user, modified_date, modified_user`
  const one = async (statement: ReturnType<typeof sql>) =>
    (await db.query<{ id: number }>(statement))[0]!.id

  const location = (name: string, timeZone: string | null) =>
    one(sql`insert into location (business_id, name, time_zone, ${stamps})
            values (${businessId}, ${name}, ${timeZone}, ${stamp}) returning location_id as id`)
  const professional = (firstName: string, lastName: string, workingHours: object[] = []) =>
    one(sql`insert into professional (business_id, first_name, last_name, working_hours, ${stamps})
            values (${businessId}, ${firstName}, ${lastName}, ${JSON.stringify(workingHours)}::jsonb, ${stamp})
            returning professional_id as id`)
  const reason = (name: string, price: number | null, currency: string | null = 'CHF') =>
    one(sql`insert into reason (business_id, name, price, currency, ${stamps})
            values (${businessId}, ${name}, ${price}, ${currency}, ${stamp}) returning reason_id as id`)
  const client = (firstName: string, lastName: string) =>
    one(sql`insert into client (business_id, first_name, last_name, ${stamps})
            values (${businessId}, ${firstName}, ${lastName}, ${stamp}) returning client_id as id`)

  const zurich = await location('Zürich', null)
  const newYork = await location('New York', 'America/New_York')
  const elena = await professional('Elena', 'García', [
    { weekday: 'SUNDAY', from: '00:00', to: '08:00' },
    { weekday: 'MONDAY', from: '09:00', to: '17:00' },
  ])
  const tom = await professional('Tom', 'Becker')
  const checkUp = await reason('Check-up', 80.5)
  const massage = await reason('Massage', 120)
  const anna = await client('Anna', 'Müller')

  type Booking = {
    at: string
    minutes?: number
    status?: string
    clientId?: number
    professionalId?: number
    reasonId?: number
    locationId?: number
  }
  /** Books at a time such as `2026-10-25T02:30+01:00`. */
  const book = ({
    at,
    minutes = 30,
    status = 'COMPLETED',
    clientId = anna,
    professionalId = elena,
    reasonId = checkUp,
    locationId = zurich,
  }: Booking) => {
    const start = Temporal.Instant.from(at)
    return one(sql`
      insert into calendar (business_id, client_id, professional_id, reason_id, location_id,
                            start_time, end_time, status, price, currency, ${stamps})
      select ${businessId}, ${clientId}, ${professionalId}, reason_id, ${locationId},
             ${start}, ${start.add({ minutes })}, ${status}, price, currency, ${stamp}
      from reason where business_id = ${businessId} and reason_id = ${reasonId}
      returning calendar_id as id`)
  }

  return {
    businessId,
    db,
    reports: database.reportsOf(businessId),
    book,
    client,
    reason,
    professional,
    location,
    zurich,
    newYork,
    elena,
    tom,
    checkUp,
    massage,
    anna,
  }
}

export const everything = (businessId: number) => ({
  businessId,
  functions: ALL_FUNCTIONS,
  locationIds: null,
  professionalIds: null,
})
