import { externalName, type ObjectInput } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { listIdsOfExternalIds } from '../store/objects.ts'

/**
 * A system that mirrors its calendar here knows its own ids and not ours, so whatever is referred
 * to may be named by its `externalId`: `clientExternalId` for `clientId`, `clientExternalIdList`
 * for `clientIdList`. Where both are given, the id counts.
 */
export async function readExternalReferences(
  tx: Db,
  businessId: number,
  kind: ObjectKind,
  inputs: ObjectInput[],
) {
  const references = referencesOf(kind)
  const wanted = new Map<ObjectKind, Set<string>>()
  for (const { externals } of inputs) {
    if (!externals) continue
    for (const { property, target } of references) {
      for (const externalId of [externals[property] ?? []].flat()) {
        if (!wanted.has(target)) wanted.set(target, new Set())
        wanted.get(target)!.add(externalId)
      }
    }
  }
  if (wanted.size === 0) return
  const ids = await listIdsOfExternalIds(tx, businessId, wanted)
  for (const input of inputs) {
    for (const { property, target } of input.externals ? references : []) {
      const named = input.externals![property]
      if (named !== undefined) name(input, property, named, (id) => ids.get(`${target.kind}:${id}`))
    }
  }

  function name(
    input: ObjectInput,
    property: string,
    named: string | string[],
    idOf: (externalId: string) => number | undefined,
  ) {
    const unknown = [named].flat().filter((externalId) => idOf(externalId) === undefined)
    const { title } = objectKind(kind.fields[property]!.refersTo!)!
    for (const externalId of unknown) {
      input.faults.push({
        pointer: `/${externalName(property)}`,
        detail: `there is no ${title} with the externalId ${externalId}`,
      })
    }
    if (unknown.length > 0) return
    input.values[property] = Array.isArray(named)
      ? [...new Set(named.map((externalId) => idOf(externalId)!))]
      : idOf(named)
  }
}

type Reference = { property: string; target: ObjectKind }

const known = new Map<ObjectKind, Reference[]>()

function referencesOf(kind: ObjectKind): Reference[] {
  let references = known.get(kind)
  if (!references) {
    references = Object.entries(kind.fields).flatMap(([property, { refersTo }]) =>
      refersTo ? [{ property, target: objectKind(refersTo)! }] : [],
    )
    known.set(kind, references)
  }
  return references
}
