/** The size of type in the tables of printed reports, in points. */
const SIZE = 8.6

/**
 * How wide a text is at most, by upper bounds of our typefaces; of other letters nothing is known.
 * A row that is known to take one line need not be measured, and measuring is a third of setting
 * a table.
 */
export function pointsAtMost(text: string) {
  let ems = 0
  for (const letter of text) ems += widthOf(letter)
  return ems * SIZE
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
