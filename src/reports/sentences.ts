import { removeBidiControls, writeChange, writeFigure } from './formats/format-values.ts'
import type { ReportResult } from './report.ts'

/** The figures of a report in words, for the text of a mail. */
export function writeSentences({ kpis, comparison }: Pick<ReportResult, 'kpis' | 'comparison'>) {
  return kpis.map((kpi) => {
    const figure = writeFigure(kpi.value, kpi.unit, kpi.currency)
    return removeBidiControls(`${kpi.label}: ${figure} (${writeChange(kpi, comparison).text})`)
  })
}
