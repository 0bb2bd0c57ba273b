import { findToken, type TokenName } from './tokens.ts'

/**
 * The syntax of templates: `%TOKEN%`, `%TOKEN|fallback%`, and `%IF:TOKEN% … %END:IF%`, which shows its
 * content only if the token has a value. Conditions are not nested. See docs/templates.md.
 */

/** A fault of a text and its place, counted from 1. */
export type TextFault = { line: number; column: number; detail: string }

/** One token or mark: a condition's token, the end of a condition, or a token and its fallback. */
export const PIECE =
  /%(?:IF:([A-Z][A-Z0-9_]{2,})|(END:IF)|([A-Z][A-Z0-9_]{2,})(?:\|([^%<>\r\n]{0,200}))?)%/g

/** More faults do not help the author, and each costs a search for its line. */
export const MAX_FAULTS = 20

/** Each token costs time in every mail. */
const MAX_TOKENS = 5_000

export function findTokenFaults(text: string): TextFault[] {
  const faults: { index: number; detail: string }[] = []
  let open: { index: number; mark: string } | undefined
  let count = 0
  for (const match of text.matchAll(PIECE)) {
    if (faults.length >= MAX_FAULTS) break
    if (++count > MAX_TOKENS) {
      faults.push({ index: match.index, detail: `there are more than ${MAX_TOKENS} tokens` })
      open = undefined
      break
    }
    const [mark, condition, end, name] = match
    const { index } = match
    const token = condition ?? name
    if (token !== undefined && !findToken(token)) {
      faults.push({ index, detail: `there is no token %${token}%` })
    }
    if (condition !== undefined) {
      if (open) faults.push({ index, detail: `${mark} stands inside ${open.mark}, and cannot` })
      open ??= { index, mark }
    }
    if (end !== undefined) {
      if (!open) faults.push({ index, detail: '%END:IF% ends no condition' })
      open = undefined
    }
  }
  if (open) faults.push({ index: open.index, detail: `${open.mark} has no %END:IF%` })
  faults.push(...findUnfinished(text))
  return faults
    .toSorted((a, b) => a.index - b.index)
    .slice(0, MAX_FAULTS)
    .map(({ index, detail }) => ({ ...placeAt(text, index), detail }))
}

/** Incomplete fallbacks and conditions. */
function findUnfinished(text: string) {
  const whole = new Set(text.matchAll(PIECE).map(({ index }) => index))
  return text
    .matchAll(/%(?:IF:|[A-Z][A-Z0-9_]{2,}\|)/g)
    .filter(({ index }) => !whole.has(index))
    .take(MAX_FAULTS)
    .map(({ index, 0: start }) => ({
      index,
      detail:
        start === '%IF:'
          ? 'a condition must be written %IF:TOKEN%'
          : `${start} needs a fallback of at most 200 characters without < > and %, and then %`,
    }))
    .toArray()
}

export function tokensIn(text: string): TokenName[] {
  const names = new Set(text.matchAll(PIECE).map(([, condition, , name]) => condition ?? name))
  return [...names].filter(isTokenName)
}

const isTokenName = (name: string | undefined): name is TokenName =>
  name !== undefined && findToken(name) !== undefined

/** The line and column of a position in a text, both from 1. */
export function placeAt(text: string, index: number) {
  const before = text.slice(0, index).split(/\r\n|\r|\n/)
  return { line: before.length, column: (before.at(-1) as string).length + 1 }
}
