import { saveDefinition } from '../automation/define.ts'
import { isDefinitionObjectType, kindNamed } from '../contract/event-definition.ts'
import { isPlainObject } from '../contract/json.ts'
import { externalName, refName } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { invalid, type Fault } from '../errors.ts'
import { listReferredObjects } from '../store/objects.ts'
import type { LineRefs } from './line-refs.ts'
import type { Author } from './saving.ts'

/**
 * A definition in an import, as `POST /eventDefinition` takes it with its actions. What it names may
 * be named by `externalId` or by the ref of a line, as everywhere in an import.
 */
export async function saveDefinitionLine(
  tx: Db,
  line: Record<string, unknown>,
  saving: Author,
  refs: LineRefs,
) {
  const faults: Fault[] = []
  const targets = { ...TARGETS, ...targetOfObject(line) }
  const { businessId } = saving
  const naming = { tx, businessId, refs, faults }
  const definition = await replaceNames({ ...naming, body: line, targets, at: '' })
  const actions = Array.isArray(line.eventActions) ? line.eventActions : undefined
  if (actions) {
    definition.eventActions = await Promise.all(
      actions.map((action, i) =>
        isPlainObject(action)
          ? replaceNames({
              ...naming,
              body: action,
              targets: ACTION_TARGETS,
              at: `/eventActions/${i}`,
            })
          : action,
      ),
    )
  }
  if (faults.length > 0) throw invalid(faults)
  return saveDefinition(tx, definition, saving)
}

const TARGETS: Record<string, string> = {
  locationIdList: 'location',
  professionalIdList: 'professional',
  reasonIdList: 'reason',
  disclaimerFormIdList: 'disclaimerForm',
  objectUUId: 'invitation',
}

const ACTION_TARGETS: Record<string, string> = {
  emailTemplateId: 'emailTemplate',
  emailCategoryId: 'emailCategory',
}

function targetOfObject({ objectType, eventType }: Record<string, unknown>) {
  if (!isDefinitionObjectType(objectType)) return {}
  const eventTypeId = isPlainObject(eventType) ? Number(eventType.eventTypeId) : 0
  return { objectId: kindNamed({ objectType, eventTypeId }) }
}

type Naming = {
  tx: Db
  businessId: number
  refs: LineRefs
  body: Record<string, unknown>
  /** The kind of object that each property refers to. */
  targets: Record<string, string>
  /** Names that refer to nothing are added here. */
  faults: Fault[]
  /** The place of the body in the line, as a JSON pointer. */
  at: string
}

/** The same body with ids instead of names. */
async function replaceNames(naming: Naming): Promise<Record<string, unknown>> {
  const { tx, businessId, refs, body, targets, faults, at } = naming
  const filled: Record<string, unknown> = { businessId, ...body }
  for (const [property, target] of Object.entries(targets)) {
    const external = externalName(property)
    const ref = refName(property)
    const given = filled[property] ?? null
    const name = given === null && filled[external] != null ? external : ref
    const value = given === null ? (filled[name] ?? null) : null
    delete filled[external]
    delete filled[ref]
    if (value === null) continue
    const names = [value].flat().map(String)
    const kind = objectKind(target)!
    const known =
      name === external ? await readIdsOfExternalIds(tx, businessId, kind, names) : undefined
    const ids = names.map((one) => known?.get(one) ?? (known ? undefined : refs.idOf(target, one)))
    const missing = names.find((_, i) => ids[i] === undefined)
    if (missing !== undefined) {
      faults.push({ pointer: `${at}/${name}`, detail: `there is no ${kind.title} ${missing}` })
      continue
    }
    filled[property] = Array.isArray(value) ? ids : ids[0]
  }
  return filled
}

async function readIdsOfExternalIds(
  tx: Db,
  businessId: number,
  kind: ObjectKind,
  externalIds: string[],
) {
  const wanted = new Map([[kind, { ids: new Set<number>(), externalIds: new Set(externalIds) }]])
  const found = await listReferredObjects(tx, businessId, wanted)
  return new Map(found.map(({ externalId, id }) => [externalId, id]))
}
