import { PIECE } from './token-syntax.ts'
import type { Token } from './tokens.ts'

/**
 * A template split at its tokens, so that each of its mails only joins strings. Conditions are not
 * nested, so a segment has at most one.
 */

/** The place of a value, which decides how it is escaped. */
export type Place = 'text' | 'attribute' | 'style' | 'url' | 'url-part' | 'tel'

export type TokenSegment = {
  kind: 'token'
  token: Token
  place: Place
  /** The author's text for an empty value; null if there is none. */
  fallback: string | null
  /** Whether the author expects that the value may be empty. */
  mayBeEmpty: boolean
  condition: Token | null
}

export type Segment =
  | TokenSegment
  | { kind: 'text'; text: string; isVisible: boolean; condition: Token | null }
  /** The beginning or end of a condition. A line that contains only marks disappears. */
  | { kind: 'mark' }
  /** The end of a line: `\n` in text, `<br>` in HTML. */
  | { kind: 'break'; text: string; condition: Token | null }
  /** Tags between lines, such as `</td>`, and elements without tokens. */
  | { kind: 'edge'; text: string; condition: Token | null }
  /** An element with text only, such as `<p>`. It disappears if it has only empty tokens or marks. */
  | { kind: 'block'; open: Segment[]; content: Segment[]; close: string; condition: Token | null }
  /** The address of a link in a generated text part. Without a value, its brackets disappear too. */
  | { kind: 'link'; before: string; address: Segment[]; after: string; condition: Token | null }
  /** Other segments in place of a token. */
  | { kind: 'insert'; segments: Segment[]; condition: Token | null }

export type Cutting = {
  findToken(name: string): Token | undefined
  /** Segments that replace a token, by its name. */
  inserts?: Record<string, Segment[]>
  /** The values may be empty without a warning to the author. */
  mayBeEmpty?: boolean
}

/**
 * Marks the address of a link in a generated text part, so that `cutText` escapes the values in it as
 * in `href`. Authors cannot write these marks: their texts have no control characters.
 */
export const markLink = (link: string) => `\u0002${link}\u0003`

export const withoutLinkMarks = (html: string) => html.replace(/[\u0002\u0003]/g, '')

/** An address with or without brackets, and the space before it. */
const MARKED_LINK = /( ?)\u0002(<?)(.*?)(>?)\u0003/gs

/** The segments of a text of one or several lines. */
export function cutText(text: string, cutting: Cutting): Segment[] {
  return new Cutter(cutting).cutText(text)
}

/** Sanitised HTML contains `<` and `>` only around tags, and quotes every attribute with `"`. */
export function cutHtml(html: string, cutting: Cutting): Segment[] {
  return new Cutter(cutting).cutHtml(html)
}

/** The values of one mail. */
export type SegmentValues = {
  valueOf(segment: TokenSegment): string
  hasValue(token: Token): boolean
  escape: Escape
}

export type Escape = (value: string, place: Place) => string

/** The merged text is too long, for example because many tokens repeat a long value. */
export class TooLong extends Error {}

export const MAX_MERGED_LENGTH = 1_000_000

/** One line, such as a subject or an address. */
export function fillLine(segments: Segment[], values: SegmentValues): string {
  let filled = ''
  for (const segment of segments) {
    if (segment.kind === 'token') {
      if (!isShown(segment, values)) continue
      filled += values.escape(values.valueOf(segment), segment.place)
    } else if (segment.kind === 'text' || segment.kind === 'break') {
      if (isShown(segment, values)) filled += segment.text
    }
    if (filled.length > MAX_MERGED_LENGTH) throw new TooLong()
  }
  return filled
}

/** Text of several lines. Lines that only had empty tokens or marks disappear. */
export function fillText(segments: Segment[], values: SegmentValues): string {
  const filling = new Filling(values, false)
  filling.add(segments)
  return filling.endText()
}

/** HTML. Elements and lines that only had empty tokens or marks disappear. */
export function fillHtml(segments: Segment[], values: SegmentValues): string {
  const filling = new Filling(values, true)
  filling.add(segments)
  return filling.endHtml().text
}

/** All parts of a template in their order, also those whose conditions are not met. */
export const joinAllParts = (segments: Segment[], values: SegmentValues): string =>
  segments.map((segment) => allOf(segment, values)).join('')

function allOf(segment: Segment, values: SegmentValues): string {
  switch (segment.kind) {
    case 'token':
      return values.escape(values.valueOf(segment), segment.place)
    case 'block':
      return `${joinAllParts(segment.open, values)}${joinAllParts(segment.content, values)}${segment.close}`
    case 'link':
      return `${segment.before}${joinAllParts(segment.address, values)}${segment.after}`
    case 'insert':
      return joinAllParts(segment.segments, values)
    case 'mark':
      return ''
    default:
      return segment.text
  }
}

const isShown = (segment: { condition: Token | null }, values: SegmentValues) =>
  segment.condition === null || values.hasValue(segment.condition)

class Filling {
  #text = ''
  #line = ''
  /** Whether the line has content, and whether it had an empty token or a mark. */
  #isVisible = false
  #couldVanish = false
  #hasContent = false
  #hadPlace = false
  #hasVanished = false
  readonly #values: SegmentValues
  readonly #isHtml: boolean

  constructor(values: SegmentValues, isHtml: boolean) {
    this.#values = values
    this.#isHtml = isHtml
  }

  add(segments: Segment[]) {
    for (const segment of segments) {
      if (segment.kind === 'mark') this.#couldVanish = true
      else if (isShown(segment, this.#values)) this.#addShown(segment)
      if (this.#text.length + this.#line.length > MAX_MERGED_LENGTH) throw new TooLong()
    }
  }

  #addShown(segment: Exclude<Segment, { kind: 'mark' }>) {
    switch (segment.kind) {
      case 'token': {
        const value = this.#values.valueOf(segment)
        this.#line += this.#values.escape(value, segment.place)
        if (segment.place !== 'text') break
        if (value.trim() === '') this.#couldVanish = true
        else this.#isVisible = true
        break
      }
      case 'text':
        this.#line += segment.text
        if (segment.isVisible) this.#isVisible = true
        break
      case 'break':
        this.#endLine(segment.text)
        break
      case 'edge':
        this.#endLine('')
        this.#text += segment.text
        this.#hasContent = true
        break
      case 'block':
        this.#endLine('')
        this.#addBlock(segment)
        break
      case 'link':
        this.#addLink(segment)
        break
      case 'insert':
        this.#addInsert(segment.segments)
        break
    }
  }

  #addBlock({ open, content, close }: Extract<Segment, { kind: 'block' }>) {
    const inner = new Filling(this.#values, true)
    inner.add(content)
    const { text, isEmpty } = inner.endHtml()
    if (isEmpty) {
      this.#hadPlace = true
      return
    }
    this.#text += fillLine(open, this.#values) + text + close
    this.#hasContent = true
  }

  #addLink({ before, address, after }: Extract<Segment, { kind: 'link' }>) {
    const filled = fillLine(address, this.#values)
    if (filled === '') this.#couldVanish = true
    else {
      this.#line += before + filled + after
      this.#isVisible = true
    }
  }

  #addInsert(segments: Segment[]) {
    if (this.#isHtml) {
      this.#endLine('')
      this.add(segments)
      this.#endLine('')
      return
    }
    const inner = new Filling(this.#values, false)
    inner.add(segments)
    const text = inner.endText()
    this.#line += text
    if (text === '') this.#couldVanish = true
    else this.#isVisible = true
  }

  #endLine(lineBreak: string) {
    const vanishes = !this.#isVisible && this.#couldVanish
    if (vanishes) this.#hadPlace = true
    if (this.#isVisible) this.#hasContent = true
    if (this.#isHtml) this.#text += vanishes ? this.#line : this.#line + lineBreak
    else if (!vanishes && !this.#doublesBlankLine(lineBreak)) this.#text += this.#line + lineBreak
    this.#hasVanished = !this.#isHtml && (vanishes || (this.#hasVanished && this.#line === ''))
    this.#line = ''
    this.#isVisible = false
    this.#couldVanish = false
  }

  /** The blank lines before and after a line that disappeared become one. */
  #doublesBlankLine(lineBreak: string) {
    if (!this.#hasVanished || this.#line.trim() !== '' || lineBreak === '') return false
    return this.#text === '' || this.#text.endsWith('\n\n')
  }

  endText() {
    const vanishes = !this.#isVisible && this.#couldVanish
    this.#endLine('')
    return vanishes || this.#hasVanished ? this.#text.trimEnd() : this.#text
  }

  /** `isEmpty`: it had only empty tokens or marks. */
  endHtml() {
    this.#endLine('')
    return { text: this.#text, isEmpty: this.#hadPlace && !this.#hasContent }
  }
}

class Cutter {
  readonly #cutting: Cutting
  #condition: Token | null = null
  #isHtml = false

  constructor(cutting: Cutting) {
    this.#cutting = cutting
  }

  cutText(text: string): Segment[] {
    const segments: Segment[] = []
    let end = 0
    for (const link of text.matchAll(MARKED_LINK)) {
      segments.push(...this.#cutPlain(text.slice(end, link.index)), this.#cutLink(link))
      end = link.index + link[0].length
    }
    segments.push(...this.#cutPlain(text.slice(end)))
    return joinTexts(segments)
  }

  #cutPlain(text: string): Segment[] {
    return this.#cutPieces(text, 'text', (literal) => this.#cutLines(literal))
  }

  #cutLink([, space, open, href = '', after = '']: RegExpExecArray): Segment {
    const address = this.#cutAttribute('href', href)
    return { kind: 'link', before: `${space}${open}`, address, after, condition: this.#condition }
  }

  #cutLines(literal: string): Segment[] {
    return literal.split(/(\r\n|\r|\n)/).flatMap((part, i): Segment[] => {
      if (i % 2 === 1) return [{ kind: 'break', text: '\n', condition: this.#condition }]
      return part === '' ? [] : [this.#text(part, part.trim() !== '')]
    })
  }

  cutHtml(html: string): Segment[] {
    this.#isHtml = true
    const parts = html.split(/(<[^>]*>)/)
    const segments: Segment[] = []
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      const name = i % 2 === 1 && part[1] !== '/' ? tagNameOf(part) : undefined
      const close = name !== undefined && LEAVES.has(name) ? closeOfLeaf(parts, i, name) : -1
      if (close < 0) {
        segments.push(...(i % 2 === 1 ? this.#cutTag(part) : this.#cutMarkup(part)))
        continue
      }
      segments.push(...this.#cutLeaf(parts.slice(i, close + 1)))
      i = close
    }
    return joinTexts(segments)
  }

  #cutLeaf(parts: string[]): Segment[] {
    const condition = this.#condition
    const open = this.#cutAttributes(parts[0]!)
    const content = parts
      .slice(1, -1)
      .flatMap((part, i) => (i % 2 === 1 ? this.#cutTag(part) : this.#cutMarkup(part)))
    const hasTokens = [...open, ...content].some(({ kind }) => kind !== 'text' && kind !== 'break')
    if (!hasTokens) return [{ kind: 'edge', text: parts.join(''), condition }]
    const close = parts.at(-1)!
    // An element with text of the author never disappears.
    const isKept = content.some((one) => one.kind === 'text' && isAlways(one, condition))
    if (isKept && open.length === 1) {
      const edge = (text: string): Segment => ({ kind: 'edge', text, condition })
      return [edge(parts[0]!), ...content, edge(close)]
    }
    return [{ kind: 'block', open, content: joinTexts(content), close, condition }]
  }

  #cutMarkup(text: string): Segment[] {
    return this.#cutPieces(text, 'text', (literal) => [
      this.#text(literal, literal.replaceAll('&nbsp;', '').trim() !== ''),
    ])
  }

  #cutTag(tag: string): Segment[] {
    const name = tagNameOf(tag)
    if (name === 'br') return [{ kind: 'break', text: tag, condition: this.#condition }]
    const isBlock = name !== undefined && BLOCKS.has(name)
    const segments = this.#cutAttributes(tag)
    if (isBlock && segments.length === 1) {
      return [{ kind: 'edge', text: tag, condition: this.#condition }]
    }
    if (name === 'img' || isBlock)
      for (const one of segments) if (one.kind === 'text') one.isVisible = true
    return segments
  }

  #cutAttributes(tag: string): Segment[] {
    if (!tag.includes('%')) return [this.#text(tag, false)]
    const segments: Segment[] = []
    let end = 0
    for (const attribute of tag.matchAll(/([\w:-]+)="([^"]*)"/g)) {
      const [whole, name = '', value = ''] = attribute
      const from = attribute.index + whole.length - value.length - 1
      segments.push(this.#text(tag.slice(end, from), false), ...this.#cutAttribute(name, value))
      end = from + value.length
    }
    segments.push(this.#text(tag.slice(end), false))
    return joinTexts(segments)
  }

  #cutAttribute(name: string, value: string): Segment[] {
    const cutAs = (place: Place) =>
      this.#cutPieces(value, place, (literal) => [this.#text(literal, false)])
    if (name.toLowerCase() === 'style') return cutAs('style')
    if (!URL_ATTRIBUTES.has(name.toLowerCase())) return cutAs('attribute')
    if (/^\s*tel:/i.test(value)) return cutAs('tel')
    const segments = cutAs('url-part')
    const [first] = segments
    // Only a value at the beginning can set the scheme, so only there it is checked as a URL.
    if (first?.kind === 'token') segments[0] = { ...first, place: 'url' }
    return segments
  }

  /** Splits at tokens and, in text, at conditions. Everything else is a literal. */
  #cutPieces(text: string, place: Place, cutLiteral: (literal: string) => Segment[]): Segment[] {
    const segments: Segment[] = []
    let end = 0
    for (const match of text.matchAll(PIECE)) {
      const piece = this.#readPiece(match, place)
      if (!piece) continue
      if (match.index > end) segments.push(...cutLiteral(text.slice(end, match.index)))
      if (piece.kind === 'mark') this.#condition = piece.condition
      segments.push(piece.kind === 'mark' ? { kind: 'mark' } : piece)
      end = match.index + match[0].length
    }
    if (end < text.length) segments.push(...cutLiteral(text.slice(end)))
    return segments
  }

  #readPiece([, condition, end, name = '', fallback]: RegExpExecArray, place: Place) {
    const { findToken, inserts = {}, mayBeEmpty = false } = this.#cutting
    if (condition !== undefined || end !== undefined) {
      const token = condition === undefined ? null : findToken(condition)
      if (place !== 'text' || token === undefined) return undefined
      return { kind: 'mark' as const, condition: token }
    }
    const token = findToken(name)
    if (!token) return undefined
    if (place === 'text' && inserts[name]) {
      return { kind: 'insert' as const, segments: inserts[name], condition: this.#condition }
    }
    return {
      kind: 'token' as const,
      token,
      place,
      fallback: this.#isHtml && fallback ? unescapeHtml(fallback) : (fallback ?? null),
      mayBeEmpty: mayBeEmpty || fallback !== undefined,
      condition: this.#condition,
    }
  }

  #text(text: string, isVisible: boolean): Segment & { kind: 'text' } {
    return { kind: 'text', text, isVisible, condition: this.#condition }
  }
}

const isAlways = (text: Segment & { kind: 'text' }, condition: Token | null) =>
  text.isVisible && text.condition === condition

/** Joins neighbours that are always shown together. */
export function joinTexts(segments: Segment[]): Segment[] {
  const joined: Segment[] = []
  for (const segment of segments) {
    const last = joined.at(-1)
    if (segment.kind === 'text' && segment.text === '') continue
    if (
      last?.kind === 'edge' &&
      segment.kind === 'text' &&
      last.condition === segment.condition &&
      segment.text.trim() === ''
    ) {
      joined[joined.length - 1] = { ...last, text: last.text + segment.text }
      continue
    }
    if (
      (segment.kind === 'text' || segment.kind === 'edge') &&
      last?.kind === segment.kind &&
      last.condition === segment.condition
    ) {
      const isVisible =
        'isVisible' in last && 'isVisible' in segment && (last.isVisible || segment.isVisible)
      joined[joined.length - 1] =
        segment.kind === 'edge'
          ? { ...segment, text: last.text + segment.text }
          : { ...segment, text: last.text + segment.text, isVisible }
    } else joined.push(segment)
  }
  return joined
}

/** The index of the tag that closes a leaf; -1 if there is another block in between. */
function closeOfLeaf(parts: string[], from: number, name: string) {
  for (let i = from + 2; i < parts.length; i += 2) {
    const tag = parts[i]!
    if (tag.toLowerCase() === `</${name}>`) return i
    const other = tagNameOf(tag)
    if (other !== undefined && BLOCKS.has(other)) return -1
  }
  return -1
}

/** The name of an opening or closing tag. */
const tagNameOf = (tag: string) => /^<\/?([a-z][a-z0-9]*)/i.exec(tag)?.[1]?.toLowerCase()

/** Elements that hold a piece of text and can be left out of a mail. */
const LEAVES = new Set('p div li h1 h2 h3 h4 h5 h6 blockquote address dd dt center'.split(' '))

const BLOCKS = new Set([
  ...LEAVES,
  ...'article aside body caption col colgroup dl figcaption figure footer header hr html main nav ol pre section table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
])

const URL_ATTRIBUTES = new Set(['href', 'src', 'background', 'cite', 'longdesc', 'action'])

/** A fallback in HTML is escaped like the text around it; values are not escaped yet. */
const unescapeHtml = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!)

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
