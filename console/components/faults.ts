import { ProblemError } from '../../src/client/client.ts'
import type { en } from '../texts/en.ts'
import { fillText, findText } from '../texts/translate.ts'

/** What is wrong with each field of an input, in the language of the user. */
export const faultsIn = (error: unknown) =>
  error instanceof ProblemError
    ? error.errors.map(({ pointer, detail }) => ({ pointer, detail: sayFault(detail) }))
    : []

/** The error of one field, or of several fields that are filled in together, by pointer. */
export function faultAt(error: unknown, ...properties: string[]) {
  const own = faultsIn(error).filter(({ pointer }) => properties.includes(propertyOf(pointer)))
  return own.length > 0 ? own.map(({ detail }) => detail).join('; ') : undefined
}

/** `/workingHours/0/to` → `workingHours` */
export const propertyOf = (pointer: string) => pointer.split(/[/?]/)[1] ?? ''

/** The service says what is wrong in English. Faults that forms hardly cause stay so. */
export function sayFault(detail: string) {
  for (const [pattern, key] of FAULTS) {
    const found = pattern.exec(detail)
    if (found) return fillText(findText(`faults.${key}`), found.groups)
  }
  return detail
}

const FAULTS: [pattern: RegExp, key: keyof typeof en.faults][] = [
  [/^is required/, 'required'],
  [/^must not be empty/, 'empty'],
  [/^must be at most (?<most>\d+) characters/, 'long'],
  [/^must be (?<least>\d+) to (?<most>\d+) characters/, 'length'],
  [/^must be between (?<least>\S+) and (?<most>\S+)$/, 'between'],
  [/^must be at most (?<most>\S+)$/, 'most'],
  [/^must be at least (?<least>\S+)$/, 'least'],
  [/^must be (?:an integer|a number)$/, 'number'],
  [/^must (?:hold|have) at most (?<most>\d+) (?:entries|values|tags)$/, 'many'],
  [/^must be one plain address or/, 'addressOrToken'],
  [/^must be one plain address/, 'address'],
  [/^must be an http/, 'url'],
  [/^must be a colour/, 'colour'],
  [/^must be a time.*HH:MM$/, 'clock'],
  [/^must be (?:a time )?in the future/, 'future'],
  [/^must be after (?:startTime|from)$/, 'after'],
  [/^is (?:taken by another object|the name of another feed)$/, 'taken'],
  [/^is not your password/, 'password'],
]
