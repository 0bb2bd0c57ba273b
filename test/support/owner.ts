import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'

/** Does to a test's database what no role of the service may: the schema's owner can take out a guard. */
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

/** Where another process finds a test's database. */
export async function urlOf(database: Database) {
  const [row] = await database.engine.query<{ name: string }>(
    sql`select current_database() as name`,
  )
  const url = new URL(process.env.TEST_SERVER_URL!)
  url.pathname = `/${row!.name}`
  return url.href
}
