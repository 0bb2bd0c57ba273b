import { objectKind } from '../contract/objects.ts'

/** The object of a line, which names its kind. */
export type LineBody = Record<string, unknown> & { kind: string }

/** `text` is JSON, which takes a third of the memory of the object. */
type Earlier = { order: number; text: string }

/**
 * The accepted lines of a dry run that later lines can name. Each transaction of a dry run is rolled back,
 * so it first saves again what its lines name. Lines about the same object are merged to one, as saving
 * them one after the other does.
 */
export class EarlierLines {
  readonly #lines = new Map<string, Earlier>()
  /** By kind, by the property that identifies the object, and by that of the name: few maps. */
  readonly #byName = new Map<string, Map<string, Earlier>>()

  keep(body: LineBody) {
    const names = namesOf(body)
    const [identity] = names
    if (!identity) return
    const group = `${body.kind} ${String(body.objectType)} ${identity.property}`
    const key = `${group} ${identity.name}`
    const line = this.#lines.get(key) ?? { order: this.#lines.size, text: '{}' }
    line.text = JSON.stringify({ ...JSON.parse(line.text), ...body })
    this.#lines.set(key, line)
    for (const { property, name } of names) {
      const byName = this.#byName.get(`${group} ${property}`) ?? new Map<string, Earlier>()
      this.#byName.set(`${group} ${property}`, byName.set(name, line))
    }
  }

  /**
   * The lines that these ones name, and those that they name in turn, in their order. Every value that
   * is the name of a line counts: a line too many changes nothing.
   */
  namedBy(bodies: LineBody[]): LineBody[] {
    const found = new Map<Earlier, LineBody>()
    const open: unknown[] = [...bodies]
    while (open.length > 0) {
      const value = open.pop()
      if (typeof value === 'object' && value !== null) {
        for (const inner of Object.values(value)) open.push(inner)
      }
      if (typeof value !== 'string' && typeof value !== 'number') continue
      for (const byName of this.#byName.values()) {
        const line = byName.get(String(value))
        if (!line || found.has(line)) continue
        const body = JSON.parse(line.text) as LineBody
        found.set(line, body)
        open.push(body)
      }
    }
    return [...found].toSorted(([a], [b]) => a.order - b.order).map(([, body]) => body)
  }
}

/** By what other lines name the object of a line. The first one identifies it. */
function namesOf(body: LineBody) {
  const { kind } = body
  const id = objectKind(kind)?.id ?? OTHER_IDS[kind]
  return [id, 'externalId', 'ref'].flatMap((property) => {
    const name = property && body[property]
    return typeof name === 'string' || typeof name === 'number'
      ? { property, name: String(name) }
      : []
  })
}

const OTHER_IDS: Record<string, string> = {
  fileLibrary: 'fileUUId',
  status: 'status',
  eventDefinition: 'eventDefnId',
}
