import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { DIFFERENCE_KINDS } from '../../src/contract/feed.ts'
import { SUM_KEYS } from '../../src/contract/report-rows.ts'
import { sql } from '../../src/database/sql.ts'
import { REPORTS } from '../../src/reports/catalog/catalog.ts'
import { readObjects, readSums, type ObjectsRequest } from '../../src/reports/drill-down.ts'
import { checkPrintRequest, type PrintRequest } from '../../src/reports/print-request.ts'
import { printReport } from '../../src/reports/print.ts'
import type { Cell, Column, ReportResult, Totals } from '../../src/reports/report.ts'
import { RequestError } from '../../src/errors.ts'
import { everything, NOW } from './business.ts'
import { addFeed, addReconciliation } from './feed-runs.ts'
import { openMeasuredBusiness } from './measured-business.ts'
import type { Lifetime } from '../support/clean-up.ts'

/** Reports whose figures are not sums of objects; docs/reports.md says why. */
const WITHOUT_DRILL_DOWN: number[] = []

/** Contains a clock change and future appointments. */
const AUTUMN = { startDate: '2026-10-20', endDate: '2026-11-30' }
const YEAR = { startDate: '2026-01-01', endDate: '2026-12-31' }

let business: Awaited<ReturnType<typeof openMeasuredBusiness>>
before(async (t) => {
  business = await openMeasuredBusiness(t as Lifetime)
  await addHistory(business)
})

for (const { reportId, reportName } of REPORTS) {
  if (WITHOUT_DRILL_DOWN.includes(reportId)) continue
  test(`${reportId} ${reportName}: each figure has the count and sum of its objects`, async () => {
    // 504 needs the whole year, because all clients of this business are new before autumn.
    const range = reportId === 504 ? YEAR : AUTUMN
    assert.ok((await checkReport({ reportId, ...range })) > 0, 'at least one figure is not zero')
  })
}

test('rows of months and groups have the count and sum of their appointments', async () => {
  await checkReport({ reportId: 502, ...YEAR })
  await checkReport({ reportId: 102, groupBy: ['service', 'month'], ...AUTUMN })
  await checkReport({ reportId: 205, groupBy: ['location', 'week'], ...AUTUMN })
  await checkReport({ reportId: 202, groupBy: ['staff', 'weekday'], ...AUTUMN })
  await checkReport({ reportId: 203, groupBy: ['staff'], ...AUTUMN })
  await checkReport({ reportId: 702, groupBy: ['client', 'month'], ...AUTUMN })
  await checkReport({ reportId: 801, groupBy: ['location'], ...AUTUMN })
})

test('filters apply to the objects and to the figures alike', async () => {
  const { newYork, elena, anna, tom } = business
  const filters = {
    professionalIdList: [elena, tom],
    clientIdList: [anna],
    statusList: ['NO_SHOW'],
  }
  for (const reportId of [101, 204, 302, 502]) {
    await checkReport({ reportId, filters, locationId: newYork, ...YEAR })
  }
  for (const reportId of [103, 602]) {
    await checkReport({ reportId, filters: { clientIdList: [anna] }, ...YEAR })
  }
})

test('the objects of every report are counted by every property, each once', async () => {
  const { reports: db } = business
  for (const { reportId } of REPORTS) {
    const job = await jobOf({ reportId, ...YEAR })
    const { count } = await readObjects(db, job, {}, { after: undefined, limit: 1 })
    for (const key of SUM_KEYS) {
      const sums = await readSums(db, job, {}, { by: [key], limit: 10_000 })
      assert.equal(
        sums.reduce((all, one) => all + one.count, 0),
        count,
        `${reportId} by ${key}`,
      )
    }
  }
})

test('the pages of a figure hold each object once', async () => {
  const job = await jobOf({ reportId: 602, ...YEAR })
  const seen: string[] = []
  let position: { time: string; key: string } | undefined
  let count: number
  for (;;) {
    const page = await readObjects(business.reports, job, {}, { after: position, limit: 4 })
    count = page.count
    seen.push(...page.objects.slice(0, 3).map(({ rowKey }) => rowKey))
    if (page.objects.length < 4) break
    const last = page.objects[2]!
    position = { time: last.time.toString(), key: last.rowKey }
  }
  assert.ok(count > 10)
  assert.equal(seen.length, count)
  assert.equal(new Set(seen).size, count)
})

test('a measure, key or currency that the report does not have is refused', async () => {
  const job = await jobOf({ reportId: 105, ...AUTUMN })
  const refused: [ObjectsRequest, string][] = [
    [{ measure: 'nothing' }, '?measure'],
    [{ line: 'x' }, '?line'],
    [{ measure: 'kept', currency: 'CHF' }, '?currency'],
  ]
  for (const [request, pointer] of refused) {
    await assert.rejects(read(job, request), (error) => {
      assert.ok(error instanceof RequestError)
      assert.deepEqual(
        error.errors?.map((fault) => fault.pointer),
        [pointer],
      )
      return true
    })
  }
})

test('no amount is shown to a reader without the function for money', async () => {
  const functions = new Set(['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS', 'VIEW_STAFF_REPORTS'])
  const reader = { ...everything(business.businessId), functions }
  for (const [reportId, measure] of [
    [101, 'value'],
    [204, 'lost'],
    [205, 'price'],
    [302, 'revenue'],
  ] as const) {
    const request = { reportId, ...YEAR }
    assert.ok((await read(await jobOf(request), { measure })).sumByCurrency)
    const job = await checkPrintRequest(business.reports, request, reader, NOW)
    await assert.rejects(read(job, { measure }), RequestError)
    assert.equal(
      (await read(job, {})).objects.some(({ currency }) => currency !== null),
      false,
    )
  }
})

test('a reader sees only objects of their part of the business', async () => {
  const { elena, businessId, reports } = business
  const reader = { ...everything(businessId), professionalIds: [elena] }
  const job = await checkPrintRequest(reports, { reportId: 101, ...YEAR }, reader, NOW)
  const all = await read(await jobOf({ reportId: 101, ...YEAR }), {})
  const own = await read(job, {})
  assert.ok(own.count > 0 && own.count < all.count)
  assert.ok(own.objects.every(({ professionalId }) => professionalId === elena))
  assert.equal((await read(job, { staff: String(business.tom) })).count, 0)
})

type Job = Awaited<ReturnType<typeof checkPrintRequest>>

const jobOf = (request: PrintRequest) =>
  checkPrintRequest(business.reports, request, everything(business.businessId), NOW)

const read = (job: Job, request: ObjectsRequest) =>
  readObjects(business.reports, job, request, { after: undefined, limit: 500 })

/** Follows every KPI and total of a report, and the cells of some rows. Returns how many are not zero. */
async function checkReport(request: PrintRequest) {
  const job = await jobOf(request)
  const printed = await printWithFilters(job)
  const { drillDown, columns, kpis, rows, totals } = printed
  assert.ok(drillDown, `${job.report.reportId} has no drill-down`)
  const drilled = await jobOf({ ...queryOf(drillDown.path), reportId: request.reportId })
  let nonZero = 0
  const follow = async (label: string, query: string, expected: number, money: boolean) => {
    const { sum, sumByCurrency, objects, count } = await read(
      drilled,
      Object.fromEntries(new URLSearchParams(query)),
    )
    const at = `${JSON.stringify(request)} ${label}: ${query}`
    assert.equal(count, objects.length, at)
    const amounts = objects.reduce((all, { amount }) => all + amount, 0)
    assert.equal(round(sum ?? 0), round(expected), at)
    assert.equal(round(amounts), round(expected), at)
    assert.equal(sumByCurrency !== null, money, at)
    if (expected !== 0) nonZero += 1
  }
  for (const [i, { name, value, unit }] of kpis.entries()) {
    const query = drillDown.kpis[i]
    if (query) await follow(`kpi ${name}`, query, value ?? 0, unit === 'money')
  }
  for (const [i, column] of columns.entries()) {
    const query = drillDown.columns[i]
    if (!query) continue
    for (const [currency, total] of totalsOf(column, totals)) {
      await follow(`total ${column.name}`, query + currency, total, column.type === 'money')
    }
  }
  for (const row of someOf(rows)) {
    for (const [i, column] of columns.entries()) {
      const query = drillDown.columns[i]
      if (!query || typeof row[i] === 'string') continue
      const cell = `row ${row.at(-1)} ${column.name}`
      await follow(cell, `${row.at(-1)}&${query}`, Number(row[i] ?? 0), column.type === 'money')
    }
  }
  return nonZero
}

const round = (value: number) => Math.round(value * 100) / 100

function totalsOf({ name, total }: Column, totals: Totals): [currency: string, total: number][] {
  const value = totals[name]
  if (!total || value === undefined || value === null) return []
  if (typeof value === 'number') return [['', value]]
  return Object.entries(value).map(([currency, amount]) => [`&currency=${currency}`, amount])
}

/** The first, the last and one between. */
const someOf = (rows: Cell[][]) =>
  rows.filter((_, i) => i === 0 || i === rows.length >> 1 || i === rows.length - 1)

type Printed = Omit<ReportResult, 'rows' | 'totals'> & { rows: Cell[][]; totals: Totals }

const printWithFilters = (job: Job) =>
  printReport(
    business.reports,
    job,
    async (result): Promise<Printed> => {
      const rows: Cell[][] = []
      for await (const batch of result.rows) rows.push(...batch)
      return { ...result, rows, totals: result.totals() }
    },
    { hasRowFilters: true },
  )

/** The query of a path as a request. */
function queryOf(path: string): PrintRequest {
  const query = new URL(path, 'http://localhost').searchParams
  const { filters, ...rest } = Object.fromEntries(query)
  assert.equal(rest.printedTime, String(NOW.epochMilliseconds))
  return { ...rest, ...(filters ? { filters: JSON.parse(filters) } : {}) }
}

/** Adds recalls, attendance, and reminders with mails of every result. */
async function addHistory({ db, businessId }: typeof business) {
  const stamp = sql`${NOW}, 'TEST', ${NOW}, 'TEST'`
  await db.query(sql`
    insert into recall (business_id, client_id, due_time, location_id, reason_id, status,
                        created_date, created_user, modified_date, modified_user)
    select ${businessId}, client_id, start_time + interval '3 days', case when calendar_id % 3 > 0 then location_id end,
           reason_id, case calendar_id % 4 when 0 then 'COMPLETED' when 1 then 'CANCELLED' else 'DUE' end, ${stamp}
    from calendar where business_id = ${businessId} and calendar_id % 5 = 0`)
  await db.query(sql`
    update class_schedule k set capacity = 6, attendance = (
      select coalesce(jsonb_agg(jsonb_build_object('clientId', one, 'present', one % 2 = 0)), '[]')
      from unnest(k.client_id_list) one)
    where business_id = ${businessId} and class_schedule_id % 3 > 0`)
  await db.query(sql`
    update calendar set booked_time = start_time - make_interval(hours => (calendar_id % 90)::int)
    where business_id = ${businessId}`)
  await db.query(sql`
    update client set email_address = 'a' || client_id || '@example.org'
    where business_id = ${businessId} and client_id % 2 = 0`)
  await addStatusChangesAndInvitations(business)
  await addFeedDifferences(business)
  const [definition] = await db.query<{ id: number }>(sql`
    insert into event_definition (business_id, active, description, event_type_id, object_type, trigger_hours,
                                  created_date, created_user, modified_date, modified_user)
    values (${businessId}, true, 'A day before', 3, 'CALENDAR', -24, ${stamp}) returning event_defn_id as id`)
  await db.query(sql`
    insert into event_trigger (business_id, event_defn_id, defn_version, object_type, object_id, anchor_time,
                               scheduled_time, status, completed_time, created_date)
    select ${businessId}, ${definition!.id}, 1, 'CALENDAR', calendar_id, start_time, start_time - interval '1 day',
           case when calendar_id % 7 = 0 then 'SKIPPED' when calendar_id % 11 = 0 then 'FAILED' else 'COMPLETED' end,
           case when calendar_id % 7 = 0 or calendar_id % 11 = 0 then null else start_time - interval '1 day' end,
           start_time - interval '9 days'
    from calendar where business_id = ${businessId} and start_time < ${NOW} and calendar_id % 3 > 0`)
  await db.query(sql`
    insert into email (business_id, event_trigger_id, object_type, object_id, recipient_key, to_address,
                       from_address, subject, message_id, status, status_reason, sent_time, created_date)
    select ${businessId}, t.event_trigger_id, 'CALENDAR', t.object_id, 'client ' || c.client_id, 'a@example.org',
           'b@example.org', 'Reminder', 'm' || t.event_trigger_id,
           (array['SENT', 'SENT', 'SENT', 'CAPTURED', 'SUPPRESSED', 'CANCELLED'])[1 + t.event_trigger_id % 6],
           case when t.event_trigger_id % 6 = 1 then 'bounced: 5.1.1' end, t.scheduled_time, t.scheduled_time
    from event_trigger t
    join calendar c on (c.business_id, c.calendar_id) = (t.business_id, t.object_id)
    where t.business_id = ${businessId} and t.status <> 'SKIPPED'`)
}

/** Adds status changes, invitations with bookings, and forms. */
async function addStatusChangesAndInvitations({ db, businessId }: typeof business) {
  const stamp = sql`${NOW}, 'TEST', ${NOW}, 'TEST'`
  await db.query(sql`
    update calendar set status = (array['NO_SHOW', 'COMPLETED', 'CANCELLED', 'OPEN'])[1 + calendar_id % 4],
                        modified_date = start_time + interval '1 day'
    where business_id = ${businessId} and calendar_id % 3 = 0 and start_time < ${NOW}`)
  const [campaign] = await db.query<{ id: number }>(sql`
    insert into invitation_campaign (business_id, name, created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'Autumn', ${stamp}) returning invitation_campaign_id as id`)
  await db.query(sql`
    insert into invitation (business_id, invitation_uuid, invitation_campaign_id, client_id, status,
                            created_date, created_user, modified_date, modified_user)
    select ${businessId}, md5('invitation ' || calendar_id), ${campaign!.id}, client_id,
           (array['SENT', 'COMPLETED', 'EXPIRED', 'CANCELLED'])[1 + calendar_id % 4],
           booked_time - interval '1 hour', 'TEST', booked_time, 'TEST'
    from calendar where business_id = ${businessId} and calendar_id % 4 < 3`)
  const [form] = await db.query<{ id: number }>(sql`
    insert into disclaimer_form (business_id, name, created_date, created_user, modified_date, modified_user)
    values (${businessId}, 'Consent', ${stamp}) returning disclaimer_form_id as id`)
  await db.query(sql`
    insert into disclaimer (business_id, disclaimer_form_id, client_id, calendar_id, status,
                            created_date, created_user, modified_date, modified_user)
    select ${businessId}, ${form!.id}, client_id, calendar_id,
           (array['PENDING', 'SIGNED', 'WAIVED'])[1 + calendar_id % 3], booked_time, 'TEST', booked_time, 'TEST'
    from calendar where business_id = ${businessId} and calendar_id % 5 < 3`)
}

/** Adds a feed whose reconciliations found every kind of difference, about appointments and entries. */
async function addFeedDifferences(stored: typeof business) {
  const [first] = await stored.db.query<{ id: number }>(sql`
    select min(calendar_id) as id from calendar where business_id = ${stored.businessId}`)
  const feedId = await addFeed(stored, 'Salon')
  const differences = DIFFERENCE_KINDS.map((kind) => ({
    kind,
    key: kind,
    objectType: kind === 'MISSED_CREATE' ? null : 'CALENDAR',
    objectId: kind === 'MISSED_CREATE' ? null : first!.id,
  }))
  for (const [day, found] of [differences, differences.slice(1), []].entries()) {
    const sums = { source: 3, mirrored: 2, held: 1, skipped: 0 }
    await addReconciliation(stored, feedId, `2026-11-0${day + 1}T02:00Z`, {
      sums,
      differences: found,
    })
  }
  await addReconciliation(stored, await addFeed(stored, 'Studio'), '2026-11-02T02:00Z', {
    sums: { source: 1, mirrored: 1, held: 0, skipped: 0 },
    differences,
  })
}
