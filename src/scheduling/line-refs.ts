import { nameOf } from '../contract/json.ts'
import { refName, textRefName } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import { fillItemRefs } from './inner-references.ts'

/**
 * Lines of an import can refer to earlier ones: `"ref": "c7"` on a client, `"clientRef": "c7"` on its
 * appointments. Exports use refs, because an import assigns new ids.
 */
export class LineRefs {
  /** The ids of the definitions that lines have saved. */
  readonly definitions = new Set<number>()
  readonly #ids = new Map<string, number | string>()

  keep(kind: ObjectKind, body: Record<string, unknown>, id: number | string) {
    if (typeof body.ref === 'string') this.#ids.set(`${kind.kind} ${body.ref}`, id)
  }

  idOf(kind: string, ref: string) {
    return this.#ids.get(`${kind} ${ref}`)
  }

  /** The body with ids instead of refs, or a fault if no earlier line has a ref. */
  fill(
    kind: ObjectKind,
    given: Record<string, unknown>,
  ): { body: typeof given } | { fault: string } {
    const body = { ...given }
    for (const { property, name, target, isText } of namesOf(kind)) {
      const named = body[name]
      if (named === undefined || named === null) continue
      const { ids, missing } = resolveNames(named, (ref) => this.idOf(target, ref))
      if (missing.length > 0) {
        const { title } = objectKind(target)!
        return {
          fault: `/${name}: no line before this one is a ${title} with the ref ${missing[0]}`,
        }
      }
      body[property] = isText ? String(ids) : ids
    }
    const fault = fillItemRefs(kind, body, (target, ref) => this.idOf(target, ref))
    return fault === undefined ? { body } : { fault }
  }
}

/** The ids of a name or a list of names, and the names without an id. */
export function resolveNames<Id>(named: unknown, idOf: (name: string) => Id | undefined) {
  const names = [named].flat().map(nameOf)
  const ids = names.map(idOf)
  return {
    ids: Array.isArray(named) ? ids : ids[0],
    missing: names.filter((_, i) => ids[i] === undefined),
  }
}

type Name = { property: string; name: string; target: string; isText: boolean }

const known = new Map<ObjectKind, Name[]>()

function namesOf(kind: ObjectKind): Name[] {
  let names = known.get(kind)
  if (!names) {
    names = Object.entries(kind.fields).flatMap(([property, { refersTo, textRefersTo }]) => [
      ...(refersTo ? [{ property, name: refName(property), target: refersTo, isText: false }] : []),
      ...(textRefersTo
        ? [{ property, name: textRefName(property), target: textRefersTo, isText: true }]
        : []),
    ])
    known.set(kind, names)
  }
  return names
}
