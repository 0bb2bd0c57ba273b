import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { cleanUpLater } from './clean-up.ts'
import { temporaryFolder } from './folder.ts'
import { findProgram } from './programs.ts'
import { until } from './until.ts'

/** A PgBouncer in front of a server that listens on TCP, and the URL of the database through it. */
export async function startPgBouncer(t: TestContext, url: string, settings: string) {
  const { hostname, port, username } = new URL(url)
  const listenPort = await freePort()
  const file = path.join(temporaryFolder(t), 'pgbouncer.ini')
  fs.writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port || 5432} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
query_wait_timeout = 5
${process.getuid?.() === 0 ? 'user = nobody' : ''}
${settings}
`,
  )
  const run = async () => {
    const child = spawn(findProgram('pgbouncer')!, [file], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    await until(() => accepts(listenPort))
    return async () => {
      child.kill('SIGKILL')
      await ended
    }
  }
  let stop = await run()
  cleanUpLater(t, () => stop())
  const through = new URL(url)
  through.host = `127.0.0.1:${listenPort}`
  through.search = ''
  return {
    url: through.href,
    restart: async () => {
      await stop()
      stop = await run()
    },
  }
}

export async function freePort() {
  const server = net.createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  return port
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
