import type { FastifyInstance } from 'fastify'
import { unauthorized } from '../errors.ts'
import type { Services } from './services.ts'

/** Who is asking. The business comes from the credential alone, never from the request. */
export type Caller = {
  /** The credential itself, such as `key:7`: what is remembered or counted per credential. */
  credential: string
  /** The operator has none. */
  businessId: number | undefined
  /** As written to `createdUser` and `modifiedUser`. */
  user: string
}

/** Finds the caller of every request to a route that is not `config: { open: true }`. */
export function authenticate(app: FastifyInstance, _services: Services) {
  app.decorateRequest('caller')
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.open) return
    throw unauthorized()
  })
}
