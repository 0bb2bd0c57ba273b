import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

/** The file that a running server keeps in its folder: https://www.postgresql.org/docs/current/storage-file-layout.html */
const FILE = 'postmaster.pid'
const SOCKET_LOCK = '.s.PGSQL.5432.lock'

export type Postmaster = ReturnType<typeof parsePostmaster>

/** Process id, data folder, start time, port, socket folder, address, shared memory, status. */
export function parsePostmaster(text: string) {
  const lines = text.split('\n')
  return {
    /** 0 if the file is empty: the server has not written it yet. */
    pid: Number(lines[0]),
    started: `${lines[0]} ${lines[2]}`,
    socketFolder: lines[4],
    isReady: lines[7]?.startsWith('ready') ?? false,
  }
}

export function readPostmaster(folder: string): Postmaster | undefined {
  try {
    return parsePostmaster(fs.readFileSync(path.join(folder, FILE), 'utf8'))
  } catch {
    return undefined
  }
}

/** A server that was killed while it created the file leaves it empty, and then none can start. */
export function removePostmaster(folder: string) {
  for (const name of [FILE, SOCKET_LOCK]) fs.rmSync(path.join(folder, name), { force: true })
}

const NO_PROCESS = 2_147_483_646

/**
 * If another process has reused the pid of a dead server, PostgreSQL refuses to start. The rest of the
 * file stays: the next server needs it to check whether the shared memory is still in use.
 */
export function clearPid(folder: string, { pid, socketFolder }: Postmaster) {
  const file = path.join(folder, FILE)
  const text = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, text.replace(String(pid), String(NO_PROCESS)))
  fs.rmSync(path.join(socketFolder || folder, SOCKET_LOCK), { force: true })
}

export function isServerOf(folder: string, pid: number) {
  if (!isAlive(pid)) return false
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(folder)
  } catch {
    const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)])
    return !stdout || stdout.toString().includes(folder)
  }
}

export function isAlive(pid: number) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
