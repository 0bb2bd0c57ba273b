import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../errors.ts'
import { findPostgresProgram, giveTo, type PostgresProgram } from './postgres-program.ts'
import { isAlive, readPostmaster } from './postmaster-pid.ts'

const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Small enough for a laptop: service and database together stay under 250 MB when idle.
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  io_method: 'sync',
  max_logical_replication_workers: '0',
  huge_pages: 'off',
  jit: 'off',
  // One call instead of one for each of a thousand files: recovery takes half the time.
  ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
  // Errors of the server, but no statements or values: those contain personal data.
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
}

export type ServerSettings = Record<string, string>

/** The database's folder in DATA_DIR. */
const FOLDER = 'postgres'

export const folderOf = (dataDir: string) => path.join(dataDir, FOLDER)

/** Also true if this user may not read the folder. */
export function hasDatabase(dataDir: string) {
  try {
    return fs.readdirSync(folderOf(dataDir)).length > 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Where `upgrade-database` makes the new database. */
export const upgradeFolderOf = (folder: string) => `${folder}.upgrade`

/** The old database was moved away, so the new one is complete; the upgrade may have been killed then. */
export function finishUpgrade(folder: string) {
  const fresh = upgradeFolderOf(folder)
  if (fs.existsSync(folder) || !fs.existsSync(folderOf(fresh))) return
  fs.renameSync(folderOf(fresh), folder)
  fs.rmSync(fresh, { recursive: true, force: true, maxRetries: 5 })
}

/** Creates DATA_DIR if needed; returns the database's folder in it. */
export function prepareFolder(dataDir: string) {
  try {
    // Other users can enter, to reach the database's own folder, but cannot list the files.
    if (makeFolder(dataDir)) fs.chmodSync(dataDir, 0o711)
    fs.accessSync(dataDir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    const folder = folderOf(fs.realpathSync(dataDir))
    finishUpgrade(folder)
    return folder
  } catch (error) {
    throw new StartError(
      `DATA_DIR ${dataDir} cannot be used: ${describeError(error)}. Give this user the folder, or name another in DATA_DIR.`,
    )
  }
}

/** Returns whether it created the folder. `mkdir` with `recursive` never returns in places such as /proc. */
function makeFolder(folder: string): boolean {
  try {
    fs.mkdirSync(folder)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && fs.statSync(folder).isDirectory()) return false
    const parent = path.dirname(folder)
    if (code !== 'ENOENT' || fs.existsSync(parent)) throw error
    makeFolder(parent)
    return makeFolder(folder)
  }
}

/** Starts the server of this folder, after initdb if it is new. Returns when the server is ready. */
export async function startServer(folder: string, settings: ServerSettings) {
  const owner = ownerOf(folder)
  const program = findPostgresProgram(folder, owner)
  if (!owner || fs.readdirSync(folder).length === 0) await initialise(folder, program)
  refuseOtherVersion(folder, program)
  if (owner && program.owner && owner.uid !== program.owner.uid) giveTo(program.owner, folder)

  const socketFolder = chooseSocketFolder(folder, program)
  const all: ServerSettings = { ...SETTINGS, unix_socket_directories: socketFolder, ...settings }
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])

  const { log, size } = openLog(folder)
  // A killed server left its file, perhaps with the word "ready".
  const stale = readPostmaster(folder)?.started
  // A process group of its own: Ctrl-C must not stop the database before the service.
  const child = program.spawn('postgres', ['-D', folder, ...args], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
  })
  fs.closeSync(log)
  child.unref()

  const ended = new AbortController()
  child.once('error', () => ended.abort())
  child.once('exit', () => ended.abort())
  const isReady = () => {
    const postmaster = readPostmaster(folder)
    return postmaster?.isReady && postmaster.started !== stale
  }
  while (!ended.signal.aborted && !isReady()) await sleep(5)
  if (!ended.signal.aborted) return

  const logged = fs.readFileSync(logOf(folder)).subarray(size).toString()
  if (/lock file "postmaster.pid" already exists/.test(logged)) return // another process was faster
  if (/pre-existing shared memory block/.test(logged)) return // processes of a killed server are still ending
  throw new StartError(`The embedded database in ${folder} does not start: ${findCause(logged)}`)
}

/** Of the database in this folder; undefined if there is none. */
export function readMajorVersion(folder: string) {
  const file = path.join(folder, 'PG_VERSION')
  return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : undefined
}

function refuseOtherVersion(folder: string, program: PostgresProgram) {
  const version = readMajorVersion(folder)
  if (version === program.majorVersion) return
  throw new StartError(
    version
      ? `${folder} holds a database of PostgreSQL ${version}, this Bellwether comes with ${program.majorVersion}: move it with: bellwether upgrade-database (docs/operate/upgrade.md).`
      : `${folder} holds something that is not a database: move it away, or name another folder in DATA_DIR.`,
  )
}

const MAX_LOG_BYTES = 1_000_000

function openLog(folder: string) {
  const file = logOf(folder)
  try {
    const log = fs.openSync(file, 'a', 0o600)
    if (fs.fstatSync(log).size > MAX_LOG_BYTES) fs.ftruncateSync(log)
    return { log, size: fs.fstatSync(log).size }
  } catch (error) {
    throw new StartError(`${file} cannot be written: ${describeError(error)}.`)
  }
}

/** Runs initdb in a temporary folder and renames it, so that a kill leaves no incomplete folder. */
async function initialise(folder: string, program: PostgresProgram) {
  removeLeftovers(folder)
  const fresh = `${folder}.new-${process.pid}`
  try {
    fs.mkdirSync(fresh, { mode: 0o700 })
    giveTo(program.owner, fresh)
    await runInitdb(fresh, program)
    fs.renameSync(fresh, folder)
    syncFolder(path.dirname(folder))
    // The initdb of a killed process may have written more files since the first call.
    removeLeftovers(folder)
  } catch (error) {
    fs.rmSync(fresh, { recursive: true, force: true })
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return // another process was faster
    throw new StartError(
      `The embedded database cannot be made in ${path.dirname(folder)}: ${describeError(error)}`,
    )
  }
}

const PLACE = '<folder>'

async function runInitdb(fresh: string, program: PostgresProgram) {
  const child = program.spawn(
    'initdb',
    `--pgdata ${PLACE} --username bellwether --auth trust --no-instructions --encoding UTF8
     --locale C --locale-provider builtin --builtin-locale C.UTF-8
     --set timezone=UTC --set log_timezone=UTC`
      .split(/\s+/)
      .map((word) => (word === PLACE ? fresh : word)),
    { cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let output = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (output += text))
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (status !== 0) throw new Error(findCause(output))
}

function removeLeftovers(folder: string) {
  const parent = path.dirname(folder)
  for (const name of fs.readdirSync(parent)) {
    const creator = /^postgres\.new-(\d+)$/.exec(name)?.[1]
    if (creator && (Number(creator) === process.pid || !isAlive(Number(creator)))) {
      fs.rmSync(path.join(parent, name), { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

/**
 * The database's own folder, which no other user can enter. If its path is too long for a socket (104
 * bytes on macOS, 108 on Linux), a temporary folder with a name derived from it.
 */
function chooseSocketFolder(folder: string, program: PostgresProgram) {
  if (Buffer.byteLength(path.join(folder, '.s.PGSQL.5432')) <= 103) return folder
  const parent = tmpdir().length > 60 ? '/tmp' : tmpdir()
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const short = path.join(parent, `bellwether-${name}`)
  const owner = program.owner?.uid ?? process.getuid?.()
  try {
    fs.mkdirSync(short, { mode: 0o700 })
    giveTo(program.owner, short)
  } catch {
    const { uid, mode } = fs.lstatSync(short)
    // Another user may have created the folder as an attack.
    if (uid !== owner || mode !== FOLDER_OF_ONE_USER) return mkdtempFor(program, parent)
  }
  return short
}

const FOLDER_OF_ONE_USER = fs.constants.S_IFDIR | 0o700

function mkdtempFor(program: PostgresProgram, parent: string) {
  const folder = fs.mkdtempSync(path.join(parent, 'bellwether-'))
  giveTo(program.owner, folder)
  return folder
}

/** The owner of the files, if there are any. Only root can run the server as another user. */
function ownerOf(folder: string) {
  const found = fs.statSync(folder, { throwIfNoEntry: false })
  if (!found) return undefined
  const user = process.getuid?.()
  if (user === 0 || user === found.uid) return { uid: found.uid, gid: found.gid }
  throw new StartError(
    `${folder} belongs to another user (uid ${found.uid}): start as that user or as root, or name another folder in DATA_DIR.`,
  )
}

function syncFolder(folder: string) {
  const opened = fs.openSync(folder, 'r')
  fs.fsyncSync(opened)
  fs.closeSync(opened)
}

export const logOf = (folder: string) => `${folder}.log`

/** The line of the server's output that names the cause. */
function findCause(output: string) {
  const lines = output.split('\n').filter((line) => line.trim())
  const worst =
    lines.find((line) => /(FATAL|PANIC|error):/.test(line)) ??
    lines.at(-1) ??
    'it ended without a message'
  return worst
    .replace(/^.*?(FATAL|PANIC|error):\s*/, '')
    .replace('No space left on device', 'no space left on the disk')
    .trim()
}

function describeError(error: unknown) {
  const { code, message } = error as NodeJS.ErrnoException
  const known: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ENOSPC: 'no space left on the disk',
    ENOTDIR: 'it is not a folder',
    EEXIST: 'it is not a folder',
    EROFS: 'the disk is read-only',
    ENOENT: 'it cannot be made there',
  }
  return known[code ?? ''] ?? message
}
