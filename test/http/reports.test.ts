import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { REPORT_FORMATS } from '../../src/contract/report.ts'
import type { Db } from '../../src/database/database.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { ask, createKey, createPerson, signInAs, startWithBusiness } from '../support/callers.ts'
import { until } from '../support/until.ts'
import { fillBusiness } from '../reports/business.ts'
import { readCsv, readHtml, readJson, readPages, readXlsx } from '../reports/read-back.ts'

const OCTOBER = 'startDate=2026-10-01&endDate=2026-10-31'
/** It has ended: a range in the future is compared with nothing. */
const JANUARY = 'startDate=2026-01-01&endDate=2026-01-31'
const PRINT = '/report/print/file'

test('the categories hold the reports with the fields of the interface', async (t) => {
  const { call, businessId } = await open(t)
  const { status, body } = await call('GET', '/reports/category')
  assert.equal(status, 200)
  assert.deepEqual(
    body.map((one: { category: string }) => one.category),
    ['APPOINTMENTS', 'NO_SHOWS', 'STAFF', 'CLIENTS', 'CLASSES', 'AUTOMATION'],
  )
  const [, first] = body[0].reports
  assert.equal(first.reportId, 101)
  assert.equal(first.businessId, businessId)
  assert.equal(first.planIds, 0)
  assert.equal(first.resellerIds, 0)
  assert.equal(body[2].reports[0].securityFunctions, 'PRINT_REPORTS,VIEW_STAFF_REPORTS')
})

test('the query says what the figures are compared with', async (t) => {
  const { print } = await open(t)
  const compared = async (query: string) => {
    const { statusCode, rawPayload } = await print(`${JANUARY}&format=json${query}`, {
      reportId: 102,
    })
    assert.equal(statusCode, 200)
    const { comparison } = JSON.parse(String(rawPayload))
    return comparison?.startDate ?? null
  }
  assert.equal(await compared(''), '2025-12-01')
  assert.equal(await compared('&compareWith=PREVIOUS_PERIOD'), '2025-12-01')
  assert.equal(await compared('&compareWith=LAST_YEAR'), '2025-01-01')
  assert.equal(await compared('&compareWith=NONE'), null)
  const refused = await print(`${JANUARY}&compareWith=YESTERDAY`, { reportId: 102 })
  assert.equal(refused.statusCode, 422)
  assert.deepEqual(
    refused.json().errors.map(({ pointer }: { pointer: string }) => pointer),
    ['?compareWith'],
  )
})

test('the same rows come back from all five formats, each under its own type and name', async (t) => {
  const { book, print } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  await book({ at: '2026-10-25T02:30+01:00', status: 'NO_SHOW' })

  const files = Object.fromEntries(
    await Promise.all(
      REPORT_FORMATS.map(async (format) => {
        const answer = await print(`${OCTOBER}&format=${format}`, { reportId: 101 })
        assert.equal(answer.statusCode, 200)
        assert.equal(
          answer.headers['content-disposition'],
          `attachment; filename="appointment-list_2026-10-01_2026-10-31.${format}"`,
        )
        assert.equal(Number(answer.headers['content-length']), answer.rawPayload.length)
        return [format, answer] as const
      }),
    ),
  )
  const types = REPORT_FORMATS.map((format) => String(files[format]!.headers['content-type']))
  assert.deepEqual(types, [
    'application/pdf',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'text/csv; charset=utf-8',
    'text/html; charset=utf-8',
    'application/json; charset=utf-8',
  ])
  const bytes = (format: string) => files[format]!.rawPayload
  const json = readJson(bytes('json'))
  assert.equal(json.rows.length, 2)
  assert.deepEqual(readCsv(bytes('csv')).rows, json.rows)
  const html = readHtml(bytes('html'))
  assert.deepEqual(
    html.rows.map((row) => row.slice(0, 8)),
    json.rows.map((row) => row.slice(0, 8)),
  )
  const xlsx = readXlsx(bytes('xlsx'))
  assert.deepEqual(
    xlsx.rows.map((row) => row.slice(7)),
    json.rows.map((row) => row.slice(7).map(Number)),
  )
  assert.deepEqual(xlsx.totals.slice(7), json.totals!.slice(7).map(Number))
  const { pages } = await readPages(bytes('pdf'))
  assert.match(pages.join(''), /2026-10-0509:00AnnaMüllerCheck-up.*2026-10-2502:30AnnaMüller/s)
  assert.match(pages.join(''), /Total60161\.00/)
})

test('the default format is PDF, and attach=false answers it inline', async (t) => {
  const { print } = await open(t)
  const answer = await print(`${OCTOBER}&attach=false`, { reportFileName: 'appointment-list' })
  assert.equal(answer.headers['content-type'], 'application/pdf')
  assert.match(String(answer.headers['content-disposition']), /^inline; /)
  assert.equal(answer.rawPayload.subarray(0, 5).toString(), '%PDF-')
})

test('without a body, a report and days the list of the current month is printed', async (t) => {
  const { print, clock, zurich } = await open(t)
  const printed = async (query: string, body?: object) => {
    const answer = await print(query, body)
    assert.equal(answer.statusCode, 200, answer.payload)
    const { report, parameters } = answer.json()
    return [report.reportId, parameters.startDate, parameters.endDate]
  }
  const today = clock.now().toZonedDateTimeISO('Europe/Zurich').toPlainDate()
  const month = [
    today.with({ day: 1 }).toString(),
    today.with({ day: today.daysInMonth }).toString(),
  ]
  assert.deepEqual(await printed('format=json'), [101, ...month])
  assert.deepEqual(await printed(`format=JSON&locationId=${zurich}`), [101, ...month])
  assert.deepEqual(await printed('format=Json&reportId=102'), [102, ...month])
  assert.deepEqual(await printed('format=json&reportFileName=appointment-list'), [101, ...month])
  assert.deepEqual(await printed('format=json', { reportId: 102 }), [102, ...month])
  const both = { reportId: 101, reportFileName: 'appointment-list' }
  assert.deepEqual(await printed('format=json', both), [101, ...month])
  const empty = 'startDate=&endDate=&locationId=&attach=&reportId=&reportFileName=&compareWith='
  assert.deepEqual(await printed(`format=json&${empty}`), [101, ...month])
})

test('attach is true, 1, false, 0 or empty', async (t) => {
  const { print } = await open(t)
  for (const [attach, disposition] of [
    ['attach', 'attachment'],
    ['attach=', 'attachment'],
    ['attach=1', 'attachment'],
    ['attach=TRUE', 'attachment'],
    ['attach=0', 'inline'],
  ]) {
    const answer = await print(`${OCTOBER}&format=csv&${attach}`)
    assert.equal(answer.statusCode, 200, answer.payload)
    assert.match(String(answer.headers['content-disposition']), new RegExp(`^${disposition}; `))
  }
})

test('the JSON format has the documented properties', async (t) => {
  const { book, print, newYork } = await open(t)
  await book({ at: '2026-10-05T09:00-04:00', locationId: newYork })
  const answer = await print(`${OCTOBER}&format=json&locationId=${newYork}`, { reportId: 101 })
  const body = answer.json()
  assert.deepEqual(body.parameters, {
    startDate: '2026-10-01',
    endDate: '2026-10-31',
    timeZone: 'America/New_York',
    locationId: newYork,
    printedTime: Date.parse('2026-03-02T09:00:00Z'),
  })
  assert.equal(body.report.reportId, 101)
  assert.deepEqual(Object.keys(body.kpis[0]).slice(0, 5), [
    'name',
    'label',
    'value',
    'previous',
    'unit',
  ])
  assert.deepEqual(body.columns[0], { name: 'date', label: 'Date', type: 'date' })
  assert.equal(body.rows[0].length, body.columns.length)
  assert.deepEqual(body.totals, { minutes: 30, price: 80.5 })
})

const refused: { name: string; query: string; body?: unknown; at: string[] }[] = [
  { name: 'an unknown report in the query', query: `${OCTOBER}&reportId=9`, at: ['?reportId'] },
  {
    name: 'another report in the query than in the body',
    query: `${OCTOBER}&reportFileName=appointment-list`,
    body: { reportId: 102 },
    at: ['?reportFileName'],
  },
  {
    name: 'the id of one report and the file name of another',
    query: OCTOBER,
    body: { reportId: 102, reportFileName: 'appointment-list' },
    at: ['/reportFileName'],
  },
  {
    name: 'the id of one report and the file name of another in the query',
    query: `${OCTOBER}&reportId=102&reportFileName=appointment-list`,
    at: ['?reportFileName'],
  },
  {
    name: 'an unknown format',
    query: `${OCTOBER}&format=docx`,
    body: { reportId: 101 },
    at: ['?format'],
  },
  {
    name: 'a wrong attach',
    query: `${OCTOBER}&attach=maybe`,
    body: { reportId: 101 },
    at: ['?attach'],
  },
  {
    name: 'attach with the name of a method',
    query: `${OCTOBER}&attach=constructor`,
    at: ['?attach'],
  },
  {
    name: 'another business',
    query: OCTOBER,
    body: { reportId: 101, businessId: 999 },
    at: ['/businessId'],
  },
  {
    name: 'a businessId that is not an id',
    query: OCTOBER,
    body: { reportId: 101, businessId: 'x' },
    at: ['/businessId'],
  },
  { name: 'no last day', query: 'startDate=2026-10-01', at: ['?endDate'] },
  { name: 'no first day', query: 'endDate=2026-10-01&startDate=', at: ['?startDate'] },
  {
    name: 'an impossible day',
    query: 'startDate=2026-02-30&endDate=2026-03-01',
    body: { reportId: 101 },
    at: ['?startDate'],
  },
  {
    name: 'everything',
    query: 'format=x&startDate=1&endDate=2&locationId=0',
    body: { reportId: 'a' },
    at: ['?format', '/reportId', '?startDate', '?endDate', '?locationId'],
  },
]

test('bad input is refused as problem+json, every fault at once', async (t) => {
  const { print } = await open(t)
  for (const { name, query, body, at } of refused) {
    await t.test(name, async () => {
      const answer = await print(query, body)
      assert.equal(answer.statusCode, 422)
      assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
      const pointers = answer.json().errors.map(({ pointer }: { pointer: string }) => pointer)
      assert.deepEqual(pointers, at)
    })
  }
})

test('a location of another business is refused like an unknown one', async (t) => {
  const { print, database } = await open(t)
  const other = await fillBusiness(database, 'Another')
  const theirs = await print(`${OCTOBER}&locationId=${other.zurich}`, { reportId: 101 })
  const nobodys = await print(`${OCTOBER}&locationId=999999`, { reportId: 101 })
  assert.equal(theirs.statusCode, 422)
  assert.deepEqual(theirs.json(), nobodys.json())
})

test('without the scope 403, without a credential 401', async (t) => {
  const { app, database, clock, businessId } = await open(t)
  const { key } = await createKey(database, clock, businessId, ['scheduling:read'])
  const payload = { reportId: 101 }
  const url = `${PRINT}?${OCTOBER}`
  const scoped = await app.inject({
    method: 'POST',
    url,
    payload,
    headers: { authorization: `Bearer ${key}` },
  })
  assert.equal(scoped.statusCode, 403)
  assert.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 401)
})

test('a USER sees and prints their own appointments, and no report about others', async (t) => {
  const { app, book, businessId, callAs, clock, database, elena, tom } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00', professionalId: elena })
  await book({ at: '2026-10-05T10:00+02:00', professionalId: tom })
  await createPerson(database, clock, businessId, {
    username: 'tom',
    role: 'USER',
    professionalId: tom,
  })
  const call = callAs({ cookie: await signInAs(app, 'tom') })

  const { body } = await call('POST', `${PRINT}?${OCTOBER}&format=json`, { reportId: 101 })
  assert.deepEqual(
    body.rows.map((row: unknown[]) => row[1]),
    ['10:00'],
  )
  const staff = await call('POST', `${PRINT}?${OCTOBER}&format=json`, { reportId: 301 })
  assert.equal(staff.status, 403)
  const categories = await call('GET', '/reports/category')
  assert.deepEqual(
    categories.body.flatMap((one: { reports: { reportId: number }[] }) =>
      one.reports.map((r) => r.reportId),
    ),
    [100, 101, 103, 104, 105, 106, 206, 401, 402, 601],
  )
})

test('a USER cannot print the revenue report, and sees no prices in any format or run of the list', async (t) => {
  const { app, book, businessId, callAs, clock, database, elena } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  const person = { username: 'elena', role: 'USER', professionalId: elena } as const
  await createPerson(database, clock, businessId, person)
  const cookie = await signInAs(app, 'elena')
  const call = callAs({ cookie })
  const summary = await call('POST', `${PRINT}?${OCTOBER}`, { reportId: 102 })
  assert.equal(summary.status, 403)

  const printed = async (format: string) => {
    const url = `${PRINT}?${OCTOBER}&format=${format}`
    const payload = { reportId: 101 }
    const answer = await app.inject({ method: 'POST', url, headers: { cookie }, payload })
    assert.equal(answer.statusCode, 200, format)
    return answer.rawPayload
  }
  const { totals, kpis, columns, charts } = JSON.parse(String(await printed('json')))
  assert.deepEqual(totals, { minutes: 30 })
  assert.deepEqual(
    [...kpis, ...charts].filter(({ unit }: { unit: string }) => unit === 'money'),
    [],
  )
  const shown = columns.map(({ label }: { label: string }) => label)
  assert.deepEqual(shown.slice(-2), ['Status', 'Min'])
  const csv = await printed('csv')
  assert.deepEqual(readCsv(csv).labels, shown)
  const xlsx = readXlsx(await printed('xlsx'))
  assert.deepEqual(xlsx.totals.filter(Number), [30])
  const html = String(await printed('html'))
  const { pages } = await readPages(await printed('pdf'))
  for (const text of [String(csv), html, pages.join('')]) {
    assert.match(text, /Check-up/)
    assert.doesNotMatch(text, /80\.5|Price|Revenue|CHF/)
  }

  const prefer = { prefer: 'respond-async' }
  const asked = await call('POST', `${PRINT}?${OCTOBER}&format=csv`, { reportId: 101 }, prefer)
  let run!: { file: string }
  await until(async () => {
    const { body } = await call('GET', `/report/run/${asked.body.runId}`)
    run = body
    return body.status === 'COMPLETED'
  })
  const file = await app.inject({ url: run.file, headers: { cookie } })
  assert.deepEqual(file.rawPayload, csv)
})

test('a LOCATION_SUPER_USER can print only their own locations', async (t) => {
  const { app, book, businessId, callAs, clock, database, zurich, newYork } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00', locationId: zurich })
  await book({ at: '2026-10-05T10:00+02:00', locationId: newYork })
  const person = { username: 'lea', role: 'LOCATION_SUPER_USER', locationIdList: [zurich] } as const
  await createPerson(database, clock, businessId, person)
  const call = callAs({ cookie: await signInAs(app, 'lea') })

  const { body } = await call('POST', `${PRINT}?${OCTOBER}&format=json`, { reportId: 101 })
  assert.deepEqual(
    body.rows.map((row: unknown[]) => row[1]),
    ['09:00'],
  )
  const otherLocation = await call('POST', `${PRINT}?${OCTOBER}&locationId=${newYork}`, {
    reportId: 101,
  })
  assert.equal(otherLocation.status, 422)
})

test('a report requested with respond-async is printed in the background and fetched later', async (t) => {
  const { book, call, app, key } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  const prefer = { prefer: 'respond-async' }
  const asked = await call('POST', `${PRINT}?${OCTOBER}&format=csv`, { reportId: 101 }, prefer)
  assert.equal(asked.status, 202)
  assert.equal(asked.headers.location, `/report/run/${asked.body.runId}`)
  assert.deepEqual([asked.body.rowsDone, asked.body.rowsTotal, asked.body.file], [0, 1, null])

  const run = await untilRun(call, asked.body.runId, 'COMPLETED')
  assert.deepEqual([run.rowsDone, run.rowsTotal], [1, 1])
  const headers = { authorization: `Bearer ${key}` }
  const file = await app.inject({ url: run.file, headers })
  assert.equal(file.statusCode, 200)
  assert.equal(file.headers['content-type'], 'text/csv; charset=utf-8')
  assert.equal(readCsv(file.rawPayload).rows.length, 1)
})

test('a report run is started once for an Idempotency-Key, and again for another', async (t) => {
  const { call } = await open(t)
  const start = async (key: string, format = 'csv') => {
    const headers = { prefer: 'respond-async', 'idempotency-key': key }
    return call('POST', `${PRINT}?${OCTOBER}&format=${format}`, { reportId: 101 }, headers)
  }
  const first = await start('one')
  assert.equal(first.status, 202)
  const again = await start('one')
  assert.deepEqual([again.status, again.body], [202, first.body])
  assert.equal(again.headers.location, first.headers.location)
  assert.equal((await start('one', 'json')).status, 422)
  const other = await start('two')
  assert.notEqual(other.body.runId, first.body.runId)
  await untilRun(call, first.body.runId, 'COMPLETED')
  await untilRun(call, other.body.runId, 'COMPLETED')
})

test('a report run is visible only to the credential that started it', async (t) => {
  const { call, callAs, database, clock, businessId } = await open(t)
  const prefer = { prefer: 'respond-async' }
  const { body } = await call('POST', `${PRINT}?${OCTOBER}&format=csv`, { reportId: 101 }, prefer)
  const { key } = await createKey(database, clock, businessId)
  const other = callAs({ authorization: `Bearer ${key}` })
  assert.equal((await other('GET', `/report/run/${body.runId}`)).status, 404)
  assert.equal((await other('GET', `/report/run/${body.runId}/file`)).status, 404)
  assert.equal((await call('GET', '/report/run/999999')).status, 404)
})

test('a failed print is answered with a problem, not with a partial file', async (t) => {
  const { book, print, breakRows } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  breakRows()
  for (const format of REPORT_FORMATS) {
    const answer = await print(`${OCTOBER}&format=${format}`, { reportId: 101 })
    assert.equal(answer.statusCode, 500, format)
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
    assert.equal(answer.headers['content-disposition'], undefined)
  }
})

test('a failed run has the status FAILED and no file', async (t) => {
  const { book, call, breakRows } = await open(t)
  await book({ at: '2026-10-05T09:00+02:00' })
  breakRows()
  const prefer = { prefer: 'respond-async' }
  const { body } = await call('POST', `${PRINT}?${OCTOBER}&format=csv`, { reportId: 101 }, prefer)
  const run = await untilRun(call, body.runId, 'FAILED')
  assert.equal(run.file, null)
  assert.ok(run.statusReason)
  assert.equal((await call('GET', `/report/run/${body.runId}/file`)).status, 404)
})

test('a run without heartbeats is shown as FAILED', async (t) => {
  const { call, clock, db, businessId } = await open(t)
  const prefer = { prefer: 'respond-async' }
  const { body } = await call('POST', `${PRINT}?${OCTOBER}&format=csv`, { reportId: 101 }, prefer)
  await untilRun(call, body.runId, 'COMPLETED')
  await db.query(sql`
    update report_run set status = 'RUNNING', file_size = null where business_id = ${businessId}`)
  assert.equal((await call('GET', `/report/run/${body.runId}`)).body.status, 'RUNNING')
  clock.advance({ minutes: 2 })
  assert.equal((await call('GET', `/report/run/${body.runId}`)).body.status, 'FAILED')
})

test('a printed HTML page cannot run scripts', async (t) => {
  const { print } = await open(t)
  const answer = await print(`${OCTOBER}&format=html&attach=false`, { reportId: 105 })
  const policy = String(answer.headers['content-security-policy'])
  assert.match(policy, /^sandbox; default-src 'none'; style-src 'unsafe-inline'/)
})

async function untilRun(call: ReturnType<typeof ask>, runId: number, status: string) {
  const read = async () => (await call('GET', `/report/run/${runId}`)).body
  await until(async () => (await read()).status === status)
  return read()
}

async function open(t: TestContext) {
  const started = await startWithBusiness(t)
  const { app, database } = started
  const business = await fillBusiness(database)
  const { key } = await createKey(database, started.clock, business.businessId)
  const headers = { authorization: `Bearer ${key}` }
  const print = (query: string, payload?: unknown) =>
    app.inject({
      method: 'POST',
      url: `${PRINT}?${query}`,
      headers,
      ...(payload === undefined ? {} : { payload: payload as object }),
    })
  /** Makes the connection break after the rows of a report. */
  const breakRows = () => {
    const { reportsOf } = database
    database.reportsOf = (businessId) => {
      const db = reportsOf(businessId)
      const breaking = (tx: Db): Db => ({
        ...tx,
        async *stream<Row>(statement: Sql, batchSize: number) {
          yield* tx.stream<Row>(statement, batchSize)
          throw new Error('the connection broke')
        },
      })
      return { ...db, snapshot: (work) => db.snapshot((tx) => work(breaking(tx))) }
    }
  }
  return { ...started, ...business, key, print, breakRows, call: started.callAs(headers) }
}
