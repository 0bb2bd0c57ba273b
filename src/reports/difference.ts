/** Comparable appointments, with and without a reminder, and how many of each were missed. */
export type Stratum = { reached: Counted; others: Counted }
export type Counted = { total: number; missed: number }

type Difference = {
  /** Missed with a reminder minus missed without, in percentage points; negative: fewer are missed. */
  points: number
  low: number
  high: number
  reached: number
  others: number
  /** Both groups are large enough, and the interval excludes zero. */
  isSignificant: boolean
  /** About how many more appointments are needed; 0 if `isSignificant`. */
  needed: number
}

/** For each of the two groups. */
export const MIN_GROUP = 100
/** Above this, the number is not worth calculating. */
export const MAX_NEEDED = 10_000

const Z_95 = 1.959964
/** 99 %: at 95 %, one monthly report in twenty would show a false difference. */
const Z_99 = 2.575829

/** The Wilson interval of a share, in percent, at 95 %; null without appointments. */
export function wilsonInterval({ total, missed }: Counted): { low: number; high: number } | null {
  if (total === 0) return null
  const share = missed / total
  const squared = Z_95 * Z_95
  const center = (share + squared / (2 * total)) / (1 + squared / total)
  const half =
    (Z_95 / (1 + squared / total)) *
    Math.sqrt((share * (1 - share)) / total + squared / (4 * total * total))
  return { low: 100 * Math.max(0, center - half), high: 100 * Math.min(1, center + half) }
}

/**
 * The difference within each stratum, with Mantel-Haenszel weights, so that strata in which one of the
 * groups is small count little. Null if no stratum has both groups.
 */
export function compareReminded(strata: Stratum[]): Difference | null {
  const both = strata.filter(({ reached, others }) => reached.total > 0 && others.total > 0)
  const weightOf = ({ reached, others }: Stratum) =>
    (reached.total * others.total) / (reached.total + others.total)
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
  const whole = sum(both.map(weightOf))
  if (whole === 0) return null
  const difference = sum(
    both.map((one) => (weightOf(one) / whole) * (shareOf(one.reached) - shareOf(one.others))),
  )
  const variance = sum(
    both.map(
      (one) => (weightOf(one) / whole) ** 2 * (varianceOf(one.reached) + varianceOf(one.others)),
    ),
  )
  const half = Z_99 * Math.sqrt(variance)
  const reached = sum(both.map((one) => one.reached.total))
  const others = sum(both.map((one) => one.others.total))
  const isSignificant = reached >= MIN_GROUP && others >= MIN_GROUP && Math.abs(difference) > half
  return {
    points: 100 * difference,
    low: 100 * (difference - half),
    high: 100 * (difference + half),
    reached,
    others,
    isSignificant,
    needed: isSignificant ? 0 : countNeeded({ reached, others, difference, half }),
  }
}

const shareOf = ({ total, missed }: Counted) => missed / total

/** The variance of a share. Adds one missed and one kept, so that it is not 0 for a group without a miss. */
function varianceOf({ total, missed }: Counted) {
  const share = (missed + 1) / (total + 2)
  return (share * (1 - share)) / total
}

type Sizes = { reached: number; others: number; difference: number; half: number }

/** An interval shrinks with the square root of the number of appointments. */
function countNeeded({ reached, others, difference, half }: Sizes) {
  const missing = Math.max(0, MIN_GROUP - reached) + Math.max(0, MIN_GROUP - others)
  if (missing > 0) return roundUp(missing)
  const factor = (half / Math.abs(difference)) ** 2
  return Math.min(MAX_NEEDED, roundUp(Math.max(1, (reached + others) * (factor - 1))))
}

/** To two digits: the estimate is not more exact. */
function roundUp(count: number) {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1)
  return Math.ceil(count / step) * step
}
