import { MAX_FAULTS, PIECE, placeAt, type TextFault } from './token-syntax.ts'

/**
 * The faults of a template's HTML: tags, quotes, comments and braces that are never closed, tokens in
 * styles, and more elements or style rules than can be processed in a bounded time. A browser would
 * repair most of this silently; the author is told the place instead.
 */
export function markupFaults(html: string): TextFault[] {
  const faults: TextFault[] = []
  const fault = (index: number, detail: string) => {
    if (faults.length < MAX_FAULTS) faults.push(Object.assign(placeAt(html, index), { detail }))
  }

  let at = html.indexOf('<')
  let depth = 0
  let tags = 0
  let elements = 0
  let selectors = 0
  let styleLength = 0
  while (at >= 0 && faults.length < MAX_FAULTS) {
    let end: number
    if (html.startsWith('<!--', at)) {
      end = html.indexOf('-->', at + 4)
      if (end < 0) return (fault(at, 'this comment is never closed'), faults)
      end += 3
    } else if (/[A-Za-z/!?]/.test(html[at + 1] ?? '')) {
      const tag = readTag(html, at)
      if (tag.fault) return (fault(tag.index, tag.fault), faults)
      end = tag.end
      for (const token of tag.styles) fault(token, TOKEN_IN_STYLE)
      for (const mark of html.slice(at, end).matchAll(/%(?:IF:|END:IF%)/g)) {
        fault(at + mark.index, 'a condition cannot stand in a tag')
      }
      const name = tagNameAt(html, at)
      if (++tags > MAX_TAGS) return (fault(at, `there are more than ${MAX_TAGS} tags`), faults)
      if (name) elements++
      if (name && !VOID.has(name) && ++depth > MAX_DEPTH) {
        return (fault(at, `elements are nested more than ${MAX_DEPTH} deep`), faults)
      }
      if (html[at + 1] === '/') depth = Math.max(0, depth - 1)
      if (name && RAW_TEXT.has(name)) {
        const close = indexOfClose(html, name, end)
        if (close < 0) return (fault(at, `<${name}> is never closed`), faults)
        if (name === 'style') {
          styleLength += close - end
          if (styleLength > MAX_STYLE_LENGTH) {
            const detail = `the style sheets are longer than ${MAX_STYLE_LENGTH} characters`
            return (fault(at, detail), faults)
          }
          const css = readStyle(html.slice(end, close))
          for (const { index, detail } of css.faults) fault(end + index, detail)
          selectors += css.selectors
          if (selectors > MAX_SELECTORS) {
            return (fault(at, `there are more than ${MAX_SELECTORS} style selectors`), faults)
          }
        }
        end = close
      }
    } else end = at + 1
    at = html.indexOf('<', end)
  }
  const tooMany = tooManyMatches(selectors, elements)
  if (tooMany) fault(html.search(/<style/i), tooMany)
  return faults
}

function tooManyMatches(selectors: number, elements: number) {
  if (selectors * elements <= MAX_STYLE_MATCHES) return undefined
  const counts = `${selectors} style selectors for ${elements} elements`
  return `${counts} are too many: their product must be at most ${MAX_STYLE_MATCHES}`
}

/** Opening and closing tags. The longest real templates that we know have about 4,000. */
const MAX_TAGS = 10_000
/** Characters of a tag outside quotes: parsers compare each attribute with all others. */
const MAX_TAG_LENGTH = 4_000
const MAX_STYLE_LENGTH = 100_000
const MAX_SELECTORS = 1_000
/** Each selector is tried on each element when styles are inlined, at about 5 µs each. */
const MAX_STYLE_MATCHES = 200_000
const MAX_DEPTH = 200
const MAX_TAG_NAME = 64

/** The lower-case name of the opening tag at a position. */
const tagNameAt = (html: string, at: number) =>
  /^<([A-Za-z][\w-]*)/.exec(html.slice(at, at + 1 + MAX_TAG_NAME))?.[1]?.toLowerCase()

const TOKEN_IN_STYLE = 'a token cannot stand in a style'

const VOID = new Set(
  'area base br col embed hr img input link meta param source track wbr p li td th tr'.split(' '),
)
const RAW_TEXT = new Set(['style', 'script', 'textarea', 'title', 'xmp', 'iframe', 'noembed'])

type Tag = { end: number; styles: number[]; index: number; fault?: string }

function readTag(html: string, start: number): Tag {
  const styles: number[] = []
  let index = start + 1
  let quotedLength = 0
  for (;;) {
    const next = /[<>"']/g
    next.lastIndex = index
    const found = next.exec(html)
    if (!found || found[0] === '<') {
      return { end: html.length, styles, index: start, fault: 'this tag is never closed' }
    }
    if (found.index - start - quotedLength > MAX_TAG_LENGTH) {
      const fault = `this tag is longer than ${MAX_TAG_LENGTH} characters without its quoted values`
      return { end: html.length, styles, index: start, fault }
    }
    if (found[0] === '>') return { end: found.index + 1, styles, index: start }
    // A quote opens a value only after `=`; elsewhere it is an ordinary character.
    const attribute = /([\w:-]*)\s*=\s*$/.exec(
      html.slice(Math.max(index - 1, found.index - 200), found.index),
    )
    if (!attribute) {
      index = found.index + 1
      continue
    }
    const close = html.indexOf(found[0], found.index + 1)
    if (close < 0) {
      return { end: html.length, styles, index: found.index, fault: 'this quote is never closed' }
    }
    if (attribute[1]?.toLowerCase() === 'style') {
      const value = html.slice(found.index + 1, close)
      for (const token of value.matchAll(PIECE)) styles.push(found.index + 1 + token.index)
    }
    quotedLength += close - found.index
    index = close + 1
  }
}

function indexOfClose(html: string, name: string, from: number) {
  const close = new RegExp(`</${name}[\\s/>]`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? -1
}

/** The faults of a style sheet, and how many selectors it has. */
function readStyle(css: string): {
  faults: { index: number; detail: string }[]
  selectors: number
} {
  const faults = css
    .matchAll(PIECE)
    .take(MAX_FAULTS)
    .map(({ index }) => ({ index, detail: TOKEN_IN_STYLE }))
    .toArray()
  const withFault = (index: number, detail: string) => ({
    faults: [...faults, { index, detail }],
    selectors,
  })
  const open: number[] = []
  let selectors = 0
  let commas = 0
  for (const match of css.matchAll(STYLE_PIECE)) {
    const [piece, quote, closed] = match
    const { index } = match
    if (piece === '/*') return withFault(index, 'this comment is never closed')
    if (quote && !closed) return withFault(index, 'this quote is never closed')
    if (piece === '{') {
      open.push(index)
      selectors += commas + 1
    }
    if (piece === '}' && open.pop() === undefined) return withFault(index, 'this } closes nothing')
    commas = piece === ',' ? commas + 1 : /^[{};]$/.test(piece) ? 0 : commas
  }
  const unclosed = open.pop()
  return unclosed === undefined
    ? { faults, selectors }
    : withFault(unclosed, 'this { is never closed')
}

/** A comment, a string (its quote and, if it is closed, its closing quote), or punctuation. */
const STYLE_PIECE = /\/\*[\s\S]*?\*\/|\/\*|(["'])(?:\\[\s\S]|(?!\1)[^\\\n])*(\1?)|[{},;]/g
