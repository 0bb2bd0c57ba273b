import { placeAt, TOKEN } from './tokens.ts'

export type MarkupFault = { line: number; column: number; detail: string }

/**
 * What in a template cannot be read as its author meant it. A browser mends everything somehow;
 * we would rather say where a tag was left open than send a mail that lost its second half.
 */
export function markupFaults(html: string): MarkupFault[] {
  const faults: MarkupFault[] = []
  const fault = (index: number, detail: string) =>
    faults.push(Object.assign(placeAt(html, index), { detail }))

  let at = html.indexOf('<')
  let depth = 0
  while (at >= 0 && faults.length < MOST_FAULTS) {
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
      const name = /^<([A-Za-z][\w-]*)/.exec(html.slice(at, end))?.[1]?.toLowerCase()
      if (name && !VOID.has(name) && ++depth > MOST_DEPTH) {
        return (fault(at, `elements are nested more than ${MOST_DEPTH} deep`), faults)
      }
      if (html[at + 1] === '/') depth = Math.max(0, depth - 1)
      if (name && RAW_TEXT.has(name)) {
        const close = indexOfClose(html, name, end)
        if (close < 0) return (fault(at, `<${name}> is never closed`), faults)
        if (name === 'style') {
          const css = html.slice(end, close)
          for (const { index, detail } of styleFaults(css)) fault(end + index, detail)
        }
        end = close
      }
    } else end = at + 1
    at = html.indexOf('<', end)
  }
  return faults
}

const MOST_FAULTS = 20
const MOST_DEPTH = 200
const TOKEN_IN_STYLE = 'a token cannot stand in a style'

const VOID = new Set(
  'area base br col embed hr img input link meta param source track wbr p li td th tr'.split(' '),
)
const RAW_TEXT = new Set(['style', 'script', 'textarea', 'title', 'xmp', 'iframe', 'noembed'])

type Tag = { end: number; styles: number[]; index: number; fault?: string }

/** Reads one tag, from its `<` to after its `>`. */
function readTag(html: string, start: number): Tag {
  const styles: number[] = []
  let index = start + 1
  for (;;) {
    const next = /[<>"']/g
    next.lastIndex = index
    const found = next.exec(html)
    if (!found || found[0] === '<') {
      return { end: html.length, styles, index: start, fault: 'this tag is never closed' }
    }
    if (found[0] === '>') return { end: found.index + 1, styles, index: start }
    // A quote opens a value only after `=`; elsewhere it is a letter like any other.
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
      for (const token of value.matchAll(TOKEN)) styles.push(found.index + 1 + token.index)
    }
    index = close + 1
  }
}

function indexOfClose(html: string, name: string, from: number) {
  const close = new RegExp(`</${name}[\\s/>]`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? -1
}

function styleFaults(css: string): { index: number; detail: string }[] {
  const faults = [...css.matchAll(TOKEN)].map(({ index }) => ({ index, detail: TOKEN_IN_STYLE }))
  const open: number[] = []
  for (const match of css.matchAll(
    /\/\*[\s\S]*?\*\/|\/\*|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?|[{}]/g,
  )) {
    const [piece] = match
    const at = { index: match.index }
    if (piece === '/*') return [...faults, { ...at, detail: 'this comment is never closed' }]
    if (/^["']/.test(piece) && (piece.length < 2 || piece.at(-1) !== piece[0])) {
      return [...faults, { ...at, detail: 'this quote is never closed' }]
    }
    if (piece === '{') open.push(match.index)
    if (piece === '}' && open.pop() === undefined) {
      return [...faults, { ...at, detail: 'this } closes nothing' }]
    }
  }
  const unclosed = open.pop()
  return unclosed === undefined
    ? faults
    : [...faults, { index: unclosed, detail: 'this { is never closed' }]
}
