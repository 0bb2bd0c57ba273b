import {
  claimDueTriggers,
  claimSharesOf,
  listBusinessesInTurn,
  type Claim,
  type ClaimedTrigger,
} from '../store/trigger-queue.ts'
import type { Firing } from './fire.ts'

/** As it comes while there is little; when a batch came back full, first a share for each business. */
export async function claim(firing: Firing, state: ClaimState): Promise<ClaimedTrigger[]> {
  const { db, worker, batchSize: limit } = firing
  const now = firing.now()
  state.claimedAt = now
  const { resets } = state
  const leaseUntil = now.add({ seconds: firing.leaseSeconds })
  const request = { worker, now, leaseUntil, limit, maxAttempts: firing.maxAttempts() }
  const held = await firing.throttle?.listThrottled(now)
  state.isThrottled = held !== undefined && held.size > 0
  if (state.isThrottled) return claimBeside(held!, firing, state, request)
  const shared = state.isCrowded ? await claimShares(firing, state, request) : []
  const rest = limit - shared.length
  if (rest <= 0) return shared
  lookBackSometimes(state, now)
  const claimed = await claimDueTriggers(db, { ...request, limit: rest }, state.doneUntil)
  state.isCrowded = claimed.length === rest
  const doneUntil = state.isCrowded ? lastOf(claimed) : now.subtract(STRAGGLERS)
  // A reset that came during the claim is for the next one.
  state.doneUntil = state.resets === resets ? doneUntil : undefined
  return [...shared, ...claimed]
}

/** What a worker remembers from one claim to the next. */
export type ClaimState = {
  /** Where the round of the businesses stands. */
  afterBusiness: number
  /** The last batch was full: more is due than one holds. */
  isCrowded: boolean
  /** What is due may have to wait until mails have left. */
  isThrottled: boolean
  /** All that was due before this is taken; unset when that is not known. */
  doneUntil: Temporal.Instant | undefined
  /** How often `doneUntil` was reset by others than the claim. */
  resets: number
  /** When it was last made sure of. */
  lookedBackAt: Temporal.Instant | undefined
  /** What was due at the last claim and is free after it is locked by somebody else. */
  claimedAt: Temporal.Instant | undefined
}

/** The next claim looks at the whole queue. */
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
  lookedBackAt: undefined,
  claimedAt: undefined,
})

/** Of a crowd the next batch begins where this one ended; what comes before is seen by looking back. */
const lastOf = (claimed: ClaimedTrigger[]) =>
  claimed
    .map((trigger) => trigger.scheduledTime)
    .reduce((a, b) => (Temporal.Instant.compare(a, b) < 0 ? b : a))

/** A change may be committed a little after the moment for which it plans. */
const STRAGGLERS = { seconds: 2 }
const LONGEST_WITHOUT_LOOKING_MS = 5_000

/** The engine looks back by itself every second; where it does not, or time jumped, a claim does. */
function lookBackSometimes(state: ClaimState, now: Temporal.Instant) {
  const { lookedBackAt } = state
  const ms = lookedBackAt ? now.epochMilliseconds - lookedBackAt.epochMilliseconds : Infinity
  if (ms >= 0 && ms < LONGEST_WITHOUT_LOOKING_MS) return
  state.doneUntil = undefined
  state.lookedBackAt = now
}

/** How many businesses are asked at a time, with what is due and without. */
const VISITS = 200

async function claimShares(firing: Firing, state: ClaimState, request: Claim, held?: Held) {
  const { db, batchSize } = firing
  const page = { after: state.afterBusiness, limit: VISITS }
  const visited = await listBusinessesInTurn(db, request.now, page)
  state.afterBusiness = visited.length < VISITS ? 0 : visited.at(-1)!.businessId
  const due = visited
    .filter(({ businessId, isDue }) => isDue && !held?.has(businessId))
    .map(({ businessId }) => businessId)
  // One that has all of the queue to itself takes nobody's state.
  const isAlone = due.length === 1 && page.after === 0 && state.afterBusiness === 0
  if (due.length === 0 || (isAlone && !held)) return []
  const share = Math.max(1, Math.floor(batchSize / Math.max(10, due.length)))
  return claimSharesOf(db, request, due.slice(0, batchSize), share)
}

type Held = ReadonlySet<number>

/** Only those whose mails are not held up, all round the businesses. */
async function claimBeside(held: Held, firing: Firing, state: ClaimState, request: Claim) {
  // What is passed over now stands before what is claimed.
  Object.assign(state, { isCrowded: false, doneUntil: undefined, afterBusiness: 0 })
  for (;;) {
    const claimed = await claimShares(firing, state, request, held)
    if (claimed.length > 0 || state.afterBusiness === 0) return claimed
  }
}
