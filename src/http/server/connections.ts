import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { RequestError } from '../../errors.ts'

/** When connections are closed, and how a handler learns that its client has closed one. */
export function manageConnections(app: FastifyInstance) {
  finishRequestsOnClose(app)
  closeIdleConnections(app)
  closeAfterUnreadBodies(app)
}

/**
 * Aborts when the client closes the connection before it has the whole answer, also if it did so
 * before this was called. Fastify's own `request.signal` aborts as soon as the body is read.
 */
export function abortOnDisconnect({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const disconnected = new AbortController()
  const abort = () =>
    disconnected.abort(new RequestError(400, 'The client closed the connection before the answer.'))
  if (raw.destroyed) abort()
  else raw.once('close', abort)
  return disconnected.signal
}

/**
 * When the app closes, running requests are finished and new ones are refused. Idle connections are
 * closed at once, including those that never carried a request, which Node would keep.
 */
function finishRequestsOnClose(app: FastifyInstance) {
  let isClosing = false
  const runningRequests = new Map<Socket, number>()
  app.server.on('connection', (socket) => {
    runningRequests.set(socket, 0)
    socket.once('close', () => runningRequests.delete(socket))
  })
  app.server.on('request', ({ socket }, response) => {
    runningRequests.set(socket, (runningRequests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (runningRequests.get(socket) ?? 1) - 1
      if (runningRequests.has(socket)) runningRequests.set(socket, left)
      if (isClosing && left === 0) socket.end()
    })
  })

  app.addHook('preClose', async () => {
    isClosing = true
    for (const [socket, running] of runningRequests) if (running === 0) socket.destroy()
  })
  app.addHook('onRequest', async () => {
    if (isClosing) {
      throw new RequestError(503, 'This node is shutting down; send the request to another node.')
    }
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    if (isClosing) reply.header('connection', 'close')
    return payload
  })
}

/**
 * Node closes a connection without traffic after `connectionTimeout`. Here this applies only while the
 * server waits for the client: a request that waits in a queue or prints a report has no traffic either.
 */
function closeIdleConnections(app: FastifyInstance) {
  app.server.on('request', (request, response) => {
    response.on('timeout', (socket) => {
      if (isWaitingForClient(request, response)) socket.destroy()
    })
  })
}

/** Whether the server waits for the rest of the body, or for the client to read the answer. */
const isWaitingForClient = (request: IncomingMessage, response: ServerResponse) =>
  response.headersSent || (!request.complete && request.readableLength === 0)

/** How much of an unread body is received, and for how long, before the connection is destroyed. */
const MAX_DRAINED_BYTES = 2 * 1_048_576
const MAX_DRAIN_MS = 2_000

/**
 * An answer that is sent before its body was read completely, such as 401 or 413, closes the connection,
 * but not at once: a client that is still sending would see a reset instead of the answer.
 */
function closeAfterUnreadBodies(app: FastifyInstance) {
  app.addHook('onSend', async ({ raw }, reply, payload) => {
    if (!raw.complete && hasBody(raw)) {
      reply.header('connection', 'close')
      drainBeforeClose(raw)
    }
    return payload
  })
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function drainBeforeClose({ socket }: IncomingMessage) {
  if (!socket) return
  socket.destroySoon = () => {
    const before = socket.bytesRead
    socket.end()
    const sizeCheck = setInterval(() => {
      if (socket.bytesRead - before > MAX_DRAINED_BYTES) socket.destroy()
    }, 5)
    const deadline = setTimeout(() => socket.destroy(), MAX_DRAIN_MS)
    socket.once('close', () => {
      clearInterval(sizeCheck)
      clearTimeout(deadline)
    })
  }
}
