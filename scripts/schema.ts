import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { describeSchema } from '../test/support/describe-schema.ts'

/** Writes docs/schema.sql from a database that the migrations have just created: npm run schema. */
const folder = fs.mkdtempSync('/tmp/bellwether-schema-')
const embedded = await openEmbedded(path.join(folder, 'data'), 'command', { fsync: 'off' })
try {
  await migrate(embedded.url)
  const client = new pg.Client({ connectionString: embedded.url })
  await client.connect()
  const text = await describeSchema(client).finally(() => client.end())
  fs.writeFileSync(path.join(import.meta.dirname, '../docs/schema.sql'), text)
} finally {
  await embedded.stop()
  fs.rmSync(folder, { recursive: true, force: true })
}
