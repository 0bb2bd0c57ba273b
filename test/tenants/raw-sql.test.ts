import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { raw, sql } from '../../src/database/sql.ts'
import { createBusiness } from '../support/callers.ts'
import { manualClock } from '../support/clock.ts'
import { cloneDatabase } from '../support/database.ts'
import { asApplication } from './catalogue.ts'
import { dump, fillEveryTable, insertRow } from './rows.ts'

const run = (db: Db, text: string) => db.query<{ n: number }>(sql`${raw(text)}`)

/** How many rows a statement returns; 0 if privileges or row-level security refuse it. */
async function countRows(db: Db, text: string) {
  try {
    return (await run(db, text)).length
  } catch (error) {
    assert.match(String(error), /permission denied|row-level security/, text)
    return 0
  }
}

test('the application role reads no row of another business, whatever the statement', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const clock = manualClock()
  const own = await createBusiness(database, clock, 'A')
  const other = await createBusiness(database, clock, 'B')
  const tables = await fillEveryTable(url, [own.businessId, other.businessId])
  const before = await dump(url, tables, other.businessId)
  const db = database.forBusiness(own.businessId, 'test')
  const B = other.businessId

  for (const table of tables) {
    const { name } = table
    assert.notEqual(before[name], '', `${name} has a row`)
    for (const reader of [db, database.reportsOf(own.businessId)]) {
      assert.equal(await countRows(reader, `select from ${name} where business_id = ${B}`), 0, name)
      assert.equal(
        await countRows(reader, `select from ${name} where business_id <> ${own.businessId}`),
        0,
        name,
      )
    }
    const moved = `update ${name} set business_id = business_id where business_id = ${B} returning 1`
    assert.equal(await countRows(db, moved), 0, name)
    assert.equal(await countRows(db, `delete from ${name} where business_id = ${B} returning 1`), 0)
    const giveAway = `update ${name} set business_id = ${B} where business_id = ${own.businessId} returning 1`
    await assert.rejects(
      run(db, giveAway),
      /permission denied|row-level security|foreign key|which is final/,
      giveAway,
    )
    await assert.rejects(run(db, `truncate ${name} cascade`), /permission denied/)
  }
  assert.deepEqual(await dump(url, tables, other.businessId), before)
})

test('the application role cannot write rows of another business', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const clock = manualClock()
  const own = await createBusiness(database, clock, 'A')
  const other = await createBusiness(database, clock, 'B')
  const tables = await fillEveryTable(url, [own.businessId, other.businessId])
  await asApplication(url, async (client) => {
    await client.query(`select set_config('app.business_id', '${own.businessId}', false)`)
    for (const table of tables) {
      await assert.rejects(
        insertRow(client, table, other.businessId),
        /permission denied|row-level security/,
        table.name,
      )
    }
  })
})

test('without a business the application role sees no rows', async (t) => {
  const { database, url } = await cloneDatabase(t)
  const { businessId } = await createBusiness(database, manualClock(), 'A')
  const tables = await fillEveryTable(url, [businessId])
  await asApplication(url, async (client) => {
    for (const setting of [undefined, '', '0', '-1']) {
      if (setting !== undefined) await client.query(`set app.business_id = '${setting}'`)
      for (const { name } of tables) {
        try {
          const { rowCount } = await client.query(`select from ${name}`)
          assert.equal(rowCount, 0, name)
        } catch (error) {
          assert.match(String(error), /permission denied/, name)
        }
      }
    }
  })
})

test('a business’s setting does not outlive its transaction on the connection', async (t) => {
  const { url } = await cloneDatabase(t)
  const { rows } = await asApplication(url, async (client) => {
    await client.query(`begin; set local app.business_id = '1'; commit`)
    return client.query('select app_business() as business')
  })
  assert.deepEqual(rows, [{ business: null }])
})
