import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import {
  holdDefinitions,
  type DefinitionKey,
  type StoredDefinition,
} from '../store/event-definitions.ts'
import { listWholeObjects, type WholeObject } from '../store/mail-contexts.ts'
import type { SettingsCache } from '../store/settings.ts'
import { holdSubjects, lockObjects } from '../store/subjects.ts'
import { objectKeyOf, type ObjectKey, type Subject } from '../store/subject.ts'

type Held = ObjectKey & { objectType: ObjectType; eventDefnId: number }

/** What triggers are about, by its key, under locks that a booking waits for. */
export async function holdObjects(
  tx: Db,
  settings: SettingsCache,
  triggers: Held[],
): Promise<Map<string, Subject>> {
  const subjects = new Map<string, Subject>()
  for (const [objectType, some] of Map.groupBy(triggers, (trigger) => trigger.objectType)) {
    for (const subject of await holdSubjects(tx, settings, objectType, some)) {
      subjects.set(objectKeyOf(subject), subject)
    }
  }
  return subjects
}

/** The same with all that a mail can speak of. Asks for everything before it waits for an answer. */
export async function holdWholeObjects(
  tx: Db,
  settings: SettingsCache,
  triggers: Held[],
): Promise<Map<string, WholeObject>> {
  const objects = new Map(triggers.map((trigger) => [objectKeyOf(trigger), trigger])).values()
  const byType = [...Map.groupBy(objects, (object) => object.objectType)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  for (const [objectType, some] of byType) lockObjects(tx, objectType, some)
  const found = byType.map(([objectType, some]) => listWholeObjects(tx, settings, objectType, some))
  const whole = (await Promise.all(found)).flat()
  return new Map(whole.map((object) => [objectKeyOf(object.subject), object]))
}

/** What asked for triggers, by its id, under locks that a save waits for. */
export async function holdDefinitionsOf(
  tx: Db,
  triggers: DefinitionKey[],
): Promise<Map<number, StoredDefinition>> {
  const rows = await holdDefinitions(tx, definitionsOf(triggers))
  return new Map(rows.map((definition) => [definition.eventDefnId, definition]))
}

/** Each once, in the order in which everybody locks. */
export const definitionsOf = (triggers: DefinitionKey[]): DefinitionKey[] =>
  [...new Map(triggers.map((trigger) => [trigger.eventDefnId, trigger])).values()].toSorted(
    (a, b) => a.businessId - b.businessId || a.eventDefnId - b.eventDefnId,
  )
