import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Limiter } from '../../auth/limits.ts'
import { InletAnswer, InletBody } from '../../contract/feed.ts'
import { findFaults } from '../../contract/find-faults.ts'
import { invalid, RequestError, unauthorized } from '../../errors.ts'
import { hintPull, openHook, type OpenHook } from '../../feeds/hooks.ts'
import { feedUser, requireReceiving } from '../../feeds/receive.ts'
import { requireFeed } from '../../feeds/save-feed.ts'
import { MAX_BODY_BYTES, parseJson } from '../server/body.ts'
import { webhookKey } from '../server/idempotency.ts'
import { refuseTooMany } from '../server/rate-limit.ts'
import { operation, type Routes } from '../server/services.ts'
import { answerReceived, MAX_INLET_KEYS } from './feed-entries.ts'
import { measureHook } from './feed-metrics.ts'
import { feedTags as tags } from './feeds.ts'

const MAX_HINT_BYTES = 262_144
const PER_SECOND = 10

/** What a source sends without a credential: its token leads to one feed, and the body must be signed. */
export const feedHooks: Routes = async (app, services) => {
  const { clock, database, sourceAccess: access } = services
  const perFeed = new Limiter({ perSecond: PER_SECOND, burst: PER_SECOND }, clock)
  const hooks = new WeakMap<FastifyRequest, OpenHook>()
  // A signature is of the bytes.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => body)

  app.post(
    '/feed/hook/:token',
    {
      ...operation('receiveFeedHook', 'Receive a webhook of the source of a feed', {
        config: { open: true },
        tags,
        description:
          'Cal.com and Easy!Appointments: at most 256 KiB; the feed is read 2 seconds later. INLET: the body of ' +
          '`POST /feed/{feedId}/entries`, signed as Standard Webhooks demand; a repeated `webhook-id` gets the ' +
          'same answer for 24 hours.',
        params: Type.Object({ token: Type.String({ maxLength: 100 }) }),
        response: {
          200: InletAnswer,
          204: Type.Null({ description: 'The feed is read soon.' }),
        },
      }),
      bodyLimit: MAX_BODY_BYTES,
      // The route is public: no body is read without a token that is known.
      onRequest: async (request) => {
        const { token } = request.params as { token: string }
        const opening = { access, engine: database.engine, now: clock.now() }
        const hook = await openHook(token, opening)
        if (!hook) throw new RequestError(404, 'There is no feed with this address.')
        refuseTooMany(perFeed.take(`${hook.key.businessId}/${hook.key.feedId}`))
        hooks.set(request, hook)
      },
    },
    async (request, reply) => {
      const { key, secrets } = hooks.get(request)!
      const { headers } = request
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const now = clock.now()
      const reader = database.forBusiness(key.businessId, 'SYSTEM')
      const feed = await requireFeed(reader, key.businessId, key.feedId)
      const { hook } = access.sources.find(feed.source)
      const isInlet = feed.source === 'INLET'
      if (!isInlet && body.length > MAX_HINT_BYTES) {
        throw new RequestError(413, 'The body is larger than 256 KiB.')
      }
      if (!hook?.isSigned(headers, body, secrets, now)) {
        measureHook(feed.source, 'refused')
        throw unauthorized('wrong-signature', 'The body is not signed with the secret of the feed.')
      }
      measureHook(feed.source, 'accepted')
      const db = database.forBusiness(key.businessId, feedUser(feed))
      const sent = parseJson(body, MAX_INLET_KEYS)
      if (!isInlet) {
        await db.transaction((tx) => hintPull(tx, feed, hook.keysIn?.(sent) ?? [], now))
        return reply.code(204).send(null)
      }
      // A refusal is remembered too, and the sender tries again with the same id after the feed goes on.
      requireReceiving(feed)
      const faults = findFaults(InletBody, sent)
      if (faults.length > 0) throw invalid(faults)
      const once = webhookKey(key, String(headers['webhook-id']), body)
      return answerReceived(services, request, reply, { feed, body: sent as InletBody, once })
    },
  )
}
