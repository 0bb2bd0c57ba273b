import {
  claimDueTriggers,
  claimTriggerShares,
  TRIGGER_QUEUE,
  type ClaimedTrigger,
} from '../store/trigger-queue.ts'
import type { Claim } from '../store/queue.ts'
import { FairShare } from './fair-share.ts'
import type { FireContext } from './fire.ts'

type ClaimContext = Pick<
  FireContext,
  'db' | 'worker' | 'now' | 'leaseSeconds' | 'batchSize' | 'throttle'
>

/** Claims in the order of time; after a full batch, first a fair share for each business. */
export async function claim(context: ClaimContext, state: ClaimState): Promise<ClaimedTrigger[]> {
  const { db, worker, batchSize: limit } = context
  const now = context.now()
  state.claimedAt = now
  const { resets } = state
  const request = { worker, now, leaseUntil: now.add({ seconds: context.leaseSeconds }), limit }
  const throttled = await context.throttle?.listThrottled(now)
  state.isThrottled = throttled !== undefined && throttled.size > 0
  if (throttled && state.isThrottled) return claimUnthrottled(throttled, context, state, request)
  const shared = state.isCrowded ? await claimNextShares(context, state, request) : []
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

/** The state that a node keeps between claims. */
export type ClaimState = {
  shares: FairShare
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
  /** The last claim. A trigger that was due then and is still free is locked by a transaction. */
  claimedAt: Temporal.Instant | undefined
}

/** The next claim reads the queue from its beginning. */
export function claimFromStart(state: ClaimState) {
  state.doneUntil = undefined
  state.resets += 1
}

export const newClaimState = (): ClaimState => ({
  shares: new FairShare(TRIGGER_QUEUE),
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
    .map((trigger) => trigger.nextAttemptTime)
    .reduce((a, b) => (Temporal.Instant.compare(a, b) < 0 ? b : a))

/** A change may be committed a little after the time that it plans a trigger for. */
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

async function claimNextShares({ db }: ClaimContext, { shares }: ClaimState, request: Claim) {
  const next = await shares.next(db, request)
  // If only one business has due triggers, it delays no other.
  return next && !next.isOnlyBusiness ? claimTriggerShares(db, request, next) : []
}

/** Claims only triggers of businesses that are not throttled, page by page. */
async function claimUnthrottled(
  throttled: ReadonlySet<number>,
  { db }: ClaimContext,
  state: ClaimState,
  request: Claim,
) {
  // Throttled triggers stay in the queue before those that are claimed.
  Object.assign(state, { isCrowded: false, doneUntil: undefined })
  // One pass from the end of the last claim to the last business, then one over all businesses.
  let passesLeft = state.shares.isAtStart ? 1 : 2
  while (passesLeft > 0) {
    const next = await state.shares.next(db, request, (businessId) => throttled.has(businessId))
    const claimed = next ? await claimTriggerShares(db, request, next) : []
    if (claimed.length > 0) return claimed
    if (state.shares.isAtStart) passesLeft -= 1
  }
  return []
}
