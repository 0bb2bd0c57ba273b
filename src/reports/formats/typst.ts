/**
 * Typst, which typesets a report, in one of two builds with the same template: typst-wasm.ts writes tags for
 * screen readers, typst-native.ts is fast. See docs/decisions/0026.
 */
export type Typst = {
  /** Names of the fonts, in the order in which Typst looks for a character. */
  families: string[]
  /** `files` by their names, which the template reads. */
  compile: (files: Map<string, Buffer>) => SetReport
}

export type SetReport = { layout: Layout; pdf: () => Buffer }

/** The pages of rows and definitions, as the template reports them. */
export type Layout = {
  pageCount: number
  /** The page of the last row; of every row if the piece is marked. */
  rowPages: number[]
  definitionsPage: number | null
}
