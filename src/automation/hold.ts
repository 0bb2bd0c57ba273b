import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { holdDefinitions, type StoredDefinition } from '../store/event-definitions.ts'
import type { ObjectKey } from '../store/mail-contexts.ts'
import { holdSubjects } from '../store/subjects.ts'
import { keyOf, type Subject } from './subject.ts'

type Held = ObjectKey & { objectType: ObjectType; eventDefnId: number }

/** What triggers are about, by its key, under locks that a booking waits for. */
export async function holdObjects(tx: Db, triggers: Held[]): Promise<Map<string, Subject>> {
  const subjects = new Map<string, Subject>()
  for (const [objectType, some] of Map.groupBy(triggers, (trigger) => trigger.objectType)) {
    for (const subject of await holdSubjects(tx, objectType, some)) {
      subjects.set(keyOf(subject), subject)
    }
  }
  return subjects
}

/** What asked for triggers, by its id, under locks that a save waits for. */
export async function holdDefinitionsOf(
  tx: Db,
  triggers: Pick<Held, 'businessId' | 'eventDefnId'>[],
): Promise<Map<number, StoredDefinition>> {
  const rows = await holdDefinitions(tx, triggers)
  return new Map(rows.map((definition) => [definition.eventDefnId, definition]))
}
