import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { isFull } from '../proofs/random.ts'
import { assertWithin } from '../support/within.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

const ROUNDS = isFull ? 9 : 1
const REPORT = '/report/print/file?startDate=2026-03-01&endDate=2026-12-31&format=csv'

test('a reminder fires while reports hold their transactions open', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, database, db, ids, save } = world
  const { runEngine } = startEngine(world)
  await save('/eventDefinition', reminder(businessId, -24))
  await addAppointments(db, businessId, ids, 3_000)

  /** How many milliseconds a due reminder takes to fire. */
  const lateness = async () => {
    await book(clock.in({ hours: 25 }))
    clock.advance({ hours: 1, minutes: 1 })
    const begun = process.hrtime.bigint()
    assert.equal(await runEngine(), 1)
    return Number(process.hrtime.bigint() - begun) / 1e6
  }
  await lateness()

  const alone: number[] = []
  const duringReports: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await lateness())
    const { close, readOn } = await holdReportsOpen(database.reportsOf(businessId))
    const printed = Promise.all([1, 2, 3].map(() => call('POST', REPORT, { reportId: 101 })))
    duringReports.push(await lateness())
    // The reminder waited neither for their connections nor for their locks: they are still open.
    for (const { done } of await readOn()) assert.equal(done, false)
    await close()
    for (const { status } of await printed) assert.equal(status, 200)
  }
  assertWithin(t, {
    what: 'a reminder that fires while reports are printed',
    tookMs: median(duringReports),
    limitMs: 2 * median(alone) + SLACK_MS,
  })
})

/** Allows for a batch that is written in the same event loop when the trigger is due. */
const SLACK_MS = 25

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

type Db = Parameters<typeof addAppointments>[0]

/** Opens two streams and reads their first batch, so that their transactions stay open. */
async function holdReportsOpen(db: Db) {
  const readers = await Promise.all(
    [1, 2].map(async () => {
      const batches = db.stream(sql`select * from calendar`, 100)[Symbol.asyncIterator]()
      await batches.next()
      return batches
    }),
  )
  return {
    readOn: () => Promise.all(readers.map((reader) => reader.next())),
    close: () => Promise.all(readers.map((reader) => reader.return?.())),
  }
}

async function addAppointments(
  db: Awaited<ReturnType<typeof startWorld>>['db'],
  businessId: number,
  { clientId, professionalId, reasonId, locationId }: Record<string, number>,
  count: number,
) {
  await db.query(sql`
    insert into calendar (business_id, client_id, professional_id, reason_id, location_id, start_time, end_time,
                          status, created_date, created_user, modified_date, modified_user)
    select ${businessId}, ${clientId}, ${professionalId}, ${reasonId}, ${locationId}, start, start + interval '1 hour',
           'COMPLETED', start, 'TEST', start, 'TEST'
    from generate_series(1, ${count}) i, lateral (select timestamptz '2026-04-01' + i * interval '1 hour' as start) s`)
}
