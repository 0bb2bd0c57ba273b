import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** The programs of Debian's newest PostgreSQL package; undefined if none is installed. */
export const debianPrograms = () =>
  fs
    .globSync('/usr/lib/postgresql/*/bin/initdb')
    .map((file) => path.dirname(file))
    .toSorted()
    .at(-1)

/**
 * A server with the settings of initdb and these. Its role `owner` has only the rights that
 * docs/database.md requires.
 */
export async function startInstalledServer(bin: string, settings: Record<string, string> = {}) {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'bellwether-server-'))
  fs.chmodSync(folder, 0o755)
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? { uid: 65534, gid: 65534 } : {} // PostgreSQL does not run as root
  const data = path.join(folder, 'data')
  fs.mkdirSync(data, { mode: 0o700 })
  if (isRoot) fs.chownSync(data, 65534, 65534)

  const initdb = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C']
  const made = spawnSync(path.join(bin, 'initdb'), [...initdb, '--no-sync'], { ...user, cwd: '/' })
  if (made.status !== 0) throw new Error(`initdb: ${made.error ?? made.stderr.toString()}`)
  const all = { listen_addresses: '', unix_socket_directories: data, ...settings }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(path.join(bin, 'postgres'), ['-D', data, ...options], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
    detached: true,
  })
  const place = `localhost:${settings.port ?? 5432}/postgres?host=${encodeURIComponent(data)}`
  const superuserUrl = `postgres://postgres@${place}`
  await connectWhenReady(superuserUrl, async (client) => {
    await client.query('create role owner login createrole createdb')
    // Only tests need these: writing rows without triggers, dropping databases in use.
    await client.query('grant set on parameter session_replication_role to owner')
    await client.query('grant pg_signal_backend to owner')
  })
  return {
    url: `postgres://owner@${place}`,
    superuserUrl,
    data,
    stop: async () => {
      child.kill('SIGINT')
      await once(child, 'exit')
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function connectWhenReady(url: string, work: (client: pg.Client) => Promise<void>) {
  for (let tries = 0; tries < 500; tries += 1) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    const ready = await client.connect().then(
      () => true,
      () => false,
    )
    if (ready) return work(client).finally(() => client.end())
    await sleep(20)
  }
  throw new Error('the server does not answer')
}
