import type { Config } from '../config.ts'
import { openEmbedded, type Purpose } from '../database/embedded.ts'
import { migrate } from '../database/migrate.ts'
import { isDatabaseAway, isReadOnly } from '../database/postgres-errors.ts'
import { serverNames } from '../database/servers.ts'
import { POOLER } from '../database/servers.ts'
import { StartError } from '../errors.ts'

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

/** The same without updating the schema. */
export async function findServer({ databaseUrl, dataDir }: Config, purpose: Purpose) {
  if (databaseUrl) return { url: databaseUrl, leave: async () => {} }
  const embedded = await openEmbedded(dataDir, purpose)
  return { url: embedded.url, leave: () => embedded.stop() }
}

/** A message for the operator if the database cannot be used. */
export function explainFailure(url: string, error: unknown) {
  const { code, message } = error as NodeJS.ErrnoException
  const where = serverNames(url)
  if (isReadOnly(error)) {
    return new StartError(
      `The database at ${where} accepts no writes: it is a standby, or default_transaction_read_only is on. Set DATABASE_URL to the primary, or list all servers (host1,host2).`,
    )
  }
  if (/unsupported startup parameter/.test(message)) return new StartError(POOLER)
  if (isDatabaseAway(error)) {
    return new StartError(
      `The database at ${where} does not answer (${code ?? message}). Check that it is running and that DATABASE_URL is right.`,
    )
  }
  if (/ssl|tls|cert/i.test(`${code} ${message}`)) {
    return new StartError(
      `The database at ${where} cannot be reached over TLS: ${message}. See sslmode in docs/database.md.`,
    )
  }
  // Wrong user or password, unknown database, missing privileges.
  if (/^(28|3D|42501)/.test(code ?? '')) {
    return new StartError(
      `The database at ${where} refuses the connection: ${message}. Check DATABASE_URL; docs/database.md lists the privileges that its user needs.`,
    )
  }
  return error
}
