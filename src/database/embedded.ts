import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { StartError } from '../errors.ts'
import { isAlive, logOf, prepareFolder, startServer, type Settings } from './embedded-server.ts'

export type Embedded = { url: string; stop(): Promise<void> }

export type Purpose = 'service' | 'command'

/**
 * Opens the PostgreSQL of this folder: uses the server that runs, also one that a killed service left
 * behind, or starts one. The last process that uses it stops it. Only one service can use it.
 */
export async function openEmbedded(
  dataDir: string,
  purpose: Purpose,
  settings: Settings = {},
): Promise<Embedded> {
  const folder = prepareFolder(path.resolve(dataDir))
  const leaving = new AbortController()
  const { signal } = leaving

  const enter = async () => {
    const presence = await join(folder, purpose, settings, signal)
    // If the server ends before this process, it is started again.
    presence.client.once('end', () => (place = signal.aborted ? place : comeBack()))
    return presence
  }
  const comeBack = async (): Promise<Presence | undefined> => {
    try {
      return await enter()
    } catch {
      if (signal.aborted) return connectRunning(folder)
      await sleep(500)
      return comeBack()
    }
  }
  const first = await enter()
  let place: Promise<Presence | undefined> = Promise.resolve(first)

  return {
    url: urlOf(first.socketFolder, 'bellwether'),
    stop: async () => {
      if (signal.aborted) return
      leaving.abort()
      const presence = await place
      if (presence) await leave(folder, presence)
    },
  }
}

// Locks of its users -------------------------------------------------------------------------------------

/** A connection that is held while this process uses the server, with its advisory locks. */
type Presence = { client: pg.Client; socketFolder: string }

const IN_USE = 7_230_001 // shared by everyone who uses the server
const SERVICE = 7_230_002 // held by the one service

/** After a crash a server can need minutes of recovery before it answers. */
const MAX_START_SECONDS = 300

async function join(
  folder: string,
  purpose: Purpose,
  settings: Settings,
  signal: AbortSignal,
): Promise<Presence> {
  let deadline = monotonicMs() + MAX_START_SECONDS * 1000
  let emptySince: number | undefined
  for (;;) {
    emptySince = isNoteEmpty(folder) ? (emptySince ?? monotonicMs()) : undefined
    if (emptySince && monotonicMs() - emptySince > MAX_EMPTY_MS) forgetNote(folder)
    const found = await connectRunning(folder)
    if (found) {
      const presence = await takePlace(found, folder, purpose)
      if (presence) return presence
    } else if (!isStarting(folder)) {
      await startServer(folder, settings)
      deadline = monotonicMs() + MAX_START_SECONDS * 1000
    }
    if (monotonicMs() > deadline) {
      throw new StartError(
        `The embedded database in ${folder} does not answer: see ${logOf(folder)}.`,
      )
    }
    signal.throwIfAborted()
    await sleep(20)
  }
}

async function takePlace(presence: Presence, folder: string, purpose: Purpose) {
  const { client } = presence
  try {
    if (purpose === 'service') await becomeTheService(client, folder)
    // Waits while the last user stops the server; this connection then ends too.
    await client.query('select pg_advisory_lock_shared($1)', [IN_USE])
    await createDatabase(client)
    return presence
  } catch (error) {
    await client.end().catch(() => {})
    if (error instanceof StartError) throw error
    if (error instanceof pg.DatabaseError && error.severity === 'ERROR') {
      throw new StartError(`The embedded database in ${folder} refuses: ${error.message}.`)
    }
    return undefined
  }
}

/** The server notices the death of a service after a moment. */
async function becomeTheService(client: pg.Client, folder: string) {
  for (let tries = 0; tries < 20; tries += 1) {
    if (await tryLock(client, SERVICE)) return
    await sleep(25)
  }
  throw new StartError(
    `Another service already runs on ${path.dirname(folder)}: stop it first, or name another folder in DATA_DIR.`,
  )
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
    last = await tryLock(client, IN_USE)
    if (last && pid) process.kill(pid, 'SIGINT')
  } catch {
    // The server has ended already.
  }
  await client.end().catch(() => {})
  if (last && pid) await waitForEnd(folder, pid)
  if (last && socketFolder !== folder) fs.rmSync(socketFolder, { recursive: true, force: true })
}

const STOP_SECONDS = 8

/** A fast shutdown first; an immediate one if it takes too long, with recovery at the next start. */
async function waitForEnd(folder: string, pid: number) {
  const deadline = monotonicMs() + STOP_SECONDS * 1000
  while (readPostmaster(folder)?.pid === pid && isAlive(pid)) {
    if (monotonicMs() > deadline) return void process.kill(pid, 'SIGQUIT')
    await sleep(20)
  }
}

async function tryLock(client: pg.Client, key: number) {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [key])
  return rows[0].locked === true
}

// Finding a running server -----------------------------------------------------------------------

/** A connection to the server of this folder, if one answers and has the same postmaster.pid. */
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
    const { rows } = await client.query(`select pg_read_file('postmaster.pid') as note`)
    const isSame = parsePostmaster(rows[0].note).started === postmaster.started
    if (isSame) return { client, socketFolder }
  } catch {
    // No server, or not ready yet.
  }
  await client.end().catch(() => {})
  return undefined
}

/** Whether a server runs that does not answer yet, or no longer. */
function isStarting(folder: string) {
  const postmaster = readPostmaster(folder)
  if (!postmaster) return false
  if (!postmaster.pid) return true // not yet written
  if (isServerOf(folder, postmaster.pid)) return true
  if (isAlive(postmaster.pid)) disown(folder, postmaster)
  return false
}

const NO_PROCESS = 2_147_483_646

/**
 * The process id of a dead server can belong to another process now, and PostgreSQL would refuse to
 * start. Only the id is removed from postmaster.pid: with the rest the next server checks whether a
 * process of the dead one still uses the shared memory.
 */
function disown(folder: string, { pid, socketFolder }: Postmaster) {
  const note = path.join(folder, 'postmaster.pid')
  const text = fs.readFileSync(note, 'utf8')
  fs.writeFileSync(note, text.replace(String(pid), String(NO_PROCESS)))
  fs.rmSync(path.join(socketFolder || folder, '.s.PGSQL.5432.lock'), { force: true })
}

function isServerOf(folder: string, pid: number) {
  if (!isAlive(pid)) return false
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(folder)
  } catch {
    const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)])
    return !stdout || stdout.toString().includes(folder)
  }
}

type Postmaster = ReturnType<typeof parsePostmaster>

function readPostmaster(folder: string) {
  try {
    return parsePostmaster(fs.readFileSync(path.join(folder, 'postmaster.pid'), 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * A server that is killed while it creates postmaster.pid leaves an empty file, with which PostgreSQL
 * would never start again.
 */
const MAX_EMPTY_MS = 3_000

const isNoteEmpty = (folder: string) => readPostmaster(folder)?.pid === 0

function forgetNote(folder: string) {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    fs.rmSync(path.join(folder, name), { force: true })
  }
}

/** postmaster.pid: process id, data folder, start time, port, socket folder … */
function parsePostmaster(note: string) {
  const lines = note.split('\n')
  return { pid: Number(lines[0]), started: `${lines[0]} ${lines[2]}`, socketFolder: lines[4] }
}

const urlOf = (socketFolder: string, database: string) =>
  `postgres://bellwether@localhost/${database}?host=${encodeURIComponent(socketFolder)}&sslmode=disable`
