import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database, Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { printToFile } from '../../src/reports/print-to-file.ts'
import { checkPrintRequest } from '../../src/reports/print-request.ts'
import { openBusiness, everything, NOW } from '../reports/business.ts'
import { until } from '../support/until.ts'
import { openDelivery } from './open.ts'

const PRINT = '/report/print/file?startDate=2026-10-01&endDate=2026-10-31&format=csv'
const OCTOBER = { reportId: 101, startDate: '2026-10-01', endDate: '2026-10-31' }

test('runs above the limit are refused with 429, and the others end', async (t) => {
  const { call, database } = await openDelivery(t)
  const release = holdPrints(database)
  const prefer = { prefer: 'respond-async' }
  const asked: { status: number; headers: Record<string, unknown>; body: { runId: number } }[] = []
  // Two run and twenty wait.
  for (let i = 0; i < 24; i++) asked.push(await call('POST', PRINT, { reportId: 101 }, prefer))
  const accepted = asked.filter(({ status }) => status === 202)
  const refused = asked.filter(({ status }) => status === 429)
  assert.deepEqual([accepted.length, refused.length], [22, 2])
  assert.equal(refused[0]!.headers['retry-after'], '10')
  release()
  for (const { body } of accepted) {
    const read = async () => (await call('GET', `/report/run/${body.runId}`)).body.status
    await until(async () => (await read()) === 'COMPLETED')
  }
})

test('a report of many batches prints completely, and its thread is usable after an aborted print', async (t) => {
  const { businessId, db, reports, anna, elena, checkUp, zurich } = await openBusiness(t)
  await db.query(sql`
    insert into calendar (business_id, client_id, professional_id, reason_id, location_id,
      start_time, end_time, status, created_date, created_user, modified_date, modified_user)
    select ${businessId}, ${anna}, ${elena}, ${checkUp}, ${zurich}, at, at + interval '30 min',
           'COMPLETED', at, 'TEST', at, 'TEST'
    from generate_series(timestamptz '2026-10-01 08:00Z', '2026-10-06 08:00Z', '1 min') at`)
  const job = await checkPrintRequest(reports, OCTOBER, everything(businessId), NOW)
  const print = async (signal: AbortSignal) => {
    const file = await printToFile(reports, job, { format: 'csv', pageSize: 'A4', signal })
    const text = (await file.handle.readFile()).toString()
    await file.handle.close()
    assert.equal(Buffer.byteLength(text), file.size)
    return text
  }
  const text = await print(new AbortController().signal)
  assert.equal(text.split('\r\n').length, 1 + 7_201 + 1)

  const leaving = new AbortController()
  const aborted = printToFile(reports, job, {
    format: 'html',
    pageSize: 'A4',
    signal: leaving.signal,
    onProgress: () => leaving.abort(new Error('the client left')),
  })
  await assert.rejects(aborted, /the client left/)
  assert.equal(await print(new AbortController().signal), text)
})

/** Prints wait until the returned function is called. */
function holdPrints(database: Database) {
  const held = Promise.withResolvers<void>()
  wrapReports(database, (db) => ({
    ...db,
    snapshot: async (work) => {
      await held.promise
      return db.snapshot(work)
    },
  }))
  return held.resolve
}

function wrapReports(database: Database, wrap: (db: Db) => Db) {
  const { reportsOf } = database
  database.reportsOf = (businessId) => wrap(reportsOf(businessId))
}
