import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, readdirSync } from 'node:fs'
import { chmodSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { StartError } from '../errors.ts'
import { findPostgresProgram, giveTo, type PostgresProgram } from './postgres-program.ts'

export type Embedded = { url: string; stop(): Promise<void> }

export type Purpose = 'service' | 'command'

const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Small enough for a laptop: service and database together stay under 250 MB when idle.
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  io_method: 'sync',
  max_logical_replication_workers: '0',
  huge_pages: 'off',
  jit: 'off',
  // What went wrong with the server, never a statement or a value: those hold personal data.
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
}

export type Settings = Record<string, string>

/**
 * The PostgreSQL of this folder: joined where it runs, also when a killed service left it behind,
 * else started. Whoever leaves last stops it. One service at a time; commands may come and go.
 */
export async function openEmbedded(
  dataDir: string,
  purpose: Purpose,
  settings: Settings = {},
): Promise<Embedded> {
  const folder = prepareFolder(path.resolve(dataDir))
  let presence = await join(folder, purpose, settings)
  const leaving = new AbortController()

  // The server should never end before us; where it does, it comes back.
  const comeBack = async () => {
    if (leaving.signal.aborted) return
    try {
      presence = await join(folder, purpose, settings)
      presence.client.once('end', comeBack)
      if (leaving.signal.aborted) await leave(folder, presence)
    } catch {
      await sleep(500, undefined, { signal: leaving.signal }).then(comeBack, () => {})
    }
  }
  presence.client.once('end', comeBack)

  return {
    url: urlOf(presence.socketFolder, 'bellwether'),
    stop: async () => {
      if (leaving.signal.aborted) return
      leaving.abort()
      await leave(folder, presence)
    },
  }
}

/** Where the files of the database lie, below DATA_DIR. */
function prepareFolder(dataDir: string) {
  try {
    // Others may pass through to the database, which has its own lock, but not look around.
    if (mkdirSync(dataDir, { recursive: true })) chmodSync(dataDir, 0o711)
    readdirSync(dataDir)
  } catch (error) {
    throw new StartError(
      `DATA_DIR ${dataDir} cannot be used: ${reasonOf(error)}. Give this user the folder, or name another in DATA_DIR.`,
    )
  }
  return path.join(dataDir, 'postgres')
}

// Being there -------------------------------------------------------------------------------------

/** A connection held as long as we use the server: it tells others that we are here. */
type Presence = { client: pg.Client; socketFolder: string }

const IN_USE = 7_230_001 // shared by everyone who uses the server
const SERVICE = 7_230_002 // held by the one service

const JOIN_SECONDS = 60

async function join(folder: string, purpose: Purpose, settings: Settings): Promise<Presence> {
  const deadline = monotonicMs() + JOIN_SECONDS * 1000
  for (;;) {
    const found = await connectRunning(folder)
    if (found) {
      const presence = await takePlace(found, folder, purpose)
      if (presence) return presence
    } else if (!isStarting(folder)) {
      await start(folder, settings)
    }
    if (monotonicMs() > deadline) {
      throw new StartError(
        `The embedded database in ${folder} does not answer: see ${logOf(folder)}.`,
      )
    }
    await sleep(20)
  }
}

async function takePlace(presence: Presence, folder: string, purpose: Purpose) {
  const { client } = presence
  try {
    if (purpose === 'service' && !(await tryLock(client, 'pg_try_advisory_lock', SERVICE))) {
      throw new StartError(
        `Another service already runs on ${path.dirname(folder)}: stop it first, or name another folder in DATA_DIR.`,
      )
    }
    // Waits while the last one leaves; then the server ends, and so does this connection.
    await client.query('select pg_advisory_lock_shared($1)', [IN_USE])
    await createDatabase(client)
    return presence
  } catch (error) {
    await client.end().catch(() => {})
    if (error instanceof StartError) throw error
    return undefined
  }
}

async function createDatabase(client: pg.Client) {
  const { rowCount } = await client.query(`select from pg_database where datname = 'bellwether'`)
  if (rowCount) return
  await client.query('create database bellwether').catch((error: pg.DatabaseError) => {
    const madeByAnother = error.code === '42P04' || error.code === '23505'
    if (!madeByAnother) throw error
  })
}

async function leave(folder: string, { client, socketFolder }: Presence) {
  const pid = readPostmaster(folder)?.pid
  let last = false
  try {
    await client.query('select pg_advisory_unlock_all()')
    last = await tryLock(client, 'pg_try_advisory_lock', IN_USE)
    if (last && pid) process.kill(pid, 'SIGINT')
  } catch {
    // The server is gone already.
  }
  await client.end().catch(() => {})
  if (last && pid) await waitForEnd(pid)
  if (last && socketFolder !== folder) rmSync(socketFolder, { recursive: true, force: true })
}

const STOP_SECONDS = 8

/** Fast first; at once when that takes too long, which costs the next start a moment. */
async function waitForEnd(pid: number) {
  const deadline = monotonicMs() + STOP_SECONDS * 1000
  while (isAlive(pid)) {
    if (monotonicMs() > deadline) return void process.kill(pid, 'SIGQUIT')
    await sleep(20)
  }
}

async function tryLock(client: pg.Client, lock: 'pg_try_advisory_lock', key: number) {
  const { rows } = await client.query(`select ${lock}($1) as locked`, [key])
  return rows[0].locked === true
}

// Finding the one that runs -----------------------------------------------------------------------

/** A connection to the server on this folder, where one answers. Its word counts, not its pid. */
async function connectRunning(folder: string): Promise<Presence | undefined> {
  const postmaster = readPostmaster(folder)
  if (!postmaster?.socketFolder) return undefined
  const { socketFolder } = postmaster
  const client = new pg.Client({
    connectionString: urlOf(socketFolder, 'postgres'),
    connectionTimeoutMillis: 5_000,
    application_name: 'bellwether_presence',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(`select current_setting('data_directory') as folder`)
    if (rows[0].folder === folder) return { client, socketFolder }
  } catch {
    // Not there, or not ready yet.
  }
  await client.end().catch(() => {})
  return undefined
}

/** A server that does not answer yet, or no longer. A number left by one long dead is cleared. */
function isStarting(folder: string) {
  const postmaster = readPostmaster(folder)
  if (!postmaster) return false
  if (isServerOf(folder, postmaster.pid)) return true
  // PostgreSQL itself would believe any process that has the number by now.
  rmSync(path.join(folder, 'postmaster.pid'), { force: true })
  return false
}

function isServerOf(folder: string, pid: number) {
  if (!isAlive(pid)) return false
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(folder)
  } catch {
    return true // no /proc on this system: let PostgreSQL judge
  }
}

/** PostgreSQL's own note: its process on the first line, the folder of its socket on the fifth. */
function readPostmaster(folder: string) {
  try {
    const lines = readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), socketFolder: lines[4] }
  } catch {
    return undefined
  }
}

/** A dead child of ours stays in the table until Node has heard of it. */
function isAlive(pid: number) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

// Starting it -------------------------------------------------------------------------------------

async function start(folder: string, settings: Settings) {
  const program = findPostgresProgram(folder, ownerOf(folder))
  await initialise(folder, program)
  const version = readFileSync(path.join(folder, 'PG_VERSION'), 'utf8').trim()
  if (version !== String(program.majorVersion)) {
    throw new StartError(
      `${folder} holds a database of PostgreSQL ${version}, this Bellwether comes with ${program.majorVersion}: run the Bellwether that made it, export, and import here into a new DATA_DIR.`,
    )
  }
  const socketFolder = chooseSocketFolder(folder, program)
  const all: Settings = { ...SETTINGS, unix_socket_directories: socketFolder, ...settings }
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])

  const log = openSync(logOf(folder), 'w', 0o600)
  // A process group of its own: Ctrl-C reaches us first, and the database after us.
  const child = program.spawn('postgres', ['-D', folder, ...args], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()

  const ended = new AbortController()
  child.once('error', () => ended.abort())
  child.once('exit', () => ended.abort())
  while (!ended.signal.aborted && !isListening(folder)) await sleep(5)
  if (!ended.signal.aborted) return

  const said = readFileSync(logOf(folder), 'utf8')
  if (/lock file "postmaster.pid" already exists/.test(said)) return // another was faster
  throw new StartError(`The embedded database in ${folder} does not start: ${complaintIn(said)}`)
}

const isListening = (folder: string) => {
  try {
    return /^ready/m.test(readFileSync(path.join(folder, 'postmaster.pid'), 'utf8'))
  } catch {
    return false
  }
}

/** Made beside its place, then moved there whole: a kill half-way leaves nothing half made. */
async function initialise(folder: string, program: PostgresProgram) {
  removeLeftovers(folder)
  if (ownerOf(folder)) {
    if (program.owner && program.owner.uid !== ownerOf(folder)?.uid) giveTo(program.owner, folder)
    return
  }
  const fresh = `${folder}.new-${process.pid}`
  try {
    mkdirSync(fresh, { mode: 0o700 })
    giveTo(program.owner, fresh)
    await runInitdb(fresh, program)
    renameSync(fresh, folder)
    syncFolder(path.dirname(folder))
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return // another was faster
    throw new StartError(
      `The embedded database cannot be made in ${path.dirname(folder)}: ${reasonOf(error)}`,
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
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text))
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (status !== 0) throw new Error(complaintIn(said))
}

function removeLeftovers(folder: string) {
  const parent = path.dirname(folder)
  for (const name of readdirSync(parent)) {
    const maker = /^postgres\.new-(\d+)$/.exec(name)?.[1]
    if (maker && (Number(maker) === process.pid || !isAlive(Number(maker)))) {
      rmSync(path.join(parent, name), { recursive: true, force: true })
    }
  }
}

/**
 * The database's own folder, which nobody else may enter. Where its path is too long for a socket
 * (104 bytes on macOS, 108 on Linux, with the closing zero), a short one of the same kind.
 */
function chooseSocketFolder(folder: string, program: PostgresProgram) {
  if (Buffer.byteLength(path.join(folder, '.s.PGSQL.5432')) <= 103) return folder
  const parent = tmpdir().length > 60 ? '/tmp' : tmpdir()
  const short = mkdtempSync(path.join(parent, 'bellwether-'))
  giveTo(program.owner, short)
  return short
}

function ownerOf(folder: string) {
  try {
    const { uid, gid } = statSync(folder)
    return { uid, gid }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartError(`${folder} cannot be used: ${reasonOf(error)}.`)
  }
}

function syncFolder(folder: string) {
  const opened = openSync(folder, 'r')
  fsyncSync(opened)
  closeSync(opened)
}

// Words -------------------------------------------------------------------------------------------

const urlOf = (socketFolder: string, database: string) =>
  `postgres://bellwether@localhost/${database}?host=${encodeURIComponent(socketFolder)}`

const logOf = (folder: string) => `${folder}.log`

/** The one line that says what went wrong. */
function complaintIn(said: string) {
  const lines = said.split('\n').filter((line) => line.trim())
  const worst = lines.find((line) => /(FATAL|PANIC|error):/.test(line)) ?? lines.at(-1) ?? 'no word'
  return worst.replace(/^.*?(FATAL|PANIC|error):\s*/, '').trim()
}

function reasonOf(error: unknown) {
  const { code, message } = error as NodeJS.ErrnoException
  const known: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ENOSPC: 'no space left on the disk',
    ENOTDIR: 'it is not a folder',
    EEXIST: 'it is not a folder',
    EROFS: 'the disk is read-only',
  }
  return known[code ?? ''] ?? message
}
