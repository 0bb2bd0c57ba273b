import { ProblemError } from '../../src/client/client.ts'

/** The error of one field, or of several fields that are filled in together, by pointer. */
export function faultAt(error: unknown, ...properties: string[]) {
  if (!(error instanceof ProblemError)) return undefined
  const faults = error.errors
  const own = faults.filter(({ pointer }) => properties.includes(pointer.split(/[/?]/)[1] ?? ''))
  return own.length > 0 ? own.map(({ detail }) => detail).join('; ') : undefined
}
