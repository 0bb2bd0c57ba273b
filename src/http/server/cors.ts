import type { FastifyInstance } from 'fastify'
import { ANSWER_HEADERS } from './openapi-headers.ts'

const METHODS = 'GET, POST, DELETE'
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, Last-Event-ID'
/** A page may read every header that the API description names; browsers hide cookies from it. */
const READABLE_HEADERS = Object.keys(ANSWER_HEADERS)
  .filter((name) => name !== 'Set-Cookie')
  .join(', ')
const PREFLIGHT_SECONDS = '600'

/**
 * Lets pages of the configured origins call the API with a key. Answers never allow credentials, so a
 * browser hides the answer to a request that carries the session cookie.
 */
export function allowOrigins(app: FastifyInstance, origins: string[]) {
  if (origins.length === 0) return
  app.addHook('onRequest', async (request, reply) => {
    reply.header('vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !(origins.includes('*') || origins.includes(origin))) return
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', READABLE_HEADERS)
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (!isPreflight) return
    reply.header('access-control-allow-methods', METHODS)
    reply.header('access-control-allow-headers', REQUEST_HEADERS)
    reply.header('access-control-max-age', PREFLIGHT_SECONDS)
    return reply.code(204).send()
  })
}
