import type { Config } from '../config.ts'
import { openEmbedded, type Purpose } from '../database/embedded.ts'
import { migrate } from '../database/migrate.ts'
import { isDatabaseAway, isReadOnly } from '../database/postgres-errors.ts'
import { checkPooler, POOLER, serverNames } from '../database/servers.ts'
import { StartError } from '../errors.ts'
import type { Log } from '../log.ts'
import { pause } from '../repeat.ts'

export type Reached = {
  url: string
  /** The migrations that were applied. */
  applied: string[]
  leave(): Promise<void>
}

/** Connects to DATABASE_URL or the embedded server and updates the schema. */
export async function reachDatabase(config: Config, purpose: Purpose): Promise<Reached> {
  const { url, leave } = await findServer(config, purpose)
  try {
    return { url, leave, applied: await migrate(url) }
  } catch (error) {
    await leave()
    throw explainFailure(url, error)
  }
}

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 5_000

/**
 * The same for the service, which may start before its database: waits until the database answers. A
 * database that refuses ends the start, because only the operator can fix that.
 */
export async function awaitDatabase(config: Config, log: Log, stopping: AbortSignal) {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      const reached = await reachDatabase(config, 'service')
      if (config.poolerUrl) await reachPooler(reached.url, config.poolerUrl)
      if (pauseMs > FIRST_PAUSE_MS) log.info('the database answers: the start continues')
      return reached
    } catch (error) {
      if (!(error instanceof DatabaseAwayError)) throw error
      if (pauseMs === FIRST_PAUSE_MS) log.warn(`${error.message} The start waits for it.`)
      await pause(pauseMs, stopping)
      if (stopping.aborted) return undefined
    }
  }
}

/** The database cannot be used now, and may be usable a moment later. */
class DatabaseAwayError extends StartError {}

/** Refuses a pooler that does not answer, or that transactions cannot use. */
export async function reachPooler(url: string, poolerUrl: string) {
  try {
    await checkPooler(url, poolerUrl)
  } catch (error) {
    throw explainFailure(poolerUrl, error, 'DATABASE_POOLER')
  }
}

/** The same without updating the schema. */
export async function findServer({ databaseUrl, dataDir }: Config, purpose: Purpose) {
  if (databaseUrl) return { url: databaseUrl, leave: async () => {} }
  const embedded = await openEmbedded(dataDir, purpose)
  return { url: embedded.url, leave: () => embedded.stop() }
}

const TOO_MANY_CONNECTIONS = '53300'

/** A message for the operator if the database cannot be used. */
export function explainFailure(url: string, error: unknown, setting = 'DATABASE_URL') {
  const { code, message, cause } = error as NodeJS.ErrnoException
  const where = serverNames(url)
  if (isReadOnly(error)) {
    return new StartError(
      `The database at ${where} accepts no writes: it is a standby, or default_transaction_read_only is on. Set DATABASE_URL to the primary, or list all servers (host1,host2).`,
    )
  }
  if (/unsupported startup parameter/.test(message)) return new StartError(POOLER)
  if (!(cause as NodeJS.ErrnoException)?.syscall && /ssl|tls|cert/i.test(`${code} ${message}`)) {
    return new StartError(
      `The database at ${where} cannot be reached over TLS: ${message}. See sslmode in docs/database.md.`,
    )
  }
  if (code === TOO_MANY_CONNECTIONS) {
    return new DatabaseAwayError(
      `The database at ${where} has no free connection: ${message}. Raise max_connections, or stop other programs that use it.`,
    )
  }
  if (isDatabaseAway(error)) {
    return new DatabaseAwayError(
      `The database at ${where} does not answer (${code ?? message}). Check that it is running and that ${setting} is right.`,
    )
  }
  // Wrong user or password, unknown database, missing privileges.
  if (/^(28|3D|42501)/.test(code ?? '')) {
    return new StartError(
      `The database at ${where} refuses the connection: ${message}. Check ${setting}; docs/database.md lists the privileges that its user needs.`,
    )
  }
  return error
}
