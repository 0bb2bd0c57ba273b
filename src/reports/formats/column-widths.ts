import { pointsAtMost } from './one-line.ts'
import { isFigure, type Column } from '../report.ts'

/** A column as it stands on the page. */
export type PrintedColumn = { label: string; right: boolean; points: number }

export type Paper = 'a4' | 'us-letter'

/** Between the margins. */
const POINTS_ACROSS = {
  a4: { upright: 504.5, lying: 751 },
  'us-letter': { upright: 521, lying: 701 },
}
/** In the table's size of type: a digit, a letter of a running text, a capital in bold. */
const POINTS = { digit: 4.95, letter: 4.5, label: 5.2, around: 9 }

/** A table that would be crowded on an upright page lies down, whatever its rows happen to hold. */
export const liesDown = (columns: Column[]) =>
  columns.reduce((sum, column) => sum + usualPoints(column) + POINTS.around, 0) >
  POINTS_ACROSS.a4.upright

/**
 * Shares the page out among the columns, by what the first rows hold: figures, days and times take
 * what they need. Texts share the rest; where it is too little the widest give way first, so that
 * a long name never makes a short status wrap.
 */
export function layOut(
  columns: Column[],
  sample: string[][],
  page: { paper: Paper; flipped: boolean },
): PrintedColumn[] {
  const wanted = columns.map((column, i) =>
    pointsWanted(
      column,
      sample.map((row) => row[i]!),
    ),
  )
  const isText = (i: number) => columns[i]!.type === 'text'
  const across = POINTS_ACROSS[page.paper][page.flipped ? 'lying' : 'upright']
  const fixed = wanted.reduce((sum, points, i) => sum + (isText(i) ? 0 : points), 0)
  const given = share(
    wanted.filter((_, i) => isText(i)),
    across - fixed - columns.length * POINTS.around,
  )
  return columns.map(({ label, type }, i) => ({
    label,
    right: isFigure(type),
    points: (isText(i) ? given.shift()! : wanted[i]!) + POINTS.around,
  }))
}

/** How wide the text in a column may be. */
export const textPoints = ({ points }: PrintedColumn) => points - POINTS.around

/** How many letters a line of a column surely holds. */
export const lettersAcross = (column: PrintedColumn) =>
  Math.max(4, Math.floor(textPoints(column) / POINTS.digit))

const usualPoints = ({ label, width, type }: Column) =>
  type === 'text'
    ? width * POINTS.letter
    : Math.max(width * POINTS.digit, label.length * POINTS.label)

function pointsWanted(column: Column, cells: string[]) {
  const usual = usualPoints(column)
  if (column.type !== 'text') {
    const longest = Math.max(0, ...cells.map(({ length }) => length))
    // A sum of many is longer than each.
    const digits = longest + (column.total === 'sum' ? 2 : 0)
    return isFigure(column.type) ? Math.max(usual, digits * POINTS.digit) : usual
  }
  // A column that is empty so far may not stay so.
  const lengths = cells.flatMap((cell) => (cell === '' ? [] : [pointsAtMost(cell)]))
  if (lengths.length === 0) return usual
  lengths.sort((a, b) => a - b)
  // One name in a hundred may take two lines.
  const nearlyLongest = lengths[Math.floor((lengths.length - 1) * 0.99)]!
  return Math.max(column.label.length * POINTS.label, Math.min(nearlyLongest, usual * 2.2))
}

/** All get what they want and a share of what is left, or as much of it as is the same for all. */
function share(wanted: number[], points: number): number[] {
  const sum = wanted.reduce((sum, one) => sum + one, 0)
  if (sum <= points) return wanted.map((one) => (one * points) / sum)
  let most = 0
  let left = points
  const ascending = wanted.toSorted((a, b) => a - b)
  ascending.forEach((one, i) => {
    most = Math.max(most, Math.min(one, left / (ascending.length - i)))
    left -= Math.min(one, most)
  })
  return wanted.map((one) => Math.min(one, most))
}
