import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql, type Sql } from '../../src/database/sql.ts'
import { NOW, openBusiness } from './business.ts'
import { figuresOf, linesOf, print } from './measured-business.ts'

/**
 * Reports recomputed with SQL that shares nothing with theirs: it reads the tables, asks PostgreSQL for the
 * local time, and counts in its own way. The data has what is easily counted wrongly.
 */

const OCTOBER = { startDate: '2026-10-01', endDate: '2026-10-31' }
const CURRENCIES = ['CHF', 'EUR', 'KWD']

async function openEdgeBusiness(t: Parameters<typeof openBusiness>[0]) {
  const business = await openBusiness(t)
  const { db, businessId, book, client, reason, zurich, newYork, elena, tom } = business
  await db.query(sql`
    insert into status (business_id, object_type, status, label, outcome, live, live_after,
                        created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'CALENDAR', 'TOO_LATE', 'Cancelled too late', 'LATE_CANCELLED', false, false,
            ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  const hours = ['MONDAY', 'WEDNESDAY'].map((weekday) => ({ weekday, from: '09:00', to: '17:00' }))
  await db.query(sql`
    update professional set working_hours = ${JSON.stringify(hours)}::jsonb,
                            location_id_list = ${[zurich, newYork]}::bigint[]
    where business_id = ${businessId}`)
  const [ben, zoe] = [await client('Ben', 'Abel'), await client('Zoë', 'Öz')]
  const services = [
    business.checkUp,
    business.massage,
    await reason('Diwan', 4.125, 'KWD'),
    await reason('Visite', 90.1, 'EUR'),
    await reason('First talk', 0),
    await reason('No price', null, null),
  ]
  const statuses = ['COMPLETED', 'COMPLETED', 'NO_SHOW', 'CANCELLED', 'TOO_LATE', 'OPEN']
  const people = [business.anna, ben, zoe]
  // Every seventh hour of the month, also around the clock change, and into the future.
  let at = Temporal.Instant.from('2026-09-29T21:30:00Z')
  for (
    let i = 0;
    Temporal.Instant.compare(at, Temporal.Instant.from('2026-11-20T00:00Z')) < 0;
    i++
  ) {
    await book({
      at: at.toString(),
      minutes: [20, 45, 60][i % 3]!,
      status: statuses[(i * 5 + Math.floor(i / 6)) % statuses.length]!,
      clientId: people[i % people.length]!,
      professionalId: i % 4 ? elena : tom,
      reasonId: services[(i * 7) % services.length]!,
      locationId: i % 2 ? zurich : newYork,
    })
    at = at.add({ hours: 7 })
  }
  // History that was imported without a price, and an appointment that was deleted.
  await db.query(sql`
    update calendar set price = null, currency = null
    where business_id = ${businessId} and calendar_id % 11 = 0`)
  await db.query(sql`
    update calendar set active = false where business_id = ${businessId} and calendar_id % 17 = 0`)
  return business
}

/** `f`: the appointments of the business in the range, on the clock of their location. */
const facts = (businessId: number, { startDate, endDate }: typeof OCTOBER): Sql => sql`
  with f as (
    select * from (
      select c.*, c.start_time at time zone coalesce(l.time_zone, b.time_zone) as wall,
             round(extract(epoch from (c.end_time - c.start_time)) / 60) as length,
             r.name as service, l.name as place, p.first_name || ' ' || p.last_name as person,
             k.first_name || ' ' || k.last_name as guest,
             case when s.outcome in ('CANCELLED', 'LATE_CANCELLED') then 'off'
                  when c.start_time > ${NOW}::timestamptz then 'soon'
                  when s.outcome = 'KEPT' then 'came' when s.outcome = 'MISSED' then 'stayed away'
                  else 'open' end as fate
      from calendar c
      join business b using (business_id)
      join location l using (business_id, location_id)
      join reason r using (business_id, reason_id)
      join professional p using (business_id, professional_id)
      join client k using (business_id, client_id)
      join status s on s.business_id = c.business_id and s.object_type = 'CALENDAR' and s.status = c.status
      where c.business_id = ${businessId} and c.active) a
    where a.wall::date between ${startDate}::date and ${endDate}::date
  )`

const COUNTS = `count(*)::int as appointments,
  sum((fate = 'came')::int)::int as completed, sum((fate = 'stayed away')::int)::int as "noShows",
  sum((fate = 'off')::int)::int as cancelled, sum((fate = 'open')::int)::int as unclosed`

const sumIn = (currency: string, as: string, fate: string) =>
  `coalesce(sum(case when fate = '${fate}' and currency = '${currency}' then price end), 0)::float8 as "${as}${currency}"`

const REVENUES = CURRENCIES.map((one) => sumIn(one, 'revenue', 'came')).join(', ')
const LENGTH = `coalesce(sum(case when fate <> 'off' then length end), 0)::float8`
const NO_SHOW_RATE = `round(100.0 * sum((fate = 'stayed away')::int) / nullif(sum((fate in ('came', 'stayed away'))::int), 0), 1)::float8`

/** For each report: its lines, in any order, with the columns that are compared. */
const RECOMPUTED: Record<number, string> = {
  101: `select to_char(wall, 'YYYY-MM-DD') as date, to_char(wall, 'HH24:MI') as time, guest as client, service,
               person as staff, place as location, length::float8 as minutes, price::float8 as price,
               case when price is not null then currency end as currency from f`,
  105: `select trim(to_char(wall, 'Day')) as weekday, to_char(wall, 'HH24') || ':00' as hour, ${COUNTS},
               ${LENGTH} as minutes from f group by 1, 2`,
  201: `select to_char(wall, 'YYYY-MM-DD') as date, to_char(wall, 'HH24:MI') as time, guest as client, service,
               price::float8 as price from f where fate = 'stayed away'`,
  202: `select to_char(wall, 'YYYY-MM-DD') as date, to_char(wall, 'HH24:MI') as time, guest as client, service,
               price::float8 as price from f where fate = 'off'`,
  206: `select to_char(wall, 'YYYY-MM-DD') as date, guest as client, service from f where fate = 'open'`,
  301: `select person as staff, ${COUNTS}, ${LENGTH} as "bookedMinutes", ${REVENUES} from f group by 1`,
  302: `select person as staff, ${COUNTS}, count(distinct case when fate <> 'off' then client_id end)::int as clients,
               ${NO_SHOW_RATE} as "noShowRate", ${REVENUES} from f group by 1`,
  401: `select service, ${COUNTS}, count(distinct case when fate <> 'off' then client_id end)::int as clients,
               ${NO_SHOW_RATE} as "noShowRate", ${LENGTH} as minutes, ${REVENUES} from f group by 1`,
  402: `select place as location, service, ${COUNTS}, ${LENGTH} as minutes, ${REVENUES} from f group by 1, 2`,
  501: `select guest as client, ${COUNTS}, ${REVENUES} from f group by 1`,
  951: `select service, person as staff, count(*)::int as appointments,
               ${CURRENCIES.flatMap((one) => [
                 sumIn(one, 'revenue', 'came'),
                 sumIn(one, 'lost', 'stayed away'),
                 sumIn(one, 'cancelledValue', 'off'),
                 sumIn(one, 'unclosedValue', 'open'),
               ]).join(', ')} from f group by 1, 2`,
}

const inAnyOrder = (lines: Record<string, unknown>[]) =>
  lines.map((line) => JSON.stringify(Object.entries(line).toSorted())).toSorted()

test('reports agree with SQL that was written without looking at theirs', async (t) => {
  const business = await openEdgeBusiness(t)
  const { db, businessId } = business
  for (const [id, statement] of Object.entries(RECOMPUTED)) {
    const reportId = Number(id)
    const expected = await db.query<Record<string, unknown>>(
      sql`${facts(businessId, OCTOBER)} ${raw(statement)}`,
    )
    const names = Object.keys(expected[0]!)
    const lines = linesOf(await print(business, { reportId, ...OCTOBER }))
    const shown = lines.map((line) => Object.fromEntries(names.map((name) => [name, line[name]])))
    assert.deepEqual(inAnyOrder(shown), inAnyOrder(expected), `report ${reportId}`)
    assert.ok(expected.length > 1, `report ${reportId} has lines`)
  }
})

test('the figures of reports agree with SQL of another kind', async (t) => {
  const business = await openEdgeBusiness(t)
  const { db, businessId } = business
  const one = async (statement: string, range = OCTOBER) =>
    (await db.query<Record<string, number>>(sql`${facts(businessId, range)} ${raw(statement)}`))[0]!

  const month =
    await one(`select ${COUNTS}, ${REVENUES}, count(distinct client_id) filter (where fate <> 'off')::int as clients,
    ${CURRENCIES.map((currency) => `count(distinct case when fate = 'came' and price > 0 and currency = '${currency}' then client_id end)::int as "paying${currency}"`).join(', ')},
    sum((fate = 'came' and price is null)::int)::int as unknown,
    sum((status = 'TOO_LATE')::int)::int as late,
    round(100.0 * sum((fate = 'came')::int) / count(*), 1)::float8 as "keptRate", ${NO_SHOW_RATE} as "noShowRate" from f`)

  const summary = await print(business, { reportId: 102, ...OCTOBER })
  const figures = figuresOf(summary)
  assert.deepEqual(
    [figures.appointments, figures.completed, figures.noShowRate],
    [month.appointments, month.keptRate, month.noShowRate],
  )
  for (const currency of CURRENCIES) {
    assert.equal(figures[`revenue${currency}`], month[`revenue${currency}`])
  }
  assert.ok(month.unknown! > 1)
  assert.deepEqual(summary.notes, [
    `The prices of ${month.unknown} kept appointments are unknown; the revenue is without them.`,
  ])

  const clients = figuresOf(await print(business, { reportId: 501, ...OCTOBER }))
  assert.equal(clients.activeClients, month.clients)
  for (const [currency, digits] of [
    ['CHF', 2],
    ['KWD', 3],
  ] as const) {
    const mean = month[`revenue${currency}`]! / month[`paying${currency}`]!
    assert.equal(clients[`revenuePerClient${currency}`], Number(mean.toFixed(digits)))
  }

  const cancelled = figuresOf(await print(business, { reportId: 202, ...OCTOBER }))
  assert.deepEqual([cancelled.cancelled, cancelled.lateCancelled], [month.cancelled, month.late])

  // 100: the month, the one before and their open days. Both people work on Mondays and Wednesdays.
  const [october, september] = linesOf(await print(business, { reportId: 100, ...OCTOBER }))
  const openDays = async (range: typeof OCTOBER) =>
    (
      await one(
        `select count(distinct day)::int as days from (
           select wall::date as day from f where fate <> 'off'
           union all
           select d::date from generate_series(date '${range.startDate}', date '${range.endDate}', '1 day') d
           where extract(isodow from d) in (1, 3)) days`,
        range,
      )
    ).days
  const SEPTEMBER = { startDate: '2026-09-01', endDate: '2026-09-30' }
  assert.deepEqual(
    [october!.appointments, october!.openDays, september!.openDays],
    [month.appointments, await openDays(OCTOBER), await openDays(SEPTEMBER)],
  )
})

test('free time agrees with a calculation by the minute, in two time zones', async (t) => {
  const business = await openEdgeBusiness(t)
  const { db, businessId } = business
  const days = { startDate: '2026-11-11', endDate: '2026-11-19' }
  // Each minute of a shift: on each clock on which the person is booked that day, else on that of Zurich.
  const expected = await db.query<{ staff: string; open: number; taken: number }>(sql`
    ${facts(businessId, days)},
    shift as (
      select p.professional_id, p.first_name || ' ' || p.last_name as staff, d::date as day
      from professional p, generate_series(date '2026-11-11', date '2026-11-19', '1 day') d
      where p.business_id = ${businessId} and extract(isodow from d) in (1, 3)
    ),
    clock as (
      select distinct s.professional_id, s.staff, s.day,
             case when f.place = 'New York' then 'America/New_York' else 'Europe/Zurich' end as zone
      from shift s left join f on f.professional_id = s.professional_id and f.wall::date = s.day and f.fate <> 'off'
    ),
    minute as (
      select distinct k.professional_id, k.staff, m at time zone k.zone as at
      from clock k, generate_series(k.day + time '09:00', k.day + time '16:59', '1 minute') m
      where m at time zone k.zone >= ${NOW}
    )
    select staff, count(*)::int as open,
           count(*) filter (where exists (
             select from calendar c join status s on (s.business_id, s.object_type, s.status) = (c.business_id, 'CALENDAR', c.status)
             where c.business_id = ${businessId} and c.active and c.professional_id = minute.professional_id
               and s.outcome not in ('CANCELLED', 'LATE_CANCELLED')
               and c.start_time <= minute.at and minute.at < c.end_time))::int as taken
    from minute group by 1 order by 1`)
  const lines = linesOf(await print(business, { reportId: 106, ...days }))
  assert.deepEqual(
    lines.map(({ staff, openMinutes, takenMinutes }) => [staff, openMinutes, takenMinutes]),
    expected.map(({ staff, open, taken }) => [staff, open, taken]),
  )
  assert.ok(expected.every(({ taken }) => taken > 0))
})
