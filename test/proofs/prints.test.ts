import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { assertWithin } from '../support/within.ts'
import { startWorld } from '../support/world.ts'
import { isFull } from './random.ts'

/*
 * Long reports are printed to their end, alone and concurrently, over ordinary HTTP connections. Only
 * `npm run proof:prints` asserts durations, on an idle machine.
 */

const LONG_ROWS = isFull ? 50_000 : 1_200
const LONG_MS = 30_000
const AT_ONCE = isFull ? 20 : 4
const ROWS_EACH = isFull ? 8_700 : 150

const RANGE = 'startDate=2024-01-01&endDate=2031-12-31'

test(`a PDF of ${LONG_ROWS} rows ends in time`, async (t) => {
  const { print } = await openWithRows(t, LONG_ROWS)
  const begun = process.hrtime.bigint()
  const { status, bytes } = await print('pdf')
  const tookMs = Number(process.hrtime.bigint() - begun) / 1e6
  assert.equal(status, 200)
  assertIsWhole(bytes)
  assertWithin(t, { what: `a PDF of ${LONG_ROWS} rows`, tookMs, limitMs: LONG_MS })
})

test(`${AT_ONCE} prints of ${ROWS_EACH} rows at once all end`, async (t) => {
  const { print } = await openWithRows(t, ROWS_EACH)
  const begun = process.hrtime.bigint()
  const files = await Promise.all(Array.from({ length: AT_ONCE }, () => print('pdf')))
  const tookMs = Number(process.hrtime.bigint() - begun) / 1e6
  t.diagnostic(`${AT_ONCE} prints of ${ROWS_EACH} rows: ${Math.round(tookMs)} ms`)
  for (const { status, bytes } of files) {
    assert.equal(status, 200)
    assertIsWhole(bytes)
  }
  // All print the same report: a truncated file would be shorter.
  const sizes = new Set(files.map(({ bytes }) => Math.round(bytes.length / 1_000)))
  assert.ok(sizes.size <= 2, [...sizes].join())
})

function assertIsWhole(bytes: Buffer) {
  assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
  assert.match(bytes.subarray(-16).toString('latin1'), /%%EOF\s*$/)
}

/** A statement must end before its timeout, also on a busy machine. */
const INSERTED_AT_ONCE = 2_500

async function openWithRows(t: TestContext, rows: number) {
  const { app, businessId, db, ids, key } = await startWorld(t)
  const { clientId, professionalId, reasonId, locationId } = ids
  for (let from = 0; from < rows; from += INSERTED_AT_ONCE) {
    await db.query(sql`
      insert into calendar (business_id, client_id, professional_id, reason_id, location_id, start_time, end_time,
                            status, created_date, created_user, modified_date, modified_user)
      select ${businessId}, ${clientId}, ${professionalId}, ${reasonId}, ${locationId}, start,
             start + interval '30 min', 'COMPLETED', start, 'TEST', start, 'TEST'
      from generate_series(${from + 1}::int, ${Math.min(from + INSERTED_AT_ONCE, rows)}::int) i,
           lateral (select timestamptz '2024-01-02' + i * interval '1 hour' as start) s`)
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    print: (format: string) =>
      new Promise<{ status: number; bytes: Buffer }>((resolve, reject) => {
        const path = `/report/print/file?${RANGE}&format=${format}`
        request({ port, host: '127.0.0.1', path, method: 'POST', headers }, (answer) => {
          const chunks: Buffer[] = []
          answer
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('error', reject)
            .on('end', () => resolve({ status: answer.statusCode!, bytes: Buffer.concat(chunks) }))
        })
          .on('error', reject)
          .end('{"reportId":101}')
      }),
  }
}
