import type { FastifyReply } from 'fastify'
import { RequestError } from '../../errors.ts'

/**
 * Aborts when the client closes the connection before it has the whole answer, also if it did so
 * before this was called. Fastify's own `request.signal` aborts as soon as the body is read.
 */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const abort = () =>
    gone.abort(new RequestError(400, 'The client closed the connection before the answer.'))
  if (raw.destroyed) abort()
  else raw.once('close', abort)
  return gone.signal
}
