import { ProblemError } from '../../src/client/client.ts'
import { t } from '../texts/translate.ts'

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

/** The service says what is wrong in English. Faults that no form of the console can cause stay so. */
function sayFault(detail: string) {
  for (const [pattern, say] of FAULTS) {
    const [whole, one = '', other = ''] = pattern.exec(detail) ?? []
    if (whole !== undefined) return say(one, other)
  }
  return detail
}

const FAULTS: [pattern: RegExp, say: (one: string, other: string) => string][] = [
  [/^is required\b/, () => t('faults.required')],
  [/^must not be empty$/, () => t('faults.empty')],
  [/^must be at most (\d+) characters$/, (most) => t('faults.long', { most })],
  [/^must be at least (\d+) characters$/, (least) => t('faults.short', { least })],
  [/^must be (\d+) to (\d+) characters$/, (least, most) => t('faults.length', { least, most })],
  [/^must be between (\S+) and (\S+)$/, (least, most) => t('faults.between', { least, most })],
  [/^must be at most (\S+)$/, (most) => t('faults.most', { most })],
  [/^must be at least (\S+)$/, (least) => t('faults.least', { least })],
  [/^must be above 0$/, () => t('faults.least', { least: '1' })],
  [/^must be (?:an integer|a number)$/, () => t('faults.number')],
  [/^must have at most four decimals$/, () => t('faults.decimals')],
  [
    /^must (?:hold|have) at most (\d+) (?:entries|values|tags)$/,
    (most) => t('faults.many', { most }),
  ],
  [/^must be one plain address\b/, () => t('faults.address')],
  [/^must be a domain name\b/, () => t('faults.domain')],
  [/^must be an http or https URL$/, () => t('faults.url')],
  [/^must be an? (?:IANA )?time zone\b/, () => t('faults.zone')],
  [/^must be a language tag\b/, () => t('faults.language')],
  [/^must be a colour\b/, () => t('faults.colour')],
  [/^must be a currency code\b/, () => t('faults.currency')],
  [/^must be a PNG or JPEG$/, () => t('faults.picture')],
  [/^must be a time\b.*, HH:MM$/, () => t('faults.clock')],
  [/^must be (?:a time )?in the future\b/, () => t('faults.future')],
  [/^must be after (?:startTime|from)$/, () => t('faults.after')],
  [/^must not be before startDate$/, () => t('faults.before')],
  [/^from and to must differ\b/, () => t('faults.same')],
  [/control characters$/, () => t('faults.characters')],
  [/^is (?:taken by another object|the name of another feed)$/, () => t('faults.taken')],
  [/^(?:is listed twice|must be there once)$/, () => t('faults.twice')],
  [/^is not your password$/, () => t('faults.password')],
  [/^there is no token (%\S+%)/, (token) => t('faults.token', { token })],
]
