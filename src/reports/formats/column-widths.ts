import { isFigure, type Column } from '../report.ts'

/** A column on the page. */
export type PrintedColumn = { label: string; right: boolean; points: number }

export type Paper = 'a4' | 'us-letter'

/** The width between the margins, in points. */
const PAGE_WIDTH = {
  a4: { portrait: 504.5, landscape: 751 },
  'us-letter': { portrait: 521, landscape: 701 },
}
/** Widths in the font size of tables: a digit, an average letter, a bold capital, the cell padding. */
const POINTS = { digit: 4.95, letter: 4.5, label: 5.2, padding: 9 }

/** Whether the table is too wide for a portrait page. It depends on the columns, not on the rows. */
export const isLandscape = (columns: Column[]) =>
  columns.reduce((sum, column) => sum + usualPoints(column) + POINTS.padding, 0) >
  PAGE_WIDTH.a4.portrait

/**
 * Distributes the page width by the first rows: figures and dates get what they need, texts share the
 * rest. If it is too little, the widest texts shrink first, so that a short status does not wrap.
 */
export function layOutColumns(
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
  const width = PAGE_WIDTH[page.paper][page.flipped ? 'landscape' : 'portrait']
  const fixed = wanted.reduce((sum, points, i) => sum + (isText(i) ? 0 : points), 0)
  const given = share(
    wanted.filter((_, i) => isText(i)),
    width - fixed - columns.length * POINTS.padding,
  )
  return columns.map(({ label, type }, i) => ({
    label,
    right: isFigure(type),
    points: (isText(i) ? given.shift()! : wanted[i]!) + POINTS.padding,
  }))
}

/** The width for text in a column, in points. */
export const textPoints = ({ points }: PrintedColumn) => points - POINTS.padding

/** How many letters surely fit on a line of a column. */
export const maxLettersPerLine = (column: PrintedColumn) =>
  Math.max(4, Math.floor(textPoints(column) / POINTS.digit))

const usualPoints = ({ label, width, type }: Column) =>
  type === 'text'
    ? width * POINTS.letter
    : Math.max(width * POINTS.digit, label.length * POINTS.label)

function pointsWanted(column: Column, cells: string[]) {
  const usual = usualPoints(column)
  if (column.type !== 'text') {
    const longest = Math.max(0, ...cells.map(({ length }) => length))
    // The total is longer than its parts.
    const digits = longest + (column.total === 'sum' ? 2 : 0)
    return isFigure(column.type) ? Math.max(usual, digits * POINTS.digit) : usual
  }
  // Later rows may have values even if the first ones have none.
  const lengths = cells.flatMap((cell) => (cell === '' ? [] : [maxTextWidth(cell)]))
  if (lengths.length === 0) return usual
  lengths.sort((a, b) => a - b)
  // One text in a hundred may need two lines.
  const nearlyLongest = lengths[Math.floor((lengths.length - 1) * 0.99)]!
  return Math.max(column.label.length * POINTS.label, Math.min(nearlyLongest, usual * 2.2))
}

/** Distributes the points: all get what they want plus a share of the rest, or are cut at a common maximum. */
function share(wanted: number[], points: number): number[] {
  const sum = wanted.reduce((sum, one) => sum + one, 0)
  if (sum <= points) return wanted.map((one) => (one * points) / sum)
  let max = 0
  let left = points
  const ascending = wanted.toSorted((a, b) => a - b)
  ascending.forEach((one, i) => {
    max = Math.max(max, Math.min(one, left / (ascending.length - i)))
    left -= Math.min(one, max)
  })
  return wanted.map((one) => Math.min(one, max))
}

/** The font size of tables, in points. */
const FONT_SIZE = 8.6

/**
 * An upper bound of the width of a text in our fonts; Infinity if a letter is unknown. A row that fits on
 * one line need not be measured by Typst, which saves a third of the time of a table.
 */
export function maxTextWidth(text: string) {
  let ems = 0
  for (const letter of text) ems += widthOf(letter)
  return ems * FONT_SIZE
}

const widths = new Map<string, number>()

function widthOf(letter: string): number {
  const known = widths.get(letter)
  if (known !== undefined) return known
  const width = BOUNDS.find(([letters]) => letters.test(letter))?.[1] ?? Infinity
  widths.set(letter, width)
  return width
}

/** In ems. */
const BOUNDS: [letters: RegExp, width: number][] = [
  [/[fijlrtI.,;:'!()[\]/ -]/, 0.42],
  [/[mwMW@%]/, 0.94],
  [/[a-z0-9]/, 0.62],
  [/[!-~]/, 0.79],
  [/[\u00c0-\u017f]/, 0.98],
  [/[\u0410-\u045f]/, 1.05],
  [/[\u05d0-\u05ea]/, 0.8],
  [/[\u0621-\u064a]/, 1.4],
  [/[\u0e01-\u0e5b]/, 0.92],
  [/[“”‘’–]/, 0.6],
  [/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]/, 1.02],
]
