import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { StartError } from '../errors.ts'
import { logOf, prepareFolder, startServer, type ServerSettings } from './embedded-server.ts'
import {
  clearPid,
  isAlive,
  isServerOf,
  parsePostmaster,
  readPostmaster,
  removePostmaster,
} from './postmaster-pid.ts'

export type Embedded = { url: string; stop(): Promise<void> }

export type Purpose = 'service' | 'command'

/**
 * Opens the PostgreSQL of this folder: the server that runs, also if a killed service started it, or a
 * new one. The last process that uses it stops it; only one service can use it.
 */
export async function openEmbedded(
  dataDir: string,
  purpose: Purpose,
  settings: ServerSettings = {},
): Promise<Embedded> {
  const folder = prepareFolder(path.resolve(dataDir))
  const stopping = new AbortController()
  const { signal } = stopping

  const connect = async () => {
    const presence = await openPresence(folder, purpose, settings, signal)
    // If the server ends before this process, it is started again.
    presence.client.once('end', () => (current = signal.aborted ? current : reconnect()))
    return presence
  }
  const reconnect = async (): Promise<Presence | undefined> => {
    try {
      return await connect()
    } catch {
      if (signal.aborted) return connectRunning(folder)
      await sleep(500)
      return reconnect()
    }
  }
  const first = await connect()
  let current: Promise<Presence | undefined> = Promise.resolve(first)

  return {
    url: urlOf(first.socketFolder, 'bellwether'),
    stop: async () => {
      if (signal.aborted) return
      stopping.abort()
      const presence = await current
      if (presence) await release(folder, presence)
    },
  }
}

// Locks of the processes that use the server ------------------------------------------------------

/** A connection that is held while this process uses the server, with its advisory locks. */
type Presence = { client: pg.Client; socketFolder: string }

const IN_USE_LOCK = 7_230_001 // shared by all processes that use the server
const SERVICE_LOCK = 7_230_002 // held by the one service

/** After a crash a server can need minutes of recovery before it answers. */
const MAX_START_SECONDS = 300

/** A server writes its postmaster.pid within this time, unless it was killed. */
const MAX_EMPTY_MS = 3_000

async function openPresence(
  folder: string,
  purpose: Purpose,
  settings: ServerSettings,
  signal: AbortSignal,
): Promise<Presence> {
  let deadline = monotonicMs() + MAX_START_SECONDS * 1000
  let emptySinceMs: number | undefined
  for (;;) {
    const isEmpty = readPostmaster(folder)?.pid === 0
    emptySinceMs = isEmpty ? (emptySinceMs ?? monotonicMs()) : undefined
    if (emptySinceMs && monotonicMs() - emptySinceMs > MAX_EMPTY_MS) removePostmaster(folder)
    const found = await connectRunning(folder)
    if (found) {
      const presence = await lockPresence(found, folder, purpose)
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

async function lockPresence(presence: Presence, folder: string, purpose: Purpose) {
  const { client } = presence
  try {
    if (purpose === 'service') await lockAsService(client, folder)
    // Waits while the last user stops the server; this connection then ends too.
    await client.query('select pg_advisory_lock_shared($1)', [IN_USE_LOCK])
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

/** Retries, because the server needs a moment to notice that a service has died. */
async function lockAsService(client: pg.Client, folder: string) {
  for (let tries = 0; tries < 20; tries += 1) {
    if (await tryLock(client, SERVICE_LOCK)) return
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
    const isCreatedByAnother = error.code === '42P04' || error.code === '23505'
    if (!isCreatedByAnother) throw error
  })
}

async function release(folder: string, { client, socketFolder }: Presence) {
  const pid = readPostmaster(folder)?.pid
  let isLast = false
  try {
    await client.query('select pg_advisory_unlock_all()')
    isLast = await tryLock(client, IN_USE_LOCK)
    if (isLast && pid) process.kill(pid, 'SIGINT')
  } catch {
    // The server has ended already.
  }
  await client.end().catch(() => {})
  if (isLast && pid) await waitForEnd(folder, pid)
  if (isLast && socketFolder !== folder) fs.rmSync(socketFolder, { recursive: true, force: true })
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
    const { rows } = await client.query(`select pg_read_file('postmaster.pid') as text`)
    const isSame = parsePostmaster(rows[0].text).started === postmaster.started
    if (isSame) return { client, socketFolder }
  } catch {
    // No server, or not ready yet.
  }
  await client.end().catch(() => {})
  return undefined
}

/** Whether a server is running that does not answer yet, or has stopped answering. */
function isStarting(folder: string) {
  const postmaster = readPostmaster(folder)
  if (!postmaster) return false
  if (!postmaster.pid) return true // not yet written
  if (isServerOf(folder, postmaster.pid)) return true
  if (isAlive(postmaster.pid)) clearPid(folder, postmaster)
  return false
}

const urlOf = (socketFolder: string, database: string) =>
  `postgres://bellwether@localhost/${database}?host=${encodeURIComponent(socketFolder)}&sslmode=disable`
