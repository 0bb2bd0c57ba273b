export type Lines = 'one' | 'many'

/** What is wrong with a text, in words; nothing where it is good. */
export function textFault(value: unknown, most: number, lines: Lines = 'one'): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  if (value.length > most) return `must be at most ${most} characters`
  if (lines === 'one' && holdsControl(value)) return 'must be one line without control characters'
  if (lines === 'many' && CONTROL_BUT_BREAKS.test(value)) return 'must not hold control characters'
  if (!value.isWellFormed()) return 'must be well-formed Unicode'
  return undefined
}

export const holdsControl = (text: string) => CONTROL.test(text)

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const CONTROL_BUT_BREAKS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/
