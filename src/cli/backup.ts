import { stat } from 'node:fs/promises'
import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { writeBackup } from '../database/backup.ts'
import { openDatabase } from '../database/postgres.ts'
import { readDatabaseTime } from '../store/database-time.ts'
import { saveBackupTime } from '../store/installation.ts'
import { openPartialFile } from './partial-file.ts'
import { withProgress } from './progress.ts'
import { reachDatabase } from './reach-database.ts'
import { verifyBackup } from './verify-backup.ts'

export const command = new Command()
  .argument('<file>', 'file to write')
  .option('--verify', 'restore it into a temporary server afterwards and run doctor there')
  .addHelpText(
    'after',
    '\nThe service can run meanwhile. The file contains personal data and keys: keep it safe.',
  )
  .action(async (name: string, { verify }: { verify?: true }) => {
    const config = readConfig(process.env)
    const { url, leave } = await reachDatabase(config, 'command')
    try {
      await saveBackup(url, name)
    } finally {
      await leave()
    }
    if (verify) await verifyBackup(config, name)
  })

async function saveBackup(url: string, name: string) {
  const file = await openPartialFile(name)
  try {
    const { rows, tables } = await withProgress('Backing up', 'rows', (report) =>
      writeBackup(url, file.out, report),
    )
    await file.keep()
    await noteBackup(url).catch((error: Error) =>
      console.error(`The backup is complete, but its time was not noted: ${error.message}`),
    )
    const { size } = await stat(name)
    console.log(`Wrote ${rows} rows of ${tables} tables to ${name}, ${size} bytes.`)
  } catch (error) {
    throw await file.drop(error)
  }
}

/** For the operator's page. */
async function noteBackup(url: string) {
  const database = openDatabase({ url, connections: 1 })
  try {
    await saveBackupTime(database.operator, await readDatabaseTime(database.operator))
  } finally {
    await database.close()
  }
}
