import { externalName, type ObjectInput } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { listIdsOfExternalIds } from '../store/objects.ts'

/**
 * A system that mirrors its calendar here knows its own ids and not ours, so whatever is referred
 * to may be named by its `externalId`: `clientExternalId` for `clientId`, `clientExternalIdList`
 * for `clientIdList`. Where both are given, the id counts. Gives back the ids that were found, as
 * `kind:id`: those need not be looked for again.
 */
export async function readExternalReferences(
  tx: Db,
  businessId: number,
  kind: ObjectKind,
  inputs: ObjectInput[],
): Promise<Set<string>> {
  const known = new Set<string>()
  const wanted = new Map<ObjectKind, Set<string>>()
  for (const { property, refersTo } of kind.references) {
    const externalIds = new Set<string>()
    for (const { externals } of inputs) {
      const named = externals?.[property]
      if (typeof named === 'string') externalIds.add(named)
      else for (const externalId of named ?? []) externalIds.add(externalId)
    }
    const target = objectKind(refersTo)!
    if (externalIds.size > 0) {
      wanted.set(target, externalIds.union(wanted.get(target) ?? new Set()))
    }
  }
  if (wanted.size === 0) return known
  const ids = await listIdsOfExternalIds(tx, businessId, wanted)
  for (const { property, refersTo } of kind.references) {
    const idOf = ids.get(objectKind(refersTo)!)
    for (const id of idOf?.values() ?? []) known.add(`${refersTo}:${id}`)
    for (const input of inputs) {
      const named = input.externals?.[property]
      if (named !== undefined) name(input, property, named, refersTo, idOf)
    }
  }
  return known
}

function name(
  input: ObjectInput,
  property: string,
  named: string | string[],
  refersTo: string,
  known: Map<string, number> | undefined,
) {
  if (typeof named === 'string') {
    const id = known?.get(named)
    if (id === undefined) refuse(input, property, named, refersTo)
    else input.values[property] = id
    return
  }
  const unknown = named.filter((externalId) => !known?.has(externalId))
  for (const externalId of unknown) refuse(input, property, externalId, refersTo)
  if (unknown.length > 0) return
  input.values[property] = [...new Set(named.map((externalId) => known!.get(externalId)!))]
}

function refuse(input: ObjectInput, property: string, externalId: string, refersTo: string) {
  input.faults.push({
    pointer: `/${externalName(property)}`,
    detail: `there is no ${objectKind(refersTo)!.title} with the externalId ${externalId}`,
  })
}
