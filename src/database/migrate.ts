import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { StartError } from '../errors.ts'
import { assertWritable, newClient, refusePooler } from './servers.ts'

export type Migration = { version: number; name: string; text: string }

/**
 * Brings the schema to the newest version; returns the names of the applied migrations. Several
 * nodes can call it at once: each migration is one transaction under an advisory lock.
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
    const applied: string[] = []
    for (const migration of known) {
      if (await applyOnce(client, migration, known.at(-1)?.version ?? 0))
        applied.push(migration.name)
    }
    return applied
  } finally {
    await client.end().catch(() => {})
  }
}

/** The version of the schema; 0 if there is none yet. */
export async function schemaVersion(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query(`select to_regclass('schema_migration') is not null as made`)
  if (!rows[0].made) return 0
  const newest = await client.query(
    'select coalesce(max(version), 0) as version from schema_migration',
  )
  return Number(newest.rows[0].version)
}

export async function readMigrations(): Promise<Migration[]> {
  const folder = path.join(import.meta.dirname, '../../migrations')
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted()
  const numbers = files.map((file) => Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]))
  return Promise.all(
    files.map(async (file, i) => {
      const version = numbers[i]!
      // Numbers can be left out, but not repeated.
      if (!(version > (numbers[i - 1] ?? 0)))
        throw new Error(`migrations/${file}: its number must be unique`)
      return {
        version,
        name: path.basename(file, '.sql'),
        text: await readFile(path.join(folder, file), 'utf8'),
      }
    }),
  )
}

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

const LOCK = 7_230_003

async function applyOnce(
  client: pg.Client,
  migration: Migration,
  newest: number,
  triesLeft = 5,
): Promise<boolean> {
  try {
    await client.query('begin')
    // Compiling a statement takes longer than running it, also for most statements of a migration.
    await client.query('set local jit = off')
    await client.query('select pg_advisory_xact_lock($1)', [LOCK])
    const version = await schemaVersion(client)
    if (version > newest) {
      throw new StartError(
        `The database's schema has version ${version}, this Bellwether knows ${newest}: run a newer Bellwether, or restore a backup from before the upgrade.`,
      )
    }
    // A migration can be added after others with higher numbers.
    const due = version === 0 || !(await isApplied(client, migration.version))
    if (due) {
      await client.query(`
        create table if not exists schema_migration (
          version    int primary key,
          name       text not null,
          applied_at timestamptz not null default now()
        )`)
      await client.query(migration.text)
      await client.query('insert into schema_migration (version, name) values ($1, $2)', [
        migration.version,
        migration.name,
      ])
    }
    await client.query('commit')
    return due
  } catch (error) {
    await client.query('rollback').catch(() => {})
    if (isConflict(error) && triesLeft > 1) {
      return applyOnce(client, migration, newest, triesLeft - 1)
    }
    if (error instanceof pg.DatabaseError) {
      error.message = `migration ${migration.name}: ${error.message}`
    }
    throw error
  }
}

async function isApplied(client: pg.Client, version: number) {
  const { rows } = await client.query('select from schema_migration where version = $1', [version])
  return rows.length > 0
}

/** Roles belong to the server, the lock to one database: migrations of two databases can conflict. */
const isConflict = (error: unknown) =>
  error instanceof pg.DatabaseError &&
  (['40001', '40P01', '42710'].includes(error.code ?? '') ||
    /tuple concurrently updated|pg_authid/.test(error.message))
