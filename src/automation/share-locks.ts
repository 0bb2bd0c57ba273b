import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import {
  lockDefinitionsForShare,
  type DefinitionKey,
  type StoredDefinition,
} from '../store/event-definitions.ts'
import { listWholeObjects, type WholeObject } from '../store/mail-contexts.ts'
import type { SettingsCache } from '../store/settings.ts'
import { lockObjectsForShare, readSubjects } from '../store/subjects.ts'
import { objectKeyOf, type ObjectKey, type Subject } from '../store/subject.ts'

type TypedKey = ObjectKey & { objectType: ObjectType }

/** Locks and reads the objects of triggers, by `objectKeyOf`. */
export async function lockSubjectsForShare(
  tx: Db,
  settings: SettingsCache,
  triggers: TypedKey[],
): Promise<Map<string, Subject>> {
  lockObjectsForShare(tx, triggers)
  const found = groupByType(triggers).map(([objectType, ofType]) =>
    readSubjects(tx, settings, objectType, ofType),
  )
  const subjects = (await Promise.all(found)).flat()
  return new Map(subjects.map((subject) => [objectKeyOf(subject), subject]))
}

/** The same, with the data for mails. Sends all statements before it awaits a result. */
export async function lockWholeObjectsForShare(
  tx: Db,
  settings: SettingsCache,
  triggers: TypedKey[],
): Promise<Map<string, WholeObject>> {
  lockObjectsForShare(tx, triggers)
  const found = groupByType(triggers).map(([objectType, ofType]) =>
    listWholeObjects(tx, settings, objectType, ofType),
  )
  const objects = (await Promise.all(found)).flat()
  return new Map(objects.map((object) => [objectKeyOf(object.subject), object]))
}

/** The distinct objects of each type. */
function groupByType(triggers: TypedKey[]) {
  const objects = new Map(triggers.map((trigger) => [objectKeyOf(trigger), trigger]))
  return [...Map.groupBy(objects.values(), (object) => object.objectType)]
}

/** Locks and reads the definitions of triggers, by id. A save of one of them waits. */
export async function lockDefinitionsOfTriggers(
  tx: Db,
  triggers: DefinitionKey[],
): Promise<Map<number, StoredDefinition>> {
  const rows = await lockDefinitionsForShare(tx, distinctDefinitions(triggers))
  return new Map(rows.map((definition) => [definition.eventDefnId, definition]))
}

/** The distinct definitions of triggers, in the order in which every transaction locks them. */
export const distinctDefinitions = (triggers: DefinitionKey[]): DefinitionKey[] =>
  [...new Map(triggers.map((trigger) => [trigger.eventDefnId, trigger])).values()].toSorted(
    (a, b) => a.businessId - b.businessId || a.eventDefnId - b.eventDefnId,
  )
