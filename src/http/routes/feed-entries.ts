import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import {
  Correction,
  ENTRY_STATES,
  FeedEntry,
  FeedMatch,
  InletAnswer,
  InletBody,
  MATCH_KINDS,
} from '../../contract/feed.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { about, MomentFilter, Named, OrNull } from '../../contract/schema.ts'
import type { Db } from '../../database/database.ts'
import { invalid } from '../../errors.ts'
import { correctEntry, correctMatch } from '../../feeds/correct.ts'
import { correcting, feedUser, newBulkCall, receiveEntries } from '../../feeds/receive.ts'
import { remapFeed } from '../../feeds/remap.ts'
import { requireFeed } from '../../feeds/save-feed.ts'
import { showEntry } from '../../feeds/show-entry.ts'
import { decideVanished } from '../../feeds/vanish.ts'
import { listEntries } from '../../store/feed-entries.ts'
import { listMatches, type MatchRow } from '../../store/feed-matches.ts'
import { lockFeedState, type FeedRow } from '../../store/feeds.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { answerOnce, ok, type RequestKey } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'
import { feedAccess, FeedParams, feedTags as tags, MatchBody } from './feeds.ts'

/** What a feed has read, how it is mapped, and what people correct. */
export const feedEntries: Routes = inOrder(() => [
  postEntries,
  getEntries,
  postEntry,
  getMatches,
  postMatch,
  postVanished('cancel'),
  postVanished('keep'),
])

/** A thousand entries with their clients, services and staff. */
export const MAX_INLET_KEYS = 50_000

const postEntries: Routes = async (app, services) => {
  app.post(
    '/feed/:feedId/entries',
    operation('sendFeedEntries', 'Send appointments of another scheduler to an INLET feed', {
      config: { ...feedAccess, idempotent: true, maxKeys: MAX_INLET_KEYS },
      tags,
      description:
        'A lower `version` than the known one is ignored. `complete` names all appointments of a window: ' +
        'those that are absent were cancelled. If too many are absent at once, a person decides.',
      params: FeedParams,
      body: InletBody,
      response: { 200: InletAnswer },
    }),
    async (request, reply) => {
      const { caller, params, body } = request
      const feed = await requireFeed(caller.db, caller.businessId, params.feedId)
      return answerReceived(services, request, reply, { feed, body })
    },
  )
}

/** Stores what an INLET sent, and answers. `once`: the key of a webhook, which is answered once. */
export async function answerReceived(
  { clock, database, settings }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { feed, body, once }: { feed: FeedRow; body: InletBody; once?: RequestKey },
) {
  const db = database.forBusiness(feed.businessId, feedUser(feed))
  const now = clock.now()
  const bulkCall = newBulkCall(feed)
  const work = async (tx: Db) => {
    const receiving = { settings, now, bulkCall }
    const { results: _results, ...answer } = await receiveEntries(tx, feed, body, receiving)
    const afterCommit = async () => {
      const approvalId = await bulkCall.end(db, clock.now())
      return approvalId === undefined ? {} : { approvalId }
    }
    return { ...ok(answer), afterCommit }
  }
  return answerOnce(db, request, reply, now, work, once)
}

const EntryQuery = Type.Object({
  ...PageQuery,
  state: Type.Optional(
    Type.Enum([...ENTRY_STATES], {
      title: 'FeedEntryState',
      description: 'Only entries in this state.',
    }),
  ),
  reason: Type.Optional(Type.String({ maxLength: 100, description: 'A `reasonCode`.' })),
  from: MomentFilter('Starting at or after this time, in ms.'),
  to: MomentFilter('Starting before this time, in ms.'),
})

const momentOf = (time: number | undefined) =>
  time === undefined ? undefined : Temporal.Instant.fromEpochMilliseconds(time)

const getEntries: Routes = async (app) => {
  app.get(
    '/feed/:feedId/entry',
    operation('listFeedEntries', 'List the entries of a feed, and what became of them', {
      config: feedAccess,
      tags,
      params: FeedParams,
      querystring: EntryQuery,
      response: { 200: PageOf(FeedEntry, 'FeedEntryPage') },
    }),
    async ({ caller: { db, businessId }, params: { feedId }, query }) => {
      const feed = await requireFeed(db, businessId, feedId)
      const { state, reason, from, to } = query as Static<typeof EntryQuery>
      const { limit, after } = readPage(query, 'feedEntry')
      const rows = await listEntries(db, feed, {
        state,
        reason,
        from: momentOf(from),
        to: momentOf(to),
        after: Number(after?.[0] ?? 0),
        limit: limit + 1,
      })
      const page = pageOf(rows, limit, 'feedEntry', (row) => [row.feedEntryId])
      return toWire({ ...page, items: page.items.map(showEntry) })
    },
  )
}

const EntryParams = Type.Object({ ...FeedParams.properties, entryId: Type.Integer({ minimum: 1 }) })

const postEntry: Routes = async (app, { clock, settings }) => {
  app.post(
    '/feed/:feedId/entry/:entryId',
    operation('correctFeedEntry', 'Correct how one entry is mapped', {
      config: { ...feedAccess, idempotent: true },
      tags,
      description: 'Applied at once, without events. `null` takes the correction back.',
      params: EntryParams,
      body: Named(
        'FeedCorrectionBody',
        { correction: about(OrNull(Correction), 'What is decided; null takes it back.') },
        { correction: { clientId: 1 } },
      ),
      response: { 200: FeedEntry },
    }),
    async (request, reply) => {
      const { db, businessId } = request.caller
      const { feedId, entryId } = request.params
      const feed = await requireFeed(db, businessId, feedId)
      const { correction } = request.body
      const now = clock.now()
      return answerOnce(db, request, reply, now, async (tx) =>
        ok(showEntry(await correctEntry(tx, feed, { entryId, correction }, { settings, now }))),
      )
    },
  )
}

const showMatch = ({ feedMatchId, kind, matchKey, name, objectId, madeBy, ...row }: MatchRow) => ({
  feedMatchId,
  kind,
  key: matchKey,
  name,
  objectId,
  by: madeBy,
  changedTime: row.modifiedDate,
  changedUser: row.modifiedUser,
})

const MatchQuery = Type.Object({
  ...PageQuery,
  kind: Type.Optional(
    Type.Enum([...MATCH_KINDS], {
      title: 'FeedMatchKind',
      description: 'Only matches of this kind.',
    }),
  ),
})

const getMatches: Routes = async (app) => {
  app.get(
    '/feed/:feedId/match',
    operation('listFeedMatches', 'List what the source names, and which of our objects is meant', {
      config: feedAccess,
      tags,
      params: FeedParams,
      querystring: MatchQuery,
      response: { 200: PageOf(FeedMatch, 'FeedMatchPage') },
    }),
    async ({ caller: { db, businessId }, params: { feedId }, query }) => {
      const feed = await requireFeed(db, businessId, feedId)
      const { kind } = query as Static<typeof MatchQuery>
      const { limit, after } = readPage(query, 'feedMatch')
      const position = { kind, after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listMatches(db, feed, position)
      const page = pageOf(rows, limit, 'feedMatch', (row) => [row.feedMatchId])
      return toWire({ ...page, items: page.items.map(showMatch) })
    },
  )
}

const MatchParams = Type.Object({
  ...FeedParams.properties,
  feedMatchId: Type.Integer({ minimum: 1 }),
})

const postMatch: Routes = async (app, { clock, database, settings }) => {
  app.post(
    '/feed/:feedId/match/:feedMatchId',
    operation('correctFeedMatch', 'Say which object the source means, or create it', {
      config: { ...feedAccess, idempotent: true },
      tags,
      description: 'The entries of the feed are mapped again, without events.',
      params: MatchParams,
      body: MatchBody,
      response: { 200: FeedMatch },
    }),
    async (request, reply) => {
      const { db, businessId, user } = request.caller
      const { feedId, feedMatchId } = request.params
      const feed = await requireFeed(db, businessId, feedId)
      const { objectId = null, create } = request.body
      if (create && objectId !== null) {
        throw invalid([{ pointer: '/objectId', detail: 'must be absent if create is true' }])
      }
      const now = clock.now()
      return answerOnce(db, request, reply, now, async (tx) => {
        const saving = { businessId, user, now, settings }
        const given = { feedMatchId, objectId, create: create === true }
        const match = await correctMatch(tx, feed, given, saving)
        const afterCommit = async () => {
          await remapFeed({ database, settings, now: () => clock.now() }, feed)
          return {}
        }
        return { ...ok(showMatch(match)), afterCommit }
      })
    },
  )
}

const postVanished =
  (decision: 'cancel' | 'keep'): Routes =>
  async (app, { clock, database, settings }) => {
    app.post(
      `/feed/:feedId/vanished/${decision}`,
      operation(
        `${decision}VanishedEntries`,
        decision === 'cancel'
          ? 'Cancel the appointments that vanished from the source'
          : 'Keep the appointments that vanished from the source',
        {
          config: { ...feedAccess, idempotent: true, emptyBody: true },
          tags,
          params: FeedParams,
          response: {
            200: Named('VanishedEntries', {
              entries: about(Type.Integer(), 'How many entries were decided.', 12),
            }),
          },
        },
      ),
      async (request, reply) => {
        const { caller, params } = request
        const { businessId } = caller
        const feed = await requireFeed(caller.db, businessId, params.feedId)
        const db = database.forBusiness(businessId, feedUser(feed))
        const now = clock.now()
        const bulkCall = newBulkCall(feed)
        return answerOnce(db, request, reply, now, async (tx) => {
          await lockFeedState(tx, feed)
          const { saving } = correcting(feed, { settings, now })
          const mirroring = { feed, saving: { ...saving, bulkCall }, isHistory: false }
          const entries = await decideVanished(tx, decision, mirroring)
          const afterCommit = async () => {
            await bulkCall.end(db, clock.now())
            return {}
          }
          return { ...ok({ entries }), afterCommit }
        })
      },
    )
  }
