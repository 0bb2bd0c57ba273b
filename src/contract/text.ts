export type Lines = 'one' | 'many'

/** The fault of a text; undefined if it is valid. */
export function textFault(value: unknown, max: number, lines: Lines = 'one'): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  if (isLongerThan(value, max)) return `must be at most ${max} characters`
  if (lines === 'one' && holdsControl(value)) return 'must be one line without control characters'
  if (lines === 'many' && CONTROL_BUT_BREAKS.test(value)) return 'must not hold control characters'
  if (!value.isWellFormed()) return 'must be well-formed Unicode'
  return undefined
}

/** Counts code points, as JSON Schema does; the length in JavaScript counts an emoji as two. */
export function isLongerThan(value: string, max: number) {
  if (value.length <= max) return false
  return value.length > 2 * max || [...value].length > max
}

export const holdsControl = (text: string) => CONTROL.test(text)

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const CONTROL_BUT_BREAKS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/
