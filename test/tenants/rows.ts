import type pg from 'pg'
import {
  asOwner,
  INSTALLATION_TABLES,
  readCatalogue,
  type Column,
  type Table,
} from './catalogue.ts'

/** Part of every text in the inserted rows by default. An answer that contains it leaks such a row. */
export const MARKER = 'GEHEIM'

let last = 7_000_000_000

/**
 * Inserts a row for each business into every table that has none, without constraints or triggers.
 * It reads the list of tables from the database, so it also fills tables of later migrations.
 */
export async function fillEveryTable(url: string, businessIds: number[], word = MARKER) {
  const tables = (await readCatalogue(url)).filter(
    ({ name }) => !INSTALLATION_TABLES.includes(name),
  )
  await asOwner(url, async (client) => {
    const checks = await dropChecks(client)
    await client.query('set session_replication_role = replica')
    for (const table of tables) {
      for (const businessId of businessIds) {
        const findRow = `select from ${table.name} where business_id = ${businessId} limit 1`
        if ((await client.query(findRow)).rowCount === 0)
          await insertRow(client, table, businessId, word)
      }
    }
    for (const { table, name, definition } of checks) {
      await client.query(`alter table ${table} add constraint ${name} ${definition} not valid`)
    }
  })
  return tables
}

async function dropChecks(client: pg.Client) {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(`
    select conrelid::regclass::text as table, quote_ident(conname) as name,
           pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace`)
  for (const { table, name } of rows)
    await client.query(`alter table ${table} drop constraint ${name}`)
  return rows
}

export async function insertRow(
  client: pg.Client,
  table: Table,
  businessId: number,
  word = MARKER,
) {
  const columns = table.columns.filter(
    ({ name, generated, notNull }) =>
      name !== 'business_id' && !generated && (notNull || table.primaryKey.includes(name)),
  )
  const names = ['business_id', ...columns.map(({ name }) => name)]
  const values = [businessId, ...columns.map((column) => valueFor(column, word))]
  const places = values.map((_, i) => `$${i + 1}`)
  await client.query(
    `insert into ${table.name} (${names.join(', ')}) values (${places.join(', ')})`,
    values,
  )
}

function valueFor({ type }: Column, word: string): unknown {
  last += 1
  if (/^(bigint|integer|smallint|numeric)$/.test(type)) return type === 'bigint' ? last : 1
  if (type === 'boolean') return true
  if (type.startsWith('timestamp')) return '2026-03-02T09:00:00Z'
  if (type === 'date') return '2026-03-02'
  if (type === 'bytea') return Buffer.from(`${word}${last}`)
  if (type === 'jsonb') return JSON.stringify({ word })
  if (type.endsWith('[]')) return []
  return `${word}${last}`
}

/** All rows of a business, as one text for each table. */
export function dump(url: string, tables: Table[], businessId: number) {
  return asOwner(url, async (client) => {
    const texts: Record<string, string> = {}
    for (const { name } of tables) {
      const { rows } = await client.query(
        `select coalesce(string_agg(t::text, E'\\n' order by t::text), '') as text
         from ${name} t where business_id = $1`,
        [businessId],
      )
      texts[name] = rows[0].text
    }
    return texts
  })
}
