import { removeBidiControls, writeChange, writeFigure } from './formats/format-values.ts'
import type { ReportResult } from './report.ts'
import { wordsOf } from './words.ts'

/** The figures of a report in words, and its notes, for the text of a mail. */
type Summarized = Pick<ReportResult, 'kpis' | 'comparison' | 'sentences' | 'notes' | 'locale'>

export function writeSentences({ kpis, comparison, sentences, notes, locale }: Summarized) {
  const words = wordsOf(locale)
  const figures = kpis.map(
    (kpi) =>
      `${kpi.label}: ${writeFigure(kpi, words)} (${writeChange(kpi, comparison, words).text})`,
  )
  return [...figures, ...sentences, ...notes].map(removeBidiControls)
}
