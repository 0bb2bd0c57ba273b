import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspectDatabase } from '../../src/database/inspect.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { sql } from '../../src/database/sql.ts'
import { cleanUpLater } from '../support/clean-up.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { runStatement } from '../support/server.ts'

/** A login can have the same settings; those of a database leave the other tests alone. */
const HOSTILE = [
  `statement_timeout = '1ms'`,
  `lock_timeout = '1ms'`,
  `idle_in_transaction_session_timeout = '1ms'`,
  `default_transaction_isolation = 'serializable'`,
  `datestyle = 'German'`,
  `row_security = 'off'`,
]

test('settings of the login or the database break neither a migration nor the service', async (t) => {
  const { url } = await createEmptyDatabase(t)
  const name = new URL(url).pathname.slice(1)
  const [server] = await runStatement({ folder: '', url }, 'show server_version_num')
  const all = [
    ...HOSTILE,
    ...(server.server_version_num >= 170000 ? [`transaction_timeout = '20ms'`] : []),
  ]
  // On one connection: the next one has these settings, and would have to end within a millisecond.
  const statements = all.map((setting) => `alter database ${name} set ${setting}`)
  await runStatement({ folder: '', url }, statements.join(';'))

  assert.ok((await migrate(url)).length > 10)
  assert.equal((await inspectDatabase(url, [])).rolesMissing.length, 0)
  const database = openDatabase({ url })
  cleanUpLater(t, () => database.close())
  await database.readTime()
  await database.checkWritable()
  const [row] = await database.engine.query<{ isolation: string; day: Temporal.Instant }>(sql`
    select current_setting('transaction_isolation') as isolation,
           '2026-03-02T09:00:00Z'::timestamptz as day, pg_sleep(0.03)`)
  assert.equal(row!.isolation, 'read committed')
  assert.equal(String(row!.day), '2026-03-02T09:00:00Z')
})
