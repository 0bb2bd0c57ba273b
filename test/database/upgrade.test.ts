import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { migrate, readMigrations } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { startApp } from '../support/app.ts'
import { ask, createKey } from '../support/callers.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { cloneDatabase, createEmptyDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'

const folder = path.join(import.meta.dirname, '../fixtures/schemas')

for (const file of fs.readdirSync(folder)) {
  const version = path.basename(file, '.sql.gz')
  test(`a database of ${version} is upgraded to the schema of a new one, and keeps its data`, async (t) => {
    const { url } = await createEmptyDatabase(t)
    const dump = gunzipSync(fs.readFileSync(path.join(folder, file))).toString()
    await withClient(url, (client) => client.query(dump))
    const had = await withClient(url, countMigrations)
    const known = await readMigrations()
    assert.equal((await migrate(url)).length, known.length - had)
    const fresh = await cloneDatabase(t)
    assert.equal(await withClient(url, describeSchema), await withClient(fresh.url, describeSchema))

    const database = openDatabase({ url, connections: 2 })
    cleanUpLater(t, () => database.close())
    const { app, clock } = await startApp(t, { database })
    const { key } = await createKey(database, clock, 1)
    const call = ask(app, { authorization: `Bearer ${key}` })
    const listOf = async (place: string) => (await call('GET', place)).body.items
    const statuses = (await listOf('/calendar')).map(({ status }: { status: string }) => status)
    assert.deepEqual(statuses.toSorted(), ['CANCELLED', 'OPEN', 'OPEN'])
    assert.equal((await listOf('/client')).length, 2)
    const [mail] = await listOf('/emails')
    const { html } = (await call('GET', `/emails/${mail.emailId}`)).body
    assert.match(html, /Dear Ada/)
    const pending = await listOf('/eventTriggers?status=SCHEDULED')
    assert.ok(pending.length > 0, 'reminders are still planned')
    const saved = await call('POST', '/calendar', { calendarId: 1, note: 'after the upgrade' })
    assert.equal(saved.status, 200, JSON.stringify(saved.body))
    const changes: { before: { note: string } | null; after: { note: string } }[] = await listOf(
      '/audit?object=calendar&id=1',
    )
    const change = changes.find(({ after }) => after.note === 'after the upgrade')
    assert.equal(change?.before?.note, null, 'the audit knows the state before the upgrade')
  })
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function countMigrations(client: pg.Client) {
  const { rows } = await client.query('select count(*)::int as count from public.schema_migration')
  return rows[0].count as number
}
