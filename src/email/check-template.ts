import type { Fault } from '../errors.ts'
import { addressFieldFault } from './merge.ts'
import { findTokenFaults, type TextFault } from './token-syntax.ts'

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

export function templateFaults(fields: CheckedFields): Fault[] {
  const texts = [
    'subject',
    'emailBodyText',
    'emailBecause',
    ...NAME_FIELDS,
    ...ADDRESS_FIELDS,
  ] as const
  return [
    ...texts.flatMap((field) => findTokenFaults(fields[field] ?? '').map(faultIn(field))),
    ...ADDRESS_FIELDS.flatMap((field) => {
      const text = fields[field]
      const detail =
        text && findTokenFaults(text).length === 0 ? addressFieldFault(text) : undefined
      return detail ? [{ pointer: `/${field}`, detail }] : []
    }),
  ]
}

export const faultIn =
  (field: string) =>
  ({ line, column, detail }: TextFault): Fault => ({
    pointer: `/${field}`,
    detail: `line ${line}, column ${column}: ${detail}`,
  })
