import { changedProperties, readAgainst, saveDefinition } from '../automation/define.ts'
import type { ActionInput } from '../contract/event-action.ts'
import { isDefinitionObjectType, kindNamed } from '../contract/event-definition.ts'
import { isId, isPlainObject, nameOf } from '../contract/json.ts'
import { externalName, refName } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { invalid, type Fault } from '../errors.ts'
import { listAllActions, type StoredAction } from '../store/event-actions.ts'
import { listNamesakes, lockSettings } from '../store/event-definitions.ts'
import { listTemplateNames } from '../store/email-templates.ts'
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
  lockSettings(tx, saving.businessId)
  const saved = await saveDefinition(tx, await withKnownIds(tx, definition, saving, refs), saving)
  refs.definitions.add(saved.definition.eventDefnId)
  return saved
}

/**
 * The line with the ids of the definition that it describes and of its actions, so that importing a file
 * again changes nothing: an equal definition, else the only one with its name and event type. A definition
 * belongs to one line of an import, because names may repeat.
 */
async function withKnownIds(tx: Db, line: Record<string, unknown>, saving: Author, refs: LineRefs) {
  if (line.eventDefnId) return line
  const { wanted, actions } = await readAgainst(tx, line, saving)
  const all = await listNamesakes(tx, saving.businessId, wanted)
  const others = all.filter(({ eventDefnId }) => !refs.definitions.has(eventDefnId))
  const namesake = wanted.description && others.length === 1 ? others[0] : undefined
  const known = others.find((one) => changedProperties(one, wanted).length === 0) ?? namesake
  if (!known) return line
  const { eventDefnId } = known
  if (!Array.isArray(line.eventActions)) return { ...line, eventDefnId }
  const stored = await listAllActions(tx, saving.businessId, eventDefnId)
  const templateIds = [...stored, ...actions].flatMap((one) => one.emailTemplateId ?? [])
  const names = await listTemplateNames(tx, saving.businessId, templateIds)
  const ids = knownActions(stored, actions, names)
  const eventActions = line.eventActions.map((action, i) => ({ eventActionId: ids[i], ...action }))
  return { ...line, eventDefnId, eventActions }
}

/**
 * The id of the stored action that each one equals, if any; rather one that is as active. Templates of
 * one name are versions of one mail: a template that is not recognised was just created again.
 */
function knownActions(
  stored: StoredAction[],
  actions: ActionInput[],
  templateNames: Map<number | undefined, string>,
) {
  const left = new Set(stored)
  return actions.map(({ active, emailTemplateId, recipient = null }) => {
    const name = templateNames.get(emailTemplateId)
    const named = [...left].filter(
      (one) => one.recipient === recipient && templateNames.get(one.emailTemplateId) === name,
    )
    const equal = named.filter((one) => one.emailTemplateId === emailTemplateId)
    const [known] = [equal, named].flatMap((some) => [
      ...some.filter((one) => one.active === active),
      ...some,
    ])
    if (known) left.delete(known)
    return known?.eventActionId
  })
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
  const eventTypeId = isPlainObject(eventType) ? eventType.eventTypeId : 0
  return { objectId: kindNamed({ objectType, eventTypeId: isId(eventTypeId) ? eventTypeId : 0 }) }
}

/** Returns the body with names replaced by ids. */
export const nameResolver =
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
  const externalIds = new Set([named].flat().map(nameOf))
  const wanted = new Map([[kind, { ids: new Set<number>(), externalIds }]])
  const found = await listReferredObjects(tx, businessId, wanted)
  return new Map<string | null, number | string>(
    found.map(({ externalId, id }) => [externalId, id]),
  )
}
