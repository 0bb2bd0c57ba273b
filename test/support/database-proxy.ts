import { once } from 'node:events'
import net from 'node:net'
import { cleanUpLater, type Lifetime } from './clean-up.ts'

/** A TCP proxy to a PostgreSQL server, to break its connections in the ways of a network. */
export async function openDatabaseProxy(t: Lifetime, url: string) {
  const address = new URL(url)
  const folder = address.searchParams.get('host')
  const port = Number(address.port || 5432)
  const pairs = new Set<[net.Socket, net.Socket]>()
  let isForwarding = true
  let isRefused = (_data: Buffer | string) => false
  const server = net.createServer((near) => {
    const far = folder
      ? net.connect(`${folder}/.s.PGSQL.${port}`)
      : net.connect(port, address.hostname)
    const pair: [net.Socket, net.Socket] = [near, far]
    pairs.add(pair)
    near.on('error', () => {})
    far.on('error', () => {})
    near.on('close', () => pairs.delete(pair))
    if (!isForwarding) return
    near.on('data', (data) => void (isRefused(data) && near.resetAndDestroy()))
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUpLater(t, () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
    server.close()
  })
  const through = new URL(url)
  through.searchParams.delete('host')
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as net.AddressInfo).port)
  return {
    url: through.href,
    /** Stops forwarding without closing a connection. */
    stopForwarding: () => {
      isForwarding = false
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        near.pause()
        far.pause()
      }
    },
    forwardNewConnections: () => void (isForwarding = true),
    /** Ends a connection with a TCP reset when it sends this text. */
    resetOn: (text: string) => void (isRefused = (data) => data.includes(text)),
    /** Ends every connection with a TCP reset, as a crashed server does. */
    resetAll: () => {
      for (const [near, far] of pairs) {
        near.resetAndDestroy()
        far.destroy()
      }
    },
  }
}
