import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { migrate, readMigrations, type Migration } from '../../src/database/migrate.ts'
import { cloneDatabase, createEmptyDatabase } from '../support/database.ts'

const first: Migration = { version: 1, name: '0001_first', text: 'create table one (id int)' }
const second: Migration = { version: 2, name: '0002_second', text: 'create table two (id int)' }

test('migrations are applied in order, and only once', async (t) => {
  const { url } = await createEmptyDatabase(t)
  assert.deepEqual(await migrate(url, [first]), ['0001_first'])
  assert.deepEqual(await migrate(url, [first, second]), ['0002_second'])
  assert.deepEqual(await migrate(url, [first, second]), [])
})

test('a migration is applied although one with a higher number was applied before', async (t) => {
  const { url } = await createEmptyDatabase(t)
  const third = { version: 3, name: '0003_third', text: 'create table three (id int)' }
  assert.deepEqual(await migrate(url, [first, third]), ['0001_first', '0003_third'])
  assert.deepEqual(await migrate(url, [first, second, third]), ['0002_second'])
  assert.deepEqual(await migrate(url, [first, second, third]), [])
})

test('nodes that start together apply each migration once', async (t) => {
  const { url } = await createEmptyDatabase(t)
  const applied = await Promise.all([1, 2, 3, 4, 5].map(() => migrate(url, [first, second])))
  assert.deepEqual(applied.flat().toSorted(), ['0001_first', '0002_second'])
})

test('several nodes can create the schema at once, in several databases', async (t) => {
  const databases = await Promise.all([createEmptyDatabase(t), createEmptyDatabase(t)])
  const runs = databases.flatMap(({ url }) => [migrate(url), migrate(url)])
  const applied = (await Promise.all(runs)).flat()
  assert.equal(applied.length, 2 * (await readMigrations()).length)
})

test('a migration that fails changes nothing', async (t) => {
  const { url } = await createEmptyDatabase(t)
  const broken = { ...second, text: 'create table two (id int); select 1 / 0' }
  await assert.rejects(migrate(url, [first, broken]), /migration 0002_second: division by zero/)
  assert.deepEqual(await tablesOf(url), ['one', 'schema_migration'])
  assert.deepEqual(await migrate(url, [first, second]), ['0002_second'])
})

test('a schema newer than the program is refused in one line that says what to do', async (t) => {
  const { url } = await createEmptyDatabase(t)
  await migrate(url, [first, second])
  await assert.rejects(migrate(url, [first]), {
    name: 'StartError',
    message: /^The database's schema has version 2, this Bellwether knows 1: run a newer .*$/,
  })
})

test('the template database of the tests has every migration', async (t) => {
  const { url } = await cloneDatabase(t)
  assert.deepEqual(await migrate(url), [])
})

async function tablesOf(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select tablename from pg_tables where schemaname = 'public' order by 1`,
  )
  await client.end()
  return rows.map((row) => row.tablename)
}
