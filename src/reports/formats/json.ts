import type { ReportResult } from '../report.ts'

/** Contract part 8. Rows are written as they are read; totals follow them. */
export async function* toJson(result: ReportResult): AsyncIterable<string> {
  const { report, parameters, kpis, charts } = result
  const columns = result.columns.map(({ name, label, type }) => ({ name, label, type }))
  const head = JSON.stringify({ report, parameters, kpis, charts, columns })

  yield `${head.slice(0, -1)},"rows":[`
  let rowCount = 0
  for await (const batch of result.rows) {
    const rows = batch.map((row) => JSON.stringify(row)).join(',\n')
    yield rowCount === 0 ? `\n${rows}` : `,\n${rows}`
    rowCount += batch.length
  }
  yield `\n],"totals":${JSON.stringify(result.totals())},"rowCount":${rowCount}}\n`
}
