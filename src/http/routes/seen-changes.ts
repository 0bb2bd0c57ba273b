import type { SeenChanges } from '../../store/changes.ts'

/** As `writeSeen` writes it, or a number of a version before: then a stream begins with `id: null`. */
export const SEEN_PATTERN = '^([0-9a-f]{32}-\\d{1,19}(-\\d{1,19})*|\\d{1,15})$'

export const writeSeen = ({ epoch, next, open }: SeenChanges) => [epoch, next, ...open].join('-')

export function readSeen(text: string): SeenChanges {
  const [epoch = '', next = '0', ...open] = text.split('-')
  return { epoch, next, open }
}

export const isSeen = ({ next, open }: SeenChanges, transaction: string) =>
  isBelow(transaction, next) && !open.includes(transaction)

/** What was seen with one of them. `b` replaces an `a` of another history, as before a restore. */
export function unite(a: SeenChanges, b: SeenChanges): SeenChanges {
  if (a.epoch !== b.epoch) return b
  const next = isBelow(a.next, b.next) ? b.next : a.next
  const open = [...new Set([...a.open, ...b.open])].filter(
    (one) => !isSeen(a, one) && !isSeen(b, one),
  )
  return { epoch: b.epoch, next, open }
}

export const isBelow = (a: string, b: string) => BigInt(a) < BigInt(b)
