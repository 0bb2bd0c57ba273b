import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import type { PrintRequest } from '../../src/reports/print-request.ts'
import { asOwner } from '../support/owner.ts'
import { NOW } from './business.ts'
import {
  calculate,
  exportRows,
  figuresOf,
  linesOf,
  localStart,
  openMeasuredBusiness,
  OUTCOMES,
  print,
  seeded,
  setBookedTimes,
  shareOf,
  sorted,
  type Row,
} from './measured-business.ts'

/** Reports about clients, forms and campaigns over time, compared with plain loops over exported rows. */

const RANGES = [
  ['2026-03-29', '2026-03-29'],
  ['2026-10-19', '2026-11-02'],
  ['2025-01-01', '2025-12-31'],
  ['2026-12-01', '2026-12-31'],
  ['2026-01-01', '2026-12-31'],
] as const

const NOW_MS = NOW.epochMilliseconds
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Lifetime = Parameters<typeof openMeasuredBusiness>[0]
type Measured = Awaited<ReturnType<typeof openMeasuredBusiness>>
type Business = Awaited<ReturnType<typeof open>>

let business: Business

before(async (t) => {
  business = await open(t as Lifetime)
  for (const invitation of business.invitations) {
    const ids = linked(invitation).map(({ calendarId }) => calendarId)
    await business.db.query(sql`
      update calendar set invitation_uuid = ${invitation.uuid}
      where business_id = ${business.businessId} and calendar_id = any (${ids}::bigint[])`)
  }
  // The service does this every second.
  await asOwner(business.database, 'analyze')
})

/** The measured business with many clients who come a few times. */
async function open(t: Lifetime) {
  const measured = await openMeasuredBusiness(t)
  await addVisitors(measured)
  const { book, reason } = measured
  const congress = await reason('Congress', 500, 'USD')
  await book({ at: '2031-05-05T09:00Z', status: 'OPEN', reasonId: congress })
  await setBookedTimes(measured)
  const rows = await exportRows(measured)
  const forms = await addForms(measured, rows)
  const invitations = await addInvitations(measured, rows)
  return { ...measured, rows, forms, invitations, changes: await changeStatuses(measured, rows) }
}

type Change = { row: Row; atMs: number; from: string; to: string }

/** Some appointments had two or three other statuses before the current one. */
async function changeStatuses({ db, businessId }: Measured, rows: Row[]) {
  const random = seeded(203)
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)]!
  const changes: Change[] = []
  for (const row of rows.filter(({ calendarId }) => calendarId % 3 === 0)) {
    const steps = [
      ...pick([['OPEN'], ['OPEN', 'OPEN', 'NO_SHOW'], ['CANCELLED', 'CONFIRMED']]),
      row.status,
    ]
    let atMs = Math.min(row.startTime, NOW_MS) - Math.floor(random() * 400) * HOUR_MS
    let from = row.status
    for (const to of steps) {
      atMs = Math.min(atMs + pick([HOUR_MS, 30 * HOUR_MS]), NOW_MS - HOUR_MS)
      // From OPEN to OPEN only the note changes.
      await db.query(sql`
        update calendar set status = ${to}, note = ${`Note ${atMs} ${to}`}, modified_date = ${instant(atMs)}
        where business_id = ${businessId} and calendar_id = ${row.calendarId}`)
      if (from !== to) changes.push({ row, atMs, from, to })
      from = to
    }
  }
  return changes
}

type Form = {
  form: string
  clientId: number
  appointment: Row | undefined
  requestedMs: number
  status: string
  /** Undefined if it was not signed, or saved as signed. */
  signedMs: number | undefined
}

/** Forms of the year 2026 and before, every third without an appointment. */
async function addForms({ db, businessId }: Measured, rows: Row[]) {
  const random = seeded(801)
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)]!
  await addStatus({ db, businessId }, 'DISCLAIMER', { DECLINED: 'MISSED' })
  const ids = await db.query<{ id: number; name: string }>(sql`
    insert into disclaimer_form (business_id, name, created_date, created_user, modified_date, modified_user)
    select ${businessId}, name, ${NOW}, 'TEST', ${NOW}, 'TEST' from unnest('{Consent,Privacy}'::text[]) name
    returning disclaimer_form_id as id, name`)
  const forms: Form[] = []
  for (let i = 0; i < 90; i++) {
    const appointment = i % 3 ? pick(rows) : undefined
    const clientId = appointment?.clientId ?? pick(rows).clientId
    const { id, name } = pick(ids)
    const requestedMs = Date.UTC(2026, 9, 20) - Math.floor(random() * 400) * 12 * HOUR_MS
    const status = pick(['PENDING', 'SIGNED', 'SIGNED', 'SIGNED', 'WAIVED', 'DECLINED'])
    const signedMs =
      status === 'SIGNED' && i % 5 ? requestedMs + Math.floor(random() * 300) * HOUR_MS : undefined
    const [saved] = await db.query<{ id: number }>(sql`
      insert into disclaimer (business_id, disclaimer_form_id, client_id, calendar_id, status,
                              created_date, created_user, modified_date, modified_user)
      values (${businessId}, ${id}, ${clientId}, ${appointment?.calendarId ?? null},
              ${signedMs ? 'PENDING' : status}, ${instant(requestedMs)}, 'TEST', ${instant(requestedMs)}, 'TEST')
      returning disclaimer_id as id`)
    if (signedMs) {
      await db.query(sql`
        update disclaimer set status = ${status}, modified_date = ${instant(signedMs)}
        where business_id = ${businessId} and disclaimer_id = ${saved!.id}`)
    }
    forms.push({ form: name, clientId, appointment, requestedMs, status, signedMs })
  }
  return forms
}

type Invitation = {
  uuid: string
  campaign: string
  clientId: number
  createdMs: number
  expiresMs: number | undefined
  status: string
  mails: string[]
}

/** Several invitations for each client, some with a mail, and some that never expire. */
async function addInvitations({ db, businessId }: Measured, rows: Row[]) {
  const random = seeded(701)
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)]!
  await addStatus({ db, businessId }, 'INVITATION', { ACCEPTED: 'KEPT' })
  const expires = { Spring: Date.UTC(2026, 4, 31), Winter: undefined }
  const ids = await db.query<{ id: number; name: keyof typeof expires }>(sql`
    insert into invitation_campaign (business_id, name, expires_time, created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'Spring', ${instant(expires.Spring)}, ${NOW}, 'TEST', ${NOW}, 'TEST'),
           (${businessId}, 'Winter', null, ${NOW}, 'TEST', ${NOW}, 'TEST')
    returning invitation_campaign_id as id, name`)
  const invitations: Invitation[] = []
  for (let i = 0; i < 120; i++) {
    const { id, name } = pick(ids)
    const createdMs = Date.UTC(2026, 0, 2) + Math.floor(random() * 7_400) * HOUR_MS
    const own = i % 7 ? undefined : createdMs + pick([2, 20, 40]) * DAY_MS
    const invitation = {
      uuid: i.toString(36).padStart(32, '0'),
      campaign: name,
      clientId: pick(rows).clientId,
      createdMs,
      expiresMs: own ?? expires[name],
      status: pick(['SENT', 'SENT', 'COMPLETED', 'ACCEPTED', 'EXPIRED', 'CANCELLED']),
      mails: pick([[], ['SENT'], ['FAILED', 'SENT'], ['BOUNCED'], ['CAPTURED']]),
    }
    invitations.push(invitation)
    const created = instant(createdMs)
    const isLater = invitation.status === 'ACCEPTED'
    await db.query(sql`
      insert into invitation (business_id, invitation_uuid, invitation_campaign_id, client_id, status, expires_time,
                              created_date, created_user, modified_date, modified_user)
      values (${businessId}, ${invitation.uuid}, ${id}, ${invitation.clientId}, ${isLater ? 'SENT' : invitation.status},
              ${own === undefined ? null : instant(own)}, ${created}, 'TEST', ${created}, 'TEST')`)
    if (isLater) {
      await db.query(sql`
        update invitation set status = 'ACCEPTED', modified_date = ${instant(createdMs + DAY_MS)}
        where business_id = ${businessId} and invitation_uuid = ${invitation.uuid}`)
    }
    for (const mail of invitation.mails) {
      const isBounced = mail === 'BOUNCED'
      await db.query(sql`
        insert into email (business_id, object_type, object_uuid, client_id, recipient_key, to_address, from_address,
                           subject, message_id, status, status_reason, sent_time, created_date)
        values (${businessId}, 'INVITATION', ${invitation.uuid}, ${invitation.clientId}, ${mail},
                'a@example.org', 'b@example.org', 's', ${`${mail}${i}`}, ${isBounced ? 'SENT' : mail},
                ${isBounced ? 'bounced: 5.1.1' : null}, ${created}, ${created})`)
    }
  }
  return invitations
}

const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms)

/** Adds a custom status with its outcome. */
async function addStatus(
  { db, businessId }: Pick<Measured, 'db' | 'businessId'>,
  objectType: string,
  outcomes: Record<string, string>,
) {
  for (const [status, outcome] of Object.entries(outcomes)) {
    await db.query(sql`
      insert into status (business_id, object_type, status, label, outcome, live, live_after,
                          created_date, created_user, modified_date, modified_user)
      values (${businessId}, ${objectType}, ${status}, ${status}, ${outcome}, false, false,
              ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  }
}

/** Clients with one to four appointments in two years, many of them close to midnight. */
async function addVisitors({ book, client, zurich, newYork, elena, tom }: Measured) {
  const random = seeded(504)
  const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)]!
  for (let i = 0; i < 60; i++) {
    const clientId = await client('Visitor', `Number ${i}`)
    let at = Temporal.Instant.from('2025-01-01T00:00Z').add({
      hours: Math.floor(random() * 660) * 24 + pick([0, 4, 5, 9, 14, 22, 23]),
      minutes: pick([0, 30]),
    })
    for (let visit = pick([1, 2, 3, 4]); visit > 0; visit--) {
      await book({
        at: at.toString(),
        clientId,
        locationId: pick([zurich, newYork]),
        professionalId: pick([elena, tom]),
        status: pick(['COMPLETED', 'COMPLETED', 'PAID', 'NO_SHOW', 'STORNO', 'OPEN']),
      })
      at = at.add({ hours: pick([1, 3, 24 * 7, 24 * 28, 24 * 31, 24 * 90, 24 * 200]) })
    }
  }
}

const isKept = (row: Row) => OUTCOMES[row.status] === 'KEPT' && row.startTime <= NOW_MS
const isCancelled = ({ status }: { status: string }) => OUTCOMES[status] === 'CANCELLED'
const byStart = (a: Row, b: Row) => a.startTime - b.startTime

const localDay = (row: { locationId: number; startTime: number }) =>
  localStart(row, business).toPlainDate()
const dayOf = (row: { locationId: number; startTime: number }) => localDay(row).toString()

async function printed(request: PrintRequest) {
  const result = await print(business, request)
  return { ...result, lines: linesOf(result), kpis: figuresOf(result) }
}

/** The first kept appointment of each client, with the day of the next one. */
function firstVisits(startDate: string, endDate: string) {
  const byClient = Map.groupBy(business.rows, ({ clientId }) => clientId)
  return [...byClient.values()].flatMap((own) => {
    const kept = own.filter(isKept).toSorted(byStart)
    const [first] = kept
    if (!first || dayOf(first) < startDate || dayOf(first) > endDate) return []
    const firstDay = localDay(first)
    const next = kept.find((row) => Temporal.PlainDate.compare(localDay(row), firstDay) > 0)
    const isBooked = own.some((row) => row.startTime > NOW_MS && !isCancelled(row))
    const today = localDay({ ...first, startTime: NOW_MS })
    return [{ first, firstDay, nextDay: next && localDay(next), isBooked, today }]
  })
}
type Visit = ReturnType<typeof firstVisits>[number]

const hasPassed = ({ firstDay, today }: Visit, months: number) =>
  Temporal.PlainDate.compare(firstDay.add({ months }), today) < 0

const isBackWithin = ({ firstDay, nextDay }: Visit, months: number) =>
  nextDay !== undefined && Temporal.PlainDate.compare(nextDay, firstDay.add({ months })) <= 0

const MONTHS = [1, 2, 3, 6, 12]

function retentionLine(visits: Visit[]) {
  const back = visits.filter(({ nextDay }) => nextDay).length
  const booked = visits.filter(({ nextDay, isBooked }) => !nextDay && isBooked).length
  return {
    clients: visits.length,
    cameBack: back,
    booked,
    gone: visits.length - back - booked,
    cameBackShare: shareOf(back, visits.length),
    ...Object.fromEntries(
      MONTHS.map((months) => {
        const isKnown = visits.length > 0 && visits.every((visit) => hasPassed(visit, months))
        const within = visits.filter((visit) => isBackWithin(visit, months)).length
        return [`within${months}`, isKnown ? shareOf(within, visits.length) : null]
      }),
    ),
  }
}

test('retention has a row for each month of first visits, with the clients who came back', async () => {
  let known = 0
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed({ reportId: 504, startDate, endDate })
    const all = firstVisits(startDate, endDate)
    const months = lines.map(({ month }) => String(month))
    for (const { month, ...line } of lines) {
      const own = all.filter(({ first }) => dayOf(first).startsWith(String(month)))
      assert.deepEqual(line, retentionLine(own), String(month))
      if (line.within3 !== null) known += 1
    }
    const expected = new Set(all.map(({ first }) => dayOf(first).slice(0, 7)))
    assert.deepEqual([...expected.difference(new Set(months))], [])
    assert.ok(
      months.every((month) => month <= '2026-11'),
      'future months have no row',
    )
    if (startDate > '2026-11-10') {
      assert.equal(lines.length, 0)
      continue
    }
    assert.equal(kpis.firstVisits, all.length)
    assert.equal(kpis.gone, retentionLine(all).gone)
    for (const n of [1, 3, 12]) {
      const seen = all.filter((visit) => hasPassed(visit, n))
      const back = seen.filter((visit) => isBackWithin(visit, n))
      assert.equal(kpis[`within${n}`], shareOf(back.length, seen.length))
    }
  }
  assert.ok(known > 10, 'many rows are old enough to have a rate')
})

test('retention can be grouped by staff and location of the first visit', async () => {
  const [startDate, endDate] = RANGES[4]
  const all = firstVisits(startDate, endDate)
  const { lines } = await printed({
    reportId: 504,
    startDate,
    endDate,
    groupBy: ['staff', 'location'],
  })
  assert.equal(lines.length, 4)
  for (const { staff, location, ...line } of lines) {
    const own = all.filter(
      ({ first }) =>
        (staff === 'Tom Becker') === (first.professionalId === business.tom) &&
        (location === 'New York') === (first.locationId === business.newYork),
    )
    assert.deepEqual(line, retentionLine(own), `${String(staff)} ${String(location)}`)
  }
  const filters = { professionalIdList: [business.tom] }
  const ofTom = await printed({ reportId: 504, startDate, endDate, filters })
  assert.equal(
    ofTom.kpis.firstVisits,
    all.filter(({ first }) => first.professionalId === business.tom).length,
  )
})

const LEADS = [
  ['sameDay', 0, 0],
  ['nextDays', 1, 2],
  ['sameWeek', 3, 7],
  ['sameMonth', 8, 28],
  ['longBefore', 29, Infinity],
] as const

const bookedDay = (row: Row) => dayOf({ ...row, startTime: row.bookedTime })

function bookingLine(rows: Row[]): Record<string, number | null> {
  const timely = rows.filter(({ bookedTime, startTime }) => bookedTime <= startTime)
  const leads = timely
    .map(
      (row) =>
        localDay({ ...row, startTime: row.bookedTime }).until(localDay(row), {
          largestUnit: 'days',
        }).days,
    )
    .toSorted((a, b) => a - b)
  return {
    bookings: rows.length,
    ...Object.fromEntries(
      LEADS.map(([name, from, to]) => [
        name,
        leads.filter((days) => days >= from && days <= to).length,
      ]),
    ),
    afterwards: rows.length - timely.length,
    medianLead: leads[Math.ceil(leads.length / 2) - 1] ?? null,
    cancelledSince: rows.filter(isCancelled).length,
  }
}

test('bookings count on the day of booking, with the number of days to the appointment', async () => {
  let afterwards = 0
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis, totals, charts } = await printed({ reportId: 104, startDate, endDate })
    const all = business.rows.filter(
      (row) => bookedDay(row) >= startDate && bookedDay(row) <= endDate,
    )
    const length = lines[0] && 'month' in lines[0] ? 7 : 10
    for (const line of lines) {
      const step = String(line.month ?? line.date)
      const own = all.filter((row) => bookedDay(row).slice(0, length) === step)
      const expected = bookingLine(own)
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((name) => [name, line[name]])),
        expected,
        step,
      )
      assert.equal(line.bookingsValueEUR ?? 0, calculate(own).money.value?.EUR ?? 0, step)
      afterwards += Number(line.afterwards)
    }
    if (startDate > '2026-11-10') {
      assert.deepEqual([lines.length, kpis.bookings], [0, null])
      continue
    }
    const whole = bookingLine(all)
    assert.equal(totals.bookings, all.length)
    assert.equal(kpis.bookings, all.length)
    assert.equal(kpis.medianLead, whole.medianLead)
    assert.equal(kpis.sameDayShare, shareOf(whole.sameDay!, all.length - whole.afterwards!))
    assert.equal(kpis.cancelledSince, shareOf(whole.cancelledSince!, all.length))
    const bars = charts.find(({ name }) => name === 'lead')
    assert.ok(bars?.kind === 'bar')
    assert.deepEqual(
      bars.series[0]!.values,
      LEADS.map(([name]) => whole[name]),
    )
  }
  assert.ok(afterwards > 0)
})

test('the booked value is in the currencies of the booked services, whenever the appointments are', async () => {
  const request = { reportId: 104, startDate: '2026-11-10', endDate: '2026-11-10' }
  const { totals, kpis } = await printed(request)
  assert.equal(totals.bookingsValueUSD, 500)
  assert.equal(kpis.bookingsValueUSD, 500)
  const { lines } = await printed({ ...request, groupBy: ['service'] })
  assert.deepEqual(
    lines.filter(({ service }) => service === 'Congress').map((line) => line.bookingsValueUSD),
    [500],
  )
})

const FORM_STATES: Record<string, string> = {
  SIGNED: 'Signed',
  PENDING: 'Outstanding',
  DECLINED: 'Not signed',
  WAIVED: 'Waived',
}

/** The local day at the location of the appointment, else of the business. */
const formDay = ({ appointment }: Form, ms: number) =>
  localDay({ locationId: appointment?.locationId ?? business.zurich, startTime: ms })

const formLine = (form: Form) => {
  const requested = formDay(form, form.requestedMs)
  const end =
    form.status === 'PENDING'
      ? formDay(form, NOW_MS)
      : form.signedMs && formDay(form, form.signedMs)
  return {
    requestedOn: requested.toString(),
    form: form.form,
    state: FORM_STATES[form.status],
    appointment: form.appointment ? localTime(form.appointment) : null,
    signedOn: form.signedMs ? formDay(form, form.signedMs).toString() : null,
    days: end ? requested.until(end, { largestUnit: 'days' }).days : null,
  }
}

const localTime = (row: Row) =>
  localStart(row, business).toPlainDateTime().toString().slice(0, 16).replace('T', ' ')

test('forms are signed, outstanding, not signed or waived, with the days to the signature', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed({ reportId: 801, startDate, endDate })
    const own = business.forms.filter((form) => {
      const day = formDay(form, form.requestedMs).toString()
      return day >= startDate && day <= endDate
    })
    const expected = own.map(formLine)
    const shown = lines.map(({ requestedOn, form, state, appointment, signedOn, days }) => ({
      requestedOn,
      form,
      state,
      appointment,
      signedOn,
      days,
    }))
    const order = (all: object[]) => all.map((line) => JSON.stringify(line)).toSorted()
    assert.deepEqual(order(shown), order(expected))
    const states = lines.map(({ state }) => state)
    assert.equal(states.lastIndexOf('Outstanding') + 1, count(states, 'Outstanding'), 'first')
    if (startDate > '2026-11-10') continue
    const signed = own.filter(({ status }) => status === 'SIGNED')
    const days = expected
      .flatMap((line) => (line.signedOn ? [line.days!] : []))
      .toSorted((a, b) => a - b)
    assert.deepEqual(kpis, {
      requested: own.length,
      signedRate: shareOf(signed.length, own.length - count(states, 'Waived')),
      outstanding: count(states, 'Outstanding'),
      late: own.filter(
        ({ status, appointment }) =>
          status === 'PENDING' && appointment && appointment.startTime <= NOW_MS,
      ).length,
      medianDays: days[Math.ceil(days.length / 2) - 1] ?? null,
    })
  }
})

const count = (values: unknown[], wanted: unknown) =>
  values.filter((value) => value === wanted).length

test('forms are grouped and filtered by the staff and location of their appointment', async () => {
  const [startDate, endDate] = RANGES[4]
  const request = { reportId: 801, startDate, endDate }
  const own = business.forms.filter(
    (form) => formDay(form, form.requestedMs).toString() >= startDate,
  )
  const { lines } = await printed({ ...request, groupBy: ['staff'] })
  const staffOf = ({ appointment }: Form) =>
    !appointment
      ? 'None'
      : appointment.professionalId === business.tom
        ? 'Tom Becker'
        : 'Elena García'
  assert.deepEqual(lines.map(({ staff }) => staff).toSorted(), [
    'Elena García',
    'None',
    'Tom Becker',
  ])
  for (const line of lines) {
    const states = own.filter((form) => staffOf(form) === line.staff).map(({ status }) => status)
    const toSign = states.length - count(states, 'WAIVED')
    assert.deepEqual(
      [line.requested, line.signed, line.outstanding, line.notSigned, line.waived, line.signedRate],
      [
        states.length,
        count(states, 'SIGNED'),
        count(states, 'PENDING'),
        count(states, 'DECLINED'),
        count(states, 'WAIVED'),
        shareOf(count(states, 'SIGNED'), toSign),
      ],
      String(line.staff),
    )
  }
  const newYork = await printed({ ...request, locationId: business.newYork })
  const isThere = ({ appointment }: Form) => appointment?.locationId === business.newYork
  assert.equal(newYork.kpis.requested, own.filter(isThere).length)
  const filters = { statusList: ['PENDING'] }
  const pending = await printed({ ...request, filters })
  assert.equal(
    pending.lines.length,
    count(
      own.map(({ status }) => status),
      'PENDING',
    ),
  )
  assert.ok(!('signedRate' in pending.kpis))
})

const isWithdrawn = ({ status }: Invitation) => status === 'CANCELLED'

/** The appointments that were booked after an invitation and before the next one of the client. */
function followers(invitation: Invitation) {
  if (isWithdrawn(invitation)) return []
  const { clientId, createdMs, expiresMs = Infinity, uuid } = invitation
  const isLater = (other: Invitation) =>
    other.createdMs > createdMs || (other.createdMs === createdMs && other.uuid > uuid)
  const nextMs = business.invitations
    .filter((other) => other.clientId === clientId && !isWithdrawn(other) && isLater(other))
    .map((other) => other.createdMs)
  const untilMs = Math.min(createdMs + 90 * DAY_MS, expiresMs, ...nextMs)
  return business.rows.filter(
    (row) => row.clientId === clientId && row.bookedTime >= createdMs && row.bookedTime < untilMs,
  )
}

/** The followers that were booked by the link of the invitation. */
const linked = (invitation: Invitation) =>
  followers(invitation).filter(({ calendarId }) => calendarId % 2 === 0)

function funnelOf(invitations: Invitation[]) {
  const invited = invitations.filter((one) => !isWithdrawn(one))
  const booked = invited.filter((one) => linked(one).length > 0)
  return {
    invited: invited.length,
    reached: invited.filter(({ mails }) => mails.includes('SENT')).length,
    completed: invited.filter(({ status }) => status === 'COMPLETED' || status === 'ACCEPTED')
      .length,
    booked: booked.length,
    came: booked.filter((one) => linked(one).some(isKept)).length,
    after: invited.filter((one) => linked(one).length === 0 && followers(one).length > 0).length,
  }
}

/** Invitations have no location, so they are in the zone of the business. */
const invitedDay = ({ createdMs }: Invitation) =>
  dayOf({ locationId: business.zurich, startTime: createdMs })

test('the funnel of a campaign counts from the invitation to the visit', async () => {
  let came = 0
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed({ reportId: 701, startDate, endDate })
    const all = business.invitations.filter(
      (one) => invitedDay(one) >= startDate && invitedDay(one) <= endDate,
    )
    assert.equal(lines.length, new Set(all.map(({ campaign }) => campaign)).size)
    for (const line of lines) {
      const own = all.filter(({ campaign }) => campaign === line.campaign)
      const expected = funnelOf(own)
      const { invited, booked, ...rest } = expected
      assert.deepEqual(
        [line.invited, line.reached, line.completed, line.booked, line.came, line.after],
        [invited, rest.reached, rest.completed, booked, rest.came, rest.after],
      )
      assert.deepEqual(
        [line.bookedRate, line.cameRate],
        [shareOf(booked, invited), shareOf(rest.came, invited)],
      )
      const days = own.map(invitedDay).toSorted()
      assert.deepEqual([line.firstInvited, line.lastInvited], [days[0], days.at(-1)])
      const { money } = calculate(own.flatMap(linked))
      assert.equal(line.revenueCHF ?? line.revenue ?? 0, money.revenue?.CHF ?? 0)
      came += rest.came
    }
    if (startDate > '2026-11-10') continue
    const whole = funnelOf(all)
    assert.equal(kpis.invited, whole.invited)
    assert.equal(kpis.reached, shareOf(whole.reached, whole.invited))
    assert.equal(kpis.came, shareOf(whole.came, whole.invited))
  }
  assert.ok(came > 10)
})

test('an appointment counts for one invitation only, and a report of one location has no invitations', async () => {
  const [startDate, endDate] = RANGES[4]
  const all = business.invitations.flatMap(followers).map(({ calendarId }) => calendarId)
  assert.equal(new Set(all).size, all.length)
  const { money } = calculate(business.invitations.flatMap(linked))
  const { kpis } = await printed({ reportId: 701, startDate, endDate })
  for (const currency of ['CHF', 'EUR']) {
    assert.equal(kpis[`campaignRevenue${currency}`], money.revenue?.[currency] ?? 0)
  }
  const { lines, sentences } = await printed({
    reportId: 701,
    startDate,
    endDate,
    locationId: business.newYork,
  })
  assert.deepEqual(lines, [])
  assert.match(sentences[0]!, /belong to the whole business/)
})

const changeDay = ({ row, atMs }: Change) => dayOf({ ...row, startTime: atMs })

const outcomeOf = (status: string) => OUTCOMES[status] ?? 'PENDING'

function changeCounts(changes: Change[]) {
  const to = (outcome: string) => changes.filter((one) => outcomeOf(one.to) === outcome).length
  return {
    changes: changes.length,
    changedAppointments: new Set(changes.map(({ row }) => row.calendarId)).size,
    toKept: to('KEPT'),
    toMissed: to('MISSED'),
    toCancelled: to('CANCELLED'),
    toPending: to('PENDING'),
    corrected: changes.filter(
      (one) => outcomeOf(one.from) !== 'PENDING' && outcomeOf(one.from) !== outcomeOf(one.to),
    ).length,
  }
}

const LABELS: Record<string, string> = {
  OPEN: 'Open',
  CONFIRMED: 'Confirmed',
  COMPLETED: 'Completed',
  CANCELLED: 'Cancelled',
  NO_SHOW: 'No-show',
}

test('status changes are listed by the time of the change, with the status before and after', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed({ reportId: 203, startDate, endDate })
    const own = business.changes.filter(
      (one) => changeDay(one) >= startDate && changeDay(one) <= endDate,
    )
    assert.deepEqual(
      sorted(
        lines.map((line) => [
          line.date,
          line.time,
          line.fromStatus,
          line.toStatus,
          line.appointment,
        ]),
      ),
      sorted(
        own.map(({ row, atMs, from, to }) => {
          const [date, time] = localTime({ ...row, startTime: atMs }).split(' ')
          return [date, time, LABELS[from] ?? from, LABELS[to] ?? to, localTime(row)]
        }),
      ),
    )
    assert.ok(lines.every(({ changedBy }) => changedBy === 'TEST'))
    if (startDate > '2026-11-10') continue
    const { changes, changedAppointments, toCancelled, corrected } = changeCounts(own)
    assert.deepEqual(kpis, { changes, changedAppointments, toCancelled, corrected })
  }
  assert.ok(changeCounts(business.changes).corrected > 10)
})

test('status changes are filtered by the status after the change, and grouped by staff and month', async () => {
  const [startDate, endDate] = RANGES[4]
  const own = business.changes.filter((one) => changeDay(one) >= startDate)
  const request = { reportId: 203, startDate, endDate }
  const filters = { statusList: ['NO_SHOW'], locationIdList: [business.newYork] }
  const { lines, kpis } = await printed({ ...request, filters })
  assert.equal(
    lines.length,
    own.filter(({ row, to }) => to === 'NO_SHOW' && row.locationId === business.newYork).length,
  )
  assert.ok(!('toCancelled' in kpis))
  const grouped = await printed({ ...request, groupBy: ['staff', 'month'] })
  for (const { staff, month, ...line } of grouped.lines) {
    const group = own.filter(
      (one) =>
        changeDay(one).startsWith(String(month)) &&
        (staff === 'Tom Becker') === (one.row.professionalId === business.tom),
    )
    assert.deepEqual(line, changeCounts(group), `${String(staff)} ${String(month)}`)
  }
  assert.equal(grouped.totals.changes, own.length)
})

function invitationLine(invitation: Invitation) {
  const { campaign, mails, status, createdMs, expiresMs } = invitation
  const others = followers(invitation).toSorted(byStart)
  const bookings = linked(invitation).toSorted(byStart)
  const [first] = [...bookings, ...others]
  const atBusiness = (ms: number) => dayOf({ locationId: business.zurich, startTime: ms })
  const isExpired = status === 'EXPIRED' || (expiresMs !== undefined && expiresMs <= NOW_MS)
  const words: Record<string, string> = {
    CANCELLED: 'Withdrawn',
    COMPLETED: 'Completed',
    ACCEPTED: 'Completed',
  }
  const mail = ['SENT', 'BOUNCED', 'CAPTURED'].find((result) => mails.includes(result))
  return [
    atBusiness(createdMs),
    campaign,
    mail
      ? { SENT: 'Accepted by the mail server', BOUNCED: 'Bounced', CAPTURED: 'Captured, not sent' }[
          mail
        ]
      : null,
    words[status] ?? (isExpired ? 'Expired' : 'Open'),
    status === 'ACCEPTED' ? atBusiness(createdMs + DAY_MS) : null,
    expiresMs === undefined ? null : atBusiness(expiresMs),
    first ? localTime(first) : null,
    bookings.some(isKept)
      ? 'Came'
      : bookings.length > 0
        ? 'Booked'
        : first
          ? 'After the invitation'
          : null,
  ]
}

test('invitations are listed with their mail, their state and what followed', async () => {
  for (const [startDate, endDate] of RANGES) {
    const { lines, kpis } = await printed({ reportId: 702, startDate, endDate })
    const own = business.invitations.filter(
      (one) => invitedDay(one) >= startDate && invitedDay(one) <= endDate,
    )
    const shown = lines.map((line) => [
      line.invitedOn,
      line.campaign,
      line.mail,
      line.state,
      line.completedOn,
      line.expiresOn,
      line.appointment,
      line.visit,
    ])
    assert.deepEqual(sorted(shown), sorted(own.map(invitationLine)))
    if (startDate > '2026-11-10') continue
    const { invited, reached, completed, booked, came, after } = funnelOf(own)
    assert.deepEqual(kpis, {
      invited,
      open: count(
        lines.map(({ state }) => state),
        'Open',
      ),
      reached: shareOf(reached, invited),
      completed: shareOf(completed, invited),
      booked: shareOf(booked, invited),
      came: shareOf(came, invited),
      after: shareOf(after, invited),
    })
  }
})

test('invitations are grouped by month, and both reports of them agree', async () => {
  const [startDate, endDate] = RANGES[4]
  const request = { reportId: 702, startDate, endDate }
  const { lines, kpis, totals } = await printed({ ...request, groupBy: ['month'] })
  assert.equal(lines.length, 11, 'December is ahead')
  for (const { month, bookedRate, cameRate, ...line } of lines) {
    const expected = funnelOf(
      business.invitations.filter((one) => invitedDay(one).startsWith(String(month))),
    )
    assert.deepEqual(line, expected, String(month))
    assert.equal(bookedRate, shareOf(expected.booked, expected.invited))
    assert.equal(cameRate, shareOf(expected.came, expected.invited))
  }
  const funnel = await printed({ ...request, reportId: 701 })
  for (const name of ['invited', 'reached', 'completed', 'booked', 'came']) {
    assert.equal(totals[name], funnel.totals[name], name)
    assert.equal(kpis[name], funnel.kpis[name], name)
  }
  await assert.rejects(print(business, { ...request, groupBy: ['staff'] }))
})
