import type { Writable } from 'node:stream'
import pg from 'pg'
import { StartError } from '../errors.ts'
import {
  readRecords,
  writeRecords,
  type BackupHeader,
  type BackupRecord,
  type BackupTable,
} from './backup-file.ts'
import { copyIn, copyOut } from './copy.ts'
import { migrate, readMigrations } from './migrate.ts'
import { assertWritable, newClient } from './servers.ts'

type Report = (progress: { share: number; done: number }) => void

/** Writes one snapshot of the database. The service can run meanwhile. */
export function writeBackup(url: string, out: Writable, report: Report) {
  return withClient(url, 'bellwether_backup', async (client) => {
    await client.query('begin isolation level repeatable read read only')
    const tables = await listTables(client)
    const records = writeRecords(out)
    await records.write('header', await describe(client, tables.length))
    const expected = tables.reduce((sum, { rows }) => sum + rows, 0)
    let done = 0
    for (const { name, columns } of tables) {
      await records.write('table', { name, columns } satisfies BackupTable)
      const list = columns.map(quote).join(', ')
      // A table with forced row-level security is read as its owner sees it, which is completely.
      for await (const { data, rows } of copyOut(
        client,
        `copy (select ${list} from ${quote(name)}) to stdout`,
      )) {
        await records.write('rows', data)
        report({ share: Math.min(0.99, (done += rows) / Math.max(expected, done)), done })
      }
      await records.write('end', {})
    }
    // Read last: a sequence is not part of the snapshot, and must not be behind its rows.
    await records.write('sequences', await readSequences(client))
    await records.end()
    await client.query('commit')
    return { rows: done, tables: tables.length }
  })
}

async function describe(client: pg.Client, tables: number): Promise<BackupHeader> {
  const { rows } = await client.query(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as time,
            current_setting('server_version') as server,
            array(select version from schema_migration order by version) as migrations`,
  )
  return { ...rows[0], tables }
}

/** The tables with their stored columns and an estimate of their rows. Unlogged tables are left out. */
async function listTables(client: pg.Client) {
  const { rows } = await client.query<BackupTable & { rows: number }>(`
    select c.relname as name, greatest(c.reltuples, 0)::float8 as rows,
           array(select a.attname::text from pg_attribute a
                 where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                   and a.attgenerated = '' order by a.attnum) as columns
    from pg_class c
    where c.relkind = 'r' and c.relpersistence = 'p' and c.relnamespace = 'public'::regnamespace
      and c.relname <> 'schema_migration'
    order by c.relname`)
  return rows
}

async function readSequences(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query(`
    select sequencename as name, last_value::text as value from pg_sequences
    where schemaname = 'public' and last_value is not null`)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

export type Restored = { time: string; rows: number; tables: number }

/**
 * Restores a backup into an empty database. The rows are loaded in one transaction, which also holds the
 * database: it sends nothing until a person releases it.
 */
export async function restoreBackup(url: string, file: string, report: Report): Promise<Restored> {
  const records = readRecords(file)
  const header = await readHeader(records, file)
  const migrations = await readMigrations()
  const unknown = header.migrations.filter(
    (version) => !migrations.some((migration) => migration.version === version),
  )
  if (unknown.length > 0) {
    throw new StartError(
      `${file} is of a newer Bellwether: this one does not know the migrations ${unknown.join(', ')}.`,
    )
  }
  await withClient(url, 'bellwether_restore', (client) => refuseUsedDatabase(client, header))
  await migrate(
    url,
    migrations.filter(({ version }) => header.migrations.includes(version)),
  )
  const loaded = await withClient(url, 'bellwether_restore', (client) =>
    load(client, records, header, report),
  )
  await migrate(url)
  await withClient(url, 'bellwether_restore', (client) => client.query('analyze'))
  return { time: header.time, ...loaded }
}

async function readHeader(records: AsyncGenerator<BackupRecord>, file: string) {
  const { value } = await records.next()
  if (value?.type !== 'header') throw new StartError(`${file} has no header.`)
  return JSON.parse(value.content.toString()) as BackupHeader
}

/** A database without a business, such as one that a service has just created, holds nothing to lose. */
async function refuseUsedDatabase(client: pg.Client, { migrations }: BackupHeader) {
  await assertWritable(client)
  const { rows: others } = await client.query(`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and application_name ~ '^bellwether_(app|engine|operator)$'`)
  if (others.length > 0) throw new StartError('The service is using this database: stop it first.')
  const tables = await listTables(client)
  if (tables.length === 0) return
  const { rows: applied } = await client.query<{ version: number }>(
    'select version from schema_migration',
  )
  const { rows: businesses } = tables.some(({ name }) => name === 'business')
    ? await client.query('select from business limit 1')
    : { rows: [] }
  // A restore that was killed may have left a part of its schema.
  const isPartOfBackup = applied.every(({ version }) => migrations.includes(version))
  if (businesses.length > 0 || !isPartOfBackup) {
    throw new StartError(
      'The database is not empty: restore into a new database (DATABASE_URL), or a new folder (DATA_DIR).',
    )
  }
}

async function load(
  client: pg.Client,
  records: AsyncGenerator<BackupRecord>,
  header: BackupHeader,
  report: Report,
) {
  await client.query('begin')
  const tables = (await listTables(client)).map(({ name }) => quote(name))
  const keys = await listForeignKeys(client)
  for (const { table, name } of keys)
    await client.query(`alter table ${table} drop constraint ${name}`)
  for (const table of tables) {
    // COPY refuses a table with row-level security that holds for its owner.
    await client.query(`alter table ${table} disable row level security, disable trigger user`)
  }
  await client.query(`truncate ${tables.join(', ')}`)
  const rows = await loadTables(client, records, header, report)
  for (const table of tables) {
    await client.query(`alter table ${table} enable row level security, enable trigger user`)
  }
  for (const { table, name, definition } of keys) {
    await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  }
  await client.query('select hold_database($1, null, clock_timestamp())', [
    `it is a backup of ${header.time}`,
  ])
  await client.query('commit')
  return { rows, tables: header.tables }
}

async function listForeignKeys(client: pg.Client) {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(`
    select conrelid::regclass::text as table, quote_ident(conname) as name,
           pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`)
  return rows
}

async function loadTables(
  client: pg.Client,
  records: AsyncGenerator<BackupRecord>,
  { tables }: BackupHeader,
  report: Report,
) {
  let [rows, loaded] = [0, 0]
  const onRows = (count: number) => {
    rows += count
    report({ share: loaded / tables, done: rows })
  }
  for await (const { type, content } of records) {
    if (type === 'table') {
      const table: BackupTable = JSON.parse(content.toString())
      await copyTable(client, { ...table, name: quote(table.name) }, rowsOf(records, onRows))
      loaded += 1
    } else if (type === 'sequences') await setSequences(client, JSON.parse(content.toString()))
  }
  return rows
}

const copyTable = (
  client: pg.Client,
  { name, columns }: BackupTable,
  chunks: AsyncIterable<Buffer>,
) => copyIn(client, `copy ${name} (${columns.map(quote).join(', ')}) from stdin`, chunks)

/** The rows of the table that has just begun. */
async function* rowsOf(records: AsyncGenerator<BackupRecord>, onRows: (count: number) => void) {
  for (;;) {
    const { value } = await records.next()
    if (value?.type !== 'rows') return
    // Text format: each row is a line.
    let count = 0
    for (let at = value.content.indexOf(10); at >= 0; at = value.content.indexOf(10, at + 1)) {
      count += 1
    }
    onRows(count)
    yield value.content
  }
}

/**
 * Copies some tables of a backup into temporary tables with the names `newer_…`, until the commit: the
 * columns that are named, or all.
 */
export async function copyIntoTemporary(
  client: pg.Client,
  file: string,
  wanted: Record<string, string[] | undefined>,
) {
  const records = readRecords(file)
  const header = await readHeader(records, file)
  for await (const { type, content } of records) {
    if (type !== 'table') continue
    const { name, columns: all }: BackupTable = JSON.parse(content.toString())
    if (!(name in wanted)) continue
    const columns = all.filter((column) => wanted[name]?.includes(column) ?? true)
    const temporary = quote(`newer_${name}`)
    const list = columns.map(quote).join(', ')
    await client.query(
      `create temporary table ${temporary} on commit drop as select ${list} from ${quote(name)} where false`,
    )
    await copyTable(
      client,
      { name: temporary, columns },
      keepColumns(
        rowsOf(records, () => {}),
        columns.map((column) => all.indexOf(column)),
      ),
    )
    await client.query(`analyze ${temporary}`)
  }
  return header
}

/** Chunks are whole rows. Latin-1 keeps every byte; tabs and line ends of values are escaped. */
async function* keepColumns(chunks: AsyncIterable<Buffer>, positions: number[]) {
  for await (const chunk of chunks) {
    const lines = chunk.toString('latin1').split('\n')
    const kept = lines.map((line) => {
      if (line === '') return line
      const values = line.split('\t')
      return positions.map((position) => values[position]).join('\t')
    })
    yield Buffer.from(kept.join('\n'), 'latin1')
  }
}

async function setSequences(client: pg.Client, values: Record<string, string>) {
  for (const [name, value] of Object.entries(values)) {
    await client.query('select setval($1::regclass, $2)', [`public.${quote(name)}`, value])
  }
}

const quote = pg.escapeIdentifier

export async function withClient<T>(
  url: string,
  application: string,
  work: (client: pg.Client) => Promise<T>,
) {
  const client = newClient(url, { application_name: application })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
