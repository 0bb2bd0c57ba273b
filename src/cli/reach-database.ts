import type { Config } from '../config.ts'
import { openEmbedded, type Purpose } from '../database/embedded.ts'
import { migrate } from '../database/migrate.ts'
import { isDatabaseAway, isReadOnly } from '../database/refusals.ts'
import { serverNames } from '../database/server-urls.ts'
import { POOLER } from '../database/servers.ts'
import { StartError } from '../errors.ts'

export type Reached = {
  url: string
  /** The migrations that were applied on the way. */
  applied: string[]
  leave(): Promise<void>
}

/** The database that every command works on: DATABASE_URL's or the embedded one, schema up to date. */
export async function reachDatabase(config: Config, purpose: Purpose): Promise<Reached> {
  const { url, leave } = await findServer(config, purpose)
  try {
    return { url, leave, applied: await migrate(url) }
  } catch (error) {
    await leave()
    throw inOneLine(url, error)
  }
}

/** The same without touching the schema. */
export async function findServer({ databaseUrl, dataDir }: Config, purpose: Purpose) {
  if (databaseUrl) return { url: databaseUrl, leave: async () => {} }
  const embedded = await openEmbedded(dataDir, purpose)
  return { url: embedded.url, leave: () => embedded.stop() }
}

/** What keeps us from the database, in words for whoever set DATABASE_URL. */
export function inOneLine(url: string, error: unknown) {
  const { code, message } = error as NodeJS.ErrnoException
  const where = serverNames(url)
  if (isReadOnly(error)) {
    return new StartError(
      `The database at ${where} accepts no writes: it is a standby, or default_transaction_read_only is on. Let DATABASE_URL name the primary, or all servers (host1,host2) to have it found.`,
    )
  }
  if (/unsupported startup parameter/.test(message)) return new StartError(POOLER)
  if (isDatabaseAway(error)) {
    return new StartError(
      `The database at ${where} does not answer (${code ?? message}): is it running, and is DATABASE_URL right?`,
    )
  }
  if (/ssl|tls|cert/i.test(`${code} ${message}`)) {
    return new StartError(
      `The database at ${where} cannot be reached over TLS: ${message}. See sslmode in docs/database.md.`,
    )
  }
  // Wrong user or password, no such database, rights that are missing.
  if (/^(28|3D|42501)/.test(code ?? '')) {
    return new StartError(
      `The database at ${where} refuses: ${message}. See DATABASE_URL; its user needs the rights that docs/database.md names.`,
    )
  }
  return error
}
