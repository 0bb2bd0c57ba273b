import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { releaseHold } from '../automation/restored.ts'
import { readConfig, type Config } from '../config.ts'
import { restoreBackup, writeBackup } from '../database/backup.ts'
import { openEmbedded } from '../database/embedded.ts'
import {
  finishUpgrade,
  folderOf,
  readMajorVersion,
  upgradeFolderOf,
} from '../database/embedded-server.ts'
import { startFormerServer } from '../database/former-server.ts'
import { findPostgresProgram } from '../database/postgres-program.ts'
import { openDatabase } from '../database/postgres.ts'
import { StartError } from '../errors.ts'
import { findHold, findInstallation } from '../store/installation.ts'
import { checkInNode } from './check-in.ts'
import { withProgress } from './progress.ts'

export const command = new Command()
  .requiredOption('--programs <folder>', 'folder with the program "postgres" of the old version')
  .addHelpText(
    'after',
    '\nMoves the embedded database to the PostgreSQL of this version. Stop the service first. See docs/operate/upgrade.md.',
  )
  .action(({ programs }: { programs: string }) =>
    upgradeDatabase(readConfig(process.env), path.resolve(programs)),
  )

/**
 * Moves the embedded database to the major version of this program. The new one is made in a folder of its
 * own, and replaces the old one when it is complete: a failure or a kill leaves the old one as it was.
 */
export async function upgradeDatabase(config: Config, programs: string) {
  const folder = folderOf(path.resolve(config.dataDir))
  finishUpgrade(folder)
  const fresh = upgradeFolderOf(folder)
  const version = readMajorVersion(folder)
  if (config.databaseUrl || version === undefined) {
    throw new StartError(
      'There is no embedded database in DATA_DIR: upgrade your own server as any PostgreSQL.',
    )
  }
  const { majorVersion } = findPostgresProgram(folder)
  if (version === majorVersion) {
    return console.log(`The database is of PostgreSQL ${version} already: nothing is to do.`)
  }
  const kept = `${folder}-${version}`
  if (existsSync(kept)) {
    throw new StartError(`${kept} exists, from an earlier upgrade: delete it or move it away.`)
  }
  const remove = () => rmSync(fresh, { recursive: true, force: true, maxRetries: 5 })
  // Of an upgrade that was killed.
  remove()
  mkdirSync(fresh, { mode: 0o711 })
  try {
    const backup = path.join(fresh, 'backup')
    const wasHeld = await saveFormer(folder, programs, backup)
    await fillNew({ ...config, dataDir: fresh }, backup, wasHeld)
  } catch (error) {
    remove()
    throw error
  }
  renameSync(folder, kept)
  finishUpgrade(folder)
  console.log(
    `The database is of PostgreSQL ${majorVersion} now. The old one is in ${kept}: delete it when the service runs well.`,
  )
}

/** Writes a backup with the old server. Returns whether the database was held. */
async function saveFormer(folder: string, programs: string, file: string) {
  const server = await startFormerServer(folder, programs)
  try {
    const out = createWriteStream(file, { mode: 0o600, flush: true })
    await withProgress('Reading', 'rows', (report) => writeBackup(server.url, out, report))
    const database = openDatabase({ url: server.url, connections: 2 })
    try {
      return (await findHold(database.operator)) !== undefined
    } finally {
      await database.close()
    }
  } finally {
    await server.stop()
  }
}

async function fillNew(config: Config, file: string, wasHeld: boolean) {
  const server = await openEmbedded(config.dataDir, 'service')
  try {
    await withProgress('Writing', 'rows', (report) => restoreBackup(server.url, file, report))
    const database = openDatabase({ url: server.url, connections: 2 })
    try {
      // Nothing was lost, so nothing has to wait for a person.
      const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(await database.readTime()))
      const by = { user: 'OPERATOR', now }
      if (!wasHeld) await database.operator.transaction((tx) => releaseHold(tx, 'SEND', by))
      const installation = await findInstallation(database.operator)
      await checkInNode(database, config, installation)
    } finally {
      await database.close()
    }
  } finally {
    await server.stop()
  }
}
