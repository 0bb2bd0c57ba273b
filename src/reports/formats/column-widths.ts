import { isFigure, type Column } from '../report.ts'

/** A column on the page. */
export type PrintedColumn = { label: string; right: boolean; points: number }

export type Paper = 'a4' | 'us-letter'

/** The width between the margins, in points. */
const PAGE_WIDTH = {
  a4: { portrait: 515, landscape: 762 },
  'us-letter': { portrait: 532, landscape: 712 },
}
/** Widths in the font size of tables: a digit, an average letter, a bold capital, the cell padding. */
const POINTS = { digit: 4.7, letter: 4.3, label: 5.2, padding: 8 }

/**
 * Whether the table is too wide for a portrait page: by its columns, or because of long figures in the
 * first rows. Figures are readable in a smaller font, so that a month of them fits a portrait page.
 */
export function isLandscape(columns: Column[], sample: string[][]) {
  const hasFewTexts = columns.filter(({ type }) => type === 'text').length <= 2
  const usual = sum(columns.map((column) => usualPoints(column) + POINTS.padding))
  const { wanted, fixed } = measureColumns(columns, sample)
  const texts = columns.map((column, i) =>
    column.type === 'text' ? Math.min(wanted[i]!, usualPoints(column), MIN_TEXT_POINTS) : 0,
  )
  const room = PAGE_WIDTH.a4.portrait
  return usual * (hasFewTexts ? MIN_SCALE : 1) > room || (fixed + sum(texts)) * MIN_SCALE > room
}

/**
 * Distributes the page width by the first rows: figures and dates get what they need, texts share the
 * rest. If it is too little, the widest texts shrink first, so that a short status does not wrap.
 */
export function layOutColumns(
  columns: Column[],
  sample: string[][],
  page: { paper: Paper; flipped: boolean },
): { columns: PrintedColumn[]; scale: number } {
  const room = PAGE_WIDTH[page.paper][page.flipped ? 'landscape' : 'portrait']
  const { wanted, texts, fixed, least } = measureColumns(columns, sample)
  const isText = (i: number) => columns[i]!.type === 'text'
  // A smaller font if texts would wrap, and a still smaller one if the figures do not fit.
  const toFitTexts = Math.max(MIN_TEXT_SCALE, Math.min(1, room / (fixed + sum(texts))))
  const readable = Math.max(MIN_SCALE, Math.min(toFitTexts, room / (fixed + least)))
  // A column beyond the edge of the page would be lost, which is worse than a very small font.
  const narrowest = sum(texts.map((points) => Math.min(points, NARROW_TEXT_POINTS)))
  const scale = Math.min(readable, room / (fixed + narrowest))
  const left = room - fixed * scale
  const given = share(
    texts.map((points) => points * scale),
    Math.max(left, narrowest * scale),
  )
  // Without texts the figures share the remaining width, so that every table fills the page.
  const more = texts.length > 0 ? 0 : Math.max(0, left) / columns.length
  return {
    scale,
    columns: columns.map(({ label, type }, i) => ({
      label,
      right: isFigure(type),
      points: (isText(i) ? given.shift()! : wanted[i]! * scale + more) + POINTS.padding * scale,
    })),
  }
}

/** Widths in points: of all columns, of texts, of the rest with all padding, and the minimum for texts. */
function measureColumns(columns: Column[], sample: string[][]) {
  const wanted = columns.map((column, i) =>
    pointsWanted(
      column,
      sample.map((row) => row[i]!),
    ),
  )
  const texts = wanted.filter((_, i) => columns[i]!.type === 'text')
  return {
    wanted,
    texts,
    fixed: sum(wanted) - sum(texts) + columns.length * POINTS.padding,
    least: sum(texts.map((points) => Math.min(points, MIN_TEXT_POINTS))),
  }
}

const sum = (points: number[]) => points.reduce((all, one) => all + one, 0)

/** The minimum width of a text column if it needs it; NARROW if the figures leave no more. */
const MIN_TEXT_POINTS = 70
const NARROW_TEXT_POINTS = 27
/** Text below 6 points is hard to read. */
const MIN_SCALE = 0.732
const MIN_TEXT_SCALE = 0.82

/** The width for text in a column, in points. A lower bound: the padding shrinks with the font size. */
export const textPoints = ({ points }: PrintedColumn) => points - POINTS.padding

/** A lower bound of the number of letters on a line of a column. */
export const maxLettersPerLine = (column: PrintedColumn) =>
  Math.max(4, Math.floor(textPoints(column) / POINTS.digit))

const usualPoints = ({ label, width, type }: Column) =>
  type === 'text'
    ? width * POINTS.letter
    : Math.max(Math.min(width, 10) * POINTS.digit, labelLength(label) * POINTS.label)

/** Labels wrap between words. */
const labelLength = (label: string) => Math.max(...label.split(' ').map(({ length }) => length))

function pointsWanted(column: Column, cells: string[]) {
  const usual = usualPoints(column)
  if (column.type !== 'text') {
    const longest = Math.max(0, ...cells.map(({ length }) => length))
    // The total is longer than its parts, the more the more of them there are.
    const digits = longest + (column.total === 'sum' ? moreDigits(cells.length) : 0)
    return isFigure(column.type) ? Math.max(usual, digits * POINTS.digit) : usual
  }
  // Later rows may have values even if the first ones have none.
  const lengths = cells.flatMap((cell) => (cell === '' ? [] : [maxTextWidth(cell)]))
  lengths.sort((a, b) => a - b)
  // One text in a hundred may need two lines. In a short list, the longest text decides.
  const nearlyLongest = lengths[Math.ceil((lengths.length - 1) * 0.99)] ?? usual
  return Math.max(labelLength(column.label) * POINTS.label, Math.min(nearlyLongest, usual * 2.2))
}

/** How many letters a sum of so many numbers can have more than the longest: digits and separators. */
const moreDigits = (count: number) =>
  Math.max(2, Math.ceil((4 / 3) * Math.log10(Math.max(1, count))))

/** Distributes the points: all get the wanted width plus a share of the rest, or at most a common maximum. */
function share(wanted: number[], points: number): number[] {
  const all = sum(wanted)
  if (all <= points) return wanted.map((one) => (one * points) / all)
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
const FONT_SIZE = 8.2

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
