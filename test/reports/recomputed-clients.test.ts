import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
import { NOW, openBusiness } from './business.ts'
import { figuresOf, linesOf, print } from './measured-business.ts'

/**
 * Repeat no-shows and slots that stayed empty, recomputed with SQL that was written from docs/reports.md
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
