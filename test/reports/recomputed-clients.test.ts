import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
import { NOW, openBusiness } from './business.ts'
import { figuresOf, linesOf, print, shareOf } from './measured-business.ts'

/**
 * Repeat no-shows, empty slots, lapsed clients and retention, recomputed with SQL that was written from docs/reports.md
 * and the printed definitions alone, without reading the SQL of the reports.
 */

const OCTOBER = { startDate: '2026-10-01', endDate: '2026-10-31' }

/** Two years of visits in two time zones: each client comes at an own interval, some stop, some come once. */
async function openHistory(t: Parameters<typeof openBusiness>[0]) {
  const business = await openBusiness(t)
  const { db, businessId, checkUp, massage, zurich, newYork, elena, tom, reason } = business
  const rare = await reason('Rare', 10)
  await db.query(sql`
    insert into status (business_id, object_type, status, label, outcome, live, live_after,
                        created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'CALENDAR', 'TOO_LATE', 'Cancelled too late', 'LATE_CANCELLED', false, false,
            ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  await db.query(sql`
    insert into client (business_id, first_name, last_name, email_address, created_date, created_user,
                        modified_date, modified_user)
    select ${businessId}, 'Client', to_char(n, 'FM000'), 'c' || n || '@example.org', ${NOW}, 'TEST', ${NOW}, 'TEST'
    from generate_series(1, 60) n`)
  // Client n begins in one of 20 months and comes every 50, 20 or 90 days, by service; every fifth stops early.
  await db.query(sql`
    insert into calendar (business_id, client_id, professional_id, reason_id, location_id, start_time, end_time,
                          status, price, currency, created_date, created_user, modified_date, modified_user)
    select ${businessId}, c.client_id, case when k.i % 3 = 0 then ${tom}::bigint else ${elena} end, s.reason_id,
           case when c.n % 2 = 0 then ${zurich}::bigint else ${newYork} end, k.at, k.at + interval '40 minutes',
           (array['COMPLETED', 'COMPLETED', 'NO_SHOW', 'COMPLETED', 'CANCELLED', 'TOO_LATE', 'NO_SHOW', 'OPEN'])
             [1 + (k.i * 3 + c.n) % 8],
           case when (k.i + c.n) % 9 > 0 then 50 + c.n end, 'CHF', k.at - interval '9 days', 'TEST', ${NOW}, 'TEST'
    from (select client_id, row_number() over (order by client_id)::int as n from client
          where business_id = ${businessId} and first_name = 'Client') c
    cross join lateral (values (case c.n % 3 when 0 then ${checkUp}::bigint when 1 then ${massage} else ${rare} end,
                                case c.n % 3 when 0 then 50 when 1 then 20 else 90 end)) s (reason_id, every)
    cross join lateral (
      select i, timestamptz '2025-01-07 22:40+00' + (c.n % 20) * interval '31 days'
                + i * s.every * interval '1 day' + c.n * interval '7 minutes' as at
      from generate_series(0, case when c.n % 5 = 0 then c.n % 4 else 40 end) i) k
    where k.at < timestamptz '2026-11-25'`)
  return business
}

/** `f`: every appointment on the clock of its location, with what became of it. */
const facts = (businessId: number) => sql`
  with f as (
    select c.calendar_id as id, c.client_id, c.professional_id, c.reason_id, c.start_time, c.end_time, c.price,
           c.invitation_uuid, c.start_time at time zone coalesce(l.time_zone, b.time_zone) as wall,
           k.first_name || ' ' || k.last_name as guest, r.name as service, b.time_zone as zone,
           case when s.outcome in ('CANCELLED', 'LATE_CANCELLED') then 'off'
                when c.start_time > ${NOW}::timestamptz then 'soon'
                when s.outcome = 'KEPT' then 'came' when s.outcome = 'MISSED' then 'stayed away' else 'open' end as fate
    from calendar c
    join business b using (business_id)
    join location l using (business_id, location_id)
    join reason r using (business_id, reason_id)
    join client k using (business_id, client_id)
    join status s on (s.business_id, s.object_type, s.status) = (c.business_id, 'CALENDAR', c.status)
    where c.business_id = ${businessId} and c.active
  )`

type Days = typeof OCTOBER

const inRange = (column: string, { startDate, endDate }: Days) =>
  `${column}::date between date '${startDate}' and date '${endDate}'`

type Business = Awaited<ReturnType<typeof openHistory>>

const read = ({ db, businessId }: Business, statement: string) =>
  db.query<Record<string, unknown>>(sql`${facts(businessId)} ${raw(statement)}`)

const inAnyOrder = (lines: Record<string, unknown>[]) =>
  lines.map((line) => JSON.stringify(Object.entries(line).toSorted())).toSorted()

async function agree(business: Business, reportId: number, days: Days, statement: string) {
  const expected = await read(business, statement)
  assert.ok(expected.length > 1, `report ${reportId} has lines`)
  const names = Object.keys(expected[0]!)
  const printed = await print(business, { reportId, ...days })
  const shown = linesOf(printed).map((line) =>
    Object.fromEntries(names.map((name) => [name, line[name]])),
  )
  assert.deepEqual(inAnyOrder(shown), inAnyOrder(expected), `report ${reportId}`)
  return figuresOf(printed)
}

test('repeat no-shows agree with SQL written from their definition', async (t) => {
  const business = await openHistory(t)
  const until = `wall::date <= date '${OCTOBER.endDate}'`
  const repeat = `select guest as client,
      count(*) filter (where fate = 'stayed away' and ${inRange('wall', OCTOBER)})::int as "noShows",
      count(*) filter (where fate = 'stayed away' and ${until})::int as "missedInAll",
      to_char(max(wall) filter (where fate = 'stayed away' and ${until}), 'YYYY-MM-DD') as "lastMissed",
      to_char(min(wall) filter (where fate = 'soon'), 'YYYY-MM-DD') as "nextVisit"
    from f group by client_id, guest
    having count(*) filter (where fate = 'stayed away' and ${inRange('wall', OCTOBER)}) > 0
       and count(*) filter (where fate = 'stayed away' and ${until}) > 1`
  const figures = await agree(business, 204, OCTOBER, repeat)
  const [sums] = await read(
    business,
    `, r as (${repeat}) select count(*)::int as clients, sum("noShows")::int as missed,
       count("nextVisit")::int as again,
       round(100.0 * sum("noShows") / (select count(*) from f where fate = 'stayed away' and ${inRange('wall', OCTOBER)}), 1)::float8 as share
     from r`,
  )
  assert.deepEqual(
    [figures.repeatClients, figures.repeated, figures.bookedAgain, figures.shareOfNoShows],
    [sums!.clients, sums!.missed, sums!.again, sums!.share],
  )
})

test('cancelled slots that stayed empty agree with SQL written from their definition', async (t) => {
  const business = await openHistory(t)
  const { book, elena, tom, zurich } = business
  // Some cancelled times are taken again, partly or as a whole; one touches its neighbour only.
  const cancelled = await read(
    business,
    `select start_time::text as at, professional_id from f where fate = 'off' and ${inRange('wall', OCTOBER)} order by id`,
  )
  for (const [i, { at, professional_id: professionalId }] of cancelled.slice(0, 9).entries()) {
    const start = Temporal.Instant.from(String(at).replace(' ', 'T').replace(/\+00$/, 'Z'))
    const shifted = start.add({ minutes: [0, 39, 40][i % 3]! }).toString()
    await book({ at: shifted, professionalId: Number(professionalId), locationId: zurich })
  }
  assert.ok([elena, tom].every(Boolean))
  const empty = `select o.* from f o where o.fate = 'off' and ${inRange('o.wall', OCTOBER)}
      and not exists (select from f t where t.fate <> 'off' and t.professional_id = o.professional_id
                      and t.start_time < o.end_time and t.end_time > o.start_time)`
  const [sums] = await read(
    business,
    `, e as (${empty}) select count(*) filter (where start_time <= '${NOW.toString()}')::int as "stayedEmpty",
       coalesce(sum(extract(epoch from end_time - start_time) / 60) filter (where start_time <= '${NOW.toString()}'), 0)::float8 as "emptyMinutes",
       (select count(*)::int from f where fate = 'off' and ${inRange('wall', OCTOBER)}) as cancelled from e`,
  )
  const printed = await print(business, { reportId: 205, ...OCTOBER })
  const figures = figuresOf(printed)
  assert.deepEqual(
    [figures.stayedEmpty, figures.emptyMinutes, figures.cancelled],
    [sums!.stayedEmpty, sums!.emptyMinutes, sums!.cancelled],
  )
  const filled = Number(sums!.cancelled) - Number(sums!.stayedEmpty)
  assert.ok(filled >= 5)
  assert.equal(figures.refilled, Math.round((1000 * filled) / Number(sums!.cancelled)) / 10)
})

/** `k`: the kept visits, numbered by client. `today` is the same day on all clocks of the test. */
const KEPT = `, k as (
  select f.*, p.first_name || ' ' || p.last_name as staff, wall::date as day,
         row_number() over (partition by client_id order by start_time desc, id desc) as back,
         count(*) over (partition by client_id) as visits
  from f join professional p using (professional_id) where fate = 'came'
)`
const TODAY = `date '2026-11-10'`

/**
 * `pace`: for each service the interval at which half of its clients come, if ten or more came again
 * within the two years before the end of the period.
 */
const paceUntil = ({ endDate }: Days) => `, gap as (
  select reason_id, client_id, start_time - lag(start_time) over (partition by reason_id, client_id order by start_time) as gap
  from k where wall < date '${endDate}' + 1 and wall >= date '${endDate}' + 1 - interval '2 years'
), usual as (
  select reason_id, client_id, avg(gap) as gap from gap where gap is not null group by 1, 2
), pace as (
  select reason_id, extract(epoch from percentile_cont(0.5) within group (order by gap)) / 86400 as days
  from usual group by 1 having count(*) >= 10
)`

test('lapsed clients agree with SQL written from their definition', async (t) => {
  const business = await openHistory(t)
  const { db, businessId } = business
  // Every fourth client stopped coming in one of several months.
  await db.query(sql`
    update calendar set active = false
    where business_id = ${businessId} and client_id % 4 = 1
      and start_time > timestamptz '2026-01-15' + client_id % 9 * interval '1 month'`)
  for (const [lapsedAfterDays, days, lastCounted] of [
    [null, { startDate: '2026-03-01', endDate: '2026-10-31' }, '11 September 2026'],
    [25, { startDate: '2026-04-01', endDate: '2026-10-20' }, '16 October 2026'],
    [150, { startDate: '2025-08-01', endDate: '2026-06-13' }, null],
  ] as const) {
    await db.query(sql`
      update business set lapsed_after_days = ${lapsedAfterDays} where business_id = ${businessId}`)
    const lapsed = `select guest as client, to_char(day, 'YYYY-MM-DD') as "lastVisit", ${TODAY} - day as days,
        service, staff, visits::int as visits
      from k left join pace using (reason_id)
      where back = 1 and ${inRange('wall', days)}
        and ${TODAY} - day >= greatest(${lapsedAfterDays ?? 60}, round(2 * coalesce(pace.days, 0)))
        and not exists (select from f where f.client_id = k.client_id and f.fate = 'soon')`
    const figures = await agree(business, 503, days, `${KEPT} ${paceUntil(days)} ${lapsed}`)
    const [sums] = await read(
      business,
      `${KEPT} ${paceUntil(days)}, l as (${lapsed}) select count(*)::int as lapsed,
         (select count(distinct client_id)::int from k where ${inRange('wall', days)}) as seen,
         count(*) filter (where days >= 90)::int as long from l`,
    )
    assert.deepEqual(
      [figures.lapsedClients, figures.seenClients, figures.longLapsed, figures.lapsedShare],
      [sums!.lapsed, sums!.seen, sums!.long, shareOf(Number(sums!.lapsed), Number(sums!.seen))],
    )
    const { sentences } = await print(business, { reportId: 503, ...days })
    assert.deepEqual(
      sentences,
      lastCounted === null
        ? []
        : [
            `Clients lapse after ${lapsedAfterDays ?? 60} days at the earliest: those who last came after ${lastCounted} are not counted yet.`,
          ],
    )
  }
  const { kpis } = await print(business, { reportId: 503, ...OCTOBER })
  const { seenClients, lapsedClients, lapsedShare } = figuresOf({ kpis })
  assert.deepEqual([lapsedClients, lapsedShare], [0, null], 'no client lapses within 150 days')
  assert.ok(Number(seenClients) > 0)
})

test('retention agrees with SQL written from its definition', async (t) => {
  const business = await openHistory(t)
  const days = { startDate: '2025-03-01', endDate: '2026-10-31' }
  // The next visit of each client on a later day, and what is booked.
  const cohorts = `${KEPT}, c as (
      select client_id, min(day) as first from k group by 1 having ${inRange('min(day)', days)}
    ), r as (
      select c.*, (select min(day) from k where k.client_id = c.client_id and k.day > c.first) as again,
             exists (select from f where f.client_id = c.client_id and f.fate = 'soon') as "isBooked"
      from c
    )`
  const share = (months: number) =>
    `round(100.0 * count(*) filter (where again <= first + interval '${months} months') / nullif(count(*), 0), 1)::float8`
  const MONTHS = [1, 2, 3, 6, 12]
  const figures = await agree(
    business,
    504,
    days,
    `${cohorts} select to_char(m, 'YYYY-MM') as month, count(first)::int as clients,
       count(again)::int as "cameBack", count(first) filter (where again is null and "isBooked")::int as booked,
       count(first) filter (where again is null and not "isBooked")::int as gone,
       round(100.0 * count(again) / nullif(count(first), 0), 1)::float8 as "cameBackShare",
       ${MONTHS.map((n) => `case when max(first) + interval '${n} months' <= ${TODAY} then ${share(n)} end as within${n}`).join(', ')}
     from generate_series(date '${days.startDate}', date '${days.endDate}', interval '1 month') m
     left join r on to_char(first, 'YYYY-MM') = to_char(m, 'YYYY-MM') group by 1`,
  )
  const [sums] = await read(
    business,
    `${cohorts} select count(*)::int as clients, count(*) filter (where again is null and not "isBooked")::int as gone,
       ${[1, 3, 12].map((n) => `(select ${share(n)} from r where first + interval '${n} months' <= ${TODAY}) as within${n}`).join(', ')}
     from r`,
  )
  assert.deepEqual(
    [figures.firstVisits, figures.gone, figures.within1, figures.within3, figures.within12],
    [sums!.clients, sums!.gone, sums!.within1, sums!.within3, sums!.within12],
  )
  assert.ok(Number(sums!.gone) > 1)
})
