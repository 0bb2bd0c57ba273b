import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { readBody } from '../../src/store/message-bodies.ts'
import { urlOf } from './owner.ts'

/**
 * Searches all columns of all tables, the bytes of files and dictionaries, and the decompressed mails for
 * these values. Returns each table with the value found in it.
 */
export async function findLeftovers(database: Database, values: string[]) {
  const found: string[] = []
  const search = (place: string, text: string) => {
    for (const value of values) {
      if (text.toLowerCase().includes(value.toLowerCase())) found.push(`${place}: ${value}`)
    }
  }
  await eachTable(database, async (client, name) => {
    const { rows } = await client.query(`
      select coalesce(string_agg(t::text, ' '), '') as text,
             coalesce(string_agg((select string_agg(encode(b.value::bytea, 'escape'), ' ')
               from jsonb_each_text(to_jsonb(t)) b where b.value like '\\x%'), ' '), '') as bytes
      from ${name} t`)
    search(name, `${rows[0].text} ${rows[0].bytes}`)
  })
  const mails = await database.engine.query<{ businessId: number; message: Buffer }>(sql`
    select business_id as "businessId", message from email where length(message) > 32`)
  for (const { businessId, message } of mails) {
    search('decompressed mail', (await readBody(database.engine, businessId, message)).text)
  }
  return found
}

/** The tables that have rows of a business. */
export async function tablesOfBusiness(database: Database, businessId: number) {
  const tables: string[] = []
  await eachTable(database, async (client, name) => {
    const { rows } = await client.query(
      `select count(*)::int as count from ${name} t where to_jsonb(t) ->> 'business_id' = $1`,
      [String(businessId)],
    )
    if (rows[0].count > 0) tables.push(name)
  })
  return tables
}

async function eachTable(
  database: Database,
  visit: (client: pg.Client, name: string) => Promise<void>,
) {
  const client = new pg.Client({ connectionString: await urlOf(database) })
  await client.connect()
  try {
    const { rows } = await client.query(`
      select c.oid::regclass::text as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1`)
    for (const { name } of rows) await visit(client, name)
  } finally {
    await client.end()
  }
}
