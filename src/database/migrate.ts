import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StartError } from '../errors.ts'
import { NODE_LOCK, UPGRADE_CHANNEL } from './heartbeat.ts'
import { assertWritable, newClient, refusePooler } from './servers.ts'

export type Migration = { version: number; name: string; text: string }

/**
 * Brings the schema to the newest version and returns the names of the migrations it applied. Any number of
 * programs may call it at once: one of them migrates, after all nodes that use the schema have stopped, and
 * each migration is one transaction.
 */
export async function migrate(url: string, migrations?: Migration[]): Promise<string[]> {
  const known = migrations ?? (await readMigrations())
  const client = newClient(url, {
    application_name: 'bellwether_migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  await client.connect()
  try {
    await refuseOldServer(client)
    await refusePooler(client)
    await assertWritable(client)
    await refuseOtherLogins(client)
    if ((await findMissingWhenIdle(client, known)).length === 0) return []
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await stopNodes(client)
    const missing = await findMissing(client, known)
    for (const migration of missing) await apply(client, migration)
    return missing.map(({ name }) => name)
  } finally {
    // The server may end the session later, and a node of this process needs the lock now.
    await client.query('select pg_advisory_unlock_all()').catch(() => {})
    await client.end().catch(() => {})
  }
}

/** A host that drops packets would otherwise keep the start waiting for minutes without a word. */
const CONNECT_TIMEOUT_MS = 10_000

/** A database's newest migration; 0 if it has none yet. */
export async function readSchemaVersion(client: pg.ClientBase): Promise<number> {
  // Reads pg_class, because to_regclass may use a cache that is older than the lock.
  const { rows } = await client.query(
    `select from pg_class where relname = 'schema_migration' and pg_table_is_visible(oid)`,
  )
  if (rows.length === 0) return 0
  const newest = await client.query(
    'select coalesce(max(version), 0) as version from schema_migration',
  )
  return newest.rows[0].version
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
      const text = await readFile(path.join(folder, file), 'utf8')
      return { version, name: path.basename(file, '.sql'), text }
    }),
  )
}

/**
 * The three roles belong to the whole server, and the logins of other installations are members of them
 * too. So only the owner of the database, and logins that were granted it, may connect. A dump does not
 * contain this right, so every start checks it.
 */
async function refuseOtherLogins(client: pg.Client) {
  const { isOpen, canClose } = await readConnectRights(client)
  if (!isOpen || !canClose) return
  await inTransaction(client, 'revoking the right to connect', async () => {
    const { rows } = await client.query('select quote_ident(current_database()) as name')
    await client.query(`revoke connect, temporary on database ${rows[0].name} from public`)
  })
}

/** Whether every login of the server can connect, and whether this one can revoke that. */
export async function readConnectRights(client: pg.ClientBase) {
  const { rows } = await client.query<{ isOpen: boolean; canClose: boolean }>(`
    select has_database_privilege('public', oid, 'connect') as "isOpen",
           pg_has_role(datdba, 'usage') as "canClose"
    from pg_database where datname = current_database()`)
  return rows[0]!
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

/** Waits for a program that is migrating, so that a node of an older version sees the result and ends. */
async function findMissingWhenIdle(client: pg.Client, known: Migration[]) {
  await client.query('select pg_advisory_lock_shared($1)', [NODE_LOCK])
  const missing = await findMissing(client, known)
  await client.query('select pg_advisory_unlock_shared($1)', [NODE_LOCK])
  return missing
}

/** The migrations that the database lacks. Throws if it has one that this program does not know. */
async function findMissing(client: pg.Client, known: Migration[]) {
  if ((await readSchemaVersion(client)) === 0) return known
  const { rows } = await client.query<{ version: number }>('select version from schema_migration')
  const applied = new Set(rows.map(({ version }) => version))
  const unknown = [...applied].filter((one) => !known.some(({ version }) => version === one))
  if (unknown.length > 0) {
    throw new StartError(
      `The database's schema has version ${Math.max(...unknown)}, this Bellwether knows ${known.at(-1)?.version ?? 0}: run a newer Bellwether, or restore a backup from before the upgrade.`,
    )
  }
  return known.filter(({ version }) => !applied.has(version))
}

const STOP_SECONDS = 30

/** Asks the nodes that use the schema to stop (heartbeat.ts), and keeps others from starting meanwhile. */
async function stopNodes(client: pg.Client) {
  for (let tries = 0; tries < STOP_SECONDS * 10; tries += 1) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [NODE_LOCK])
    if (rows[0].locked) return
    if (tries % 10 === 0) await client.query(`notify ${UPGRADE_CHANNEL}`)
    await sleep(100)
  }
  throw new StartError(
    `The schema must be updated, and nodes of an older version did not stop within ${STOP_SECONDS} s: stop them, then start again.`,
  )
}

function apply(client: pg.Client, migration: Migration) {
  return inTransaction(client, `migration ${migration.name}`, async () => {
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
  })
}

/** Held by the one program that migrates. */
const MIGRATION_LOCK = 7_230_003

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
