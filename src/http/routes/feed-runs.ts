import { Type } from 'typebox'
import { CapturedOfDefinition, Difference, DryRunBody, FeedRun } from '../../contract/feed.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import { about, Moment, Named, OrNull } from '../../contract/schema.ts'
import { conflict, invalid, notFound } from '../../errors.ts'
import { dryRun, dryRunOfSource, readSource } from '../../feeds/dry-run.ts'
import { beginDryRun, requestRun } from '../../feeds/runs.ts'
import { requireFeed, requireUsableRules } from '../../feeds/save-feed.ts'
import { listCapturedOfFeed } from '../../store/captured-emails.ts'
import { findLastReconciliationOf, findRun, listRuns, type RunRow } from '../../store/feed-runs.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'
import { MAX_INLET_KEYS } from './feed-entries.ts'
import { feedAccess, FeedParams, feedTags as tags } from './feeds.ts'

/** Dry runs, pulls and reconciliations of feeds, and what their shadow mode captured. */
export const feedRuns: Routes = inOrder(() => [
  postDryRun,
  postPull,
  postReconcile,
  getRuns,
  getRun,
  getDifferences,
  getCaptured,
])

const Started = Named('StartedFeedRun', {
  feedRunId: about(Type.Integer(), 'The id of the run.', 12),
})

const postDryRun: Routes = async (app, services) => {
  const { clock, database, log, queues, settings, sourceAccess } = services
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  app.addHook('onClose', async () => void (await Promise.all(running)))
  app.post(
    '/feed/:feedId/dryRun',
    {
      ...operation('dryRunFeed', 'Show what a feed would mirror, plan and send', {
        config: { ...feedAccess, emptyBody: true, maxKeys: MAX_INLET_KEYS },
        tags,
        description:
          'For INLET the body of `POST /feed/{feedId}/entries`. Without a body a source that is pulled is read whole, and the stored entries of an INLET are mapped again. With `rules` that are not saved yet, the stored entries are mapped again. Everything is rolled back. The run goes on after the answer: `GET /feed/{feedId}/run/{feedRunId}` has its result. 409: another run has not ended.',
        params: FeedParams,
        body: DryRunBody,
        response: { 202: Started },
      }),
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    async (request, reply) => {
      const { businessId, user } = request.caller
      const db = database.forBusiness(businessId, user)
      const feed = await requireFeed(db, businessId, request.params.feedId)
      if (!feed.active) throw conflict('The feed is deleted.')
      const { entries, complete, rules } = request.body
      if (entries && rules) {
        throw invalid([{ pointer: '/rules', detail: 'must be absent if there are entries' }])
      }
      if (rules) await requireUsableRules(db, businessId, rules)
      const body = entries && { entries, ...(complete && { complete }) }
      const now = clock.now()
      const parts = { database, settings, access: sourceAccess, now: () => clock.now() }
      const isRead = feed.source !== 'INLET' && !body && !rules
      const tried = { database, feed: { ...feed, ...(rules && { rules }) }, now }
      const inTurn = <T>(work: () => Promise<T>) => queues.interactive.run({ businessId }, work)
      const work = async () => {
        if (!isRead) return inTurn(() => dryRun(tried, body))
        const read = () => readSource(parts, feed, stopping.signal)
        const resources = await queues.sources.run({ businessId }, read)
        return inTurn(() => dryRunOfSource(parts, feed, resources))
      }
      const by = { user, now, clock: () => clock.now() }
      const { feedRunId, ended } = await beginDryRun({ database, feed, work }, by)
      const run = ended
        .catch((err: unknown) => log.error({ err, feedRunId }, 'a dry run failed'))
        .finally(() => running.delete(run))
      running.add(run)
      return reply.code(202).send({ feedRunId })
    },
  )
}

/** The next pull of the feed, by any node, carries the run out. */
const postPull: Routes = async (app, { clock }) => {
  app.post(
    '/feed/:feedId/pull',
    operation('pullFeed', 'Read the changes of a source now', {
      config: { ...feedAccess, emptyBody: true },
      tags,
      description:
        'The run begins within seconds. 409: another run has not ended, the mode is not SHADOW or LIVE, or the source is INLET, which sends `complete` instead.',
      params: FeedParams,
      response: { 202: Started },
    }),
    async ({ caller: { db, businessId, user }, params: { feedId } }, reply) => {
      const feed = await requireFeed(db, businessId, feedId)
      const feedRunId = await requestRun(db, feed, 'PULL', { user, now: clock.now() })
      return reply.code(202).send({ feedRunId })
    },
  )
}

/** The next pull of the feed, by any node, carries the run out. */
const postReconcile: Routes = async (app, { clock }) => {
  app.post(
    '/feed/:feedId/reconcile',
    operation('reconcileFeed', 'Compare everything with the source now', {
      config: { ...feedAccess, emptyBody: true },
      tags,
      description:
        'Reads all resources by another request than a pull uses, and applies what no pull saw. Each feed is reconciled every night. The run begins within seconds; 409 as for a pull.',
      params: FeedParams,
      response: { 202: Started },
    }),
    async ({ caller: { db, businessId, user }, params: { feedId } }, reply) => {
      const feed = await requireFeed(db, businessId, feedId)
      const feedRunId = await requestRun(db, feed, 'RECONCILE', { user, now: clock.now() })
      return reply.code(202).send({ feedRunId })
    },
  )
}

const showRun = ({ feedRunId, feedId, kind, status, result, error, ...row }: RunRow) => ({
  feedRunId,
  feedId,
  kind,
  status,
  counts: result?.counts ?? null,
  reasons: result?.reasons ?? null,
  withAddress: result?.withAddress ?? null,
  planned: result?.planned ?? null,
  samples: result?.samples ?? null,
  sums: result?.sums ?? null,
  differences: result?.differences ?? null,
  error,
  startedTime: row.startedTime,
  startedUser: row.startedUser,
  endedTime: row.endedTime,
})

const RunParams = Type.Object({ ...FeedParams.properties, feedRunId: Type.Integer({ minimum: 1 }) })

const getRun: Routes = async (app) => {
  app.get(
    '/feed/:feedId/run/:feedRunId',
    operation('getFeedRun', 'Read a run of a feed', {
      config: feedAccess,
      tags,
      params: RunParams,
      response: { 200: FeedRun },
    }),
    async ({ caller: { db, businessId }, params: { feedId, feedRunId } }) => {
      const run = await findRun(db, { businessId, feedId }, feedRunId)
      if (!run) throw notFound('run', feedRunId)
      return toWire(showRun(run))
    },
  )
}

const getRuns: Routes = async (app) => {
  app.get(
    '/feed/:feedId/run',
    operation('listFeedRuns', 'List the runs of a feed, the latest first', {
      config: feedAccess,
      tags,
      params: FeedParams,
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(FeedRun, 'FeedRunPage') },
    }),
    async ({ caller: { db, businessId }, params: { feedId }, query }) => {
      const feed = await requireFeed(db, businessId, feedId)
      const { limit, after } = readPage(query, 'feedRun')
      const before = Number(after?.[0] ?? Number.MAX_SAFE_INTEGER)
      const rows = await listRuns(db, feed, { before, limit: limit + 1 })
      const page = pageOf(rows, limit, 'feedRun', (row) => [row.feedRunId])
      return toWire({ ...page, items: page.items.map(showRun) })
    },
  )
}

const getDifferences: Routes = async (app) => {
  app.get(
    '/feed/:feedId/difference',
    operation('listFeedDifferences', 'List what the last reconciliation of a feed found', {
      config: feedAccess,
      tags,
      params: FeedParams,
      response: {
        200: Named('FeedDifferences', {
          checkedTime: about(
            OrNull(Moment),
            'When it ended, in ms; null: there was none.',
            1_789_000_000_000,
          ),
          feedRunId: about(OrNull(Type.Integer()), 'The reconciliation.', 12),
          items: about(Type.Array(Difference), 'The differences.'),
        }),
      },
    }),
    async ({ caller: { db, businessId }, params: { feedId } }) => {
      const feed = await requireFeed(db, businessId, feedId)
      const run = await findLastReconciliationOf(db, feed)
      return toWire({
        checkedTime: run?.endedTime ?? null,
        feedRunId: run?.feedRunId ?? null,
        items: run?.result?.differences ?? [],
      })
    },
  )
}

const CAPTURED_DAYS = 30
const MAX_LATEST = 5

const getCaptured: Routes = async (app, { clock }) => {
  app.get(
    '/feed/:feedId/captured',
    operation(
      'listFeedCaptured',
      'List the mails that the shadow mode of a feed captured, by automation',
      {
        config: feedAccess,
        tags,
        description: `Of the last ${CAPTURED_DAYS} days.`,
        params: FeedParams,
        response: { 200: Type.Array(CapturedOfDefinition) },
      },
    ),
    async ({ caller: { db, businessId }, params: { feedId } }) => {
      const feed = await requireFeed(db, businessId, feedId)
      const from = clock.now().subtract({ hours: 24 * CAPTURED_DAYS })
      const rows = await listCapturedOfFeed(db, feed, { from, limit: MAX_LATEST })
      const byDefinition = [...Map.groupBy(rows, ({ eventDefnId }) => eventDefnId)]
      return toWire(
        byDefinition.map(([eventDefnId, latest]) => ({
          eventDefnId,
          count: latest[0]!.count,
          latest: latest.map(({ eventDefnId: _eventDefnId, count: _count, ...email }) => email),
        })),
      )
    },
  )
}
