import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Node closes a connection on which nothing moves for `connectionTimeout`. Here that holds only while
 * the server waits for the client. While a request waits in a queue or a report is printed, nothing
 * moves either, and the client must get its answer.
 */
export function keepBusyConnections(app: FastifyInstance) {
  app.server.on('request', (request, response) => {
    response.on('timeout', (socket) => {
      if (isWaitingForClient(request, response)) socket.destroy()
    })
  })
}

/** For the rest of the body, or for the client to read the answer. */
const isWaitingForClient = (request: IncomingMessage, response: ServerResponse) =>
  response.headersSent || (!request.complete && request.readableLength === 0)
