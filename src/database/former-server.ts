import { once } from 'node:events'
import fs from 'node:fs'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../errors.ts'
import { findLibraries, findPostgresProgram, giveTo } from './postgres-program.ts'
import { isServerOf, readPostmaster } from './postmaster-pid.ts'

const MAX_START_MS = 300_000

/** Starts the server of a folder with the programs of an older major version, to read its rows. */
export async function startFormerServer(folder: string, programs: string) {
  const running = readPostmaster(folder)
  if (running?.pid && isServerOf(folder, running.pid)) {
    throw new StartError(`The database in ${folder} is in use: stop the service first.`)
  }
  const { uid, gid } = fs.statSync(folder)
  const { owner } = findPostgresProgram(folder, { uid, gid })
  if (owner && owner.uid !== uid) giveTo(owner, folder)
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    logging_collector: 'off',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const native = path.dirname(programs)
  const isOfNpm = fs.existsSync(path.join(native, 'pg-symlinks.json'))
  const former = `${folder}.former`
  const libraries = isOfNpm ? findLibraries(native, former) : {}
  const env = { PATH: process.env.PATH, LC_ALL: 'C', ...libraries }
  const child = spawn(path.join(programs, 'postgres'), ['-D', folder, ...options], {
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...owner,
  })
  let output = ''
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (output = (output + text).slice(-2_000)))
  const ended = once(child, 'close').catch((error: Error) => (output += error.message))
  let isOver = false
  void ended.then(() => {
    isOver = true
    fs.rmSync(`${former}.lib`, { recursive: true, force: true })
  })
  for (let waitedMs = 0; !readPostmaster(folder)?.isReady; waitedMs += 20) {
    if (isOver || waitedMs > MAX_START_MS) {
      child.kill('SIGQUIT')
      throw new StartError(
        `${programs}/postgres does not start the database in ${folder}: ${output.trim()}`,
      )
    }
    await sleep(20)
  }
  const host = encodeURIComponent(folder)
  return {
    url: `postgres://bellwether@localhost/bellwether?host=${host}&sslmode=disable`,
    stop: async () => {
      child.kill('SIGINT')
      await ended
    },
  }
}
