import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { listAudit, listRecordedEvents } from '../../src/store/audit.ts'
import { cloneDatabase } from '../support/database.ts'
import { asOwner } from '../support/owner.ts'
import { statementOf } from '../support/statement.ts'

const { database } = await cloneDatabase({ after })
const [BUSINESSES, OBJECTS, ENTRIES] = [10, 500, 4]

/** Every second change is one of the status. */
before(() =>
  asOwner(
    database,
    `insert into audit (business_id, time, username, object, id, change, after)
     select 1 + o % ${BUSINESSES}, to_timestamp(e * 1000 + o), 'x', 'calendar', o::text,
            case e when 0 then 'CREATED' else 'CHANGED' end, jsonb_build_object('status', e / 2, 'note', e)
     from generate_series(0, ${ENTRIES - 1}) e, generate_series(1, ${BUSINESSES * OBJECTS}) o`,
    'analyze audit',
  ),
)

test('a page of recorded events looks up the previous state only of entries that it reads', async () => {
  const query = {
    object: 'calendar',
    change: 'CHANGED' as const,
    columns: ['status', 'later_column'],
    from: Temporal.Instant.fromEpochMilliseconds(0),
    to: Temporal.Instant.fromEpochMilliseconds(10_000_000_000),
    after: undefined,
    limit: 50,
  }
  const { rows, lookUps } = await run((db) => listRecordedEvents(db, 3, query))
  assert.equal(rows, 50)
  // The first change of each object does not change its status.
  assert.ok(lookUps <= OBJECTS + 2 * query.limit, `${lookUps} look-ups`)
})

test('a page of the audit looks up the previous state only of entries that it shows', async () => {
  const { rows, lookUps } = await run((db) => listAudit(db, 3, {}, { after: undefined, limit: 50 }))
  assert.equal(rows, 50)
  assert.equal(lookUps, 50)
})

test('a backtest of a short range reads only the entries of that range', async () => {
  const range = {
    from: Temporal.Instant.fromEpochMilliseconds(1_000_000),
    to: Temporal.Instant.fromEpochMilliseconds(1_100_000),
  }
  // The business has 20 entries in that range, half of them of new objects.
  const assertFew = ({ rows, discarded }: { rows: number; discarded: number }) => {
    assert.equal(rows, 5)
    assert.ok(discarded <= 20, `${discarded} discarded`)
  }
  const query = { object: 'calendar', change: 'CHANGED' as const, columns: ['note'], limit: 5 }
  const first = await run((db) =>
    listRecordedEvents(db, 3, { ...query, ...range, after: undefined }),
  )
  assertFew(first)
  const [, , last] = await database.forBusiness(3, 'test').query<{ auditId: number }>(sql`
      select audit_id as "auditId" from audit where time >= ${range.from} order by time`)
  const { auditId: after } = last!
  const next = await run((db) => listRecordedEvents(db, 3, { ...query, ...range, after }))
  assertFew(next)
  const listed = await run((db) => listAudit(db, 3, range, { after: undefined, limit: 5 }))
  assertFew(listed)
})

type Plan = {
  Alias?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** Runs the application's statement with EXPLAIN ANALYZE. */
async function run(ask: (db: Db) => Promise<unknown>) {
  const explained = sql`explain (analyze, format json) ${await statementOf(ask)}`
  const db = database.forBusiness(3, 'test')
  const [row] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explained)
  const { Plan: plan } = row!['QUERY PLAN'][0]!
  const all = (part: Plan): Plan[] => [part, ...(part.Plans ?? []).flatMap(all)]
  const lookUps = all(plan)
    .filter(({ Alias }) => Alias === 'p' || Alias?.startsWith('p_'))
    .reduce((sum, part) => sum + part['Actual Loops'], 0)
  const discarded = all(plan).reduce((sum, part) => sum + (part['Rows Removed by Filter'] ?? 0), 0)
  return { rows: plan['Actual Rows'], lookUps, discarded }
}
