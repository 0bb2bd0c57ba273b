import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
import { NOW, openBusiness } from './business.ts'
import { figuresOf, linesOf, print, shareOf } from './measured-business.ts'

/**
 * Classes and campaigns, recomputed with SQL that was written from docs/reports.md and the printed
 * definitions alone, without reading the SQL of the reports.
 */

const OCTOBER = { startDate: '2026-10-01', endDate: '2026-10-31' }

type Business = Awaited<ReturnType<typeof openBusiness>>

const inAnyOrder = (lines: Record<string, unknown>[]) =>
  lines.map((line) => JSON.stringify(Object.entries(line).toSorted())).toSorted()

async function agree(business: Business, reportId: number, statement: string) {
  const expected = await business.db.query<Record<string, unknown>>(raw(statement))
  assert.ok(expected.length > 1, `report ${reportId} has lines`)
  const names = Object.keys(expected[0]!)
  const printed = await print(business, { reportId, ...OCTOBER })
  const shown = linesOf(printed).map((line) =>
    Object.fromEntries(names.map((name) => [name, line[name]])),
  )
  assert.deepEqual(inAnyOrder(shown), inAnyOrder(expected), `report ${reportId}`)
  return { figures: figuresOf(printed), expected }
}

/** Sixty clients, whose ids follow each other. */
async function addClients({ db, businessId }: Business) {
  const clients = await db.query<{ clientId: number }>(sql`
    insert into client (business_id, first_name, last_name, created_date, created_user, modified_date, modified_user)
    select ${businessId}, 'Client', to_char(n, 'FM000'), ${NOW}, 'TEST', ${NOW}, 'TEST'
    from generate_series(1, 60) n returning client_id as "clientId"`)
  return clients.map(({ clientId }) => clientId)
}

test('class attendance agrees with SQL written from its definition', async (t) => {
  const business = await openBusiness(t)
  const { db, businessId, zurich, newYork, elena, tom } = business
  const clients = await addClients(business)
  // Every five hours of the month and around it, in two zones and across the clock change; some without
  // a number of places, with more students than places, without students, cancelled, not closed, deleted.
  await db.query(sql`
    insert into class_schedule (business_id, name, professional_id, location_id, start_time, end_time, status,
      client_id_list, attendance, capacity, active, created_date, created_user, modified_date, modified_user)
    select ${businessId}, (array['Pilates', 'Yoga', 'Rücken'])[1 + i % 3],
           case when i % 4 > 0 then ${elena}::bigint else ${tom} end,
           case when i % 2 > 0 then ${zurich}::bigint else ${newYork} end, at, at + interval '50 minutes',
           (array['CLOSED', 'OPEN', 'CANCELLED', 'CLOSED', 'OPEN', 'CLOSED', 'CLOSED'])[1 + i % 7],
           students, case when i % 5 = 0 then '[]'::jsonb
             else (select coalesce(jsonb_agg(jsonb_build_object('clientId', s, 'present', s % 3 > 0)), '[]')
                   from unnest(students) s where s % 7 > 0) end,
           case when i % 6 > 0 then 4 + i % 8 end, i % 19 > 0, ${NOW}, 'TEST', ${NOW}, 'TEST'
    from (select i, timestamptz '2026-09-30 00:30+00' + i * interval '5 hours' as at,
                 (${clients}::bigint[])[1 + i % 20 : (i % 20) + i % 11] as students
          from generate_series(0, 170) i) c`)

  const rows = `select wall, c.name, p.first_name || ' ' || p.last_name as staff, l.name as location, s.label,
      s.outcome <> 'CANCELLED' as held, cardinality(c.client_id_list) as students, c.capacity,
      jsonb_array_length(c.attendance) > 0 as noted,
      (select count(*) from jsonb_array_elements(c.attendance) a where (a ->> 'present')::boolean)::int as present
    from class_schedule c
    join business b using (business_id)
    join location l using (business_id, location_id)
    join professional p using (business_id, professional_id)
    join status s on (s.business_id, s.object_type, s.status) = (c.business_id, 'CLASS_SCHEDULE', c.status)
    cross join lateral (select c.start_time at time zone coalesce(l.time_zone, b.time_zone) as wall) w
    where c.business_id = ${businessId} and c.active
      and wall::date between date '${OCTOBER.startDate}' and date '${OCTOBER.endDate}'`
  const { figures } = await agree(
    business,
    601,
    `select to_char(wall, 'YYYY-MM-DD') as date, to_char(wall, 'HH24:MI') as time, name as class, staff, location,
       students, case when noted then present end as present, capacity,
       round(100.0 * students / capacity, 1)::float8 as filled
     from (${rows}) r where held
     union all
     select to_char(wall, 'YYYY-MM-DD'), to_char(wall, 'HH24:MI'), name, staff, location, null, null, null, null
     from (${rows}) r where not held`,
  )
  const [sums] = await db.query<Record<string, number>>(
    raw(`select count(*) filter (where held)::int as classes, sum(students) filter (where held)::int as students,
           sum(students) filter (where held and capacity is not null)::int as taken,
           sum(capacity) filter (where held)::int as places from (${rows}) r`),
  )
  assert.deepEqual(
    [figures.classes, figures.students, figures.filled],
    [sums!.classes, sums!.students, shareOf(sums!.taken!, sums!.places!)],
  )
})

test('the campaign funnel agrees with SQL written from its definition', async (t) => {
  const business = await openBusiness(t)
  const { db, businessId, checkUp, zurich, newYork, elena, reason } = business
  const clients = await addClients(business)
  const stamps = sql`created_date, created_user, modified_date, modified_user`
  const stamp = sql`${NOW}, 'TEST', ${NOW}, 'TEST'`
  const diwan = await reason('Diwan', 4.125, 'KWD')
  await db.query(sql`
    insert into invitation_campaign (business_id, name, expires_time, ${stamps})
    select ${businessId}, name, expires::timestamptz, ${stamp}
    from (values ('Autumn', '2026-10-25 00:00+00'), ('Recall', null), ('Gift', '2026-12-01 00:00+00')) c (name, expires)`)
  // From the end of September on, also at midnight of Zürich; clients are invited again after 20 days.
  await db.query(sql`
    insert into invitation (business_id, invitation_uuid, invitation_campaign_id, client_id, status, expires_time,
      active, created_date, created_user, modified_date, modified_user)
    select ${businessId}, md5('invitation ' || i),
           (select invitation_campaign_id from invitation_campaign
            where business_id = ${businessId} and name = (array['Autumn', 'Recall', 'Gift'])[1 + i % 3]),
           (${clients}::bigint[])[1 + i % 40],
           (array['SENT', 'COMPLETED', 'SENT', 'EXPIRED', 'CANCELLED', 'COMPLETED', 'SENT'])[1 + i % 7],
           case when i % 5 = 0 then at + interval '6 days' end, i % 23 > 0, at, 'TEST', ${NOW}, 'TEST'
    from (select i, timestamptz '2026-09-28 22:00+00' + i * interval '12 hours' as at
          from generate_series(0, 75) i) c`)
  // Mails: accepted, returned, refused, captured and suppressed ones; one is sent again; some have none.
  await db.query(sql`
    insert into email (business_id, object_type, object_uuid, client_id, recipient_key, to_address, from_address,
      subject, message_id, status, status_reason, sent_time, created_date)
    select ${businessId}, 'INVITATION', md5('invitation ' || i), (${clients}::bigint[])[1 + i % 40],
           n::text, 'a@example.org', 'b@example.org', 'Come', 'm' || i || '.' || n, s.status,
           case when s.is_returned then 'bounced: 5.1.1 no such user' end,
           case when s.status = 'SENT' then ${NOW}::timestamptz end, ${NOW}
    from generate_series(0, 75) i, generate_series(1, 2) n,
         lateral (values ((array['SENT', 'SENT', 'FAILED', 'CAPTURED', 'SUPPRESSED'])[1 + (i + n) % 5],
                          (i + n) % 5 = 1)) s (status, is_returned)
    where i % 8 > 0 and (n = 1 or i % 4 = 1)`)
  // Bookings by the link, before the invitation, and after it without the link.
  await db.query(sql`
    insert into calendar (business_id, client_id, professional_id, reason_id, location_id, start_time, end_time,
      status, price, currency, booked_time, invitation_uuid, active, ${stamps})
    select ${businessId}, v.client_id, ${elena}, r.reason_id,
           case when i % 2 > 0 then ${zurich}::bigint else ${newYork} end, at, at + interval '30 minutes',
           (array['COMPLETED', 'NO_SHOW', 'COMPLETED', 'CANCELLED', 'OPEN', 'COMPLETED'])[1 + i % 6],
           case when i % 9 > 0 then r.price end, r.currency, booked,
           case when i % 3 < 2 then v.invitation_uuid end, i % 17 > 0, ${stamp}
    from generate_series(0, 75) i
    join invitation v on v.business_id = ${businessId} and v.invitation_uuid = md5('invitation ' || i)
    join reason r on r.business_id = ${businessId}
      and r.reason_id = case when i % 4 = 0 then ${diwan}::bigint else ${checkUp} end
    cross join lateral (
      select v.created_date + (array[-2, 1, 5, 9, 19, 25])[1 + i % 6] * interval '1 day' as wished) w
    cross join lateral (select least(wished, ${NOW}::timestamptz - interval '1 hour') as booked) b
    cross join lateral (select booked + interval '3 days' as at) s
    where i % 5 < 4`)

  const invited = `select v.*, v.created_date at time zone b.time_zone as wall, c.name as campaign, s.outcome,
      coalesce(v.expires_time, c.expires_time) as ends,
      lead(v.created_date) over (partition by v.client_id, s.outcome = 'CANCELLED' order by v.created_date) as next
    from invitation v
    join business b using (business_id)
    join invitation_campaign c using (business_id, invitation_campaign_id)
    join status s on (s.business_id, s.object_type, s.status) = (v.business_id, 'INVITATION', v.status)
    where v.business_id = ${businessId} and v.active`
  const counted = `select i.*,
      exists (select from email e where e.business_id = ${businessId} and e.object_uuid = i.invitation_uuid
        and e.status = 'SENT' and coalesce(e.status_reason, '') not like 'bounced%') as reached,
      exists (select from a where a.invitation_uuid = i.invitation_uuid) as booked,
      exists (select from a where a.invitation_uuid = i.invitation_uuid and a.kept) as came,
      exists (select from a where a.client_id = i.client_id and a.invitation_uuid is null
        and a.booked_time > i.created_date
        and a.booked_time < least(i.ends, i.next, i.created_date + interval '90 days')) as followed,
      (select sum(price) from a where a.invitation_uuid = i.invitation_uuid and a.kept and a.currency = 'CHF') as chf,
      (select sum(price) from a where a.invitation_uuid = i.invitation_uuid and a.kept and a.currency = 'KWD') as kwd
    from o i where outcome <> 'CANCELLED'`
  const rows = `with a as (
      select c.*, s.outcome = 'KEPT' and c.start_time <= '${NOW.toString()}' as kept
      from calendar c
      join status s on (s.business_id, s.object_type, s.status) = (c.business_id, 'CALENDAR', c.status)
      where c.business_id = ${businessId} and c.active
    ), i as (${invited}), o as (
      select * from i where wall::date between date '${OCTOBER.startDate}' and date '${OCTOBER.endDate}'
    ), n as (${counted}), days as (
      select campaign, to_char(min(wall), 'YYYY-MM-DD') as "firstInvited",
             to_char(max(wall), 'YYYY-MM-DD') as "lastInvited" from o group by 1
    )`
  const counts = `count(*)::int as invited, sum(reached::int)::int as reached,
    sum((outcome = 'KEPT')::int)::int as completed, sum(booked::int)::int as booked, sum(came::int)::int as came,
    sum((followed and not booked)::int)::int as after`
  const revenue = `coalesce(sum(chf), 0)::float8 as "revenueCHF", coalesce(sum(kwd), 0)::float8 as "revenueKWD"`
  const { figures } = await agree(
    business,
    701,
    `${rows} select campaign, "firstInvited", "lastInvited", ${counts},
       round(100.0 * sum(booked::int) / count(*), 1)::float8 as "bookedRate",
       round(100.0 * sum(came::int) / count(*), 1)::float8 as "cameRate", ${revenue}
     from n join days using (campaign) group by campaign, "firstInvited", "lastInvited"`,
  )
  const [sums] = await db.query<Record<string, number>>(
    raw(`${rows} select ${counts}, ${revenue} from n`),
  )
  for (const name of ['reached', 'completed', 'booked', 'came', 'after']) {
    assert.equal(figures[name], shareOf(sums![name]!, sums!.invited!), name)
    assert.ok(sums![name]! > 1, name)
  }
  assert.equal(figures.invited, sums!.invited)
  assert.deepEqual(
    [figures.campaignRevenueCHF, figures.campaignRevenueKWD],
    [sums!.revenueCHF, sums!.revenueKWD],
  )
})

test('reminders and no-shows agree with SQL written from their definition', async (t) => {
  const business = await openBusiness(t)
  const { db, businessId, zurich, newYork, elena, checkUp, massage } = business
  const clients = await addClients(business)
  await db.query(sql`
    insert into status (business_id, object_type, status, label, outcome, live, live_after,
                        created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'CALENDAR', 'TOO_LATE', 'Cancelled too late', 'LATE_CANCELLED', false, false,
            ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  // Every four hours of the month and around it, in two zones, some without a price, some deleted;
  // booked from weeks before to after the reminder was due.
  await db.query(sql`
    insert into calendar (business_id, client_id, professional_id, reason_id, location_id, start_time, end_time,
      status, price, currency, active, booked_time, created_date, created_user, modified_date, modified_user)
    select ${businessId}, (${clients}::bigint[])[1 + i * 7 % 60], ${elena},
           case when i % 4 > 0 then ${checkUp}::bigint else ${massage} end,
           case when i % 2 > 0 then ${zurich}::bigint else ${newYork} end, at, at + interval '30 minutes',
           (array['COMPLETED', 'NO_SHOW', 'COMPLETED', 'CANCELLED', 'TOO_LATE', 'OPEN', 'COMPLETED'])[1 + i * 5 % 7],
           case when i % 3 > 0 then 80 end, case when i % 3 > 0 then 'CHF' end, i % 13 > 0,
           at - (array['2 hours', '30 hours', '5 days', '20 days', '50 days'])[1 + i % 5]::interval,
           ${NOW}, 'TEST', ${NOW}, 'TEST'
    from (select i, timestamptz '2026-09-30 01:00+00' + i * interval '4 hours' as at
          from generate_series(0, 199) i) c`)
  const [definition] = await db.query<{ id: number }>(sql`
    insert into event_definition (business_id, active, description, event_type_id, object_type, trigger_hours,
                                  created_date, created_user, modified_date, modified_user)
    values (${businessId}, true, 'A day before', 3, 'CALENDAR', -24, ${NOW}, 'TEST', ${NOW}, 'TEST')
    returning event_defn_id as id`)
  // Two of three appointments have a reminder. Some mails were refused, came back, or went to staff.
  await db.query(sql`
    with t as (
      insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
                                 scheduled_time, status, completed_time, created_date)
      select ${businessId}, ${definition!.id}, 1, 'CALENDAR', calendar_id, start_time, start_time - interval '24 hours',
             case when calendar_id % 8 = 0 then 'CANCELLED' else 'COMPLETED' end,
             case when calendar_id % 8 > 0 then start_time - interval '24 hours' end, booked_time
      from calendar where business_id = ${businessId} and calendar_id % 3 > 0
      returning event_trigger_id, object_id, scheduled_time, status)
    insert into email (business_id, event_trigger_id, object_type, object_id, recipient_key, to_address,
                       from_address, subject, message_id, status, status_reason, sent_time, created_date)
    select ${businessId}, t.event_trigger_id, 'CALENDAR', t.object_id,
           case when t.object_id % 10 = 1 then '' else 'client ' || c.client_id end,
           'a@example.org', 'b@example.org', 's', 'm' || t.object_id,
           case when t.object_id % 5 = 0 then 'SUPPRESSED' else 'SENT' end,
           case when t.object_id % 7 = 0 then 'bounced: 5.1.1' end, t.scheduled_time, t.scheduled_time
    from t join calendar c on c.business_id = ${businessId} and c.calendar_id = t.object_id
    where t.status = 'COMPLETED'`)

  const rows = `select c.calendar_id, s.outcome, r.due is not null as asked, coalesce(r.reached, false) as reached,
      c.booked_time > coalesce(r.due, c.start_time - interval '1 day') as late
    from calendar c
    join business b using (business_id)
    join location l using (business_id, location_id)
    join status s on (s.business_id, s.object_type, s.status) = (c.business_id, 'CALENDAR', c.status)
    left join lateral (
      select max(t.scheduled_time) as due,
             bool_or(e.status = 'SENT' and e.recipient_key <> '' and e.status_reason is null) as reached
      from event_trigger t left join email e using (business_id, event_trigger_id)
      where t.business_id = c.business_id and t.object_id = c.calendar_id and t.status <> 'CANCELLED') r on true
    where c.business_id = ${businessId} and c.active
      and (c.start_time at time zone coalesce(l.time_zone, b.time_zone))::date
        between date '${OCTOBER.startDate}' and date '${OCTOBER.endDate}'`
  const counts = `sum((outcome in ('KEPT', 'MISSED'))::int)::int as total, sum((outcome = 'MISSED')::int)::int as missed`
  const { figures, expected } = await agree(
    business,
    904,
    `select case when late then 'Booked too late for a reminder (not compared)' when reached then 'Reached by a reminder'
                 when asked then 'Tried, but not reached' else 'No reminder asked for' end as "group", ${counts},
            round(100.0 * sum((outcome = 'MISSED')::int) / sum((outcome in ('KEPT', 'MISSED'))::int), 1)::float8 as rate,
            sum((reached and outcome in ('CANCELLED', 'LATE_CANCELLED'))::int)::int as freed
     from (${rows}) r group by 1`,
  )
  assert.equal(expected.length, 4)
  const [sides] = await db.query<Record<string, number>>(
    raw(`select sum((outcome = 'MISSED' and reached)::int)::int as reached_missed,
           sum((outcome in ('KEPT', 'MISSED') and reached)::int)::int as reached,
           sum((outcome = 'MISSED' and not reached)::int)::int as others_missed,
           sum((outcome in ('KEPT', 'MISSED') and not reached)::int)::int as others
         from (${rows}) r where not late`),
  )
  assert.deepEqual(
    [figures.withReminder, figures.withoutReminder],
    [
      shareOf(sides!.reached_missed!, sides!.reached!),
      shareOf(sides!.others_missed!, sides!.others!),
    ],
  )
})
