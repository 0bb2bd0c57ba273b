import type { FastifyInstance } from 'fastify'

const METHODS = 'GET, POST, DELETE'
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer'
const ANSWER_HEADERS =
  'ETag, Location, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Content-Disposition'
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
    reply.header('access-control-expose-headers', ANSWER_HEADERS)
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (!isPreflight) return
    reply.header('access-control-allow-methods', METHODS)
    reply.header('access-control-allow-headers', REQUEST_HEADERS)
    reply.header('access-control-max-age', PREFLIGHT_SECONDS)
    return reply.code(204).send()
  })
}
