import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planDefinition } from '../../src/automation/plan.ts'
import { reconcileAll } from '../../src/automation/reconcile.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { loadDemo } from '../../src/demo/demo.ts'
import { listActiveDefinitions } from '../../src/store/event-definitions.ts'
import { runCommand } from '../support/command.ts'
import { urlOf } from '../support/owner.ts'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

const load = ({ db, businessId, clock }: Pick<World, 'db' | 'businessId' | 'clock'>, more = {}) =>
  loadDemo(db, { businessId, user: 'SYSTEM', now: clock.now, ...more })

test('only the operator can load the demo over HTTP; it has plausible shares and dates, and loading it again adds nothing', async (t) => {
  const key = 'operator-key-for-this-test'
  const world = await startWorld(t, { ADMIN_API_KEY: key })
  const { app, businessId, db, call } = world
  const url = `/business/${businessId}/seed`
  assert.equal((await call('POST', url)).status, 403)
  const headers = { authorization: `Bearer ${key}` }
  const missing = await app.inject({ method: 'POST', url: '/business/999999/seed', headers })
  assert.equal(missing.statusCode, 404)
  const loaded = await app.inject({ method: 'POST', url, headers })
  assert.equal(loaded.statusCode, 200, loaded.body)
  const { accepted } = loaded.json()
  assert.deepEqual(accepted, {
    status: 2,
    location: 3,
    reason: 12,
    professional: 8,
    client: 400,
    calendar: 9_000,
    classSchedule: accepted.classSchedule,
    invitationCampaign: 2,
    invitation: 140,
    recall: 160,
    disclaimerForm: 2,
    disclaimer: 220,
    emailCategory: 3,
    emailTemplate: 57,
    eventDefinition: 19,
  })
  assert.ok(accepted.classSchedule > 250)

  const statuses = await db.query<{ past: boolean; status: string; share: number }>(sql`
    select past, status, round(count(*) / sum(count(*)) over (partition by past), 2) as share
    from (select start_time < ${world.clock.now()} as past, status from calendar) visits
    group by past, status`)
  const share = (past: boolean, status: string) =>
    statuses.find((row) => row.past === past && row.status === status)?.share ?? 0
  assert.ok(share(true, 'COMPLETED') > 0.75 && share(true, 'COMPLETED') < 0.92)
  assert.ok(share(true, 'NO_SHOW') > 0.02 && share(true, 'NO_SHOW') < 0.1)
  assert.ok(share(true, 'CANCELLED') > 0.06 && share(true, 'CANCELLED') < 0.18)
  assert.equal(share(false, 'COMPLETED'), 0)

  const [facts] = await db.query(sql`
    select (max(start_time) - min(start_time) > interval '500 days') as long,
           bool_and(created_date < start_time) as "bookedBefore",
           bool_and(extract(hour from start_time at time zone 'Europe/Zurich') between 7 and 20) as "byDay"
    from calendar`)
  assert.deepEqual(facts, { long: true, bookedBefore: true, byDay: true })
  const scripts = await db.query<{ script: string }>(sql`
    select distinct language as script from client where language is not null`)
  assert.ok(scripts.length >= 10)

  const { body: triggers } = await call('GET', '/eventTriggers?status=SCHEDULED&limit=1')
  assert.deepEqual(triggers.items, [], 'loading the demo schedules no triggers')
  await assertHistory(world)

  const counts = () =>
    db.query(sql`
      select (select count(*) from calendar) as appointments, (select count(*) from client) as clients,
             (select count(*) from event_definition) as definitions, (select count(*) from audit) as audit,
             (select count(*) from event_trigger) as triggers, (select count(*) from email) as emails`)
  const before = await counts()
  const again = await load(world)
  assert.equal(again.refusedCount, 0)
  assert.deepEqual(await counts(), before)
})

/** Checks what the reports show about the past year. */
async function assertHistory({ db, clock }: World) {
  const [facts] = await db.query<Record<string, number>>(sql`
    select (select count(*) from event_trigger where status = 'COMPLETED') as sent,
           (select count(*) from event_trigger where status in ('FAILED', 'EXPIRED', 'SKIPPED')) as "notSent",
           (select count(*) from email where status_reason like 'bounced:%') as bounced,
           (select count(distinct date_trunc('month', created_date)) from client) as "monthsWithNewClients",
           (select count(*) from calendar where status in ('LATE_CANCELLED', 'ENDED_EARLY')) as "ownStatuses",
           (select count(*) from calendar where status = 'CONFIRMED' and start_time < ${clock.now()}) as unclosed,
           (select max(currencies) from (select count(distinct currency) as currencies
                                         from calendar group by location_id) l) as currencies,
           (select count(*) from class_schedule where attendance <> '[]') as "classesWithAttendance",
           (select count(*) from audit where object = 'calendar' and change = 'CHANGED') as "statusChanges",
           (select count(*) from audit_entry where object = 'calendar' and change = 'CHANGED'
              and (before ->> 'status' not in ('OPEN', after ->> 'status')
                or time > ${clock.now()})) as impossible,
           (select count(*) from audit_entry e join disclaimer d on d.disclaimer_id::text = e.id
            where e.object = 'disclaimer' and e.change = 'CHANGED' and e.after ->> 'status' = 'SIGNED'
              and e.time between d.created_date and ${clock.now()}) as "signedLater",
           (select count(*) from disclaimer where calendar_id is not null) as "formsOfAppointments",
           (select count(*) from email m join invitation i on i.invitation_uuid = m.object_uuid
            where m.status = 'SENT' and m.sent_time between i.created_date and ${clock.now()}) as invited`)
  const { sent, notSent, bounced, ...others } = facts!
  assert.ok(sent! > 6_000 && notSent! > 300 && bounced! > 100, JSON.stringify(facts))
  const { monthsWithNewClients, ownStatuses, unclosed, statusChanges, ...exact } = others
  assert.ok(others.signedLater! > 150 && others.invited! > 100, JSON.stringify(facts))
  assert.equal(others.formsOfAppointments, 220)
  assert.ok(
    monthsWithNewClients! >= 14 && ownStatuses! > 150 && unclosed! > 5 && statusChanges! > 2_000,
  )
  assert.ok(exact.classesWithAttendance! > 200)
  assert.deepEqual([exact.currencies, exact.impossible], [2, 0])
}

test('nothing in the demo is dated after its loading, also just after midnight of the practice', async (t) => {
  const world = await startWorld(t)
  const midnight = world.clock
    .now()
    .toZonedDateTimeISO('Europe/Zurich')
    .add({ days: 1 })
    .startOfDay()
    .toInstant()
  world.clock.advance(world.clock.now().until(midnight.add({ minutes: 5 })))
  await load(world, { appointments: 2_000 })
  const now = world.clock.now()
  const [late] = await world.db.query(sql`
    select (select count(*) from audit where time > ${now}) as changes,
           (select count(*) from calendar where booked_time > ${now}) as bookings`)
  assert.deepEqual(late, { changes: 0, bookings: 0 })
})

test('reminders of the business’s own definitions follow the statuses of the demo', async (t) => {
  const world = await startWorld(t)
  const { businessId, call, clock, database, db, save } = world
  const own: number[] = []
  for (const hours of [-24, 24]) {
    own.push((await save('/eventDefinition', reminder(businessId, hours))).eventDefnId)
  }
  await db.transaction((tx) => load({ ...world, db: tx }, { appointments: 1_000 }))
  for (const eventDefnId of own) {
    const { body } = await call('POST', '/eventDefinition/plan', { eventDefnId })
    assert.deepEqual([body.create, body.move, body.cancel], [0, 0, 0])
    assert.ok(body.unchanged > 50)
  }
  const { unfounded, doubled } = await reconcileAll(database.engine, () => clock.now())
  assert.deepEqual([unfounded, doubled], [0, 0])
})

test('reminders that a running engine plans while the demo is loaded follow its statuses', async (t) => {
  const world = await startWorld(t)
  const { businessId, clock, database, db } = world
  const planNew = async () => {
    const definitions = await listActiveDefinitions(db, businessId)
    for (const one of definitions.filter((definition) => definition.plannedVersion === 0)) {
      await planDefinition(database, one, clock.now)
    }
  }
  const query = async <Row>(statement: Sql) => {
    await planNew()
    return db.query<Row>(statement)
  }
  await load({ ...world, db: { ...db, query } }, { appointments: 1_000 })
  const { missing, unfounded, doubled } = await reconcileAll(database.engine, () => clock.now())
  assert.deepEqual([missing, unfounded, doubled], [0, 0, 0])
})

test('the same seed and day make the same data in every business, and another seed makes other data', async (t) => {
  const world = await startWorld(t)
  const others = [await addBusiness(world), await addBusiness(world)]
  const read = ({ db }: Pick<World, 'db'>) =>
    db.query(sql`
      select md5(string_agg(concat_ws('|', external_id, start_time, end_time, status, note, created_date),
                            ',' order by external_id)) as appointments,
             (select md5(string_agg(concat_ws('|', external_id, first_name, last_name, email_address, created_date),
                                    ',' order by external_id))
              from client where external_id <> 'none') as clients
      from calendar`)
  await world.db.query(sql`update client set external_id = 'none'`)
  for (const other of others) await other.db.query(sql`update client set external_id = 'none'`)
  await load(world, { appointments: 500 })
  world.clock.advance({ minutes: 30 })
  await load({ ...others[0]!, clock: world.clock }, { appointments: 500 })
  await load({ ...others[1]!, clock: world.clock }, { appointments: 500, seed: 2 })
  const [one, same, other] = await Promise.all([world, ...others].map(read))
  assert.deepEqual(same, one)
  assert.notDeepEqual(other, one)
})

test('bellwether seed creates the business and prints its id', async (t) => {
  const world = await startWorld(t)
  const DATABASE_URL = await urlOf(world.database)
  const { code, stdout, stderr } = await runCommand(['seed', '--appointments', '800'], {
    DATABASE_URL,
  })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^Loaded: .*400 client, 800 calendar.*19 eventDefinition\. Next: .*\n$/)
  const businessId = Number(stdout)
  const [row] = await world.database
    .forBusiness(businessId, 'SYSTEM')
    .query(sql`select count(*) as appointments from calendar`)
  assert.deepEqual(row, { appointments: 800 })
  const bad = await runCommand(['seed', '--appointments', 'many'], { DATABASE_URL })
  assert.equal(bad.code, 2)
  assert.equal(bad.stderr.trim().split('\n').length, 1)
})
