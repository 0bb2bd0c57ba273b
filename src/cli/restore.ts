import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { restoreBackup } from '../database/backup.ts'
import { openDatabase } from '../database/postgres.ts'
import { collectFiles, describeNewerState, takeNewerState } from './newer-state.ts'
import { explainFailure, findServer } from './reach-database.ts'
import { withProgress } from './progress.ts'
import { verifyBackup } from './verify-backup.ts'

type Options = { verify?: true; since?: string[] }

export const command = new Command()
  .argument('<file>', 'backup to restore')
  .option('--verify', 'only restore it into a temporary server and run doctor there')
  .option(
    '--since <file>',
    'a newer backup, an export, or the log of the mail server; can be repeated: take its cancellations, erasures, suppressions and sent mails',
    collectFiles,
  )
  .addHelpText(
    'after',
    '\nThe database of DATABASE_URL or DATA_DIR must be empty. Afterwards nothing is sent until you run: bellwether release',
  )
  .action(async (file: string, { verify, since }: Options) => {
    const config = readConfig(process.env)
    if (verify) return verifyBackup(config, file)
    // As a service: a running one would use the database meanwhile.
    const { url, leave } = await findServer(config, 'service')
    try {
      const { rows, tables, time } = await withProgress('Restoring', 'rows', (report) =>
        restoreBackup(url, file, report),
      )
      console.log(`Restored ${rows} rows of ${tables} tables, as they were at ${time}.`)
      for (const one of since ?? []) await takeSince(url, one)
      console.log('Nothing is sent until you run: bellwether release')
    } catch (error) {
      throw explainFailure(url, error)
    } finally {
      await leave()
    }
  })

async function takeSince(url: string, file: string) {
  const database = openDatabase({ url, connections: 2 })
  try {
    const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(await database.readTime()))
    console.log(describeNewerState(await takeNewerState(url, database, file, now)))
  } finally {
    await database.close()
  }
}
