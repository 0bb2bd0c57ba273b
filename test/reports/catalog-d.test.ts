import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { raw, sql } from '../../src/database/sql.ts'
import type { Database, Db } from '../../src/database/database.ts'
import { loadDemo } from '../../src/demo/demo.ts'
import type { Lifetime } from '../support/clean-up.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'
import { NOW } from './business.ts'
import {
  calculate,
  countDistinct,
  exportRows,
  figuresOf,
  linesOf,
  openMeasuredBusiness,
  print,
  shareOf,
  sorted,
  type Row,
} from './measured-business.ts'

/**
 * Lists, peak times, utilisation, classes, triggers and mails against plain loops over exported rows: of the
 * demo data, and of a business with appointments close to midnight around both clock changes.
 */

const RANGES = [
  ['2026-03-23', '2026-04-05'],
  ['2026-10-19', '2026-11-02'],
  ['2026-11-01', '2026-11-30'],
  ['2026-12-01', '2026-12-31'],
  ['2025-09-01', '2026-12-31'],
] as const

const TODAY = '2026-11-10'
const NOW_MS = NOW.epochMilliseconds
const MINUTE_MS = 60_000

type Exported = Awaited<ReturnType<typeof exportAll>>

const businesses = new Map<string, Exported>()

before(async (t) => {
  const lifetime = t as Lifetime
  const measured = await openMeasuredBusiness(lifetime)
  await callOffClasses(measured)
  businesses.set('close to midnight', await exportAll(measured))
  businesses.set('the demo data', await exportAll(await openDemo(lifetime)))
})

/** Runs a check for each business and each range. */
function testEach(
  name: string,
  check: (exported: Exported, startDate: string, endDate: string) => Promise<void>,
) {
  for (const data of ['close to midnight', 'the demo data']) {
    test(`${name}: ${data}`, async () => {
      for (const [startDate, endDate] of RANGES) {
        await check(businesses.get(data)!, startDate, endDate)
      }
    })
  }
}

/** Gives some classes a custom status. */
async function callOffClasses({ db, businessId }: Pick<Opened, 'db' | 'businessId'>) {
  await db.query(sql`
    insert into status (business_id, object_type, status, label, outcome, live, live_after,
                        created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'CLASS_SCHEDULE', 'CALLED_OFF', 'Called off', 'CANCELLED', false, false,
            ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  await db.query(sql`
    update class_schedule set status = 'CALLED_OFF'
    where business_id = ${businessId} and class_schedule_id % 5 = 0`)
}

type Opened = { database: Database; businessId: number; db: Db }

/** The demo, with days off, special hours and hours that overlap. */
async function openDemo(t: Lifetime) {
  const { database } = await cloneDatabase(t)
  const [business] = await database.operator.query<{ businessId: number }>(sql`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    values ('Demo', 'Europe/Zurich', ${NOW}, 'TEST', ${NOW}, 'TEST') returning business_id as "businessId"`)
  const { businessId } = business!
  const db = database.forBusiness(businessId, 'TEST')
  await loadDemo(db, { businessId, user: 'TEST', now: () => NOW, appointments: 900 })
  const exceptions = [
    { startDate: '2026-03-24', endDate: '2026-03-26' },
    { startDate: '2026-03-25', from: '10:00', to: '12:30' },
    { startDate: '2026-10-25', from: '00:00', to: '06:00' },
  ]
  await db.query(sql`
    update professional set working_exceptions = ${JSON.stringify(exceptions)}::jsonb
    where business_id = ${businessId} and external_id in ('demo-staff-0', 'demo-staff-6')`)
  const more = [{ weekday: 'MONDAY', from: '12:00', to: '20:00' }]
  await db.query(sql`
    update professional set working_hours = working_hours || ${JSON.stringify(more)}::jsonb
    where business_id = ${businessId} and external_id in ('demo-staff-1', 'demo-staff-6')`)
  // The service does this every second.
  await asOwner(database, 'analyze')
  return { database, businessId, db }
}

type Class = {
  id: number
  name: string
  professionalId: number
  locationId: number
  status: string
  startTime: number
  endTime: number
  capacity: number | null
  clientIds: number[]
  attendance: { clientId: number; present: boolean }[]
}
type Person = {
  id: number
  name: string
  emailAddress: string | null
  phone: string | null
}
type Hours = { weekday?: string; startDate?: string; endDate?: string; from?: string; to?: string }
type Staff = {
  id: number
  name: string
  locationIds: number[]
  hours: Hours[]
  exceptions: Hours[]
}

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`

async function exportAll({ db, businessId, database }: Opened) {
  const of = sql`where business_id = ${businessId}`
  const statuses = await db.query<
    Record<'objectType' | 'status' | 'label' | 'outcome', string>
  >(sql`
    select object_type as "objectType", status, label, outcome from status ${of}`)
  for (const one of statuses) if (one.outcome === 'LATE_CANCELLED') one.outcome = 'CANCELLED'
  const valuesOf = (objectType: string, name: 'label' | 'outcome') =>
    Object.fromEntries(
      statuses.filter((one) => one.objectType === objectType).map((one) => [one.status, one[name]]),
    )
  const locations = await db.query<{ id: number; name: string; zone: string | null }>(sql`
    select location_id as id, name, time_zone as zone from location ${of}`)
  const services = await db.query<{ id: number; name: string }>(sql`
    select reason_id as id, name from reason ${of}`)
  return {
    businessId,
    reports: database.reportsOf(businessId),
    rows: await exportRows({ db, businessId }),
    classes: await exportClasses(db, businessId),
    staff: await db.query<Staff>(sql`
      select professional_id as id, first_name || ' ' || last_name as name, location_id_list as "locationIds",
             working_hours as hours, working_exceptions as exceptions from professional ${of}`),
    clients: new Map(
      (
        await db.query<Person>(sql`
          select client_id as id, first_name || ' ' || last_name as name, email_address as "emailAddress", phone
          from client ${of}`)
      ).map((one) => [one.id, one]),
    ),
    ...(await exportMessages(db, businessId)),
    services: new Map(services.map(({ id, name }) => [id, name])),
    places: new Map(locations.map(({ id, name }) => [id, name])),
    zones: new Map(locations.map(({ id, zone }) => [id, zone ?? 'Europe/Zurich'])),
    labels: valuesOf('CALENDAR', 'label'),
    outcomes: valuesOf('CALENDAR', 'outcome'),
    classLabels: valuesOf('CLASS_SCHEDULE', 'label'),
    classOutcomes: valuesOf('CLASS_SCHEDULE', 'outcome'),
  }
}

const exportClasses = (db: Db, businessId: number) =>
  db.query<Class>(sql`
    select class_schedule_id as id, name, professional_id as "professionalId", location_id as "locationId", status,
           ${raw(ms('start_time'))} as "startTime", ${raw(ms('end_time'))} as "endTime", capacity,
           client_id_list as "clientIds", attendance
    from class_schedule where business_id = ${businessId} and active`)

type Trigger = {
  id: number
  definition: string
  objectType: string
  objectId: number | null
  objectUuid: string | null
  status: string
  scheduledTime: number
  reason: string | null
}
type Mail = {
  triggerId: number | null
  template: string | null
  objectType: string
  objectId: number | null
  status: string
  reason: string | null
  createdTime: number
}

async function exportMessages(db: Db, businessId: number) {
  const triggers = await db.query<Trigger>(sql`
    select t.event_trigger_id as id, d.description as definition, t.object_type as "objectType",
           t.object_id as "objectId", t.object_uuid as "objectUuid", t.status, t.status_reason as reason,
           ${raw(ms('t.scheduled_time'))} as "scheduledTime"
    from event_trigger t join event_definition d using (business_id, event_defn_id)
    where t.business_id = ${businessId}`)
  const mails = await db.query<Mail>(sql`
    select m.event_trigger_id as "triggerId", e.template_name as template, m.object_type as "objectType",
           m.object_id as "objectId", m.status, m.status_reason as reason, ${raw(ms('m.created_date'))} as "createdTime"
    from email m left join email_template e using (business_id, email_template_id)
    where m.business_id = ${businessId} and not m.test`)
  const invited = await db.query<{ uuid: string; clientId: number; campaign: string }>(sql`
    select i.invitation_uuid as uuid, i.client_id as "clientId", c.name as campaign
    from invitation i join invitation_campaign c using (business_id, invitation_campaign_id)
    where i.business_id = ${businessId}`)
  return { triggers, mails, invitations: new Map(invited.map((one) => [one.uuid, one])) }
}

type Placed = { locationId: number; startTime: number }

/** A cache, because time zone conversions are slow. */
const localTimes = new Map<string, Temporal.PlainDateTime>()

function localOf({ locationId, startTime }: Placed, { zones }: Exported) {
  const zone = zones.get(locationId)!
  const key = `${zone} ${startTime}`
  let local = localTimes.get(key)
  if (!local) {
    const instant = Temporal.Instant.fromEpochMilliseconds(startTime)
    local = instant.toZonedDateTimeISO(zone).toPlainDateTime()
    localTimes.set(key, local)
  }
  return local
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const dayOf = (row: Placed, exported: Exported) => localOf(row, exported).toPlainDate().toString()
const timeOf = (row: Placed, exported: Exported) =>
  localOf(row, exported).toPlainTime().toString().slice(0, 5)

const isWithin = (row: Placed, exported: Exported, startDate: string, endDate: string) =>
  dayOf(row, exported) >= startDate && dayOf(row, exported) <= endDate

/** Sorts rows by local time. */
const inOrder = <T extends Placed & { id: number }>(rows: T[], exported: Exported) =>
  rows.toSorted(
    (a, b) =>
      Temporal.PlainDateTime.compare(localOf(a, exported), localOf(b, exported)) ||
      a.startTime - b.startTime ||
      a.id - b.id,
  )

const rowsOf = (exported: Exported, startDate: string, endDate: string) =>
  inOrder(
    exported.rows
      .filter((row) => isWithin(row, exported, startDate, endDate))
      .map((row) => ({ ...row, id: row.calendarId })),
    exported,
  )

const classesOf = (exported: Exported, startDate: string, endDate: string) =>
  inOrder(
    exported.classes.filter((one) => isWithin(one, exported, startDate, endDate)),
    exported,
  )

function outcomeOf(
  { status, startTime }: { status: string; startTime: number },
  outcomes: Outcomes,
) {
  if (outcomes[status] === 'CANCELLED') return 'CANCELLED'
  if (startTime > NOW_MS) return 'AHEAD'
  return outcomes[status] === 'PENDING' ? 'UNCLOSED' : outcomes[status]!
}
type Outcomes = Record<string, string>

const staffName = ({ staff }: Exported, id: number) => staff.find((one) => one.id === id)!.name

async function printed(exported: Exported, reportId: number, startDate: string, endDate: string) {
  const result = await print(exported, { reportId, startDate, endDate })
  return { ...result, lines: linesOf(result), kpis: figuresOf(result) }
}

const minutesOf = ({ startTime, endTime }: { startTime: number; endTime: number }) =>
  (endTime - startTime) / MINUTE_MS

/** The figure of a currency; its name has no suffix if there is only one currency. */
const moneyOf = (figures: Record<string, unknown>, name: string, currency: string) =>
  Number(figures[`${name}${currency}`] ?? figures[name] ?? 0)

testEach(
  '101 lists every appointment in the order of its local time',
  async (exported, ...range) => {
    const { lines, totals, columns } = await printed(exported, 101, ...range)
    const rows = rowsOf(exported, ...range)
    const expected = rows.map((row) => ({
      date: dayOf(row, exported),
      time: timeOf(row, exported),
      client: exported.clients.get(row.clientId)!.name,
      service: exported.services.get(row.reasonId),
      staff: staffName(exported, row.professionalId),
      location: exported.places.get(row.locationId),
      status: exported.labels[row.status],
      minutes: minutesOf(row),
      price: row.price,
      ...(columns.some(({ name }) => name === 'currency') ? { currency: row.currency } : {}),
    }))
    assert.deepEqual(lines, expected)
    assert.equal(
      totals.minutes,
      rows.reduce((sum, row) => sum + minutesOf(row), 0),
    )
  },
)

testEach('102 has a line for each day or month', async (exported, ...range) => {
  const { lines } = await printed(exported, 102, ...range)
  const rows = rowsOf(exported, ...range)
  const isByMonth = 'month' in lines[0]!
  assert.equal(isByMonth, range[0] === '2025-09-01')
  assert.equal(lines.length, isByMonth ? 16 : daysOf(...range).length)
  for (const line of lines) {
    const step = String(line.month ?? line.date)
    const own = rows.filter((row) => dayOf(row, exported).startsWith(step))
    const { money, ...counts } = calculate(own, NOW_MS, exported.outcomes)
    const isAhead = own.every(({ startTime }) => startTime > NOW_MS) && step > TODAY
    assert.deepEqual(
      [line.appointments, line.cancelled, line.minutes],
      [counts.appointments, counts.cancelled, counts.bookedMinutes],
      step,
    )
    assert.deepEqual(
      [line.completed ?? null, line.noShows ?? null, line.unclosed ?? null],
      isAhead ? [null, null, null] : [counts.kept, counts.missed, counts.unclosed],
      step,
    )
    assert.equal(line.ahead ?? 0, counts.ahead, step)
    for (const currency of ['CHF', 'GBP', 'EUR', 'JPY']) {
      if (!(`revenue${currency}` in line)) continue
      const [kept, ahead] = [money.revenue?.[currency] ?? 0, money.aheadValue?.[currency] ?? 0]
      assert.equal(line[`revenue${currency}`], isAhead ? null : kept, `${step} ${currency}`)
      assert.equal(line[`aheadValue${currency}`] ?? 0, ahead, `${step} ${currency}`)
    }
  }
})

function daysOf(startDate: string, endDate: string) {
  const days: Temporal.PlainDate[] = []
  for (let day = Temporal.PlainDate.from(startDate); ; day = day.add({ days: 1 })) {
    days.push(day)
    if (day.toString() === endDate) return days
  }
}

testEach('105 counts by the local weekday and hour', async (exported, ...range) => {
  const { lines, kpis, charts } = await printed(exported, 105, ...range)
  const rows = rowsOf(exported, ...range)
  const hourOf = (row: Row) => {
    const local = localOf(row, exported)
    return `${local.dayOfWeek} ${WEEKDAYS[local.dayOfWeek - 1]} ${timeOf(row, exported).slice(0, 2)}:00`
  }
  const groups = Map.groupBy(rows, hourOf)
  const expected = [...groups.keys()].toSorted().map((key) => {
    const { kept, missed, ...counts } = calculate(groups.get(key)!, NOW_MS, exported.outcomes)
    const [, weekday, hour] = key.split(' ')
    const own = [counts.appointments, kept, missed, shareOf(missed, kept + missed)]
    return [weekday, hour, ...own, counts.cancelled, counts.bookedMinutes]
  })
  assert.deepEqual(
    lines.map((line) => [
      line.weekday,
      line.hour,
      line.appointments,
      line.completed ?? null,
      line.noShows ?? null,
      line.noShowShare ?? null,
      line.cancelled,
      line.minutes,
    ]),
    // A period that has not begun has no outcomes.
    range[0] > TODAY ? expected.map((line) => line.toSpliced(3, 3, null, null, null)) : expected,
  )
  const isLive = (row: Row) => exported.outcomes[row.status] !== 'CANCELLED'
  const all = rows.filter(isLive).length
  const averages = lines.map((line) => {
    const own = rows
      .filter(isLive)
      .filter((row) => localOf(row, exported).dayOfWeek === weekdayOf(line))
    // A day is open if somebody works, also without an appointment.
    assert.ok(Number(line.openDays) >= countDistinct(own.map((row) => dayOf(row, exported))))
    const size = Number(line.appointments) - Number(line.cancelled)
    const average = line.openDays ? Math.round((10 * size) / Number(line.openDays)) / 10 : null
    assert.equal(line.perDay, average)
    return { size, average: average ?? 0 }
  })
  const busiest = averages.toSorted((a, b) => b.average - a.average)[0]
  assert.equal(kpis.busiestHour, busiest?.average ?? 0)
  assert.equal(kpis.busiestShare, shareOf(busiest?.size ?? 0, all))
  assert.equal(kpis.hoursUsed, averages.filter(({ size }) => size > 0).length)
  const [map] = charts
  assert.ok(map?.kind === 'heatmap')
  const sumOf = (values: number[]) => Math.round(10 * values.reduce((a, b) => a + b, 0))
  assert.equal(sumOf(map.values.flat()), sumOf(averages.map(({ average }) => average)))
})

const weekdayOf = ({ weekday }: Record<string, unknown>) => WEEKDAYS.indexOf(String(weekday)) + 1

testEach('201 lists no-shows, and how many the client had before', async (exported, ...range) => {
  const { lines, kpis, charts } = await printed(exported, 201, ...range)
  const rows = rowsOf(exported, ...range)
  const isMissed = (row: Row) => outcomeOf(row, exported.outcomes) === 'MISSED'
  const missed = rows.filter(isMissed)
  assert.deepEqual(
    lines.map((line) => [
      line.date,
      line.time,
      line.client,
      line.phone,
      line.service,
      line.staff,
      line.location,
      line.before,
      line.price,
    ]),
    missed.map((row) => [
      dayOf(row, exported),
      timeOf(row, exported),
      exported.clients.get(row.clientId)!.name,
      exported.clients.get(row.clientId)!.phone,
      exported.services.get(row.reasonId),
      staffName(exported, row.professionalId),
      exported.places.get(row.locationId),
      exported.rows.filter(
        (one) => one.clientId === row.clientId && isMissed(one) && one.startTime < row.startTime,
      ).length,
      row.price,
    ]),
  )
  if (range[0] > TODAY) return
  const { kept, money } = calculate(rows, NOW_MS, exported.outcomes)
  assert.equal(kpis.noShows, missed.length)
  assert.equal(kpis.noShowRate, shareOf(missed.length, kept + missed.length))
  assert.equal(kpis.noShowClients, countDistinct(missed.map(({ clientId }) => clientId)))
  for (const [currency, lost] of Object.entries(money.lostValue ?? {})) {
    assert.equal(moneyOf(kpis, 'lost', currency), lost, currency)
  }
  const weekdays = charts.find(({ name }) => name === 'byWeekday')
  assert.ok(weekdays?.kind === 'bar')
  weekdays.series[0]!.values.forEach((rate, i) => {
    const own = rows.filter((row) => localOf(row, exported).dayOfWeek === i + 1)
    const counts = calculate(own, NOW_MS, exported.outcomes)
    assert.equal(rate, shareOf(counts.missed, counts.kept + counts.missed))
  })
})

type Span = { from: number; to: number }

/** The minutes that spans cover; overlaps count once. */
function coveredMinutes(spans: Span[]) {
  let covered = 0
  let end = -Infinity
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    covered += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return covered / MINUTE_MS
}

/** The shifts of a person, on the clock of their only location, else of the business. */
function shiftsOf({ hours, exceptions, locationIds }: Staff, { zones }: Exported, days: string[]) {
  const zone = locationIds.length === 1 ? zones.get(locationIds[0]!)! : 'Europe/Zurich'
  return days.flatMap((text) => {
    const day = Temporal.PlainDate.from(text)
    const special = exceptions.filter(
      ({ startDate, endDate }) => startDate! <= text && text <= (endDate ?? startDate!),
    )
    const weekday = WEEKDAYS[day.dayOfWeek - 1]!.toUpperCase()
    const valid = special.length > 0 ? special : hours.filter((one) => one.weekday === weekday)
    const at = (time: string) =>
      day.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds
    return valid.flatMap(({ from, to }): Span[] =>
      from && to ? [{ from: at(from), to: at(to) }] : [],
    )
  })
}

const spanOf = ({ startTime, endTime }: { startTime: number; endTime: number }): Span => ({
  from: startTime,
  to: endTime,
})

testEach('301 has busy and working time of each member of staff', async (exported, ...range) => {
  const { lines, kpis } = await printed(exported, 301, ...range)
  const { outcomes, classOutcomes, staff } = exported
  const days = daysOf(...range).map(String)
  const classes = classesOf(exported, ...range).filter(
    ({ status }) => classOutcomes[status] !== 'CANCELLED',
  )
  const rows = rowsOf(exported, ...range)
  let [busyInAll, workingInAll] = [0, 0]
  assert.equal(lines.length, staff.length)
  for (const person of staff) {
    const isOwn = ({ professionalId }: { professionalId: number }) => professionalId === person.id
    const own = rows.filter(isOwn)
    const counts = calculate(own, NOW_MS, outcomes)
    const taught = classes.filter(isOwn)
    const live = own.filter(({ status }) => outcomes[status] !== 'CANCELLED')
    const busy = coveredMinutes([...live, ...taught].map(spanOf))
    const working = coveredMinutes(shiftsOf(person, exported, days))
    busyInAll += busy
    workingInAll += working
    const line = lines.find((one) => one.staff === person.name)!
    assert.deepEqual(
      [line.appointments, line.cancelled, line.classes, line.bookedMinutes],
      [counts.appointments, counts.cancelled, taught.length, counts.bookedMinutes],
      person.name,
    )
    assert.deepEqual(
      [line.busyMinutes, line.workingMinutes, line.utilisation],
      [busy, working, shareOf(busy, working)],
      person.name,
    )
    if (range[0] > TODAY) continue
    assert.equal(line.noShows, counts.missed)
    for (const [currency, kept] of Object.entries(counts.money.revenue ?? {})) {
      assert.equal(moneyOf(line, 'revenue', currency), kept, currency)
    }
  }
  assert.deepEqual(
    [kpis.booked, kpis.working, kpis.utilisation],
    [busyInAll, workingInAll, shareOf(busyInAll, workingInAll)],
  )
})

testEach('501 lists clients with their visits and outcomes', async (exported, ...range) => {
  const { lines, kpis, columns } = await printed(exported, 501, ...range)
  const rows = rowsOf(exported, ...range)
  const isLive = ({ status }: Row) => exported.outcomes[status] !== 'CANCELLED'
  const firstDay = (clientId: number) => {
    const own = exported.rows.filter((row) => row.clientId === clientId && isLive(row))
    const first = own.toSorted((a, b) => a.startTime - b.startTime)[0]
    return first ? dayOf(first, exported) : null
  }
  const byClient = Map.groupBy(rows, ({ clientId }) => clientId)
  const isPast = range[0] <= TODAY
  assert.equal(
    columns.some(({ name }) => name === 'completed'),
    isPast,
  )
  const expected = [...byClient].map(([clientId, own]) => {
    const { name, emailAddress, phone } = exported.clients.get(clientId)!
    const { money, ...counts } = calculate(own, NOW_MS, exported.outcomes)
    const last =
      own
        .filter(isLive)
        .map((row) => dayOf(row, exported))
        .toSorted()
        .at(-1) ?? null
    const outcomes = [
      counts.appointments,
      isPast ? counts.kept : null,
      isPast ? counts.missed : null,
    ]
    const paid = isPast ? (money.revenue?.CHF ?? 0) : null
    const visits = [firstDay(clientId), last]
    return [name, emailAddress, phone, ...visits, ...outcomes, counts.cancelled, paid]
  })
  const shown = lines.map((line) => [
    line.client,
    line.emailAddress,
    line.phone,
    line.firstVisit,
    line.lastVisit,
    line.appointments,
    line.completed ?? null,
    line.noShows ?? null,
    line.cancelled,
    isPast ? moneyOf(line, 'revenue', 'CHF') : null,
  ])
  assert.deepEqual(sorted(shown), sorted(expected))
  const seen = [...byClient].filter(([, own]) => own.some(isLive))
  const fresh = seen.filter(([clientId]) => firstDay(clientId)! >= range[0])
  assert.deepEqual(
    [kpis.clients, kpis.newClients, kpis.returning],
    [byClient.size, fresh.length, shareOf(seen.length - fresh.length, seen.length)],
  )
})

testEach(
  '601 lists classes with their places, and 602 who was present',
  async (exported, ...range) => {
    const { lines, kpis } = await printed(exported, 601, ...range)
    const all = classesOf(exported, ...range)
    const isHeld = ({ status }: Class) => exported.classOutcomes[status] !== 'CANCELLED'
    const headOf = (one: Class) => [
      dayOf(one, exported),
      timeOf(one, exported),
      one.name,
      staffName(exported, one.professionalId),
      exported.places.get(one.locationId),
    ]
    const countPresent = ({ attendance }: Class) =>
      attendance.filter(({ present }) => present).length
    const placesOf = (one: Class) => {
      const { clientIds, capacity, attendance } = one
      const present = attendance.length > 0 ? countPresent(one) : null
      return [
        clientIds.length,
        present,
        capacity,
        capacity ? shareOf(clientIds.length, capacity) : null,
      ]
    }
    assert.deepEqual(
      lines.map((line) => [
        line.date,
        line.time,
        line.class,
        line.staff,
        line.location,
        line.status,
        line.students,
        line.present,
        line.capacity,
        line.filled,
      ]),
      all.map((one) => [
        ...headOf(one),
        exported.classLabels[one.status],
        ...(isHeld(one) ? placesOf(one) : [null, null, null, null]),
      ]),
    )
    const held = all.filter(isHeld)
    const limited = held.filter(({ capacity }) => capacity)
    const add = (values: number[]) => values.reduce((sum, value) => sum + value, 0)
    assert.deepEqual(
      [kpis.classes, kpis.students, kpis.filled],
      [
        held.length,
        add(held.map(({ clientIds }) => clientIds.length)),
        shareOf(
          add(limited.map(({ clientIds }) => clientIds.length)),
          add(limited.map(({ capacity }) => capacity!)),
        ),
      ],
    )

    const roster = await printed(exported, 602, ...range)
    const presenceOf = ({ startTime, attendance }: Class, clientId: number) => {
      if (startTime > NOW_MS) return 'Booked ahead'
      const entry = attendance.find((one) => one.clientId === clientId)
      return entry ? (entry.present ? 'Present' : 'Absent') : 'Not recorded'
    }
    const places = held.flatMap((one) =>
      one.clientIds.map((clientId) => {
        const { name, phone, emailAddress } = exported.clients.get(clientId)!
        return [...headOf(one), name, phone, emailAddress, presenceOf(one, clientId)]
      }),
    )
    assert.deepEqual(
      roster.lines.map((line) => [
        line.date,
        line.time,
        line.class,
        line.staff,
        line.location,
        line.client,
        line.phone,
        line.emailAddress,
        line.presence,
      ]),
      places,
    )
    if (range[0] > TODAY) return
    const count = (word: string) => places.filter((place) => place.at(-1) === word).length
    assert.deepEqual(
      [roster.kpis.present, roster.kpis.presence],
      [count('Present'), shareOf(count('Present'), count('Present') + count('Absent'))],
    )
  },
)

const resultOf = ({ status, reason }: Mail) => {
  if (status === 'SENT') return reason?.startsWith('bounced:') ? 'BOUNCED' : 'ACCEPTED'
  return ['QUEUED', 'RETRYING', 'UNCERTAIN'].includes(status) ? 'WAITING' : status
}

/** The location of the object of a trigger or a mail; undefined if the object has none. */
function placeOf({ objectType, objectId }: Trigger | Mail, exported: Exported) {
  if (objectType === 'CALENDAR') {
    return exported.rows.find(({ calendarId }) => calendarId === objectId)?.locationId
  }
  return exported.classes.find(({ id }) => id === objectId)?.locationId
}

function momentOf(subject: Trigger | Mail, timeMs: number, exported: Exported) {
  const zone = exported.zones.get(placeOf(subject, exported) ?? 0) ?? 'Europe/Zurich'
  return Temporal.Instant.fromEpochMilliseconds(timeMs)
    .toZonedDateTimeISO(zone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' })
}

/** The client, the service or class, and the time of a trigger's object. */
function subjectOf({ objectType, objectId, objectUuid }: Trigger, exported: Exported) {
  if (objectType === 'CALENDAR') {
    const row = exported.rows.find(({ calendarId }) => calendarId === objectId)!
    const when = `${dayOf(row, exported)} ${timeOf(row, exported)}`
    return [exported.clients.get(row.clientId)!.name, exported.services.get(row.reasonId), when]
  }
  if (objectType === 'CLASS_SCHEDULE') {
    const one = exported.classes.find(({ id }) => id === objectId)!
    const students = one.clientIds.length === 1 ? '1 student' : `${one.clientIds.length} students`
    return [students, one.name, `${dayOf(one, exported)} ${timeOf(one, exported)}`]
  }
  const { clientId, campaign } = exported.invitations.get(objectUuid!)!
  return [exported.clients.get(clientId)!.name, campaign, null]
}

const WORDS: Record<string, string> = {
  COMPLETED: 'Fired',
  FAILED: 'Fired',
  CANCELLED: 'Cancelled',
  SKIPPED: 'Skipped',
  EXPIRED: 'Expired',
}
/** Worst first: a trigger with several mails shows the first of these results. */
const RESULTS = [
  ['FAILED', 'Failed'],
  ['BOUNCED', 'Bounced'],
  ['WAITING', 'Waiting'],
  ['ACCEPTED', 'Accepted by the mail server'],
  ['CAPTURED', 'Captured, not sent'],
] as const

test('901 lists each trigger with its client and the result of its mails: the demo data', async () => {
  const exported = businesses.get('the demo data')!
  const shown = new Set<unknown>()
  for (const range of RANGES) {
    const { lines, kpis } = await printed(exported, 901, range[0], range[1])
    const own = exported.triggers
      .map((trigger) => ({ ...trigger, at: momentOf(trigger, trigger.scheduledTime, exported) }))
      .filter(({ at }) => at.slice(0, 10) >= range[0] && at.slice(0, 10) <= range[1])
      .toSorted(
        (a, b) => a.at.localeCompare(b.at) || a.scheduledTime - b.scheduledTime || a.id - b.id,
      )
      .map((trigger) => ({
        ...trigger,
        results: exported.mails.filter(({ triggerId }) => triggerId === trigger.id).map(resultOf),
      }))
    const expected = own.map((trigger) => [
      trigger.at.slice(0, 10),
      trigger.at.slice(11),
      trigger.definition,
      ...subjectOf(trigger, exported),
      WORDS[trigger.status],
      RESULTS.find(([result]) => trigger.results.includes(result))?.[1] ?? null,
      trigger.reason,
    ])
    assert.deepEqual(
      lines.map((line) => [
        line.date,
        line.time,
        line.definition,
        line.client,
        line.subject,
        line.appointmentTime,
        line.status,
        line.mail,
        line.reason,
      ]),
      expected,
    )
    for (const line of lines) shown.add(line.status).add(line.mail)
    if (range[0] > TODAY) continue
    const count = (isOne: (trigger: (typeof own)[number]) => boolean) => own.filter(isOne).length
    assert.deepEqual(kpis, {
      triggers: own.length,
      due: count(({ status }) => status !== 'CANCELLED'),
      fired: count(({ status }) => WORDS[status] === 'Fired'),
      accepted: count(({ results }) => results.includes('ACCEPTED')),
      bounced: count(({ results }) => results.includes('BOUNCED')),
      failed: count(({ status }) => status === 'FAILED'),
      ...(range[1] > TODAY ? { waiting: 0 } : {}),
    })
  }
  for (const word of ['Fired', 'Cancelled', 'Skipped', 'Expired', 'Failed', 'Bounced']) {
    assert.ok(shown.has(word), word)
  }
})

test('902 counts the mails of each template by their result: the demo data', async () => {
  const exported = businesses.get('the demo data')!
  for (const range of RANGES) {
    const { lines, kpis } = await printed(exported, 902, range[0], range[1])
    const own = exported.mails.filter((mail) => {
      const day = momentOf(mail, mail.createdTime, exported).slice(0, 10)
      return day >= range[0] && day <= range[1]
    })
    const countsOf = (mails: Mail[]) => {
      const count = (result: string) => mails.filter((mail) => resultOf(mail) === result).length
      const [accepted, bounced, failed] = ['ACCEPTED', 'BOUNCED', 'FAILED'].map(count)
      return { accepted: accepted!, bounced: bounced!, failed: failed! }
    }
    const byTemplate = Map.groupBy(own, ({ template }) => template)
    const expected = [...byTemplate].map(([template, mails]) => {
      const { accepted, bounced, failed } = countsOf(mails)
      const rate = shareOf(accepted, accepted + bounced + failed)
      return [template, mails.length, accepted, bounced, failed, 0, 0, 0, 0, rate]
    })
    assert.deepEqual(
      sorted(
        lines.map((line) => [
          line.template,
          line.mails,
          line.delivered,
          line.bounced,
          line.failed,
          line.waiting,
          line.captured,
          line.suppressed,
          line.cancelled,
          line.rate,
        ]),
      ),
      sorted(expected),
    )
    const { accepted, bounced, failed } = countsOf(own)
    const delivered = shareOf(accepted, accepted + bounced + failed)
    assert.deepEqual(kpis, { mails: own.length, delivered, bounced, failed, notSent: 0 })
  }
})
