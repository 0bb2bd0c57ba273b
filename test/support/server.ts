import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import pg from 'pg'
import { startServer } from '../../src/database/embedded-server.ts'
import { cleanUpLater, type Lifetime } from './clean-up.ts'
import { temporaryFolder } from './folder.ts'
import { until } from './until.ts'

/** A PostgreSQL server of the test, in a folder with its socket. */
export type Server = { folder: string; url: string }

export async function startPrimary(t: Lifetime): Promise<Server> {
  const folder = path.join(temporaryFolder(t), 'postgres')
  return open(t, folder)
}

/** A server that follows the primary over streaming replication. */
export async function startStandby(
  t: Lifetime,
  primary: Server,
  settings: Record<string, string> = {},
): Promise<Server> {
  const folder = path.join(temporaryFolder(t), 'postgres')
  await endServer(primary, 'SIGINT')
  fs.cpSync(primary.folder, folder, { recursive: true, preserveTimestamps: true })
  copyOwners(primary.folder, folder)
  fs.writeFileSync(path.join(folder, 'standby.signal'), '')
  await startServer(primary.folder, {})
  const follows = { primary_conninfo: `host=${primary.folder} user=bellwether` }
  return open(t, folder, { ...follows, ...settings })
}

async function open(t: Lifetime, folder: string, settings: Record<string, string> = {}) {
  await startServer(folder, settings)
  const server = { folder, url: `postgres://bellwether@localhost/postgres?host=${folder}` }
  cleanUpLater(t, () => endServer(server, 'SIGQUIT'))
  return server
}

/** The server runs as another user if the tests run as root. */
function copyOwners(from: string, to: string) {
  const { uid, gid } = fs.statSync(from)
  spawnSync('chown', ['-R', `${uid}:${gid}`, to])
  fs.chmodSync(to, 0o700)
}

export async function endServer({ folder }: Server, signal: NodeJS.Signals) {
  const file = path.join(folder, 'postmaster.pid')
  if (!fs.existsSync(file)) return
  const pid = Number.parseInt(fs.readFileSync(file, 'utf8'))
  process.kill(pid, signal)
  const state = () => spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`]).stdout.toString()
  await until(() => /^Z?$/.test(state().trim().slice(0, 1)))
}

export async function runStatement({ url }: Server, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return (await client.query(statement).finally(() => client.end())).rows
}

/** A TCP address that can switch from one server to another; open connections stay. */
export async function openAddress(t: Lifetime, server: Server) {
  let target = server
  const sockets = new Set<net.Socket>()
  const listener = net.createServer((near) => {
    const far = net.connect(path.join(target.folder, '.s.PGSQL.5432'))
    for (const socket of [near, far]) sockets.add(socket)
    near.on('error', () => far.destroy()).on('close', () => far.destroy())
    far.on('error', () => near.destroy()).on('close', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  cleanUpLater(t, () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  const { port } = listener.address() as net.AddressInfo
  return {
    host: `127.0.0.1:${port}`,
    url: `postgres://bellwether@127.0.0.1:${port}/postgres`,
    leadTo: (next: Server) => (target = next),
  }
}
