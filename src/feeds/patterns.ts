/*
 * Patterns of rules: text without case, where `*` is any text and `{client}` and `{service}` name a part.
 * They are matched piece by piece and not as regular expressions, so that no pattern can take long.
 */

export type Captured = { client?: string; service?: string }

/** The named parts of the text if the whole text matches; undefined if it does not. */
export function matchPattern(pattern: string, text: string): Captured | undefined {
  const parts = pattern.split(/(\*|\{client\}|\{service\})/i)
  const lower = text.toLowerCase()
  const captured: Captured = {}
  let at = 0
  /** The wildcard before the next piece, and where its text begins. */
  let open: { name: string; from: number } | undefined
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 1) {
      open ??= { name: part.toLowerCase(), from: at }
      // Of two wildcards in a row, the named one gets the text.
      if (open.name === '*') open.name = part.toLowerCase()
      continue
    }
    const piece = part.toLowerCase()
    const isLast = i === parts.length - 1
    const found = findPiece(lower, piece, at, { isFree: open !== undefined, isLast })
    if (found === undefined) return undefined
    if (piece === '' && !isLast) continue
    if (open) capture(captured, open.name, text.slice(open.from, found))
    open = undefined
    at = found + piece.length
  }
  return at === lower.length ? captured : undefined
}

function findPiece(
  text: string,
  piece: string,
  at: number,
  { isFree, isLast }: { isFree: boolean; isLast: boolean },
) {
  if (!isFree) return text.startsWith(piece, at) ? at : undefined
  if (isLast) {
    const end = text.length - piece.length
    return end >= at && text.endsWith(piece) ? end : undefined
  }
  const found = text.indexOf(piece, at)
  return found === -1 ? undefined : found
}

function capture(captured: Captured, name: string, text: string) {
  const value = text.trim()
  if (value === '') return
  if (name === '{client}') captured.client ??= value
  if (name === '{service}') captured.service ??= value
}

/** Whether the pattern names a part of the title, which is an effect by itself. */
export const namesParts = (pattern: string) => /\{(client|service)\}/i.test(pattern)
