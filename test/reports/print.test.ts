import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { RequestError } from '../../src/errors.ts'
import { REPORTS } from '../../src/reports/catalog/catalog.ts'
import type { Chart } from '../../src/reports/chart.ts'
import {
  checkPrintRequest,
  type Reader,
  type PrintRequest,
} from '../../src/reports/print-request.ts'
import { refuseTooManyRows } from '../../src/reports/print.ts'
import { printReport } from '../../src/reports/print.ts'
import type { Cell, ReportResult, Totals } from '../../src/reports/report.ts'
import { everything, NOW, openBusiness } from './business.ts'

const OCTOBER = { startDate: '2026-10-01', endDate: '2026-10-31' }

test('a report covers whole days, also those with 23 or 25 hours', async (t) => {
  const { book, ...business } = await openBusiness(t)
  // 25 October 2026 has 25 hours in Zurich, 29 March 23.
  for (const at of ['2026-10-24T23:59+02:00', '2026-10-25T00:00+02:00', '2026-10-25T23:59+01:00']) {
    await book({ at })
  }
  for (const at of ['2026-10-26T00:00+01:00', '2026-03-29T00:00+01:00', '2026-03-29T23:59+02:00']) {
    await book({ at })
  }
  await book({ at: '2026-03-30T00:00+02:00' })

  const autumn = await print(business, { reportId: 101, ...day('2026-10-25') })
  assert.deepEqual(column(autumn, 'time'), ['00:00', '23:59'])
  const spring = await print(business, { reportId: 101, ...day('2026-03-29') })
  assert.deepEqual(column(spring, 'time'), ['00:00', '23:59'])
})

for (const zone of ['America/Edmonton', 'Africa/Casablanca', 'Europe/Zurich', 'Asia/Kathmandu']) {
  test(`an appointment is listed on the local day of its location, in ${zone}`, async (t) => {
    const { book, location, ...business } = await openBusiness(t)
    const locationId = await location('There', zone)
    const booked = [1, 4, 7, 10, 12].map((month) =>
      Temporal.PlainDateTime.from({ year: 2027, month, day: 15, minute: 30 }),
    )
    for (const at of booked) {
      await book({ at: at.toZonedDateTime(zone).toInstant().toString(), locationId })
    }

    const year = { startDate: '2027-01-01', endDate: '2027-12-31', locationId }
    const list = await print(business, { reportId: 101, ...year })
    assert.deepEqual(
      list.rows.map((row) => `${String(row[0])}T${String(row[1])}:00`),
      booked.map(String),
    )
    const summary = await print(business, { reportId: 102, ...year })
    assert.equal(summary.totals.appointments, 5)
  })
}

test('both halves of a repeated hour are on the same day, in order', async (t) => {
  const { book, ...business } = await openBusiness(t)
  await book({ at: '2026-10-25T02:30+01:00', reasonId: business.massage })
  await book({ at: '2026-10-25T02:30+02:00', reasonId: business.checkUp })

  const { rows } = await print(business, { reportId: 101, ...day('2026-10-25') })
  assert.deepEqual(
    rows.map((row) => [row[1], row[3]]),
    [
      ['02:30', 'Check-up'],
      ['02:30', 'Massage'],
    ],
  )
})

test('days are those of the location of each row, also if all locations are printed', async (t) => {
  const { book, newYork, ...business } = await openBusiness(t)
  // 22:00 on the 1st in New York is 04:00 on the 2nd in Zurich.
  await book({ at: '2026-10-01T22:00-04:00', locationId: newYork })

  const there = await print(business, { reportId: 101, ...day('2026-10-01'), locationId: newYork })
  assert.deepEqual(column(there, 'time'), ['22:00'])
  assert.equal(there.parameters.timeZone, 'America/New_York')
  assert.deepEqual(there.timeZones, ['America/New_York'])
  const all = await print(business, { reportId: 101, ...day('2026-10-01') })
  assert.deepEqual(column(all, 'time'), ['22:00'])
  assert.deepEqual(column(all, 'location'), ['New York'])
  assert.equal(all.parameters.timeZone, 'Europe/Zurich')
  assert.deepEqual(all.timeZones, ['America/New_York', 'Europe/Zurich'])
  const next = await print(business, { reportId: 101, ...day('2026-10-02') })
  assert.deepEqual(next.rows, [])
  const reader = { ...everything(business.businessId), locationIds: [newYork] }
  const own = await print(business, { reportId: 101, ...day('2026-10-01') }, reader)
  assert.equal(own.parameters.timeZone, 'America/New_York')
  assert.deepEqual(own.timeZones, ['America/New_York'])
})

test('the appointment list shows client, service, time and price, with totals', async (t) => {
  const { book, tom, massage, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00', minutes: 45 })
  await book({
    at: '2026-10-05T10:00+02:00',
    professionalId: tom,
    reasonId: massage,
    status: 'NO_SHOW',
  })

  const { columns, rows, totals } = await print(business, {
    reportId: 101,
    ...OCTOBER,
    locationId: business.zurich,
  })
  assert.deepEqual(
    columns.map(({ label }) => label),
    ['Date', 'Time', 'Client', 'Service', 'Staff', 'Status', 'Min', 'Price (CHF)'],
  )
  assert.deepEqual(rows, [
    ['2026-10-05', '09:00', 'Anna Müller', 'Check-up', 'Elena García', 'Completed', 45, 80.5],
    ['2026-10-05', '10:00', 'Anna Müller', 'Massage', 'Tom Becker', 'No-show', 30, 120],
  ])
  assert.deepEqual(totals, { minutes: 75, price: 200.5 })
})

test('a week is compared with the week before', async (t) => {
  const { book, ...business } = await openBusiness(t)
  // A week, and the week before it.
  await book({ at: '2026-10-12T09:00+02:00' })
  await book({ at: '2026-10-18T23:30+02:00', status: 'NO_SHOW' })
  await book({ at: '2026-10-05T00:00+02:00' })
  await book({ at: '2026-10-04T23:59+02:00' })

  const { kpis } = await print(business, {
    reportId: 102,
    startDate: '2026-10-12',
    endDate: '2026-10-18',
  })
  const figure = (name: string) => {
    const kpi = kpis.find((kpi) => kpi.name === name)!
    return [kpi.value, kpi.previous]
  }
  assert.deepEqual(figure('appointments'), [2, 1])
  assert.deepEqual(figure('noShowRate'), [50, 0])
  assert.deepEqual(figure('revenue'), [80.5, 80.5])
})

test('the summary has a row for every day, also for days without appointments', async (t) => {
  const { book, ...business } = await openBusiness(t)
  await book({ at: '2026-10-25T02:30+02:00' })
  await book({ at: '2026-10-25T02:30+01:00', status: 'CANCELLED' })

  const { rows, totals, charts } = await print(business, {
    reportId: 102,
    startDate: '2026-10-24',
    endDate: '2026-10-26',
  })
  assert.deepEqual(rows, [
    ['2026-10-24', 'Sat', 0, 0, 0, 0, 0, 0, 0],
    ['2026-10-25', 'Sun', 2, 1, 0, 1, 0, 30, 80.5],
    ['2026-10-26', 'Mon', 0, 0, 0, 0, 0, 0, 0],
  ])
  assert.deepEqual(totals, {
    appointments: 2,
    completed: 1,
    noShows: 0,
    cancelled: 1,
    unclosed: 0,
    minutes: 30,
    revenue: 80.5,
  })
  assert.deepEqual(
    charts.map(({ title }) => title),
    ['Appointments by day', 'Revenue by day'],
  )
})

test('peak times count by the local weekday and hour', async (t) => {
  const { book, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-26T09:59+01:00', status: 'NO_SHOW' })
  await book({ at: '2026-10-11T23:30+02:00' })

  const { rows, charts } = await print(business, { reportId: 105, ...OCTOBER })
  assert.deepEqual(
    rows.map((row) => row.slice(0, 4)),
    [
      ['Monday', '09:00', 2, 1],
      ['Sunday', '23:00', 1, 1],
    ],
  )
  const [heatmap] = charts
  assert.ok(heatmap?.kind === 'heatmap')
  // Elena works on four Mondays and four Sundays.
  assert.equal(heatmap.values[0]![heatmap.columns.indexOf('09:00')], 0.5)
  assert.equal(heatmap.values[6]![heatmap.columns.indexOf('23:00')], 0.3)
})

test('the no-show report counts the earlier no-shows of a client', async (t) => {
  const { book, ...business } = await openBusiness(t)
  for (const at of ['2026-01-05T09:00+01:00', '2026-10-06T09:00+02:00', '2026-10-07T09:00+02:00']) {
    await book({ at, status: 'NO_SHOW' })
  }
  const result = await print(business, { reportId: 201, ...OCTOBER })
  assert.deepEqual(column(result, 'before'), [1, 2])
  assert.deepEqual(result.totals, { price: 161 })
})

test('utilisation is booked time as a share of working time', async (t) => {
  const { book, ...business } = await openBusiness(t)
  await book({ at: '2026-10-26T09:00+01:00', minutes: 120 })
  await book({ at: '2026-10-26T12:00+01:00', minutes: 60, status: 'CANCELLED' })

  // Sunday the 25th has nine hours between midnight and eight: the clock goes back at three.
  const result = await print(business, {
    reportId: 301,
    startDate: '2026-10-25',
    endDate: '2026-10-26',
  })
  assert.deepEqual(column(result, 'staff'), ['Elena García', 'Tom Becker'])
  assert.deepEqual(column(result, 'bookedMinutes'), [120, 0])
  assert.deepEqual(column(result, 'workingMinutes'), [9 * 60 + 8 * 60, 0])
  assert.deepEqual(column(result, 'utilisation'), [11.8, null])
  assert.equal(result.totals.utilisation, 11.8)
})

test('people are sorted alphabetically in every script', async (t) => {
  const { book, client, ...business } = await openBusiness(t)
  for (const lastName of ['Zürcher', 'Öztürk', 'adams', 'Otto', 'Çelik', 'Peters', 'Dubois']) {
    await book({ at: '2026-10-05T09:00+02:00', clientId: await client('Kim', lastName) })
  }

  const result = await print(business, { reportId: 501, ...OCTOBER })
  assert.deepEqual(
    column(result, 'client').map((name) => String(name).slice(4)),
    ['adams', 'Çelik', 'Dubois', 'Otto', 'Öztürk', 'Peters', 'Zürcher'],
  )
})

test('a client is new in the period of their first appointment', async (t) => {
  const { book, client, anna, ...business } = await openBusiness(t)
  const ben = await client('Ben', 'Abel')
  await book({ at: '2026-09-30T09:00+02:00', clientId: anna })
  await book({ at: '2026-10-05T09:00+02:00', clientId: anna })
  await book({ at: '2026-10-06T09:00+02:00', clientId: ben })

  const result = await print(business, { reportId: 501, ...OCTOBER })
  assert.deepEqual(column(result, 'client'), ['Ben Abel', 'Anna Müller'])
  assert.deepEqual(column(result, 'firstVisit'), ['2026-10-06', '2026-09-30'])
  const value = (name: string) => result.kpis.find((kpi) => kpi.name === name)!.value
  assert.deepEqual(['clients', 'newClients', 'returning'].map(value), [2, 1, 50])
})

test('every report of the catalogue can be printed, with rows and without', async (t) => {
  const { book, db, businessId, anna, elena, zurich, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await db.query(sql`
    insert into class_schedule (business_id, name, professional_id, location_id, start_time, end_time, status,
      client_id_list, capacity, created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'Pilates', ${elena}, ${zurich}, '2026-10-06T16:00Z', '2026-10-06T17:00Z', 'OPEN',
      ${[anna]}::bigint[], 8, ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  await addMail(db, businessId)

  const counts: Record<number, number> = {}
  for (const { reportId } of REPORTS) {
    const { rows } = await print({ businessId, ...business }, { reportId, ...OCTOBER })
    counts[reportId] = rows.length
    await print({ businessId, ...business }, { reportId, ...day('2001-12-31') })
    await print({ businessId, ...business }, { reportId, ...OCTOBER, locationId: business.newYork })
  }
  assert.deepEqual(counts, {
    100: 4,
    101: 1,
    102: 31,
    103: 2,
    104: 31,
    105: 1,
    106: 0, // The range has ended, and the report looks ahead.
    201: 0,
    202: 0,
    203: 0,
    204: 0,
    205: 0,
    206: 0,
    301: 2,
    302: 1,
    401: 1,
    402: 1,
    501: 1,
    502: 31,
    503: 0,
    504: 1,
    505: 1,
    601: 1,
    602: 1,
    701: 0,
    702: 0,
    703: 0,
    801: 0,
    901: 1,
    902: 1,
    903: 1,
    904: 4,
    905: 0,
    951: 1,
  })

  const log = await print({ businessId, ...business }, { reportId: 901, ...OCTOBER })
  assert.deepEqual(log.rows, [
    [
      '2026-10-04',
      '09:00',
      'A day before',
      'Anna Müller',
      'Check-up',
      '2026-10-05 09:00',
      'Fired',
      'Captured, not sent',
      null,
    ],
  ])
  const mail = await print({ businessId, ...business }, { reportId: 902, ...OCTOBER })
  assert.deepEqual(mail.rows, [['Reminder', 1, 0, 0, 0, 0, 1, 0, 0, null]])
})

test('captured mail is not sent, and a bounce is not delivery', async (t) => {
  const { book, db, businessId, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await addMail(db, businessId)
  const request = { reportId: 902, ...OCTOBER }
  const figures = async () => {
    const { kpis } = await print({ businessId, ...business }, request)
    return Object.fromEntries(kpis.map(({ name, value }) => [name, value]))
  }
  assert.deepEqual(await figures(), {
    mails: 1,
    delivered: null,
    bounced: 0,
    failed: 0,
    notSent: 1,
  })
  const setStatus = (status: string, reason: string | null) =>
    db.query(sql`
      update email set status = ${status}, status_reason = ${reason} where business_id = ${businessId}`)
  await setStatus('SENT', null)
  assert.deepEqual(await figures(), { mails: 1, delivered: 100, bounced: 0, failed: 0, notSent: 0 })
  await setStatus('SENT', 'bounced: 5.1.1 no such user')
  assert.deepEqual(await figures(), { mails: 1, delivered: 0, bounced: 1, failed: 0, notSent: 0 })
  const log = await print({ businessId, ...business }, { ...request, reportId: 901 })
  assert.deepEqual(column(log, 'mail'), ['Bounced'])
  assert.equal(log.kpis.find(({ name }) => name === 'bounced')!.value, 1)
  await setStatus('FAILED', '550 no')
  assert.deepEqual(await figures(), { mails: 1, delivered: 0, bounced: 0, failed: 1, notSent: 0 })
})

test('the mails of a template in two languages are two rows, each with its language', async (t) => {
  const { book, db, businessId, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await addMail(db, businessId)
  await db.query(sql`update email_template set language = 'de' where business_id = ${businessId}`)
  await db.query(sql`
    insert into email_template (business_id, template_name, language, subject, email_body, created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'Reminder', 'fr', 's', 'b', ${NOW}, 'TEST', ${NOW}, 'TEST')`)
  await db.query(sql`
    insert into email (business_id, email_template_id, to_address, from_address, subject, message_id, status, created_date)
    select ${businessId}, email_template_id, 'a@example.org', 'b@example.org', 's', 'm2', 'SENT', '2026-10-05T07:00Z'
    from email_template where business_id = ${businessId} and language = 'fr'`)
  const { rows } = await print({ businessId, ...business }, { reportId: 902, ...OCTOBER })
  assert.deepEqual(
    rows.map(([template, mails]) => [template, mails]),
    [
      ['Reminder (de)', 1],
      ['Reminder (fr)', 1],
    ],
  )
})

test('a LOCATION_SUPER_USER prints only their locations, a USER only their own appointments', async (t) => {
  const { book, zurich, newYork, elena, tom, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00', locationId: zurich, professionalId: elena })
  await book({ at: '2026-10-05T10:00+02:00', locationId: zurich, professionalId: tom })
  await book({ at: '2026-10-05T11:00+02:00', locationId: newYork, professionalId: tom })

  const request = { reportId: 101, ...OCTOBER }
  const reader = everything(business.businessId)
  const ofZurich = await print(business, request, { ...reader, locationIds: [zurich] })
  assert.deepEqual(column(ofZurich, 'time'), ['09:00', '10:00'])
  const ofTom = await print(business, request, { ...reader, professionalIds: [tom] })
  assert.deepEqual(column(ofTom, 'time'), ['05:00', '10:00'])
  const withoutStaff = await print(business, request, { ...reader, professionalIds: [] })
  assert.deepEqual(withoutStaff.rows, [])
  const ofOtherStaff = await print(
    business,
    { ...request, filters: { professionalIdList: [elena] } },
    { ...reader, professionalIds: [tom] },
  )
  assert.deepEqual(ofOtherStaff.rows, [])
  await assert.rejects(
    print(business, { ...request, locationId: newYork }, { ...reader, locationIds: [zurich] }),
    faults('?locationId'),
  )
})

test('the head of a report names its filters', async (t) => {
  const { zurich, elena, tom, massage, ...business } = await openBusiness(t)
  const request = { reportId: 101, ...OCTOBER }
  const reader = everything(business.businessId)

  const whole = await print(business, request)
  assert.equal(whole.locationName, null)
  assert.deepEqual(whole.appliedFilters, [])
  const filters = { reasonIdList: [massage], statusList: ['OPEN', 'NO_SHOW'] }
  const part = await print(business, { ...request, filters }, { ...reader, locationIds: [zurich] })
  assert.equal(part.locationName, 'Zürich')
  assert.deepEqual(part.appliedFilters, [
    ['Services', 'Massage'],
    ['Status', 'OPEN, NO_SHOW'],
  ])
  const both = { professionalIdList: [elena, tom] }
  const own = await print(
    business,
    { ...request, filters: both },
    { ...reader, professionalIds: [tom] },
  )
  assert.deepEqual(own.appliedFilters, [['Staff', 'Tom Becker']])
})

test('filters narrow a report to staff, services and statuses', async (t) => {
  const { book, tom, elena, massage, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-05T10:00+02:00', professionalId: tom, status: 'OPEN' })
  await book({ at: '2026-10-05T11:00+02:00', reasonId: massage, status: 'OPEN' })
  const times = async (filters: object) =>
    column(await print(business, { reportId: 101, ...OCTOBER, filters }), 'time')

  assert.deepEqual(await times({ professionalIdList: [elena] }), ['09:00', '11:00'])
  assert.deepEqual(await times({ reasonIdList: [massage] }), ['11:00'])
  assert.deepEqual(await times({ statusList: ['OPEN'] }), ['10:00', '11:00'])
  assert.deepEqual(await times({ statusList: ['OPEN'], professionalIdList: [tom] }), ['10:00'])
})

test('prices in several currencies are listed, and summed for each currency', async (t) => {
  const { book, reason, ...business } = await openBusiness(t)
  const visit = await reason('Visite', 90, 'EUR')
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-05T10:00+02:00', reasonId: visit })

  const result = await print(business, { reportId: 101, ...OCTOBER })
  assert.deepEqual(column(result, 'price'), [80.5, 90])
  assert.deepEqual(column(result, 'currency'), ['CHF', 'EUR'])
  assert.deepEqual(result.totals, { minutes: 60, price: { CHF: 80.5, EUR: 90 } })
  assert.deepEqual(
    result.kpis.flatMap(({ name, value, currency }) =>
      name === 'revenue' ? [[currency, value]] : [],
    ),
    [
      ['CHF', 80.5],
      ['EUR', 90],
    ],
  )
})

test('no cell, total or chart sums prices in several currencies', async (t) => {
  const { book, reason, ...business } = await openBusiness(t)
  const visit = await reason('Visite', 90, 'EUR')
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-05T10:00+02:00', reasonId: visit })

  for (const { reportId } of REPORTS) {
    const { columns, rows, kpis, charts } = await print(business, { reportId, ...OCTOBER })
    const amounts = [
      ...columns.flatMap(({ type }, i) => (type === 'money' ? rows.map((row) => row[i]) : [])),
      ...kpis.filter(({ unit }) => unit === 'money').map(({ value }) => value),
      ...charts.flatMap((chart) =>
        chart.kind !== 'heatmap' && chart.unit === 'money'
          ? chart.series.flatMap(({ values }) => values)
          : [],
      ),
    ]
    for (const amount of amounts) {
      assert.ok(
        [null, 0, 80.5, 90, 40.25, 45].includes(amount as number),
        `${reportId} has ${amount}`,
      )
    }
  }
})

test('without VIEW_REVENUE_REPORTS no report shows money', async (t) => {
  const { book, ...business } = await openBusiness(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-05T10:00+02:00', status: 'NO_SHOW' })
  const reader = everything(business.businessId)
  const functions = new Set(reader.functions)
  functions.delete('VIEW_REVENUE_REPORTS')

  for (const { reportId, securityFunctions } of REPORTS) {
    const request = { reportId, ...OCTOBER }
    if (securityFunctions.includes('VIEW_REVENUE_REPORTS')) {
      await assert.rejects(
        print(business, request, { ...reader, functions }),
        (error: RequestError) => error.status === 403,
      )
      continue
    }
    const whole = await print(business, request, reader)
    const shown = await print(business, request, { ...reader, functions })
    const isShown = whole.columns.map(
      ({ type, measure }) => type !== 'money' && measure !== 'revenue',
    )
    const kept = <T>(cells: T[]) => cells.filter((_, i) => isShown[i])
    assert.deepEqual(shown.columns, kept(whole.columns))
    assert.deepEqual(shown.rows, whole.rows.map(kept))
    assert.deepEqual(
      Object.keys(shown.totals),
      kept(whole.columns).flatMap(({ name, total }) => (total ? name : [])),
    )
    assert.deepEqual(
      shown.kpis,
      whole.kpis.filter(({ unit }) => unit !== 'money'),
    )
    assert.deepEqual(
      shown.charts,
      whole.charts.filter((chart) => !isOfMoney(chart)),
    )
  }
})

test('deleted appointments and those of other businesses are not in reports', async (t) => {
  const { book, db, database, ...business } = await openBusiness(t)
  const calendarId = await book({ at: '2026-10-05T09:00+02:00' })
  await db.query(sql`
    update calendar set active = false where business_id = ${business.businessId} and calendar_id = ${calendarId}`)
  const { fillBusiness } = await import('./business.ts')
  const other = await fillBusiness(database, 'Another')
  await other.book({ at: '2026-10-05T09:00+02:00' })

  const { rows } = await print(business, { reportId: 101, ...OCTOBER })
  assert.deepEqual(rows, [])
})

const refused: { name: string; request: PrintRequest; at: string[] }[] = [
  { name: 'no report', request: OCTOBER, at: ['/reportId'] },
  { name: 'an unknown report', request: { reportId: 999, ...OCTOBER }, at: ['/reportId'] },
  { name: 'a report as text', request: { reportId: '101', ...OCTOBER }, at: ['/reportId'] },
  {
    name: 'an unknown name',
    request: { reportFileName: '../101', ...OCTOBER },
    at: ['/reportFileName'],
  },
  { name: 'one date', request: { reportId: 101, startDate: '2026-10-01' }, at: ['?endDate'] },
  {
    name: 'a day that does not exist',
    request: { reportId: 101, ...OCTOBER, startDate: '2026-02-30' },
    at: ['?startDate'],
  },
  {
    name: 'a short year',
    request: { reportId: 101, ...OCTOBER, startDate: '26-10-01' },
    at: ['?startDate'],
  },
  {
    name: 'a date with a time',
    request: { reportId: 101, ...OCTOBER, startDate: '2026-10-01T00:00' },
    at: ['?startDate'],
  },
  {
    name: 'a day in the year 1',
    request: { reportId: 101, ...OCTOBER, startDate: '0001-01-01' },
    at: ['?startDate'],
  },
  {
    name: 'two start dates',
    request: { reportId: 101, ...OCTOBER, startDate: ['2026-10-01', '2026-10-02'] },
    at: ['?startDate'],
  },
  {
    name: 'a range that ends before it starts',
    request: { reportId: 101, startDate: '2026-10-31', endDate: '2026-10-01' },
    at: ['?endDate'],
  },
  {
    name: 'a range of eleven years',
    request: { reportId: 101, startDate: '2015-10-01', endDate: '2026-10-01' },
    at: ['?endDate'],
  },
  {
    name: 'an unknown location',
    request: { reportId: 101, ...OCTOBER, locationId: 999_999 },
    at: ['?locationId'],
  },
  {
    name: 'a location that is not a number',
    request: { reportId: 101, ...OCTOBER, locationId: '1 or 1=1' },
    at: ['?locationId'],
  },
  {
    name: 'an empty location',
    request: { reportId: 101, ...OCTOBER, locationId: '' },
    at: ['?locationId'],
  },
  {
    name: 'a location above the largest id',
    request: { reportId: 101, ...OCTOBER, locationId: '9'.repeat(30) },
    at: ['?locationId'],
  },
  {
    name: 'filters that are not an object',
    request: { reportId: 101, ...OCTOBER, filters: [] },
    at: ['/filters'],
  },
  {
    name: 'an unknown professional',
    request: { reportId: 101, ...OCTOBER, filters: { professionalIdList: [999_999] } },
    at: ['/filters/professionalIdList/0'],
  },
  {
    name: 'several faults at once',
    request: { reportId: 7, startDate: 'x', locationId: 'y', filters: 'z' },
    at: ['/reportId', '?startDate', '?endDate', '/filters', '?locationId'],
  },
]

test('an invalid print request is refused with all faults and their pointers', async (t) => {
  const business = await openBusiness(t)
  for (const { name, request, at } of refused) {
    await t.test(name, () => assert.rejects(print(business, request), faults(...at)))
  }
})

test('a report needs every one of its security functions', async (t) => {
  const business = await openBusiness(t)
  const reader = { ...everything(business.businessId), functions: new Set(['PRINT_REPORTS']) }
  await print(business, { reportId: 101, ...OCTOBER }, reader)
  await assert.rejects(
    print(business, { reportId: 301, ...OCTOBER }, reader),
    (error: RequestError) => error.status === 403 && /VIEW_STAFF_REPORTS/.test(error.message),
  )
})

test('a report with too many rows for its format is refused before printing', async (t) => {
  const { book, reports, businessId } = await openBusiness(t)
  for (const hour of ['09', '10', '11']) await book({ at: `2026-10-05T${hour}:00+02:00` })
  const order = await checkPrintRequest(
    reports,
    { reportId: 101, ...OCTOBER },
    everything(businessId),
    NOW,
  )
  await assert.rejects(refuseTooManyRows(reports, order, 'pdf', { pdf: 2 }), faults('?format'))
  await refuseTooManyRows(reports, order, 'pdf', { pdf: 3 })
  await refuseTooManyRows(reports, order, 'csv', { pdf: 2 })
})

type Business = { reports: Awaited<ReturnType<typeof openBusiness>>['reports']; businessId: number }
type Read = Omit<ReportResult, 'rows' | 'totals'> & { rows: Cell[][]; totals: Totals }

async function print(
  { reports, businessId }: Business,
  request: PrintRequest,
  reader: Reader = everything(businessId),
): Promise<Read> {
  const order = await checkPrintRequest(reports, request, reader, NOW)
  return printReport(reports, order, async (result) => {
    const rows: Cell[][] = []
    for await (const batch of result.rows) rows.push(...batch)
    return { ...result, rows, totals: result.totals() }
  })
}

const isOfMoney = (chart: Chart) => chart.kind !== 'heatmap' && chart.unit === 'money'

const day = (date: string) => ({ startDate: date, endDate: date })

const column = ({ columns, rows }: Read, name: string) => {
  const i = columns.findIndex((column) => column.name === name)
  return rows.map((row) => row[i])
}

const faults =
  (...pointers: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof RequestError)
    assert.equal(error.status, 422)
    assert.deepEqual(
      error.errors?.map(({ pointer }) => pointer),
      pointers,
    )
    return true
  }

async function addMail(db: Awaited<ReturnType<typeof openBusiness>>['db'], businessId: number) {
  const [template] = await db.query<{ id: number }>(sql`
    insert into email_template (business_id, template_name, subject, email_body, created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'Reminder', 's', 'b', ${NOW}, 'TEST', ${NOW}, 'TEST') returning email_template_id as id`)
  const [definition] = await db.query<{ id: number }>(sql`
    insert into event_definition (business_id, active, description, event_type_id, object_type, trigger_hours, created_date, created_user, modified_date, modified_user)
    values (${businessId}, true, 'A day before', 3, 'CALENDAR', -24, ${NOW}, 'TEST', ${NOW}, 'TEST') returning event_defn_id as id`)
  await db.query(sql`
    insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id, anchor_time, scheduled_time, status, completed_time, created_date)
    select ${businessId}, ${definition!.id}, 1, 'CALENDAR', calendar_id, start_time, start_time - interval '24 hours', 'COMPLETED',
           start_time - interval '24 hours', ${NOW}
    from calendar where business_id = ${businessId}`)
  await db.query(sql`
    insert into email (business_id, event_trigger_id, email_template_id, to_address, from_address, subject, message_id, status, created_date)
    select ${businessId}, event_trigger_id, ${template!.id}, 'a@example.org', 'b@example.org', 's', 'm1', 'CAPTURED', '2026-10-05T07:00Z'
    from event_trigger where business_id = ${businessId} limit 1`)
}
