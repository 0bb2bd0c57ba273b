import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { migrate, readMigrations, type Migration } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { runCommand } from '../support/command.ts'
import { cloneDatabase, createEmptyDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

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

test('a program that lacks one migration of the database refuses it, and changes nothing', async (t) => {
  const { url } = await createEmptyDatabase(t)
  const third = { version: 3, name: '0003_third', text: 'create table three (id int)' }
  await migrate(url, [first, second])
  await assert.rejects(migrate(url, [first, third]), { name: 'StartError' })
  assert.deepEqual(await tablesOf(url), ['one', 'schema_migration', 'two'])
})

test('an older node is told to stop before the schema is migrated, and another waits meanwhile', async (t) => {
  const { url } = await createEmptyDatabase(t)
  await migrate(url, [first])
  const told = Promise.withResolvers<void>()
  const node = openDatabase({ url, heartbeat: { onUpgrade: told.resolve } })
  await until(async () => (await countNodes(url)) === 1)
  const upgrade = migrate(url, [first, second])
  await told.promise
  assert.deepEqual(await tablesOf(url), ['one', 'schema_migration'], 'it waits for the node')
  await node.close()
  assert.deepEqual(await upgrade, ['0002_second'])
})

test('a node of an older version stops with 0 during an upgrade, and refuses to start afterwards', async (t) => {
  const { url } = await cloneDatabase(t)
  const settings = { DATABASE_URL: url, ADMIN_API_KEY: 'operator-key-of-this-test' }
  const service = await startService(t, settings)
  await until(async () => (await countNodes(url)) === 1)
  const known = await readMigrations()
  const next = { version: 9999, name: '9999_next', text: 'create table next (id int)' }
  assert.deepEqual(await migrate(url, [...known, next]), ['9999_next'])
  assert.equal(await service.ended, 0)
  assert.match(service.stdout(), /a newer version of Bellwether upgrades the database/)

  const before = await contentOf(url)
  for (const word of ['serve', 'migrate', 'create-operator-key']) {
    const { DATABASE_URL } = settings
    const { code, stderr } = await runCommand([word], { DATABASE_URL })
    assert.match(stderr, /^The database's schema has version 9999, [^\n]*\n$/, word)
    assert.equal(code, 2)
  }
  assert.equal(await contentOf(url), before, 'nothing was changed')
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

/** The nodes that hold the lock of nodes. */
const countNodes = async (url: string) =>
  Number(
    await ask(
      url,
      `select count(*) from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = current_database() and l.locktype = 'advisory' and l.mode = 'ShareLock' and l.granted`,
    ),
  )

async function contentOf(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const schema = await describeSchema(client)
  const { rows } = await client.query('select * from schema_migration order by version')
  await client.end()
  return schema + JSON.stringify(rows)
}

async function ask(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query({ text: statement, rowMode: 'array' })
  await client.end()
  return rows[0]?.[0]
}
