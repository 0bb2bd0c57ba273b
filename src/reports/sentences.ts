import { removeBidiControls, writeChange, writeFigure } from './formats/format-values.ts'
import type { ReportResult } from './report.ts'

/** The figures of a report in words, and its notes, for the text of a mail. */
type Summarized = Pick<ReportResult, 'kpis' | 'comparison' | 'notes'>

export function writeSentences({ kpis, comparison, notes }: Summarized) {
  const figures = kpis.map((kpi) => {
    const figure = writeFigure(kpi.value, kpi.unit, kpi.currency)
    return `${kpi.label}: ${figure} (${writeChange(kpi, comparison).text})`
  })
  return [...figures, ...notes].map(removeBidiControls)
}
