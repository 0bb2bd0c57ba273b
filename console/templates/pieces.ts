/** The tokens that templates may contain, by their names. */
export type KnownNames = ReadonlySet<string>

/**
 * `%TOKEN%`, `%TOKEN|fallback%`, `%IF:TOKEN%` and `%END:IF%`; the group is the text between the
 * percent signs, which the editor shows as one chip.
 */
export const PIECE = /%(IF:[A-Z][A-Z0-9_]{2,}|END:IF|[A-Z][A-Z0-9_]{2,}(?:\|[^%<>\r\n]{0,200})?)%/g

/** The same at the end of a text. */
const LAST_PIECE = new RegExp(`${PIECE.source}$`)

/** Tags are named by the business, so their tokens are not listed. */
const TAG = /^(?:CLIENT|APPT|CLASS)_TAG_/

const END = 'END:IF'

function isKnown(piece: string, names: KnownNames) {
  const name = /^(?:IF:)?([A-Z0-9_]+)/.exec(piece)?.[1] ?? ''
  return piece === END || names.has(name) || TAG.test(name)
}

export type PlacedPiece = { piece: string; index: number; text: string }

/** The known tokens of a text and their places. */
export const piecesIn = (text: string, names: KnownNames): PlacedPiece[] =>
  [...text.matchAll(PIECE)].flatMap((match) =>
    isKnown(match[1]!, names) ? [{ piece: match[1]!, index: match.index, text: match[0] }] : [],
  )

/** The token that a text ends with. */
export function lastPiece(text: string, names: KnownNames): PlacedPiece | undefined {
  const match = LAST_PIECE.exec(text)
  if (!match || !isKnown(match[1]!, names)) return undefined
  return { piece: match[1]!, index: match.index, text: match[0] }
}

/** A text split at its tokens. */
export function splitPieces(text: string, names: KnownNames): (string | PlacedPiece)[] {
  const parts: (string | PlacedPiece)[] = []
  let end = 0
  for (const placed of piecesIn(text, names)) {
    if (placed.index > end) parts.push(text.slice(end, placed.index))
    parts.push(placed)
    end = placed.index + placed.text.length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}
