import { refName } from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'

/**
 * A line may be given a name for the lines after it: `"ref": "c7"` on a client, `"clientRef": "c7"`
 * on its appointments. An export names everything so, and needs no id to be the same elsewhere.
 */
export class LineRefs {
  readonly #ids = new Map<string, number | string>()

  keep(kind: ObjectKind, body: Record<string, unknown>, id: number | string) {
    if (typeof body.ref === 'string') this.#ids.set(`${kind.kind} ${body.ref}`, id)
  }

  idOf(kind: string, ref: string) {
    return this.#ids.get(`${kind} ${ref}`)
  }

  /** Puts the ids in the place of the names; says which name nobody has. */
  fill(kind: ObjectKind, body: Record<string, unknown>): string | undefined {
    for (const { property, name, target } of namesOf(kind)) {
      const named = body[name]
      if (named === undefined || named === null) continue
      const ids = [named].flat().map((ref) => this.#ids.get(`${target} ${String(ref)}`))
      const missing = ids.indexOf(undefined)
      if (missing !== -1) {
        const { title } = objectKind(target)!
        return `/${name}: no line before this one is a ${title} with the ref ${[named].flat()[missing]}`
      }
      body[property] = Array.isArray(named) ? ids : ids[0]
    }
    return undefined
  }
}

type Name = { property: string; name: string; target: string }

const known = new Map<ObjectKind, Name[]>()

function namesOf(kind: ObjectKind): Name[] {
  let names = known.get(kind)
  if (!names) {
    names = Object.entries(kind.fields).flatMap(([property, { refersTo }]) =>
      refersTo ? [{ property, name: refName(property), target: refersTo }] : [],
    )
    known.set(kind, names)
  }
  return names
}
