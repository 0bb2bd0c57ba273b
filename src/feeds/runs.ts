import type { Database, Db } from '../database/database.ts'
import { conflict, RequestError } from '../errors.ts'
import type { By } from '../store/rows.ts'
import { dryRunLease, endRun, insertRun, type RunKind } from '../store/feed-runs.ts'
import { findFeed, lockFeedState, requestPull, type FeedKey, type FeedRow } from '../store/feeds.ts'
import { claimWork, releaseWork } from '../store/work-leases.ts'

/** A run that has not ended by then was interrupted. */
const MAX_RUN_MINUTES = 30

/** One run of a feed at a time. */
async function startRun(tx: Db, feed: FeedKey, kind: RunKind, by: By) {
  await lockFeedState(tx, feed)
  const since = by.now.subtract({ minutes: MAX_RUN_MINUTES })
  const feedRunId = await insertRun(tx, feed, { kind, since }, by)
  if (feedRunId === undefined) throw conflict('Another run of this feed has not ended yet.')
  return feedRunId
}

const LEASE_SECONDS = 30

type DryRun = { database: Database; feed: FeedRow; work(): Promise<object> }

/**
 * Begins a dry run. `ended` resolves when its result is stored; a source that fails is a failed run. If
 * this process dies, its lease ends, and the run has failed.
 */
export async function beginDryRun(
  { database, feed, work }: DryRun,
  by: By & { clock(): Temporal.Instant },
) {
  const { engine } = database
  const db = database.forBusiness(feed.businessId, by.user)
  const feedRunId = await db.transaction((tx) => startRun(tx, feed, 'DRY_RUN', by))
  const key = { businessId: feed.businessId, feedRunId }
  const lease = { name: dryRunLease(key), worker: 'dry run' }
  const renew = () => {
    const now = by.clock()
    return claimWork(engine, lease, { now, leaseUntil: now.add({ seconds: LEASE_SECONDS }) })
  }
  const carryOut = async () => {
    // If the database cannot be reached, the lease ends.
    const renewing = setInterval(() => void renew().catch(() => {}), LEASE_SECONDS * 300)
    try {
      await renew()
      await endRun(db, key, { result: await work() }, by.clock())
    } catch (cause) {
      const isExpected = cause instanceof RequestError
      const error = isExpected ? cause.message : 'the run was interrupted'
      await endRun(db, key, { error }, by.clock())
      if (!isExpected) throw cause
    } finally {
      clearInterval(renewing)
      await releaseWork(engine, lease)
    }
  }
  return { feedRunId, ended: carryOut() }
}

/** Stores a run that the next claim of the feed carries out, and lets it be pulled now. */
export const requestRun = (db: Db, key: FeedKey, kind: 'PULL' | 'RECONCILE', by: By) =>
  db.transaction(async (tx) => {
    await lockFeedState(tx, key)
    requirePulled((await findFeed(tx, key))!)
    const feedRunId = await startRun(tx, key, kind, by)
    await requestPull(tx, key, { at: by.now })
    return feedRunId
  })

/** Refuses feeds that are not read from their source now. */
export function requirePulled({ active, source, mode }: FeedRow) {
  if (!active) throw conflict('The feed is deleted.')
  if (source === 'INLET') {
    throw conflict('The source INLET sends its entries. Let it send them again, with complete.')
  }
  if (mode === 'SHADOW' || mode === 'LIVE') return
  const todo = mode === 'DRAFT' ? 'SHADOW' : 'LIVE'
  throw conflict(`The feed is not read in mode ${mode}. Set its mode to ${todo} first.`)
}
