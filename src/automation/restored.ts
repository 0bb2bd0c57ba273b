import type { PastChoice } from '../contract/restore.ts'
import type { Db } from '../database/database.ts'
import type { By } from '../store/rows.ts'
import { readDatabaseTime } from '../store/database-time.ts'
import {
  countQueuedBefore,
  LOST_CHANGES,
  listBusinessIds,
  findInstallation,
  holdDatabase,
  insertInstallation,
  listDueTriggers,
  lockInstallation,
  readDatabasePlace,
  releaseDatabase,
  saveLostUntil,
  saveSeen,
  type DatabasePlace,
  type DueTriggers,
  type Installation,
  type NewerState,
} from '../store/installation.ts'
import { wasNodeRunning } from '../store/nodes.ts'
import { isBefore, isOfUse } from './timing.ts'

/*
 * A restored database has forgotten which mails were sent, and which appointments were cancelled, since
 * the backup was made. It is held: nothing is fired and no mail is sent until a person releases it.
 */

/** What a node noted outside the database when it was last connected. */
export type LastSeen = Pick<Installation, 'installationId' | 'seenTime'>

/** What a node knows that the database does not. */
export type NodeMemory = {
  /** Undefined: this node never saw the database, or cannot write files. */
  lastSeen: LastSeen | undefined
  /** Identifies the folder of the embedded database: a copy has another one. */
  folder: string | undefined
}

/** What the database says of itself. `wasRunning`: a node ran when it was last seen, and did not stop. */
type Found = DatabasePlace & { wasRunning: boolean }

type Restore = {
  reason: string
  lostUntil: Temporal.Instant | null
  /** A node that kept running while its database was away can know better. */
  isUncertain?: boolean
}

/** A failover to an asynchronous standby may lose this much without being a restore. */
const MAX_FAILOVER_LOSS = { seconds: 60 }

/** Without a note of its own, a node takes a longer absence for a restore, unless all nodes had stopped. */
const MAX_FAILOVER = { minutes: 5 }

/**
 * Whether the database was restored. What the node noted decides: a database that knows a later time was
 * moved or failed over, and has lost nothing. Without a note, a database in another place is a copy, and
 * one in which nodes run that nobody has seen for long is a snapshot.
 */
export function findRestore(
  stored: Pick<Installation, 'installationId' | 'seenTime' | 'place' | 'timeline'>,
  found: Found,
  lastSeen: LastSeen | undefined,
  now: Temporal.Instant,
): Restore | undefined {
  if (lastSeen?.installationId === stored.installationId) {
    const { seenTime } = lastSeen
    if (!isBefore(stored.seenTime, seenTime.subtract(MAX_FAILOVER_LOSS))) return undefined
    const reason = `it has no changes after ${stored.seenTime}, although this node saw it at ${seenTime}`
    return { reason, lostUntil: seenTime }
  }
  if (stored.place !== found.place) {
    return { reason: 'it is a copy in another server, database or folder', lostUntil: null }
  }
  if (!isBefore(stored.seenTime, now.subtract(MAX_FAILOVER))) return undefined
  if (stored.timeline !== found.timeline) {
    const reason = 'it was recovered to an earlier point in time'
    return { reason, lostUntil: null, isUncertain: found.wasRunning }
  }
  if (!found.wasRunning) return undefined
  const reason = `it ends at ${stored.seenTime} while a node was running, as a snapshot does`
  return { reason, lostUntil: null, isUncertain: true }
}

/**
 * A node that saw a later state than the restored one knows until when changes are lost. A note from
 * between the hold and now was written about the held database itself.
 */
function findLostUntil(
  { installationId, seenTime, hold }: Installation,
  lastSeen: LastSeen | undefined,
) {
  if (!hold || hold.lostUntil || lastSeen?.installationId !== installationId) return undefined
  const noted = lastSeen.seenTime
  const isOfHeld = isBefore(hold.heldSince, noted) && !isBefore(seenTime, noted)
  return isBefore(hold.lostFrom, noted) && !isOfHeld ? noted : undefined
}

/**
 * Notes that a node is connected. Holds the database if it was restored since it was last seen. With
 * `waits` it changes nothing, and returns undefined, if a node that kept running can know better.
 */
export function checkIn(operator: Db, memory: NodeMemory): Promise<Installation>
export function checkIn(
  operator: Db,
  memory: NodeMemory,
  waits: boolean,
): Promise<Installation | undefined>
export function checkIn(operator: Db, { lastSeen, folder }: NodeMemory, waits = false) {
  return operator.transaction(async (tx) => {
    const now = await readDatabaseTime(tx)
    const { place, timeline } = await readDatabasePlace(tx)
    const here = { place: folder ? `${place} ${folder}` : place, timeline }
    await insertInstallation(tx, here, now)
    const stored = (await lockInstallation(tx))!
    const found = { ...here, wasRunning: await wasNodeRunning(tx, stored.seenTime) }
    const restore = stored.hold ? undefined : findRestore(stored, found, lastSeen, now)
    if (waits && restore?.isUncertain) return undefined
    if (restore) await holdDatabase(tx, restore, now)
    const lostUntil = findLostUntil(stored, lastSeen)
    if (lostUntil) await saveLostUntil(tx, lostUntil)
    return saveSeen(tx, here, now)
  })
}

/** For a restore that no node can notice, such as that of a whole machine. Returns false if it is held. */
export function holdByHand(operator: Db, now: Temporal.Instant) {
  return operator.transaction(async (tx) => {
    const installation = await lockInstallation(tx)
    if (!installation || installation.hold) return false
    await holdDatabase(tx, { reason: 'a person held it', lostUntil: null }, now)
    return true
  })
}

/** How many triggers of an automation a release concerns. */
export type HeldAutomation = Pick<
  DueTriggers,
  'businessId' | 'business' | 'eventDefnId' | 'description'
> & {
  /** Due before the hold: they may have been sent in the lost time. */
  past: number
  /** Of them, those that are no longer of use: they become EXPIRED in any case. */
  useless: number
  /** Due since the hold began. */
  due: number
  /** Sent in the lost time, according to a newer backup or a log. They are not sent again. */
  sentBefore: number
}

/** What no source has told about all of these businesses. */
const findUnknown = (newerState: NewerState | null, businessIds: number[]) =>
  LOST_CHANGES.filter(
    (change) =>
      !newerState ||
      !businessIds.every((id) =>
        newerState.known.some(
          ({ businessId, changes }) =>
            (businessId === null || businessId === id) && changes.includes(change),
        ),
      ),
  )

/** What a release would send. `businessId` limits it to one business. */
export async function describeHold(engine: Db, now: Temporal.Instant, businessId?: number) {
  const installation = await findInstallation(engine)
  const { releasedTime = null, releasedUser = null } = installation ?? {}
  const hold = installation?.hold
  if (!hold) return { held: false, hold: null, releasedTime, releasedUser }
  const [triggers, emails, businessIds] = await Promise.all([
    listDueTriggers(engine, { heldSince: hold.heldSince, now }, businessId),
    countQueuedBefore(engine, hold.heldSince, businessId),
    businessId === undefined ? listBusinessIds(engine) : [businessId],
  ])
  const { newerState, ...when } = hold
  return {
    held: true,
    hold: {
      ...when,
      unknown: findUnknown(newerState, businessIds),
      newerState: newerState && {
        cancellations: newerState.cancellations,
        erasures: newerState.erasures,
        suppressions: newerState.suppressions,
        sentMails: newerState.sentMails,
      },
      automations: countByAutomation(triggers, newerState, now),
      emails,
    },
    releasedTime,
    releasedUser,
  }
}

export type DescribedHold = Awaited<ReturnType<typeof describeHold>>

function countByAutomation(
  triggers: DueTriggers[],
  newerState: NewerState | null,
  now: Temporal.Instant,
): HeldAutomation[] {
  const groups = Map.groupBy(triggers, ({ eventDefnId }) => eventDefnId)
  return [...groups.values()].map((group) => {
    const { businessId, business, eventDefnId, description } = group[0]!
    const count = (isCounted: (one: DueTriggers) => boolean) =>
      group.filter(isCounted).reduce((sum, one) => sum + one.triggers, 0)
    const isUseless = (one: DueTriggers) => !isOfUse(one, one.anchorTime, one.scheduledTime, now)
    const sent = newerState?.sentBefore.find((one) => one.eventDefnId === eventDefnId)
    return {
      businessId,
      business,
      eventDefnId,
      description,
      past: count((one) => one.isPast),
      useless: count((one) => one.isPast && isUseless(one)),
      due: count((one) => !one.isPast),
      sentBefore: sent?.triggers ?? 0,
    }
  })
}

/** Lets the engine fire and send again, in the caller's transaction. Returns false if it is not held. */
export async function releaseHold(tx: Db, past: PastChoice, by: By) {
  const hold = (await lockInstallation(tx))?.hold
  if (!hold) return false
  await releaseDatabase(tx, past === 'EXPIRE' ? hold.heldSince : null, by)
  return true
}
