import type { Db } from '../database/database.ts'
import {
  countHeldMails,
  countTriggerMails,
  finishApproval,
  freeTriggers,
  insertApproval,
  linkTriggers,
  listHeldTriggers,
  lockApproval,
  findApproval,
  readBulkLimit,
  renewApproval,
  settleApproval,
  type ApprovalKey,
  type StoredApproval,
} from '../store/approvals.ts'
import type { By } from '../store/rows.ts'
import { hintManyChangedTriggers } from '../store/changes.ts'
import { cancelTriggers, fireTriggersNow, type StoredTrigger } from '../store/event-triggers.ts'
import { type Plan } from '../store/planned-triggers.ts'

/*
 * Approvals of bulk calls. An import cannot know how many mails it will send, so all triggers that it
 * would send at once are held from the first one on. At the end of the call they are released if they
 * are within the limit; else they wait for a person. See docs/approvals.md.
 */

/** Event triggers count if they are due within this time: quiet hours may delay them by some hours. */
const AT_ONCE_MS = 24 * 60 * 60 * 1000

/** Whether a bulk call would send this trigger's mails at once. Planned reminders never count. */
const isSentAtOnce = (trigger: Planning, now: Temporal.Instant) =>
  trigger.status === 'SCHEDULED' &&
  (trigger.isLate === true ||
    ('occurrence' in trigger &&
      trigger.occurrence !== null &&
      trigger.scheduledTime.epochMilliseconds - now.epochMilliseconds < AT_ONCE_MS))

type Planning = Plan['insert'][number] | Plan['update'][number]

type Call = { businessId: number; user: string }

/** One import, from its first line to its last, or one pull of a feed. */
export class BulkCall {
  readonly #call: Call
  readonly #source: 'IMPORT' | 'FEED'
  #approvalId: number | undefined
  #isRenewing = false

  constructor(call: Call, source: 'IMPORT' | 'FEED' = 'IMPORT') {
    this.#call = call
    this.#source = source
  }

  get approvalId() {
    return this.#approvalId
  }

  /** Holds the triggers that a plan would send at once. Runs in the transaction that writes the plan. */
  async hold(tx: Db, plan: Plan, now: Temporal.Instant) {
    const held = [...plan.insert, ...plan.update].filter((one) => isSentAtOnce(one, now))
    if (held.length === 0) return
    const approvalId = await this.#begin(tx, now)
    for (const trigger of held) trigger.approvalId = approvalId
  }

  /** Creates the approval if there is none, also after its transaction was rolled back. */
  async #begin(tx: Db, now: Temporal.Instant) {
    const { businessId, user } = this.#call
    const known = this.#approvalId
    if (known !== undefined && (await renewApproval(tx, { businessId, approvalId: known }, now))) {
      return known
    }
    const approval = { source: this.#source, status: 'COUNTING' } as const
    this.#approvalId = await insertApproval(tx, businessId, approval, { user, now })
    return this.#approvalId
  }

  /**
   * The heartbeat of the call, without which the engine ends its count. Never throws, because it is
   * repeated. The window that is being saved may lock the approval for a while.
   */
  async renew(db: Db, now: Temporal.Instant) {
    const { businessId } = this.#call
    if (this.#approvalId === undefined || this.#isRenewing) return
    this.#isRenewing = true
    const key = { businessId, approvalId: this.#approvalId }
    await renewApproval(db, key, now).catch(() => {})
    this.#isRenewing = false
  }

  /** Releases the held triggers, or lets them wait; returns the approval that they wait for. */
  async end(db: Db, now: Temporal.Instant): Promise<number | undefined> {
    if (this.#approvalId === undefined) return undefined
    const key = { businessId: this.#call.businessId, approvalId: this.#approvalId }
    return (await settle(db, key, now)) === 'WAITING' ? key.approvalId : undefined
  }
}

/** What an import would do: the triggers that it plans for later, and the mails that it sends at once. */
export type Planned = { triggers: number; mailsAtOnce: number }

/** Counts what a dry run would plan, inside the transaction that is rolled back. */
export class BulkTrial {
  readonly #call: Call
  readonly #bulkCall: BulkCall
  #triggers = 0
  /** How many triggers of each definition are planned for later. */
  readonly byDefinition = new Map<number, number>()

  constructor(call: Call) {
    this.#call = call
    this.#bulkCall = new BulkCall(call)
  }

  hold(tx: Db, plan: Plan, now: Temporal.Instant) {
    const isLater = (one: Planning) => one.status === 'SCHEDULED' && !isSentAtOnce(one, now)
    for (const { eventDefnId } of plan.insert.filter(isLater)) {
      this.#triggers += 1
      this.byDefinition.set(eventDefnId, (this.byDefinition.get(eventDefnId) ?? 0) + 1)
    }
    return this.#bulkCall.hold(tx, plan, now)
  }

  async count(tx: Db): Promise<Planned> {
    const { approvalId } = this.#bulkCall
    const key = approvalId && { businessId: this.#call.businessId, approvalId }
    const mailsAtOnce = key ? (await countHeldMails(tx, key)).mails : 0
    return { triggers: this.#triggers, mailsAtOnce }
  }
}

/** Ends the count of a call: within the limit its triggers fire, above it they wait. */
export async function settle(db: Db, key: ApprovalKey, now: Temporal.Instant) {
  const status = await db.transaction(async (tx) => {
    const approval = await lockApproval(tx, key)
    if (approval?.status !== 'COUNTING' && approval?.status !== 'WAITING') return approval?.status
    const held = await countHeldMails(tx, key)
    const bulkLimit = await readBulkLimit(tx, key.businessId, now)
    const isWithin = approval.status === 'COUNTING' && held.mails <= bulkLimit
    const settled = isWithin ? ('PASSED' as const) : ('WAITING' as const)
    await settleApproval(tx, key, { status: settled, held, bulkLimit }, now)
    return settled
  })
  if (status === 'PASSED') await followDecision(db, key, now)
  return status
}

/** Bookings wait for the locks of a page. */
const PAGE = 1_000

/** Lets the triggers of an approval follow its decision, in pages. If interrupted, the engine continues. */
export async function followDecision(db: Db, key: ApprovalKey, now: Temporal.Instant) {
  for (let isDone = false; !isDone;) {
    isDone = await db.transaction((tx) => followPage(tx, key, now))
  }
  hintManyChangedTriggers(db, key.businessId)
}

async function followPage(tx: Db, key: ApprovalKey, now: Temporal.Instant) {
  const ids = await listHeldTriggers(tx, key, { limit: PAGE })
  // Not locked: a decision is final, and triggers are locked after their objects.
  const approval = await findApproval(tx, key)
  if (!approval || approval.status === 'COUNTING' || approval.status === 'WAITING') return true
  if (ids.length > 0) await applyDecision(tx, approval, ids, now)
  if (ids.length === PAGE) return false
  await finishApproval(tx, key)
  return true
}

/**
 * Takes triggers out of an approval as if it were cancelled for them. Returns which ids wait for it, so
 * that the caller can refuse others.
 */
export async function leaveOut(tx: Db, key: ApprovalKey, ids: number[], by: By) {
  const approval = await findApproval(tx, key)
  if (!approval || ids.length === 0) return () => false
  const known = new Set(approval.emailIds)
  if (approval.source !== 'RESEND') {
    for (const id of await listHeldTriggers(tx, key, { ids, limit: ids.length })) known.add(id)
    const cancelled = { ...approval, status: 'CANCELLED' as const, decidedUser: by.user }
    await applyDecision(tx, cancelled, [...known], by.now)
  }
  return (id: number) => known.has(id)
}

async function applyDecision(
  tx: Db,
  approval: StoredApproval,
  ids: number[],
  now: Temporal.Instant,
) {
  const { businessId, source, status, decidedUser } = approval
  const by = { user: decidedUser ?? 'SYSTEM', now }
  if (status === 'CANCELLED' && (source === 'IMPORT' || source === 'FEED')) {
    await cancelTriggers(tx, businessId, ids, by)
  } else if (status === 'RELEASED' && source === 'FIRE') {
    await fireTriggersNow(tx, businessId, ids, by)
  } else await freeTriggers(tx, approval, ids, by)
}

/**
 * Fires triggers because a user asked for it. Above the limit they stay as they are until the call is
 * approved, and the result names the approval.
 */
export async function fireOrHold(
  tx: Db,
  businessId: number,
  ids: number[],
  by: By,
): Promise<{ acted: StoredTrigger[]; approvalId?: number; heldIds?: number[] }> {
  const held = await countTriggerMails(tx, businessId, ids)
  const bulkLimit =
    ids.length > 1 ? await findExceededLimit(tx, businessId, held.mails, by.now) : undefined
  if (bulkLimit === undefined) return { acted: await fireTriggersNow(tx, businessId, ids, by) }
  const approval = { source: 'FIRE', status: 'WAITING', bulkLimit, held } as const
  const approvalId = await insertApproval(tx, businessId, approval, by)
  const heldIds = await linkTriggers(tx, { businessId, approvalId }, ids)
  return { acted: [], approvalId, heldIds }
}

/** Lets mails wait for approval before they are sent again. */
export function holdResend(
  tx: Db,
  businessId: number,
  { emailIds, bulkLimit }: { emailIds: number[]; bulkLimit: number },
  by: By,
) {
  const held = { triggers: 0, mails: emailIds.length, definitions: [] }
  const approval = { source: 'RESEND', status: 'WAITING', bulkLimit, held, emailIds } as const
  return insertApproval(tx, businessId, approval, by)
}

/** The limit of the business if this many mails exceed it. */
export async function findExceededLimit(
  tx: Db,
  businessId: number,
  mails: number,
  now: Temporal.Instant,
) {
  const bulkLimit = await readBulkLimit(tx, businessId, now)
  return mails > bulkLimit ? bulkLimit : undefined
}
