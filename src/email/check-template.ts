import type { Fault } from '../errors.ts'
import { prepareHtml } from './html.ts'
import { markupFaults } from './markup.ts'
import { addressFieldFault } from './merge.ts'
import { findUnknownTokens, type TokenPlace } from './tokens.ts'

/** The fields of a template that are checked when it is saved; what is absent is not. */
export type CheckedFields = {
  subject?: string | null
  emailBody?: string | null
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

/** Everything wrong with a template, each fault with its field and place. */
export function templateFaults(fields: CheckedFields): Fault[] {
  const texts = [
    'subject',
    'emailBody',
    'emailBodyText',
    'emailBecause',
    ...NAME_FIELDS,
    ...ADDRESS_FIELDS,
  ] as const
  return [
    ...texts.flatMap((field) => findUnknownTokens(fields[field] ?? '').map(unknownIn(field))),
    ...markupFaults(fields.emailBody ?? '').map(({ line, column, detail }) => ({
      pointer: '/emailBody',
      detail: `line ${line}, column ${column}: ${detail}`,
    })),
    ...hiddenTokens(fields.emailBody ?? ''),
    ...ADDRESS_FIELDS.flatMap((field) => {
      const text = fields[field]
      const detail =
        text && findUnknownTokens(text).length === 0 ? addressFieldFault(text) : undefined
      return detail ? [{ pointer: `/${field}`, detail }] : []
    }),
  ]
}

const unknownIn = (field: string) => (place: TokenPlace) => ({
  pointer: `/${field}`,
  detail: `line ${place.line}, column ${place.column}: there is no token ${place.token}`,
})

/** Tokens written with entities (`&#37;`) show only after the HTML was read. */
function hiddenTokens(html: string): Fault[] {
  if (!html.includes('&')) return []
  const seen = new Set(findUnknownTokens(html).map(({ token }) => token))
  return findUnknownTokens(prepareHtml(html))
    .filter(({ token }) => !seen.has(token))
    .map(({ token }) => ({ pointer: '/emailBody', detail: `there is no token ${token}` }))
}
