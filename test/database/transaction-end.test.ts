import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Database, Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { cloneDatabase } from '../support/database.ts'

const ENDED = { message: /transaction has ended/ }
const readBusiness = sql`select app_business() as id`

test('a transaction handle kept after the commit throws, also while another business uses the connection', async (t) => {
  const { leaked, inOtherBusiness } = await startWithOneConnection(t)
  const late = await leaked(async (db, keep) => db.transaction(async (tx) => keep(tx)))
  await inOtherBusiness(() => assertEnded(late))
})

test('a transaction handle kept after a rollback throws', async (t) => {
  const { leaked, inOtherBusiness } = await startWithOneConnection(t)
  const late = await leaked(async (db, keep) => {
    const failing = db.transaction(async (tx) => {
      keep(tx)
      throw new Error('stop')
    })
    await assert.rejects(failing, /stop/)
  })
  await inOtherBusiness(() => assertEnded(late))
})

test('a handle kept after a snapshot throws', async (t) => {
  const { leaked, inOtherBusiness } = await startWithOneConnection(t)
  const late = await leaked(async (db, keep) => db.snapshot(async (tx) => keep(tx)))
  await inOtherBusiness(() => assertEnded(late))
})

test('the handle of a failed attempt throws, and the transaction around it continues', async (t) => {
  const { database } = await cloneDatabase(t, 1)
  const rows = await database.forBusiness(1, 'test').transaction(async (tx) => {
    let late!: Db
    const failing = tx.attempt(async (inner) => {
      late = inner
      throw new Error('stop')
    })
    await assert.rejects(failing, /stop/)
    await assertEnded(late)
    return tx.query(readBusiness)
  })
  assert.deepEqual(rows, [{ id: 1 }])
})

test('a stream begun in a transaction ends with it', async (t) => {
  const { leaked, inOtherBusiness } = await startWithOneConnection(t)
  let rows!: AsyncIterator<unknown>
  await leaked(async (db, keep) =>
    db.transaction(async (tx) => {
      rows = tx.stream(sql`select generate_series(1, 10)`, 2)[Symbol.asyncIterator]()
      await rows.next()
      keep(tx)
    }),
  )
  await inOtherBusiness(() => assert.rejects(Promise.resolve(rows.next()), ENDED))
})

/** With one connection, the next transaction always reuses the connection of the last one. */
async function startWithOneConnection(t: TestContext) {
  const { database } = await cloneDatabase(t, 1)
  return {
    leaked: (work: (db: Db, keep: (tx: Db) => void) => Promise<unknown>) => leak(database, work),
    inOtherBusiness: (check: () => Promise<void>) =>
      database.forBusiness(2, 'other').transaction(async (tx) => {
        await check()
        assert.deepEqual(await tx.query(readBusiness), [{ id: 2 }])
      }),
  }
}

async function leak(
  database: Database,
  work: (db: Db, keep: (tx: Db) => void) => Promise<unknown>,
) {
  let late!: Db
  await work(database.forBusiness(1, 'test'), (tx) => (late = tx))
  return late
}

async function assertEnded(late: Db) {
  await assert.rejects(async () => late.query(readBusiness), ENDED)
  await assert.rejects(async () => late.transaction(async (tx) => tx.query(readBusiness)), ENDED)
  await assert.rejects(async () => late.attempt(async (tx) => tx.query(readBusiness)), ENDED)
  await assert.rejects(
    async () => late.stream(readBusiness, 1)[Symbol.asyncIterator]().next(),
    ENDED,
  )
  await assert.rejects(async () => late.send(readBusiness), ENDED)
  await assert.rejects(async () => late.hint('bellwether_due'), ENDED)
}
