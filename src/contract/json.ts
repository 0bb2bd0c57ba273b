export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isId = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0

/** Escapes a property name for a JSON pointer (RFC 6901). */
export const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
