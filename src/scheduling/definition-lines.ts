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
  const definition = await named(tx, line, targets, saving.businessId, refs, faults, '')
  const actions = Array.isArray(line.eventActions) ? line.eventActions : undefined
  if (actions) {
    definition.eventActions = await Promise.all(
      actions.map((action, i) =>
        isPlainObject(action)
          ? named(tx, action, ACTION_TARGETS, saving.businessId, refs, faults, `/eventActions/${i}`)
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

/** The same body with ids in the place of names. */
async function named(
  tx: Db,
  body: Record<string, unknown>,
  targets: Record<string, string>,
  businessId: number,
  refs: LineRefs,
  faults: Fault[],
  at: string,
): Promise<Record<string, unknown>> {
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
