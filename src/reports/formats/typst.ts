/**
 * Typst, which sets a report, in one of two builds with the same template: the one in typst-wasm.ts writes
 * tags for screen readers, the one in typst-native.ts is quick. See docs/decisions/0026.
 */
export type Typst = {
  /** Names of the fonts, in the order in which Typst looks for a character. */
  families: string[]
  /** `files` by their names, which the template reads. */
  compile: (files: Map<string, Buffer>) => SetReport
}

export type SetReport = { layout: Layout; pdf: () => Buffer }

/** Where things stand on the pages, as the template reports it. */
export type Layout = {
  pageCount: number
  /** The page of the last row; of every row if the piece is marked. */
  rowPages: number[]
  definitionsPage: number | null
}
