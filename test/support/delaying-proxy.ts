import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanUpLater, type Lifetime } from './clean-up.ts'

/** A TCP proxy in front of a PostgreSQL server that delays each new connection. */
export async function delayConnections(t: Lifetime, url: string, delayMs: number) {
  const address = new URL(url)
  const folder = address.searchParams.get('host')
  const port = Number(address.port || 5432)
  const sockets = new Set<net.Socket>()
  const server = net.createServer(async (near) => {
    near.on('error', () => near.destroy())
    await sleep(delayMs)
    const far = folder
      ? net.connect(`${folder}/.s.PGSQL.${port}`)
      : net.connect(port, address.hostname)
    far.on('error', () => far.destroy())
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true).on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUpLater(t, () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const through = new URL(url)
  through.searchParams.delete('host')
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as net.AddressInfo).port)
  return through.href
}
