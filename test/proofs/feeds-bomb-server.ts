import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { BOMBS, type Bomb } from './feeds-bombs.ts'

/* A process that answers every request with the bomb that its parent names. */

let current: Bomb | undefined
const server = http.createServer((_request, response) => current!.answer(response))
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit(1)) // the parent has ended
process.on('message', (what: string) => {
  current = BOMBS.find((bomb) => bomb.what === what)
  process.send!(0)
})
