import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { cloneDatabase } from '../support/database.ts'

/** One connection for all, so that a setting that leaks reaches the next transaction. */
async function openWithOneConnection(t: Parameters<typeof cloneDatabase>[0]) {
  const { url } = await cloneDatabase(t)
  const database = openDatabase({ url, connections: 1 })
  t.after(() => database.close())
  return database
}

const readBusiness = sql`select current_setting('app.business_id', true) as business`

test('a single statement and a transaction have the settings of their own business only', async (t) => {
  const database = await openWithOneConnection(t)
  assert.deepEqual(await database.forBusiness(7, 'anna').query(readBusiness), [{ business: '7' }])
  const both = await database
    .forBusiness(8, 'ben')
    .transaction((tx) =>
      Promise.all([tx.query(readBusiness), tx.query(sql`select app_user() as name`)]),
    )
  assert.deepEqual(both, [[{ business: '8' }], [{ name: 'ben' }]])
  assert.deepEqual(await database.forBusiness(9, 'cleo').query(readBusiness), [{ business: '9' }])
})

test('statements of one batch have their results in order', async (t) => {
  const database = await openWithOneConnection(t)
  const answers = await database.engine.transaction((tx) =>
    Promise.all([1, 2, 3].map((n) => tx.query(sql`select ${n}::int as n where ${n}::int <> 2`))),
  )
  assert.deepEqual(answers, [[{ n: 1 }], [], [{ n: 3 }]])
})

test('a result is available while the server still runs a later, longer statement of the batch', async (t) => {
  const { url } = await cloneDatabase(t)
  const database = openDatabase({ url, connections: 2 })
  t.after(() => database.close())
  const lock = sql`select pg_advisory_xact_lock(7)`
  const isHeld = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const holding = database.engine.transaction(async (tx) => {
    await tx.query(lock)
    isHeld.resolve()
    await release.promise
  })
  await isHeld.promise
  const order: string[] = []
  await database.engine.transaction(async (tx) => {
    const early = tx.query(sql`select 1 as early`).then(() => {
      order.push('early')
      release.resolve()
    })
    const late = tx
      .query(sql`select pg_advisory_xact_lock(7), ${'x'.repeat(10_000)}::text`)
      .then(() => order.push('late'))
    await Promise.all([early, late])
  })
  await holding
  assert.deepEqual(order, ['early', 'late'])
})

test('a sent statement that fails rolls back its transaction, which reports the error', async (t) => {
  const database = await openWithOneConnection(t)
  const failing = database.engine.transaction(async (tx) => {
    tx.send(sql`create temporary table kept (n int)`)
    tx.send(sql`select 1 / ${0}::int`)
    return tx.query(sql`select 'not reached'`)
  })
  await assert.rejects(failing, /division by zero/)
  const [{ found }] = (await database.engine.query(
    sql`select to_regclass('kept') is not null as found`,
  )) as [{ found: boolean }]
  assert.equal(found, false)
})

test('a failed attempt is rolled back and the transaction continues', async (t) => {
  const database = await openWithOneConnection(t)
  const kept = sql`select to_regclass('tried') is not null as tried, to_regclass('kept') is not null as kept`
  const found = await database.engine.transaction(async (tx) => {
    tx.send(sql`create temporary table kept (n int)`)
    const failing = tx.attempt(async (part) => {
      part.send(sql`create temporary table tried (n int)`)
      part.send(sql`select 1 / ${0}::int`)
      return part.query(sql`select 'not reached'`)
    })
    await assert.rejects(failing, /division by zero/)
    const unseen = tx.attempt(async (part) => part.send(sql`select 2 / ${0}::int`))
    await assert.rejects(unseen, /division by zero/)
    return tx.query(kept)
  })
  assert.deepEqual(found, [{ tried: false, kept: true }])
})

test('an attempt that fails after a failed attempt inside it is rolled back as a whole', async (t) => {
  const database = await openWithOneConnection(t)
  const found = await database.engine.transaction(async (tx) => {
    const outer = tx.attempt(async (part) => {
      await part.query(sql`create temporary table tried (n int)`)
      const inner = part.attempt((deeper) => deeper.query(sql`select 1 / ${0}::int`))
      await assert.rejects(inner, /division by zero/)
      return part.query(sql`select 2 / ${0}::int`)
    })
    await assert.rejects(outer, /division by zero/)
    return tx.query(sql`select to_regclass('tried') is not null as tried`)
  })
  assert.deepEqual(found, [{ tried: false }])
})

test('a statement that was skipped after an error can run again on the same connection', async (t) => {
  const database = await openWithOneConnection(t)
  const neverParsed = sql`select 'asked again' as answer`
  const failing = database.engine.transaction((tx) =>
    Promise.all([tx.query(sql`select 1 / ${0}::int`), tx.query(neverParsed)]),
  )
  await assert.rejects(failing, /division by zero/)
  assert.deepEqual(await database.engine.query(neverParsed), [{ answer: 'asked again' }])
})

test('work that throws before its first statement leaves no transaction open', async (t) => {
  const database = await openWithOneConnection(t)
  const failing = database.engine.transaction(async () => {
    throw new Error('never mind')
  })
  await assert.rejects(failing, /never mind/)
  const first = await database.engine.query<{ now: string }>(sql`select now()::text as now`)
  const second = await database.engine.query<{ now: string }>(sql`select now()::text as now`)
  assert.notEqual(first[0]!.now, second[0]!.now)
})

test('a stream in a transaction reads the rows of statements that were sent before it', async (t) => {
  const database = await openWithOneConnection(t)
  const rows = await database.engine.transaction(async (tx) => {
    tx.send(sql`create temporary table sent on commit drop as select generate_series(1, 5) as n`)
    const read: number[] = []
    for await (const batch of tx.stream<{ n: number }>(sql`select n from sent order by n`, 2)) {
      read.push(...batch.map((row) => row.n))
    }
    return read
  })
  assert.deepEqual(rows, [1, 2, 3, 4, 5])
})

test('timestamps of all years are read as they were written', async (t) => {
  const database = await openWithOneConnection(t)
  for (const text of [
    '0001-01-01T00:00:00Z',
    '0099-12-31T23:59:59.999Z',
    '1900-02-28T12:00:00.5Z',
    '9999-12-31T23:59:59Z',
  ]) {
    const moment = Temporal.Instant.from(text)
    const [row] = await database.engine.query<{ read: Temporal.Instant }>(
      sql`select ${moment}::timestamptz as read`,
    )
    assert.equal(String(row!.read), String(moment))
  }
})
