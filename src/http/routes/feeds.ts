import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Feed, FeedHook, FeedTest, FeedWrite } from '../../contract/feed.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { about, Maybe, Named, Id } from '../../contract/schema.ts'
import type { Db } from '../../database/database.ts'
import { invalid } from '../../errors.ts'
import { endFeed } from '../../feeds/end-feed.ts'
import { makeHook } from '../../feeds/hooks.ts'
import { remapFeed } from '../../feeds/remap.ts'
import { requireFeed, saveFeed } from '../../feeds/save-feed.ts'
import { findMissingCalendars, testFeed } from '../../feeds/test-feed.ts'
import { todoOf } from '../../feeds/health.ts'
import { listFeeds, readFeedStates, requestRemap, type FeedRow } from '../../store/feeds.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

export const feedTags = ['Feed']
export const feedAccess = { scope: 'admin', function: 'MANAGE_BUSINESS' } as const
/** These change without a save, so they are not part of the ETag. */
const tagged = { etag: true, untagged: 'state' } as const
export const FeedParams = Type.Object({ feedId: Type.Integer({ minimum: 1 }) })

/** Connections to other schedulers: see docs/feeds.md. */
export const feeds: Routes = inOrder(() => [
  getFeeds,
  getFeed,
  postFeed,
  postFeedTest,
  postFeedHook,
  deleteFeed,
])

/** Adds to feeds how they do. */
/** Refuses a change of a feed that is not as it was read. */
const matchOf = (request: FastifyRequest) => async (tx: Db, current: FeedRow) => {
  const [shown] = await withStates(tx, current.businessId, [current])
  const { state: _untagged, ...feed } = shown!
  requireMatch(request, feed)
}

async function withStates(db: Db, businessId: number, rows: FeedRow[]) {
  const states = await readFeedStates(
    db,
    businessId,
    rows.map(({ feedId }) => feedId),
  )
  return rows.map((row) => {
    const state = states.get(row.feedId)!
    const { health, healthSince, healthCause, successTime, completeTime, nextPullTime } = state
    return {
      ...row,
      hasSecret: state.hasSecret,
      state: {
        health,
        since: healthSince,
        cause: healthCause,
        todo: todoOf(health),
        successTime,
        completeTime,
        nextPullTime,
        entries: { MIRRORED: 0, HELD: 0, SKIPPED: 0, GONE: 0, ...state.entries },
      },
    }
  })
}

const getFeeds: Routes = async (app) => {
  app.get(
    '/feed',
    operation('listFeeds', 'List the active feeds with their health', {
      config: feedAccess,
      tags: feedTags,
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(Feed, 'FeedPage') },
    }),
    async ({ caller: { db, businessId }, query }) => {
      const { limit, after } = readPage(query, 'feed')
      const position = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listFeeds(db, businessId, position)
      const page = pageOf(rows, limit, 'feed', (row) => [row.feedId])
      return toWire({ ...page, items: await withStates(db, businessId, page.items) })
    },
  )
}

const getFeed: Routes = async (app) => {
  app.get(
    '/feed/:feedId',
    operation('getFeed', 'Read a feed with its health', {
      config: { ...feedAccess, ...tagged },
      tags: feedTags,
      description: 'Also answers a deleted one, with `active: false`.',
      params: FeedParams,
      response: { 200: Feed },
    }),
    async ({ caller: { db, businessId }, params: { feedId } }) => {
      const feed = await requireFeed(db, businessId, feedId)
      const [shown] = await withStates(db, businessId, [feed])
      return toWire(shown!)
    },
  )
}

const postFeed: Routes = async (app, { clock, database, settings, sourceAccess: access }) => {
  app.post(
    '/feed',
    operation('createFeed', 'Create or change a feed', {
      config: { ...feedAccess, ...tagged, idempotent: true, readsBody: true },
      tags: feedTags,
      description:
        'Entries that are mirrored already follow changed rules and defaults at once, without events. ' +
        '`LIVE` needs a complete pull since the last change of connection, defaults or rules: 409 otherwise.',
      body: FeedWrite,
      response: { 200: Feed, 201: Feed },
    }),
    async (request, reply) => {
      const { db, businessId, user } = request.caller
      const now = clock.now()
      const asking = { businessId, now, access }
      const missingCalendars = await findMissingCalendars({ db, database }, request.body, asking)
      return answerOnce(db, request, reply, now, async (tx) => {
        const { feed, isNew, mapsAgain } = await saveFeed(tx, request.body, {
          businessId,
          user,
          now,
          access,
          missingCalendars,
          onCurrent: matchOf(request),
        })
        if (mapsAgain) await requestRemap(tx, feed)
        const [shown] = await withStates(tx, businessId, [feed])
        const answer = isNew ? created(shown!, `/feed/${feed.feedId}`) : ok(shown!)
        if (!mapsAgain) return answer
        const remap = async () => {
          await remapFeed({ database, settings, now: () => clock.now() }, feed)
          return {}
        }
        return { ...answer, afterCommit: remap }
      })
    },
  )
}

const postFeedTest: Routes = async (app, { clock, database, queues, sourceAccess: access }) => {
  app.post(
    '/feed/test',
    operation('testFeed', 'Try the connection of a feed', {
      config: feedAccess,
      tags: feedTags,
      description:
        'The body of `POST /feed`, or `{ feedId }`. Stores nothing. A source that fails is `ok: false` with what to do.',
      body: FeedWrite,
      response: { 200: FeedTest },
    }),
    async ({ caller: { db, businessId, user }, body }) => {
      const saving = { businessId, user, now: clock.now(), access, onCurrent: async () => {} }
      return queues.interactive.run({ businessId }, () => testFeed({ db, database }, body, saving))
    },
  )
}

const postFeedHook: Routes = async (app, services) => {
  const { clock, config, database, sourceAccess: access } = services
  app.post(
    '/feed/:feedId/hook',
    operation('createFeedHook', 'Make the address and the secret for the webhooks of a source', {
      config: { ...feedAccess, idempotent: true, emptyBody: true },
      tags: feedTags,
      description:
        'Both are shown once. Called again, it makes new ones; the former ones count for another 24 hours.',
      params: FeedParams,
      response: { 200: FeedHook },
    }),
    async (request, reply) => {
      const { db, businessId } = request.caller
      const feed = await requireFeed(db, businessId, request.params.feedId)
      const now = clock.now()
      return answerOnce(db, request, reply, now, async (tx) => {
        const made = await makeHook(tx, feed, { access, engine: database.engine, now })
        const { token, ...hook } = made
        const url = `${config.publicUrl}/feed/hook/${token}`
        return { ...ok({ url, ...hook }), secrets: ['url', 'secret'] }
      })
    },
  )
}

const Deletion = Type.Object({
  appointments: Type.Optional(
    Type.Enum(['keep', 'remove'], {
      title: 'FeedDeletion',
      description:
        'keep: its appointments become own ones. remove: the upcoming ones are deleted. Required.',
    }),
  ),
})

const deleteFeed: Routes = async (app, { clock, database, settings }) => {
  app.delete(
    '/feed/:feedId',
    operation('deleteFeed', 'Delete a feed, and keep or remove its appointments', {
      config: { ...feedAccess, ...tagged },
      tags: feedTags,
      description: 'The secrets are deleted at once. No event fires.',
      params: FeedParams,
      querystring: Deletion,
      response: { 200: Feed },
    }),
    async (request) => {
      const { db, businessId, user } = request.caller
      const { appointments } = request.query as Static<typeof Deletion>
      const feed = await requireFeed(db, businessId, request.params.feedId)
      if (!appointments) {
        throw invalid([{ pointer: '?appointments', detail: 'is required: keep or remove' }])
      }
      const ending = {
        database,
        settings,
        user,
        now: () => clock.now(),
        onCurrent: matchOf(request),
      }
      const ended = await endFeed(ending, feed, appointments)
      const [shown] = await withStates(db, businessId, [ended])
      return toWire(shown!)
    },
  )
}

export const MatchBody = Named(
  'FeedMatchBody',
  {
    objectId: Maybe(about(Id, 'The id of our object that is meant; null: none.', 1)),
    create: Maybe(Type.Boolean({ description: 'True: create it, with the name of the source.' })),
  },
  { objectId: 1 },
)
