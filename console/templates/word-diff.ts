import { PIECE } from './pieces.ts'

/** A part of two texts: in both, only in the one before, or only in the one after. */
export type DiffPart = { kind: 'same' | 'removed' | 'added'; text: string }

/** Texts with more different words are shown as replaced: comparing takes the square of this number. */
const MAX_EDITS = 800

/** The words that were removed and added. */
export function diffWords(before: string, after: string): DiffPart[] {
  const from = splitPieces(before)
  const to = splitPieces(after)
  const shorter = Math.min(from.length, to.length)
  let start = 0
  while (start < shorter && from[start] === to[start]) start += 1
  let end = 0
  while (end < shorter - start && from.at(-1 - end) === to.at(-1 - end)) end += 1
  return phrasesOf([
    ...parts('same', from.slice(0, start)),
    ...shortestEdit(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...parts('same', from.slice(from.length - end)),
  ])
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Words, spaces and signs; a token is one word. */
const splitPieces = (text: string) =>
  text
    .split(PIECE)
    .flatMap((part, i) =>
      i % 2 === 1 ? `%${part}%` : [...segmenter.segment(part)].map(({ segment }) => segment),
    )

const parts = (kind: DiffPart['kind'], words: string[]): DiffPart[] =>
  words.map((text) => ({ kind, text }))

/** The fewest removed and added words, by the algorithm of Myers. */
function shortestEdit(from: string[], to: string[]): DiffPart[] {
  const total = from.length + to.length
  /** For each diagonal, how far the best path with `edits` edits reaches in `from`. */
  let reach = new Map([[1, 0]])
  const paths: Map<number, number>[] = []
  for (let edits = 0; edits <= Math.min(total, MAX_EDITS); edits += 1) {
    paths.push(reach)
    const next = new Map<number, number>()
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(reach, diagonal, edits)
        ? reach.get(diagonal + 1)!
        : reach.get(diagonal - 1)! + 1
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x += 1
      next.set(diagonal, x)
      if (x >= from.length && x - diagonal >= to.length) return follow(paths, from, to)
    }
    reach = next
  }
  return [...parts('removed', from), ...parts('added', to)]
}

/** Whether the path comes to this diagonal by an added word; otherwise by a removed one. */
const isDown = (reach: Map<number, number>, diagonal: number, edits: number) =>
  diagonal === -edits ||
  (diagonal !== edits && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1))

/** The words along the path, found from its end. */
function follow(paths: Map<number, number>[], from: string[], to: string[]): DiffPart[] {
  const found: DiffPart[] = []
  let x = from.length
  let y = to.length
  for (const [edits, reach] of [...paths.entries()].toReversed()) {
    const cameFrom = x - y + (isDown(reach, x - y, edits) ? 1 : -1)
    const startX = reach.get(cameFrom)!
    const startY = startX - cameFrom
    for (; x > startX && y > startY; x -= 1, y -= 1)
      found.push({ kind: 'same', text: from[x - 1]! })
    if (edits === 0) break
    found.push(
      x === startX
        ? { kind: 'added', text: to[startY]! }
        : { kind: 'removed', text: from[startX]! },
    )
    x = startX
    y = startY
  }
  return found.toReversed()
}

/** Joins neighbours; a replaced phrase is removed and added as a whole, with the spaces in it. */
function phrasesOf(words: DiffPart[]): DiffPart[] {
  const phrases: DiffPart[] = []
  const change = { removed: '', added: '' }
  const flush = () => {
    for (const kind of ['removed', 'added'] as const) {
      if (change[kind] !== '') phrases.push({ kind, text: change[kind] })
      change[kind] = ''
    }
  }
  for (const [i, { kind, text }] of words.entries()) {
    const isChange = (neighbour: DiffPart | undefined) =>
      neighbour !== undefined && neighbour.kind !== 'same'
    const isBetween = /^ +$/.test(text) && isChange(words[i - 1]) && isChange(words[i + 1])
    if (kind !== 'same') change[kind] += text
    else if (isBetween) {
      change.removed += text
      change.added += text
    } else {
      flush()
      const last = phrases.at(-1)
      if (last?.kind === 'same') last.text += text
      else phrases.push({ kind, text })
    }
  }
  flush()
  return phrases
}
