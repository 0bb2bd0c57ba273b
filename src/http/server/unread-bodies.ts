import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** Beyond this, reading costs more than the answer is worth. */
const MOST_BYTES = 2 * 1_048_576
const LONGEST_MS = 2_000

/**
 * An answer that is given before all of a body was read, such as 401 or 413, ends the connection,
 * but gently. Node would read the rest, however long; closing at once would make many a client,
 * still busy sending, see a broken connection instead of the answer.
 */
export function closeAfterUnreadBodies(app: FastifyInstance) {
  app.addHook('onSend', async ({ raw }, reply, payload) => {
    if (!raw.complete && hasBody(raw)) {
      reply.header('connection', 'close')
      lingerOnClose(raw)
    }
    return payload
  })
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function lingerOnClose({ socket }: IncomingMessage) {
  if (!socket) return
  socket.destroySoon = () => {
    const before = socket.bytesRead
    socket.end()
    const watch = setInterval(() => {
      if (socket.bytesRead - before > MOST_BYTES) socket.destroy()
    }, 5)
    const late = setTimeout(() => socket.destroy(), LONGEST_MS)
    socket.once('close', () => {
      clearInterval(watch)
      clearTimeout(late)
    })
  }
}
