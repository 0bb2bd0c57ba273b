import { monotonicMs } from '../clock.ts'
import type { FeedHealth, FeedSource } from '../contract/feed.ts'
import { pause, type Loop } from '../repeat.ts'
import { endRun, findRequestedRun, insertEndedRun, type RunKind } from '../store/feed-runs.ts'
import {
  abandonPull,
  beginPull,
  listDueFeeds,
  pullLease,
  renewPull,
  storePullFailure,
} from '../store/feed-pulls.ts'
import { findFeed, type FeedKey, type FeedRow } from '../store/feeds.ts'
import { claimWork, releaseWork } from '../store/work-leases.ts'
import type { NoticeMails } from '../automation/notices.ts'
import { isBefore } from '../automation/timing.ts'
import { getBusiness } from '../store/businesses.ts'
import { createHealthLoop, LATE_INTERVALS, type HealthParts } from './health.ts'
import { pullFeed, PullSuperseded, type ClaimedPull } from './pull.ts'
import { nextNight, reconcileFeed, type ReconcileParts } from './reconcile.ts'
import { feedUser } from './receive.ts'
import { createTimeLoop, remapFeed } from './remap.ts'
import { KeyMissing } from './source-access.ts'
import { SourceError } from './source.ts'
import type { RunSummary } from './summary.ts'

export type FeedLoopParts = ReconcileParts & {
  leaseSeconds: number
  onError(error: unknown): void
  onHealth?: HealthParts['onHealth']
  /** For metrics. A pull that another one replaced, or that a stopping node left, is not reported. */
  onPulled?(pulled: { source: FeedSource; isOk: boolean; seconds: number }): void
}

const PULLS_PER_NODE = 4
const PULLS_PER_BUSINESS = 2
const REST_MS = 1_000
const MAX_PULL_MINUTES = 30

/**
 * Pulls the feeds that are due: each loop one at a time, so that a slow source does not stop the others.
 * The last loops find feeds that are late, and entries that time alone changes.
 */
export function createFeedLoops(parts: FeedLoopParts & NoticeMails): Loop[] {
  const running = new Map<number, number>()
  const runOnce = async (stopping?: AbortSignal) => {
    const due = { now: parts.now(), limit: PULLS_PER_NODE, perBusiness: PULLS_PER_BUSINESS }
    for (const key of await listDueFeeds(parts.database.engine, due)) {
      const { businessId } = key
      const count = running.get(businessId) ?? 0
      // Another loop may have claimed one since.
      if (count >= PULLS_PER_BUSINESS) continue
      running.set(businessId, count + 1)
      try {
        const claimed = await claimPull(parts, key, stopping)
        if (!claimed) continue
        await runPull(parts, claimed)
        return 1
      } finally {
        running.set(businessId, running.get(businessId)! - 1)
      }
    }
    return 0
  }
  const rest = (stopping: AbortSignal) => pause(REST_MS, stopping)
  const pulls = Array.from({ length: PULLS_PER_NODE }, (_, i) => ({
    name: `feeds ${i + 1}`,
    runOnce,
    rest,
  }))
  return [...pulls, createHealthLoop(parts), createTimeLoop(parts)]
}

type HeldClaim = ClaimedPull & {
  failures: number
  health: FeedHealth
  /** The reconciliation of the night is due. */
  isReconciling: boolean
  stopping: AbortSignal | undefined
  end(): Promise<void>
}

/** Claims a feed for one pull; undefined if another worker pulls it. Call `end` afterwards. */
export async function claimPull(
  parts: FeedLoopParts,
  key: FeedKey,
  stopping?: AbortSignal,
): Promise<HeldClaim | undefined> {
  const { database, now, leaseSeconds } = parts
  const { engine } = database
  const work = { name: pullLease(key), worker: parts.random(9).toString('base64url') }
  let until = now().add({ seconds: leaseSeconds })
  if (!(await claimWork(engine, work, { now: now(), leaseUntil: until }))) return undefined
  const feed = await findFeed(database.forBusiness(key.businessId, 'SYSTEM'), key)
  const begun = feed?.active ? await beginPull(engine, key, { now: now(), until }) : undefined
  if (!feed || !begun) {
    await releaseWork(engine, work)
    return undefined
  }
  const { pullNumber } = begun
  const lost = new AbortController()
  const renew = async () => {
    const leaseUntil = now().add({ seconds: leaseSeconds })
    if (!(await claimWork(engine, work, { now: now(), leaseUntil }))) return lost.abort()
    // If a batch is being written, the lease alone keeps others away until the next renewal.
    const renewed = { pullNumber, before: until, until: leaseUntil }
    if (await renewPull(engine, key, renewed)) until = leaseUntil
  }
  const renewing = setInterval(() => void renew().catch(parts.onError), leaseSeconds * 300)
  const limits = [AbortSignal.timeout(MAX_PULL_MINUTES * 60_000), lost.signal]
  return {
    feed,
    ...begun,
    ...(await planTimes(parts, feed, begun.reconcileTime)),
    stopping,
    before: () => until,
    signal: AbortSignal.any(stopping ? [...limits, stopping] : limits),
    end: async () => {
      clearInterval(renewing)
      await releaseWork(engine, work)
    },
  }
}

async function planTimes(parts: FeedLoopParts, feed: FeedRow, planned: Temporal.Instant | null) {
  const now = parts.now()
  const interval = intervalMs(parts, feed)
  const reconcileTime = planned ?? (await planNight(parts, feed, now))
  const isReconciling = !isBefore(now, reconcileTime)
  const usual = now.add({ milliseconds: interval })
  return {
    reconcileTime,
    isReconciling,
    next: isReconciling || isBefore(usual, reconcileTime) ? usual : reconcileTime,
    lateTime: now.add({ milliseconds: LATE_INTERVALS * interval }),
  }
}

const NIGHT_HOURS = 3

/** The reconciliations of a night are spread over its hours. */
async function planNight(
  { database, random }: FeedLoopParts,
  { businessId }: FeedRow,
  after: Temporal.Instant,
) {
  const { timeZone } = await getBusiness(database.forBusiness(businessId, 'SYSTEM'), businessId)
  return nextNight(after, timeZone, random(2).readUInt16BE() / 65_536)
}

/** The interval of a feed, at random 10 % more or less. */
function intervalMs({ access, random }: FeedLoopParts, { source, pullMinutes }: FeedRow) {
  const minutes = pullMinutes ?? access.sources.find(source)?.minutes?.usual ?? 60
  return Math.round(minutes * 60_000 * (0.9 + (0.2 * random(2).readUInt16BE()) / 65_536))
}

export type Pulled = { summary: RunSummary; reconciled?: Reconciled } | { error: string }
type Reconciled = Awaited<ReturnType<typeof reconcileFeed>>

/** Pulls a claimed feed, and reconciles it if that is due. A source that fails is recorded, and answered as a text. */
export async function runPull(parts: FeedLoopParts, claim: HeldClaim): Promise<Pulled> {
  const { database, now } = parts
  const { feed } = claim
  const db = database.forBusiness(feed.businessId, feedUser(feed))
  const startedTime = now()
  const startedMs = monotonicMs()
  const report = (isOk: boolean) =>
    parts.onPulled?.({ source: feed.source, isOk, seconds: (monotonicMs() - startedMs) / 1000 })
  let requested: Awaited<ReturnType<typeof findRequestedRun>>
  let kind: RunKind = 'PULL'
  const record = async (kind: RunKind, ended: { result?: object; error?: string | null }) => {
    if (requested?.kind === kind) return endRun(db, requested, ended, now())
    const run = { kind, startedTime, ...ended }
    await insertEndedRun(db, feed, run, { user: feedUser(feed), now: now() })
  }
  try {
    requested = await findRequestedRun(db, feed)
    // If the service stopped after a change of the mapping.
    await remapFeed(parts, feed)
    const { summary, cursor } = await pullFeed(parts, claim)
    report(true)
    if (requested?.kind === 'PULL' || summary.hasChanges) {
      await record('PULL', { result: summary.show() })
    }
    if (!claim.isReconciling && requested?.kind !== 'RECONCILE') return { summary }
    kind = 'RECONCILE'
    const nextTime = await planNight(parts, feed, now().add({ hours: NIGHT_HOURS }))
    const reconciled = await reconcileFeed(parts, claim, { cursor, nextTime })
    await record('RECONCILE', reconciled)
    return { summary, reconciled }
  } catch (error) {
    const { text, isNews, isCounted } = await storeFailure(parts, claim, error)
    if (isCounted && kind === 'PULL') report(false)
    // Another node carries out what was requested from one that stops.
    if (isNews || (requested && !claim.stopping?.aborted)) {
      await record(requested?.kind ?? kind, { error: text })
    }
    return { error: text }
  } finally {
    await claim.end()
  }
}

/** Stores why a pull failed. `isNews`: the one before succeeded. */
async function storeFailure(parts: FeedLoopParts, claim: HeldClaim, error: unknown) {
  const { database, now } = parts
  const { feed, failures } = claim
  if (error instanceof PullSuperseded) {
    return { text: 'The feed was paused, or is read elsewhere.', isNews: false, isCounted: false }
  }
  if (claim.stopping?.aborted) {
    await abandonPull(database.engine, feed, { ...claim, now: now() })
    return { text: 'The node stopped.', isNews: false, isCounted: false }
  }
  const failure = describeFailure(error, claim)
  if (failure.isBug) parts.onError(error)
  await storePullFailure(database.engine, feed, {
    pullNumber: claim.pullNumber,
    before: claim.before(),
    next: now().add({ minutes: failure.minutes }),
    health: failure.health,
    error: failure.text,
    now: now(),
  })
  return { text: failure.text, isNews: failures === 0, isCounted: true }
}

const MAX_BACKOFF_MINUTES = 60
const LOGIN_MINUTES = 6 * 60
const LOGINS = 3

type Failure = { health: FeedHealth; text: string; minutes: number; isBug?: boolean }

/** What the owner reads, and after how long the feed is tried again. */
function describeFailure(error: unknown, { failures, signal }: HeldClaim): Failure {
  const minutes = Math.min(2 ** failures, MAX_BACKOFF_MINUTES)
  if (error instanceof KeyMissing) {
    return { health: 'KEY_MISSING', text: error.message, minutes: MAX_BACKOFF_MINUTES }
  }
  if (error instanceof SourceError) {
    const isLogin = error.kind === 'LOGIN'
    const asked = Math.min((error.retryAfterSeconds ?? 0) / 60, LOGIN_MINUTES)
    const wait = isLogin && failures + 1 >= LOGINS ? LOGIN_MINUTES : Math.max(minutes, asked)
    return {
      health: isLogin ? 'NEEDS_LOGIN' : 'FAILING',
      text: error.message,
      minutes: Math.ceil(wait),
    }
  }
  if (signal.aborted) {
    const text = `Reading the source took longer than ${MAX_PULL_MINUTES} minutes.`
    return { health: 'FAILING', text, minutes }
  }
  const text = 'An error of Bellwether stopped the pull. It is in the log of the service.'
  return { health: 'FAILING', text, minutes, isBug: true }
}
