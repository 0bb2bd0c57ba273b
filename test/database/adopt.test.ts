import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { migrate, readMigrations, type Migration } from '../../src/database/migrate.ts'
import { runCommand } from '../support/command.ts'
import { cloneDatabase, createEmptyDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { asOwner } from '../tenants/catalogue.ts'

const { url, client } = await createFormerDatabase()
await client.query(readFixture('rows-0068.sql').toString())
const before = await readRows(client)

test('a database before the last former migration is refused in one line that says what to do', async () => {
  await client.query(`delete from schema_migration where version = 68`)
  await assert.rejects(migrate(url), {
    name: 'StartError',
    message:
      /^The database's schema is at migration 66 of the former numbering, with 55 of 56 applied\. .* start revision \w+ of Bellwether once, then this one\.$/,
  })
  await client.query(`insert into schema_migration values (68, '0068_client_words')`)
})

test('doctor says that a database of the former migrations must be migrated', async () => {
  const { stdout } = await runCommand(['doctor'], { DATABASE_URL: url })
  assert.match(
    stdout,
    /^note +Schema +migration 68 of the former numbering\n +→ run bellwether migrate/m,
  )
})

test('nodes that start together adopt a database once', async () => {
  const applied = await Promise.all([1, 2, 3].map(() => migrate(url)))
  const names = (await readMigrations()).map(({ name }) => name)
  assert.deepEqual(applied.flat().toSorted(), names)
  assert.deepEqual(await migrate(url), [])
})

test('an adopted database has the schema of a new one', async (t) => {
  const fresh = await cloneDatabase(t)
  const schema = await asOwner(fresh.url, describeSchema)
  assert.equal(await describeSchema(client), schema)
})

test('an adopted database keeps every row of every table, and all ids', async () => {
  const now = await readRows(client)
  for (const [table, rows] of Object.entries(before)) {
    assert.ok(rows.length > 0, `${table} has rows`)
    if (DROPPED_TABLES.includes(table)) continue
    const converted = rows.map((row) => CONVERSIONS[table]?.(row) ?? row)
    const expected = [...converted, ...(ADDED_ROWS[table] ?? [])]
    const kept = now[RENAMED_TABLES[table] ?? table]!.map((row) => only(row, expected[0]!))
    assert.deepEqual(inOrder(kept), inOrder(expected), table)
  }
})

test('the ids of an adopted database continue where they were', async () => {
  const { rows } = await client.query(`
    select nextval('calendar_calendar_id_seq')::int as calendar,
           nextval('event_trigger_event_trigger_id_seq')::int as trigger,
           nextval('email_email_id_seq')::int as email`)
  assert.deepEqual(rows, [{ calendar: 501, trigger: 5001, email: 4001 }])
})

test('an adopted database is audited and checked like a new one', async () => {
  await client.query(
    `update calendar set note = 'new', modified_date = now() where calendar_id = 101`,
  )
  const { rows } = await client.query(`
    select change, before ->> 'note' as before, after ->> 'note' as after from audit_entry
    where object = 'calendar' and id = '101' order by audit_id desc limit 1`)
  assert.deepEqual(rows, [{ change: 'CHANGED', before: 'note 101', after: 'new' }])
  await assert.rejects(client.query(`update calendar set client_id = 999`), { code: '23503' })
  await assert.rejects(
    client.query(`update event_trigger set scheduled_time = now()`),
    /which is final/,
  )
})

/** Written, but never read: the adoption leaves them out. */
const DROPPED_TABLES = ['status_history']
const RENAMED_TABLES: Record<string, string> = {
  waiting: 'pending_trigger',
  lane: 'worker_lease',
  sending: 'email_queue',
  sending_epoch: 'server_epoch',
  setup_mark: 'settings_version',
}

type Row = Record<string, unknown>

/** Without the columns that later migrations added. */
const only = (row: Row, like: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => column in like))

/** How the adoption converts a former row; it does not change the rows of other tables. */
const CONVERSIONS: Record<string, (row: Row) => Row> = {
  waiting: ({ claims, worker, ...row }) => ({
    ...row,
    worker: null,
    attempts: worker !== null && claims === 1 ? 0 : claims,
    next_attempt_time: row.scheduled_time,
  }),
  lane: (row) => without(row, 'latest'),
  sending: (row) => ({ ...without(row, 'lease_until'), attempts: 1 }),
  email: (row) => without(row, 'attempt_count'),
  setup_mark: ({ mark, ...row }) => ({ ...row, version: mark }),
  status: (row) => without(row, 'external_id', 'address'),
  operator_key: (row) => without(row, 'created_date'),
  link_seal: (row) => without(row, 'created_date'),
  password_link: (row) => without(row, 'created_date'),
  time_zone_data: (row) => without(row, 'modified_date'),
}

const without = (row: Row, ...columns: string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !columns.includes(column)))

/** Workers that were sending mails had no lease of their own. */
const ADDED_ROWS: Record<string, Row[]> = {
  lane: [{ worker: 'node-1', lease_until: '2026-01-31T10:00:00+00:00' }],
}

/** The rows of every table, without columns that the database computes. */
async function readRows(client: pg.Client): Promise<Record<string, Row[]>> {
  const { rows: tables } = await client.query<{ name: string; computed: string[] }>(`
    select relname as name, array(select attname::text from pg_attribute
      where attrelid = c.oid and attgenerated <> '' and attname <> 'address') as computed
    from pg_class c
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_migration'`)
  const all: Record<string, Row[]> = {}
  for (const { name, computed } of tables) {
    const { rows } = await client.query<{ row: Row }>({
      text: `select to_jsonb(t) - $1::text[] as row from ${name} t`,
      values: [computed],
    })
    all[name] = rows.map(({ row }) => row)
  }
  return all
}

const inOrder = (rows: Row[]) =>
  rows.map((row) => JSON.stringify(Object.entries(row).toSorted())).toSorted()

/** A database as the former migrations, 0001 to 0068, left it. */
async function createFormerDatabase() {
  const former = await createEmptyDatabase({ after })
  await migrate(former.url, formerMigrations())
  const connection = new pg.Client({ connectionString: former.url })
  connection.on('error', () => {}) // the database is dropped before the client ends
  await connection.connect()
  after(() => connection.end())
  return { url: former.url, client: connection }
}

function formerMigrations(): Migration[] {
  const text = gunzipSync(readFixture('migrations-0068.sql.gz')).toString()
  const parts = text.split(/^-- migration (\d{4}_\w+)\n/m)
  return parts.flatMap((name, i) =>
    i % 2 === 1 ? [{ version: Number(name.slice(0, 4)), name, text: parts[i + 1]! }] : [],
  )
}

function readFixture(name: string) {
  return fs.readFileSync(path.join(import.meta.dirname, '../fixtures', name))
}
