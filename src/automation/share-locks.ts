import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import type { ClaimedEmail } from '../store/email-queue.ts'
import {
  lockFreeDefinitions,
  type DefinitionKey,
  type StoredDefinition,
} from '../store/event-definitions.ts'
import { listWholeObjects } from '../store/mail-contexts.ts'
import type { SettingsCache } from '../store/settings.ts'
import { distinctByType, lockFreeObjects, readSubjects, type TypedKey } from '../store/subjects.ts'
import { objectKeyOf, type Subject } from '../store/subject.ts'

/*
 * Firing and delivery work for all businesses in one transaction, so they never wait for a lock. They
 * lock for share what no other transaction has locked, and put off what depends on the rest.
 */

/** Locks and reads the free objects of triggers, by `objectKeyOf`. */
export const lockFreeSubjects = (tx: Db, settings: SettingsCache, triggers: TypedKey[]) =>
  lockFree<Subject>(tx, triggers, {
    read: (objectType, ofType) => readSubjects(tx, settings, objectType, ofType),
    keyOf: objectKeyOf,
  })

/** The same, with the data for mails. */
export const lockFreeWholeObjects = (tx: Db, settings: SettingsCache, triggers: TypedKey[]) =>
  lockFree(tx, triggers, {
    read: (objectType, ofType) => listWholeObjects(tx, settings, objectType, ofType),
    keyOf: ({ subject }) => objectKeyOf(subject),
  })

type Reading<Row> = {
  read(objectType: ObjectType, ofType: TypedKey[]): Promise<Row[]>
  keyOf(row: Row): string
}

/** Sends all statements before it awaits a result. */
async function lockFree<Row>(tx: Db, triggers: TypedKey[], { read, keyOf }: Reading<Row>) {
  const locking = lockFreeObjects(tx, triggers)
  const reading = distinctByType(triggers).map(([objectType, ofType]) => read(objectType, ofType))
  const [free, rows] = await Promise.all([locking, Promise.all(reading)])
  const keyed = rows.flat().map((row) => [keyOf(row), row] as const)
  return new Map(keyed.filter(([key]) => free.has(key)))
}

/** Locks and reads the free definitions of triggers, by id. A save of one of them waits. */
export async function lockFreeDefinitionsOf(
  tx: Db,
  triggers: DefinitionKey[],
): Promise<Map<number, StoredDefinition>> {
  const rows = await lockFreeDefinitions(tx, distinctDefinitions(triggers))
  return new Map(rows.map((definition) => [definition.eventDefnId, definition]))
}

/** The distinct definitions of triggers, in the order in which every transaction locks them. */
export const distinctDefinitions = (triggers: DefinitionKey[]): DefinitionKey[] =>
  [...new Map(triggers.map((trigger) => [trigger.eventDefnId, trigger])).values()].toSorted(
    (a, b) => a.businessId - b.businessId || a.eventDefnId - b.eventDefnId,
  )

/** When mails that depend on a locked row are checked again. */
export const lockedUntil = (mails: ClaimedEmail[], now: Temporal.Instant) =>
  mails.map((mail) => {
    const delayMs = lockedDelayMs(mail.scheduledTime ?? mail.createdDate, now)
    return { mail, until: now.add({ milliseconds: delayMs }), reason: null }
  })

/**
 * How long a trigger or mail is put off because of a lock: a tenth of the time since it was due, in steps
 * of 0.1 s, at most 1 s.
 */
export function lockedDelayMs(dueTime: Temporal.Instant, now: Temporal.Instant) {
  const lateSeconds = Math.ceil((now.epochMilliseconds - dueTime.epochMilliseconds) / 1000)
  return 100 * Math.min(10, Math.max(1, lateSeconds))
}
