import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'

/** Runs statements as the schema's owner, for example to remove a constraint or trigger. */
export async function asOwner(database: Database, ...statements: string[]) {
  const [row] = await database.engine.query<{ name: string }>(
    sql`select current_database() as name`,
  )
  const url = new URL(process.env.TEST_SERVER_URL!)
  url.pathname = `/${row!.name}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The URL of a test's database, for another process. */
export async function urlOf(database: Database) {
  const [row] = await database.engine.query<{ name: string }>(
    sql`select current_database() as name`,
  )
  const url = new URL(process.env.TEST_SERVER_URL!)
  url.pathname = `/${row!.name}`
  return url.href
}
