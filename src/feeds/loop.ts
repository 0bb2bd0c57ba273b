import type { FeedHealth } from '../contract/feed.ts'
import { pause, type Loop } from '../repeat.ts'
import { endRun, findRequestedRun, insertEndedRun } from '../store/feed-runs.ts'
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
import { pullFeed, PullSuperseded, type ClaimedPull, type PullParts } from './pull.ts'
import { feedUser } from './receive.ts'
import { remapFeed } from './remap.ts'
import { KeyMissing } from './source-access.ts'
import { SourceError } from './source.ts'
import type { RunSummary } from './summary.ts'

export type FeedLoopParts = PullParts & {
  random(size: number): Buffer
  leaseSeconds: number
  onError(error: unknown): void
}

const PULLS_PER_NODE = 4
const PULLS_PER_BUSINESS = 2
const REST_MS = 1_000
const MAX_PULL_MINUTES = 30

/** Pulls the feeds that are due: each loop one at a time, so that a slow source does not stop the others. */
export function createFeedLoops(parts: FeedLoopParts): Loop[] {
  const running = new Map<number, number>()
  const runOnce = async (stopping?: AbortSignal) => {
    const full = [...running].flatMap(([id, count]) => (count < PULLS_PER_BUSINESS ? [] : id))
    const due = { now: parts.now(), limit: PULLS_PER_NODE, without: full }
    for (const key of await listDueFeeds(parts.database.engine, due)) {
      const claimed = await claimPull(parts, key, { isForced: false, stopping })
      if (!claimed) continue
      const { businessId } = key
      running.set(businessId, (running.get(businessId) ?? 0) + 1)
      try {
        await runPull(parts, claimed)
      } finally {
        running.set(businessId, running.get(businessId)! - 1)
      }
      return 1
    }
    return 0
  }
  const rest = (stopping: AbortSignal) => pause(REST_MS, stopping)
  return Array.from({ length: PULLS_PER_NODE }, (_, i) => ({
    name: `feeds ${i + 1}`,
    runOnce,
    rest,
  }))
}

type HeldClaim = ClaimedPull & {
  failures: number
  stopping: AbortSignal | undefined
  end(): Promise<void>
}

/** Claims a feed for one pull; undefined if another worker pulls it. Call `end` afterwards. */
export async function claimPull(
  parts: FeedLoopParts,
  key: FeedKey,
  { isForced, stopping }: { isForced: boolean; stopping?: AbortSignal | undefined },
): Promise<HeldClaim | undefined> {
  const { database, now, leaseSeconds } = parts
  const { engine } = database
  const work = { name: pullLease(key), worker: parts.random(9).toString('base64url') }
  let until = now().add({ seconds: leaseSeconds })
  if (!(await claimWork(engine, work, { now: now(), leaseUntil: until }))) return undefined
  const feed = await findFeed(database.forBusiness(key.businessId, 'SYSTEM'), key)
  const begun = feed?.active
    ? await beginPull(engine, key, { now: now(), until, isForced })
    : undefined
  if (!feed || !begun) {
    await releaseWork(engine, work)
    return undefined
  }
  const { pullNumber } = begun
  const lost = new AbortController()
  const renew = async () => {
    const [before, leaseUntil] = [until, now().add({ seconds: leaseSeconds })]
    if (!(await claimWork(engine, work, { now: now(), leaseUntil }))) return lost.abort()
    until = leaseUntil
    await renewPull(engine, key, { pullNumber, before, until })
  }
  const renewing = setInterval(() => void renew().catch(parts.onError), leaseSeconds * 300)
  const limits = [AbortSignal.timeout(MAX_PULL_MINUTES * 60_000), lost.signal]
  return {
    feed,
    ...begun,
    stopping,
    before: () => until,
    next: now().add({ milliseconds: intervalMs(parts, feed) }),
    signal: AbortSignal.any(stopping ? [...limits, stopping] : limits),
    end: async () => {
      clearInterval(renewing)
      await releaseWork(engine, work)
    },
  }
}

/** The interval of a feed, at random 10 % more or less. */
function intervalMs({ access, random }: FeedLoopParts, { source, pullMinutes }: FeedRow) {
  const minutes = pullMinutes ?? access.sources.find(source)?.minutes?.usual ?? 60
  return Math.round(minutes * 60_000 * (0.9 + (0.2 * random(2).readUInt16BE()) / 65_536))
}

/** Pulls a claimed feed. A source that fails is recorded, and answered as an error text. */
export async function runPull(
  parts: FeedLoopParts,
  claim: HeldClaim,
  { isRecorded = true } = {},
): Promise<{ summary: RunSummary } | { error: string }> {
  const { database, now } = parts
  const { feed, failures } = claim
  const db = database.forBusiness(feed.businessId, feedUser(feed))
  const startedTime = now()
  let requested: Awaited<ReturnType<typeof findRequestedRun>> | undefined
  const record = async (ended: { result: object } | { error: string }) => {
    if (requested) return endRun(db, requested, ended, now())
    if (!isRecorded) return
    const run = { kind: 'PULL', startedTime, ...ended } as const
    await insertEndedRun(db, feed, run, { user: feedUser(feed), now: now() })
  }
  try {
    requested = await findRequestedRun(db, feed)
    // If the service stopped after a change of the mapping.
    await remapFeed(parts, feed)
    const summary = await pullFeed(parts, claim)
    if (requested || summary.hasChanges) await record({ result: summary.show() })
    return { summary }
  } catch (error) {
    if (error instanceof PullSuperseded) {
      const text = 'The feed was paused, or is read elsewhere.'
      if (requested) await record({ error: text })
      return { error: text }
    }
    if (claim.stopping?.aborted) {
      await abandonPull(database.engine, feed, { ...claim, now: now() })
      return { error: 'The node stopped.' }
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
    if (requested || failures === 0) await record({ error: failure.text })
    return { error: failure.text }
  } finally {
    await claim.end()
  }
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
