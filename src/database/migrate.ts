import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { StartError } from '../errors.ts'
import { assertWritable, newClient, refusePooler } from './servers.ts'

export type Migration = { version: number; name: string; text: string }

/**
 * Brings the schema to the newest version and returns the names of the migrations it applied. Any
 * number of nodes may call it at once: each migration is one transaction under one lock.
 */
export async function migrate(url: string, migrations?: Migration[]): Promise<string[]> {
  const known = migrations ?? (await readMigrations())
  const client = newClient(url, { application_name: 'bellwether_migrate' })
  client.on('error', () => {})
  await client.connect()
  try {
    await refuseOldServer(client)
    await refusePooler(client)
    await assertWritable(client)
    const applied = await adoptFormerSchema(client, known)
    for (const migration of known) {
      if (await applyOnce(client, migration, known.at(-1)?.version ?? 0))
        applied.push(migration.name)
    }
    return applied
  } finally {
    await client.end().catch(() => {})
  }
}

/** A database's newest migration; 0 if it has none yet. `isFormer`: it must be adopted first. */
export type SchemaVersion = { version: number; isFormer: boolean }

export async function readSchemaVersion(client: pg.ClientBase): Promise<SchemaVersion> {
  // Reads pg_class, because to_regclass may use a cache that is older than the lock.
  const { rows } = await client.query(
    `select from pg_class where relname = 'schema_migration' and pg_table_is_visible(oid)`,
  )
  if (rows.length === 0) return { version: 0, isFormer: false }
  const newest = await client.query(
    `select coalesce(max(version), 0) as version,
            coalesce(bool_or((version, name) = (1, $1)), false) as "isFormer"
     from schema_migration`,
    [FORMER.firstName],
  )
  return newest.rows[0]
}

const folder = path.join(import.meta.dirname, '../../migrations')

export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted()
  const numbers = files.map((file) => Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]))
  return Promise.all(
    files.map(async (file, i) => {
      const version = numbers[i]!
      // Numbers may be left out, but each belongs to one migration.
      if (!(version > (numbers[i - 1] ?? 0))) {
        throw new Error(`migrations/${file} must begin with a number of four digits of its own`)
      }
      return { version, name: path.basename(file, '.sql'), text: await readSql(file) }
    }),
  )
}

const readSql = (file: string) => readFile(path.join(folder, file), 'utf8')

const OLDEST_SERVER = 15

async function refuseOldServer(client: pg.Client) {
  const { rows } = await client.query('show server_version_num')
  const major = Math.floor(Number(rows[0].server_version_num) / 10_000)
  if (major < OLDEST_SERVER) {
    throw new StartError(
      `The database is PostgreSQL ${major}; Bellwether needs ${OLDEST_SERVER} or newer.`,
    )
  }
}

async function applyOnce(client: pg.Client, migration: Migration, newest: number) {
  return inTransaction(client, `migration ${migration.name}`, async () => {
    const { version } = await readSchemaVersion(client)
    if (version > newest) {
      throw new StartError(
        `The database's schema has version ${version}, this Bellwether knows ${newest}: run a newer Bellwether, or restore a backup from before the upgrade.`,
      )
    }
    // Checks this number: a migration can be added after ones with higher numbers.
    if (version > 0 && (await isApplied(client, migration.version))) return false
    await client.query(`
      create table if not exists schema_migration (
        version    int primary key,
        name       text not null,
        applied_at timestamptz not null default now()
      )`)
    await apply(client, migration)
    return true
  })
}

async function apply(client: pg.Client, { version, name, text }: Migration) {
  await client.query(text)
  await client.query('insert into schema_migration (version, name) values ($1, $2)', [
    version,
    name,
  ])
}

async function isApplied(client: pg.Client, version: number) {
  const { rows } = await client.query('select from schema_migration where version = $1', [version])
  return rows.length > 0
}

/** The migrations that were replaced by the baseline, which is migrations 1 to `baseline`. */
const FORMER = {
  firstName: '0001_business',
  lastVersion: 68,
  count: 56,
  lastRevision: '02e8e6c',
  baseline: 8,
}

/**
 * Gives a database of the former migrations the baseline schema. Its tables are set aside, the
 * baseline is created, and their rows are copied over: in one transaction, so all or nothing.
 */
async function adoptFormerSchema(client: pg.Client, known: Migration[]): Promise<string[]> {
  if (known[0]?.name === FORMER.firstName) return []
  return inTransaction(client, `adoption of migration ${FORMER.lastVersion}`, async () => {
    const { version, isFormer } = await readSchemaVersion(client)
    if (!isFormer) return []
    const { rows } = await client.query('select count(*)::int as count from schema_migration')
    if (version !== FORMER.lastVersion || rows[0].count !== FORMER.count) {
      throw new StartError(
        `The database's schema is at migration ${version} of the former numbering, with ${rows[0].count} of ${FORMER.count} applied. Only ${FORMER.lastVersion} can be upgraded: start revision ${FORMER.lastRevision} of Bellwether once, then this one.`,
      )
    }
    const baseline = known.filter((migration) => migration.version <= FORMER.baseline)
    await client.query(await readSql('adopt-0068/set-aside.sql'))
    await client.query('delete from schema_migration')
    for (const migration of baseline) await apply(client, migration)
    await client.query(await readSql('adopt-0068/copy-rows.sql'))
    return baseline.map(({ name }) => name)
  })
}

const LOCK = 7_230_003

async function inTransaction<T>(
  client: pg.Client,
  title: string,
  work: () => Promise<T>,
  triesLeft = 5,
): Promise<T> {
  try {
    await client.query('begin')
    // Compiling the statements of a migration takes longer than running most of them.
    await client.query('set local jit = off')
    await client.query('select pg_advisory_xact_lock($1)', [LOCK])
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    if (isRoleConflict(error) && triesLeft > 1) {
      return inTransaction(client, title, work, triesLeft - 1)
    }
    if (error instanceof pg.DatabaseError) error.message = `${title}: ${error.message}`
    throw error
  }
}

/** Roles belong to the whole server, but the lock to one database: two databases can conflict. */
const isRoleConflict = (error: unknown) =>
  error instanceof pg.DatabaseError &&
  (['40001', '40P01', '42710'].includes(error.code ?? '') ||
    /tuple concurrently updated|pg_authid/.test(error.message))
