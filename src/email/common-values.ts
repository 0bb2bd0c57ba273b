import type { MailContext } from '../contract/mail-context.ts'
import { textsFor } from '../texts/texts.ts'
import { escapesFor, languageOf, type CompiledTemplate } from './merge.ts'
import type { Readers } from './readers.ts'
import {
  fillHtml,
  joinTexts,
  MAX_MERGED_LENGTH,
  TooLong,
  type Escape,
  type Segment,
} from './segments.ts'
import type { Token } from './tokens.ts'

type Common = Pick<MailContext, 'business' | 'location'>

/**
 * The template with the values that all of its mails about one location have in common, so that each mail
 * fills in only the others: of some sixty values of a mail with its layout about twenty.
 */
export function withCommonValues(
  template: CompiledTemplate,
  common: Common,
  isForStaff: boolean,
): CompiledTemplate {
  const language = languageOf(template.language, common)
  const valueOf = commonValues(common, {
    words: textsFor(language).mail,
    isForStaff,
  })
  const { inSubject, inHtml, inText } = escapesFor(language)
  try {
    const filled = {
      ...template,
      subject: fill(template.subject, { valueOf, escape: inSubject }),
      html: fill(template.html, { valueOf, escape: inHtml }),
      text: fill(template.text, { valueOf, escape: inText }),
    }
    const length = lengthOf([...filled.subject, ...filled.html, ...filled.text])
    return length > MAX_MERGED_LENGTH ? template : filled
  } catch (error) {
    // The mail itself says what is wrong with its template.
    if (error instanceof TooLong) return template
    throw error
  }
}

/** The value of a token; undefined if it reads more than is common. */
function commonValues(
  { business, location }: Common,
  readers: Pick<Readers, 'words' | 'isForStaff'>,
) {
  const context = onlyThis({ business, location }) as MailContext
  const known = new Map<Token, string | undefined>()
  return (token: Token) => {
    if (!known.has(token))
      known.set(token, readCommon(token, context, onlyThis(readers) as Readers))
    return known.get(token)
  }
}

function readCommon(token: Token, context: MailContext, readers: Readers) {
  try {
    return token.value(context, readers) ?? ''
  } catch (error) {
    if (error instanceof NotCommon) return undefined
    throw error
  }
}

class NotCommon extends Error {}

/** Throws if another property is read. */
const onlyThis = (known: object) =>
  new Proxy(known, {
    get: (target, name) => {
      if (name in target) return Reflect.get(target, name)
      throw new NotCommon()
    },
  })

type Values = { valueOf(token: Token): string | undefined; escape: Escape }

const fill = (segments: Segment[], values: Values): Segment[] =>
  joinTexts(segments.flatMap((segment) => fillOne(segment, values)))

function fillOne(segment: Segment, values: Values): Segment[] {
  if (segment.kind === 'mark') return [segment]
  const shown = segment.condition && values.valueOf(segment.condition)
  if (shown?.trim() === '') return []
  const condition = shown === undefined ? segment.condition : null
  switch (segment.kind) {
    case 'token':
      return [fillToken({ ...segment, condition }, values)]
    case 'block':
      return [fillBlock({ ...segment, condition }, values)]
    case 'link':
      return [{ ...segment, condition, address: fill(segment.address, values) }]
    case 'insert':
      return [{ ...segment, condition, segments: fill(segment.segments, values) }]
    default:
      return [{ ...segment, condition }]
  }
}

function fillToken(
  segment: Extract<Segment, { kind: 'token' }>,
  { valueOf, escape }: Values,
): Segment {
  const { token, place, fallback, mayBeEmpty, condition } = segment
  const value = valueOf(token)
  // Each mail reports an empty value that its author did not expect.
  if (value === undefined || (value === '' && !mayBeEmpty)) return segment
  const shown = value === '' ? (fallback ?? '') : value
  const text = escape(shown, place)
  const isVisible = place === 'text'
  if (shown.trim() !== '' || !isVisible) return { kind: 'text', text, isVisible, condition }
  // A mark has the effect of an empty value, but no condition.
  return text === '' && condition === null ? { kind: 'mark' } : segment
}

/** An element without tokens is text. */
function fillBlock(segment: Extract<Segment, { kind: 'block' }>, values: Values): Segment {
  const block = {
    ...segment,
    open: fill(segment.open, values),
    content: fill(segment.content, values),
  }
  const isKnown = ({ kind, condition }: Exclude<Segment, { kind: 'mark' }>) =>
    condition === null && (kind === 'text' || kind === 'break' || kind === 'edge')
  const isText = [...block.open, ...block.content].every(
    (one) => one.kind === 'mark' || isKnown(one),
  )
  const text = isText ? fillHtml([{ ...block, condition: null }], NO_VALUES) : ''
  return text === '' ? block : { kind: 'edge', text, condition: block.condition }
}

const NO_VALUES = { valueOf: () => '', hasValue: () => false, escape: () => '' }

const lengthOf = (segments: Segment[]): number =>
  segments.reduce((sum, segment) => sum + ('text' in segment ? segment.text.length : 0), 0)
