export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isId = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0

/** A name in a body as text. An object is not a name, and its `toString` might not be a function. */
export const nameOf = (value: unknown) =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Escapes a property name for a JSON pointer (RFC 6901). */
export const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Instants first: deep equality calls any two of them equal. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Temporal.Instant) return b instanceof Temporal.Instant && a.equals(b)
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]))
  }
  if (typeof a === 'object' && a !== null) {
    if (typeof b !== 'object' || b === null || Array.isArray(b)) return false
    const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>]
    const keys = Object.keys(x)
    return keys.length === Object.keys(y).length && keys.every((key) => isSame(x[key], y[key]))
  }
  return a === b
}
