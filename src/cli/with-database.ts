import { readConfig } from '../config.ts'
import type { Database } from '../database/database.ts'
import { openDatabase } from '../database/postgres.ts'
import { RequestError, StartError } from '../errors.ts'
import { checkInNode } from './check-in.ts'
import { reachDatabase } from './reach-database.ts'

export type Reached = { database: Database; url: string; now: Temporal.Instant }

/** Runs a command with the database. A RequestError becomes one line for the user. */
export async function withDatabase<T>(work: (reached: Reached) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const { url, leave } = await reachDatabase(config, 'command')
  const { replicaUrl } = config
  const database = openDatabase({ url, replicaUrl, connections: 2, analyzesGrownTables: true })
  try {
    await checkInNode(database, config)
    const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(await database.readTime()))
    return await work({ database, url, now })
  } catch (error) {
    throw error instanceof RequestError ? new StartError(describeFaults(error)) : error
  } finally {
    await database.close()
    await leave()
  }
}

/** Faults name properties of a body, which are options on the command line. */
function describeFaults({ message, errors }: RequestError) {
  if (!errors) return message
  return errors
    .map(
      ({ pointer, detail }) =>
        `${pointer.replace(/^\//, '--').replace(/[A-Z]/g, toDashed)} ${detail}`,
    )
    .join('; ')
}

const toDashed = (letter: string) => `-${letter.toLowerCase()}`
