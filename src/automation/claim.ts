import {
  claimDueTriggers,
  claimSharesOf,
  listBusinessesInTurn,
  type Claim,
  type ClaimedTrigger,
} from '../store/trigger-queue.ts'
import type { Firing } from './fire.ts'

/** Claims in the order of time; after a full batch, first a fair share for each business. */
export async function claim(firing: Firing, state: ClaimState): Promise<ClaimedTrigger[]> {
  const { db, worker, batchSize: limit } = firing
  const now = firing.now()
  state.claimedAt = now
  const { resets } = state
  const leaseUntil = now.add({ seconds: firing.leaseSeconds })
  const request = { worker, now, leaseUntil, limit, maxAttempts: firing.maxAttempts() }
  const throttled = await firing.throttle?.listThrottled(now)
  state.isThrottled = throttled !== undefined && throttled.size > 0
  if (throttled && state.isThrottled) return claimUnthrottled(throttled, firing, state, request)
  const shared = state.isCrowded ? await claimShares(firing, state, request) : []
  const rest = limit - shared.length
  if (rest <= 0) return shared
  sweepSometimes(state, now)
  const claimed = await claimDueTriggers(db, { ...request, limit: rest }, state.doneUntil)
  state.isCrowded = claimed.length === rest
  const doneUntil = state.isCrowded ? lastOf(claimed) : now.subtract(MAX_COMMIT_DELAY)
  // A reset that came during the claim is for the next one.
  state.doneUntil = state.resets === resets ? doneUntil : undefined
  return [...shared, ...claimed]
}

/** What a node remembers from one claim to the next. */
export type ClaimState = {
  /** The last business that got its fair share. */
  afterBusiness: number
  /** The last batch was full: more triggers are due than one batch holds. */
  isCrowded: boolean
  /** Triggers of some businesses are not claimed until their mails have been sent. */
  isThrottled: boolean
  /** Every trigger that was due before this is claimed; unset if that is not known. */
  doneUntil: Temporal.Instant | undefined
  /** How often `doneUntil` was reset by others than the claim. */
  resets: number
  /** When the queue was last read from its beginning. */
  sweptAt: Temporal.Instant | undefined
  /** A trigger that was due at the last claim and is free after it is locked by a transaction. */
  claimedAt: Temporal.Instant | undefined
}

/** The next claim reads the queue from its beginning. */
export function claimFromStart(state: ClaimState) {
  state.doneUntil = undefined
  state.resets += 1
}

export const newClaimState = (): ClaimState => ({
  afterBusiness: 0,
  isCrowded: false,
  isThrottled: false,
  doneUntil: undefined,
  resets: 0,
  sweptAt: undefined,
  claimedAt: undefined,
})

/** After a full batch the next one begins where it ended; the full sweep finds earlier triggers. */
const lastOf = (claimed: ClaimedTrigger[]) =>
  claimed
    .map((trigger) => trigger.scheduledTime)
    .reduce((a, b) => (Temporal.Instant.compare(a, b) < 0 ? b : a))

/** A change may be committed a little after the moment for which it plans. */
const MAX_COMMIT_DELAY = { seconds: 2 }
const MAX_SWEEP_AGE_MS = 5_000

/** The full sweep runs every second; if it does not run, or time jumped, a claim replaces it. */
function sweepSometimes(state: ClaimState, now: Temporal.Instant) {
  const { sweptAt } = state
  const ms = sweptAt ? now.epochMilliseconds - sweptAt.epochMilliseconds : Infinity
  if (ms >= 0 && ms < MAX_SWEEP_AGE_MS) return
  state.doneUntil = undefined
  state.sweptAt = now
}

/** How many businesses are read at a time, with and without due triggers. */
const BUSINESSES_PAGE = 200

type Throttled = ReadonlySet<number>

async function claimShares(
  firing: Firing,
  state: ClaimState,
  request: Claim,
  throttled?: Throttled,
) {
  const { db, batchSize } = firing
  const page = { after: state.afterBusiness, limit: BUSINESSES_PAGE }
  const businesses = await listBusinessesInTurn(db, request.now, page)
  state.afterBusiness = businesses.length < page.limit ? 0 : businesses.at(-1)!.businessId
  const due = businesses
    .filter(({ businessId, isDue }) => isDue && !throttled?.has(businessId))
    .map(({ businessId }) => businessId)
  // If only one business has due triggers, it delays no other.
  const isAlone = due.length === 1 && page.after === 0 && state.afterBusiness === 0
  if (due.length === 0 || (isAlone && !throttled)) return []
  const share = Math.max(1, Math.floor(batchSize / Math.max(10, due.length)))
  return claimSharesOf(db, request, due.slice(0, batchSize), share)
}

/** Only of businesses that are not throttled, page by page. */
async function claimUnthrottled(
  throttled: Throttled,
  firing: Firing,
  state: ClaimState,
  request: Claim,
) {
  // Throttled triggers stay in the queue before those that are claimed.
  Object.assign(state, { isCrowded: false, doneUntil: undefined, afterBusiness: 0 })
  for (;;) {
    const claimed = await claimShares(firing, state, request, throttled)
    if (claimed.length > 0 || state.afterBusiness === 0) return claimed
  }
}
