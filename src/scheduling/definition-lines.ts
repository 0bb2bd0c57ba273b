import { saveDefinition } from '../automation/define.ts'
import { isDefinitionObjectType, kindNamed } from '../contract/event-definition.ts'
import { isPlainObject } from '../contract/json.ts'
import { externalName, refName } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { invalid, type Fault } from '../errors.ts'
import { listReferredObjects } from '../store/objects.ts'
import { resolveNames, type LineRefs } from './line-refs.ts'
import type { Author } from './saving.ts'

/**
 * Saves a definition of an import, in the format of `POST /eventDefinition` with its actions. It can
 * refer to objects by `externalId` or by the ref of a line, like every line of an import.
 */
export async function saveDefinitionLine(
  tx: Db,
  line: Record<string, unknown>,
  saving: Author,
  refs: LineRefs,
) {
  const faults: Fault[] = []
  const resolve = nameResolver(tx, saving.businessId, refs, faults)
  const definition = await resolve(line, { ...TARGETS, ...targetOfObject(line) }, '')
  if (Array.isArray(line.eventActions)) {
    definition.eventActions = await Promise.all(
      line.eventActions.map((action, i) =>
        isPlainObject(action) ? resolve(action, ACTION_TARGETS, `/eventActions/${i}`) : action,
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

/** Returns the body with names replaced by ids. */
const nameResolver =
  (tx: Db, businessId: number, refs: LineRefs, faults: Fault[]) =>
  async (body: Record<string, unknown>, targets: Record<string, string>, at: string) => {
    const filled: Record<string, unknown> = { businessId, ...body }
    for (const [property, target] of Object.entries(targets)) {
      const [external, ref] = [externalName(property), refName(property)]
      const name = body[external] == null ? ref : external
      delete filled[external]
      delete filled[ref]
      if (filled[property] != null || body[name] == null) continue
      const kind = objectKind(target)!
      const known = name === external ? await readIds(tx, businessId, kind, body[name]) : undefined
      const { ids, missing } = resolveNames(body[name], (one) =>
        known ? known.get(one) : refs.idOf(target, one),
      )
      if (missing.length === 0) filled[property] = ids
      else
        faults.push({ pointer: `${at}/${name}`, detail: `there is no ${kind.title} ${missing[0]}` })
    }
    return filled
  }

async function readIds(tx: Db, businessId: number, kind: ObjectKind, named: unknown) {
  const externalIds = new Set([named].flat().map(String))
  const wanted = new Map([[kind, { ids: new Set<number>(), externalIds }]])
  const found = await listReferredObjects(tx, businessId, wanted)
  return new Map<string | null, number | string>(
    found.map(({ externalId, id }) => [externalId, id]),
  )
}
