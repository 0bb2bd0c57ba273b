import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../auth/caller.ts'
import { Limiter } from '../../auth/limits.ts'
import {
  FUNCTION_OF_SCOPE,
  FUNCTIONS_OF_ROLE,
  lackOfFunction,
  lackOfScope,
  type SecurityFunction,
} from '../../auth/permissions.ts'
import { digest, isSameDigest } from '../../auth/secrets.ts'
import type { KeyScope } from '../../contract/roles.ts'
import { forbidden, unauthorized } from '../../errors.ts'
import { isCrossSite, readSessionCookie } from './cookies.ts'
import { networkOf, limitRate } from './rate-limit.ts'
import type { Services } from './services.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that an API key needs. */
    scope?: KeyScope
    /** The function that a signed-in person needs, if it is not the one that belongs to `scope`. */
    function?: SecurityFunction
    /** Every signed-in person may call this; API keys may not. */
    person?: true
    /** The operator's key may call this, in addition to callers that `scope` allows. */
    operator?: true
    /** Only the operator's key and METRICS_TOKEN may call this. */
    metrics?: true
    /** Public and cheap, such as files and health checks: no rate limit. */
    unlimited?: true
  }
  interface FastifyRequest {
    /** The API key or person that sent the request. Not set for the operator. */
    caller: Caller
    isOperator: boolean
  }
}

/**
 * Finds the caller of every request, applies the rate limit and checks the permission. A route without
 * an access rule in its `config` cannot be registered.
 */
export function authenticate(app: FastifyInstance, services: Services) {
  const { config, clock } = services
  const perCredential = new Limiter(config.rateLimit, clock)
  const perAddress = new Limiter(config.rateLimit, clock)

  app.decorateRequest('caller')
  app.decorateRequest('isOperator', false)
  app.addHook('onRoute', ({ method, url, config: route = {} }) => {
    const { open, scope, person, operator, metrics } = route
    if (open || scope || person || operator || metrics) return
    throw new Error(`${method} ${url} needs an access rule in its config: see docs/roles.md`)
  })

  app.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions.config
    if (route.open) {
      if (!route.unlimited) limitRate(reply, perAddress, networkOf(request))
      return
    }

    const found = await findCaller(request, services)
    if (!found) {
      limitRate(reply, perAddress, networkOf(request))
      throw missingCredential(request, config.publicUrl)
    }
    limitRate(reply, perCredential, typeof found === 'string' ? found : found.credential)
    if (found === 'metrics') return
    if (found === 'operator') {
      if (!route.operator && !route.metrics)
        throw forbidden(
          'The operator’s key works on /business, GET /senderDomain, POST /mail/retry and /restore only. Use an API key of a business.',
        )
      request.isOperator = true
      return
    }
    const refusal = refusalOf(found, route)
    if (refusal) throw forbidden(refusal)
    request.caller = found
  })
}

/** The caller of a request that is still running; undefined if its permission was revoked meanwhile. */
export async function rereadCaller(
  request: FastifyRequest,
  { config, credentials }: Services,
): Promise<Caller | undefined> {
  const { authorization } = request.headers
  const caller =
    authorization === undefined
      ? await credentials.rereadSession(readSessionCookie(request, config.publicUrl) ?? '')
      : await credentials.rereadKey(bearerOf(authorization))
  return caller && !refusalOf(caller, request.routeOptions.config) ? caller : undefined
}

const bearerOf = (authorization: string) => /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''

type Found = Caller | 'operator' | 'metrics' | undefined

async function findCaller(
  request: FastifyRequest,
  { config, credentials }: Services,
): Promise<Found> {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const key = bearerOf(authorization)
    if (request.routeOptions.config.metrics && isSameToken(key, config.metricsToken))
      return 'metrics'
    return credentials.findByKey(key)
  }
  const token = readSessionCookie(request, config.publicUrl)
  if (token === undefined) return undefined
  const caller = await credentials.findBySession(token)
  if (caller && isCrossSite(request, config.publicUrl)) {
    throw forbidden('A page of another site sent this request with your session: it is refused.')
  }
  const expected = request.headers['expect-user']
  if (caller && expected !== undefined && expected !== String(caller.person?.userId)) {
    throw unauthorized(
      'other-session',
      'Another person has signed in with this browser since the page was opened. Load it again.',
    )
  }
  return caller
}

/** The message says what is missing, but not which keys and sessions exist. */
function missingCredential(request: FastifyRequest, publicUrl: string) {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    return /^Bearer +\S+$/i.test(authorization)
      ? unauthorized('unknown-key', 'The key is not known; it may be revoked or expired.')
      : unauthorized('wrong-scheme', 'The Authorization header must be: Bearer <key>.')
  }
  return readSessionCookie(request, publicUrl) === undefined
    ? unauthorized(
        'missing-credential',
        'Send the header Authorization: Bearer <key>, or sign in with POST /session.',
      )
    : unauthorized('expired-session', 'The session has ended; sign in again with POST /session.')
}

const isSameToken = (key: string, token: string | undefined) =>
  token !== undefined && isSameDigest(digest(key), digest(token))

type Route = FastifyRequest['routeOptions']['config']

/** Why the caller may not call the route; undefined if it may. */
function refusalOf({ person, account, keyScopes }: Caller, route: Route): string | undefined {
  if (route.person) {
    return person ? undefined : 'Only a signed-in person can do this. Sign in with POST /session.'
  }
  if (!route.scope) return 'Only the operator’s key can do this.'
  if (!keyScopes.includes(route.scope)) return lackOfScope(route.scope)
  if (!account) return undefined
  const needed = route.function ?? FUNCTION_OF_SCOPE[route.scope]
  return FUNCTIONS_OF_ROLE[account.role].includes(needed) ? undefined : lackOfFunction(needed)
}
