import type { Fault } from '../errors.ts'
import { addressFieldFault } from './merge.ts'
import { findUnknownTokens, type TokenPlace } from './tokens.ts'

/**
 * The fields of a template that are checked when it is saved, except its HTML, which `html-pool.ts`
 * checks. Absent fields are not checked.
 */
export type CheckedFields = {
  subject?: string | null
  emailBodyText?: string | null
  emailBecause?: string | null
} & { [field in NameField | AddressField]?: string | null }

const NAME_FIELDS = ['fromName', 'toName'] as const
const ADDRESS_FIELDS = [
  'fromAddress',
  'toAddress',
  'ccAddress',
  'bccAddress',
  'replyToAddress',
] as const
type NameField = (typeof NAME_FIELDS)[number]
type AddressField = (typeof ADDRESS_FIELDS)[number]

/** The faults of these fields, each with its field and place. */
export function templateFaults(fields: CheckedFields): Fault[] {
  const texts = [
    'subject',
    'emailBodyText',
    'emailBecause',
    ...NAME_FIELDS,
    ...ADDRESS_FIELDS,
  ] as const
  return [
    ...texts.flatMap((field) => findUnknownTokens(fields[field] ?? '').map(unknownIn(field))),
    ...ADDRESS_FIELDS.flatMap((field) => {
      const text = fields[field]
      const detail =
        text && findUnknownTokens(text).length === 0 ? addressFieldFault(text) : undefined
      return detail ? [{ pointer: `/${field}`, detail }] : []
    }),
  ]
}

export const unknownIn =
  (field: string) =>
  (place: TokenPlace): Fault => ({
    pointer: `/${field}`,
    detail: `line ${place.line}, column ${place.column}: there is no token ${place.token}`,
  })
