/*
 * Stands in for the package linkifyjs, with which the editor finds addresses in typed and pasted text: its
 * list of all top-level domains would be 10 KB of the largest page. `resolve.alias` in vite.config.ts.
 */

/** A web address, or the address of a mailbox. */
const ADDRESS =
  /(?:https?:\/\/|www\.)(?:[^\s<>()[\]“”„»«]|\([^\s()]*\)|\[[^\s[\]]*\])*|(?<![\p{L}\p{N}_.+'’%&-])[\p{L}\p{N}_.+'’-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/giu

/** Punctuation after an address is not part of it. */
const trimEnd = (address: string) => address.replace(/[.,;:!?'’"]+$/, '')

type Piece = { value: string; isLink: boolean; href: string; start: number; end: number }

function pieceAt(value: string, start: number, isLink: boolean): Piece {
  const scheme = /^https?:/i.test(value) ? '' : /^www\./i.test(value) ? 'https://' : 'mailto:'
  return { value, isLink, href: isLink ? scheme + value : '', start, end: start + value.length }
}

/** The text as addresses and what is between them. */
function piecesOf(text: string): Piece[] {
  const links = [...text.matchAll(ADDRESS)].map(({ 0: value, index }) =>
    pieceAt(trimEnd(value), index, true),
  )
  const ends = [0, ...links.map(({ end }) => end)]
  const between = ends.map((end, i) => pieceAt(text.slice(end, links[i]?.start), end, false))
  return [...links, ...between]
    .filter(({ value }) => value !== '')
    .toSorted((a, b) => a.start - b.start)
}

export const find = (text: string) => piecesOf(text).filter(({ isLink }) => isLink)

export const tokenize = (text: string) => piecesOf(text).map((piece) => ({ toObject: () => piece }))

/** The editor has no schemes of its own. */
export const registerCustomProtocol = () => {}
export const reset = () => {}
