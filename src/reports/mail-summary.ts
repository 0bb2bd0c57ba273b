import { drawPicture, type ChartPicture } from './formats/chart-picture.ts'
import {
  removeBidiControls,
  writeChange,
  writeFigure,
  type ChangeText,
} from './formats/format-values.ts'
import { isFigure, type ReportResult } from './report.ts'
import { writeSummary } from './summary.ts'
import { wordsOf } from './words.ts'

/** What the text of a mail with a report shows. */
export type MailSummary = {
  figures: ({ label: string; value: string } & Omit<ChangeText, 'text'> & { change: string })[]
  picture: ChartPicture | null
  sentences: string[]
  notes: string[]
  /** Nothing happened: all figures are zero, also those of the rows. Known when the rows are read. */
  isEmpty: boolean
}

type Summarized = Pick<
  ReportResult,
  'kpis' | 'compareWith' | 'comparison' | 'charts' | 'sentences' | 'notes' | 'locale'
>

export function writeMailSummary(result: Summarized): Omit<MailSummary, 'isEmpty'> {
  const { kpis, charts, locale } = result
  const words = wordsOf(locale)
  return {
    figures: kpis.map((kpi) => {
      const { text, trend } = writeChange(kpi, result, words)
      return {
        label: removeBidiControls(kpi.label),
        value: removeBidiControls(writeFigure(kpi, words)),
        change: removeBidiControls(text),
        trend,
      }
    }),
    picture: drawPicture(charts, locale) ?? null,
    sentences: writeThreeSentences(result),
    notes: result.notes.map(removeBidiControls),
  }
}

/** At least three, first those of the report itself. */
function writeThreeSentences(result: Summarized) {
  const own = result.sentences.map(removeBidiControls)
  const generated = own.length < 3 ? writeSummary(result).slice(0, 3 - own.length) : []
  return [...new Set([...own, ...generated])]
}

/** The result, which also notices whether anything in it is not zero. */
export function watchForContent(result: ReportResult) {
  const figures = result.columns.flatMap(({ type }, i) => (isFigure(type) ? [i] : []))
  const watched = { hasContent: result.kpis.some(({ value }) => value) }
  async function* rows() {
    for await (const batch of result.rows) {
      // A row without figures is an entry of a list.
      watched.hasContent ||= batch.some(
        (row) => figures.length === 0 || figures.some((i) => row[i]),
      )
      yield batch
    }
  }
  return { result: { ...result, rows: rows() }, watched }
}
