import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../../errors.ts'

/**
 * When the app closes, what has begun is finished and nothing new is begun. Connections that wait
 * for a request are ended at once, also those that have never carried one, which Node keeps.
 */
export function closeGently(app: FastifyInstance) {
  let closing = false
  const requests = new Map<Socket, number>()
  app.server.on('connection', (socket) => {
    requests.set(socket, 0)
    socket.once('close', () => requests.delete(socket))
  })
  app.server.on('request', ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1
      if (requests.has(socket)) requests.set(socket, left)
      if (closing && left === 0) socket.end()
    })
  })

  app.addHook('preClose', async () => {
    closing = true
    for (const [socket, running] of requests) if (running === 0) socket.destroy()
  })
  app.addHook('onRequest', async () => {
    if (closing) throw new RequestError(503, 'This node is stopping; another one may answer.')
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    if (closing) reply.header('connection', 'close')
    return payload
  })
}
