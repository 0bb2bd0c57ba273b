import { escapeHtml } from '../../email/merge.ts'
import { hasValues } from '../chart.ts'
import { drawCharts } from './draw-chart.ts'
import {
  cellWriters,
  describeScope,
  removeBidiControls,
  writeChange,
  writeFigure,
  writeTotal,
} from './format-values.ts'
import { isFigure, type Cell, type Column, type KpiResult, type ReportResult } from '../report.ts'

/** A page with inline styles and charts, without scripts and external resources. */
export async function* toHtml(result: ReportResult): AsyncIterable<string> {
  const { columns } = result
  const writers = cellWriters(result)

  yield headOf(result)
  let rowCount = 0
  let previous: Cell | undefined
  for await (const batch of result.rows) {
    rowCount += batch.length
    yield batch
      .map((row) => {
        const cells = columns.map(({ type }, i) => {
          const written = escape(writers[i]!(row[i]!, row))
          return type === 'text'
            ? `<td><bdi>${written}</bdi></td>`
            : `<td${cellClass(type)}>${written}</td>`
        })
        const key = row[result.newPageAt]
        const isNewPage = previous !== undefined && key !== previous
        previous = key
        return `<tr${isNewPage ? ' class="new-page"' : ''}>${cells.join('')}</tr>\n`
      })
      .join('')
  }
  if (rowCount === 0) {
    yield `<tr><td class="none" colspan="${columns.length}">Nothing in this period.</td></tr>\n`
  }
  yield '</tbody>\n'

  const totals = result.totals()
  if (rowCount > 0 && Object.keys(totals).length > 0) {
    const cells = columns.map((column, i) => {
      if (!column.total) return `<td>${i === 0 ? 'Total' : ''}</td>`
      const written = writeTotal(column, totals[column.name])
      return `<td${cellClass(column.type)}>${escape(written)}</td>`
    })
    yield `<tfoot><tr>${cells.join('')}</tr></tfoot>\n`
  }
  yield footOf(result.definitions, rowCount)
}

function headOf(result: ReportResult) {
  const { report, parameters, columns, kpis, comparison } = result
  const charts = result.charts.filter(hasValues)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(report.reportName)}, ${parameters.startDate} – ${parameters.endDate}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${escape(report.reportName)}</h1>
<p class="business"><bdi>${escape(result.businessName)}</bdi></p>
<dl>${describeScope(result).map(fact).join('')}</dl>
</header>
<section class="kpis">${kpis.map((kpi) => tile(kpi, comparison)).join('')}</section>
<section class="charts">${drawCharts(charts)
    .map((svg, i) => figure(svg, charts[i]!.title))
    .join('')}</section>
<table>
<thead><tr>${columns.map(({ label, type }) => `<th scope="col"${cellClass(type)}>${escape(label)}</th>`).join('')}</tr></thead>
<tbody>
`
}

const footOf = (definitions: ReportResult['definitions'], rowCount: number) => `</table>
<footer><h2>What the figures count</h2><ul>${definitions
  .map(([label, definition]) => `<li><b>${escape(label)}</b> ${escape(definition)}</li>`)
  .join('')}</ul>
<p>${rowCount.toLocaleString('en')} ${rowCount === 1 ? 'row' : 'rows'}.</p></footer>
</main>
</body>
</html>
`

const fact = ([label, value]: [string, string]) =>
  `<div><dt>${escape(label)}</dt><dd><bdi>${escape(value)}</bdi></dd></div>`

function tile(kpi: KpiResult, comparison: ReportResult['comparison']) {
  const change = writeChange(kpi, comparison)
  return `<div class="kpi" title="${escape(kpi.definition)}"><span>${escape(kpi.label)}</span><strong>${escape(writeFigure(kpi.value, kpi.unit, kpi.currency))}</strong><small class="${change.trend}">${escape(change.text)}</small></div>`
}

const figure = (svg: string, title: string) =>
  `<figure><figcaption>${escape(title)}</figcaption>${svg}</figure>`

/** Only text cells may wrap. */
const cellClass = (type: Column['type']) =>
  isFigure(type) ? ' class="n"' : type === 'text' ? '' : ' class="d"'

const escape = (text: string) => escapeHtml(removeBidiControls(text))

const STYLE = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #f8fafc; color: #0f172a; font: 14px/1.45 "Noto Sans", system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 32px; background: #fff; min-height: 100vh; }
header::before { content: ""; display: block; width: 48px; height: 4px; background: #2563eb; margin-bottom: 20px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0; }
.business { font-size: 16px; color: #64748b; margin: 4px 0 12px; }
dl { display: flex; flex-wrap: wrap; gap: 6px 32px; margin: 0 0 24px; }
dl div { display: flex; gap: 8px; }
dt { color: #64748b; }
dd { margin: 0; font-weight: 600; }
.kpis { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: 14px; margin-bottom: 16px; }
.kpi { border: 1px solid #e2e8f0; border-radius: 10px; padding: 14px 16px; background: #fcfdfe; display: flex; flex-direction: column; gap: 6px; break-inside: avoid; }
.kpi span { color: #475569; font-size: 13px; }
.kpi strong { font-size: 26px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.kpi small { font-size: 12px; color: #64748b; }
.kpi .good { color: #166534; }
.kpi .bad { color: #b91c1c; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); gap: 14px; margin-bottom: 24px; }
figure { margin: 0; border: 1px solid #e2e8f0; border-radius: 10px; padding: 16px; break-inside: avoid; }
figcaption { font-weight: 600; margin-bottom: 6px; }
figure svg { display: block; width: 100%; height: auto; }
table { width: 100%; border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: #eef2f8; text-align: left; padding: 7px 8px; color: #1e293b; }
td { padding: 6px 8px; border-bottom: 1px solid #e8edf3; vertical-align: top; overflow-wrap: anywhere; }
tbody td:not([class]) { min-width: 8em; }
tbody tr:nth-child(even) { background: #fafbfd; }
.n, .d { white-space: nowrap; }
.n { text-align: right; }
tfoot td { font-weight: 700; border-top: 2px solid #475569; border-bottom: 0; }
.none { text-align: center; color: #64748b; padding: 28px; }
footer { margin-top: 28px; color: #475569; font-size: 12.5px; }
footer h2 { font-size: 14px; color: #0f172a; margin: 0 0 6px; }
footer ul { margin: 0; padding-left: 18px; }
@media screen and (max-width: 760px) { main { padding: 24px 16px; } .kpis { grid-template-columns: 1fr 1fr; } .kpi strong { font-size: 20px; } table { display: block; overflow-x: auto; } td { overflow-wrap: normal; } }
@media print { body { background: #fff; } main { padding: 0; max-width: none; } th { position: static; } thead { display: table-header-group; } tr { break-inside: avoid; } .new-page { break-before: page; } tfoot { display: table-row-group; } }
`
