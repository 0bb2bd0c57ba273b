import { escapeHtml } from '../../email/merge.ts'
import { hasValues } from '../chart.ts'
import { chartsPerRow, drawCharts } from './draw-chart.ts'
import {
  cellWriters,
  describeScope,
  labelledInHours,
  removeBidiControls,
  writeChange,
  writeFigure,
  writePeriod,
  writeRowCount,
  writeTotal,
} from './format-values.ts'
import { wordsOf, type Words } from '../words.ts'
import { isFigure, type Cell, type Column, type KpiResult, type ReportResult } from '../report.ts'

/** A page with inline styles and charts, without scripts and external resources. */
export async function* toHtml(given: ReportResult): AsyncIterable<string> {
  const result = { ...given, columns: labelledInHours(given.columns) }
  const { columns } = result
  const words = wordsOf(result.locale)
  const writers = cellWriters(result)

  yield headOf(result, words)
  let rowCount = 0
  let previous: Cell | undefined
  for await (const batch of result.rows) {
    rowCount += batch.length
    yield batch
      .map((row) => {
        const cells = columns.map(({ type }, i) => {
          const written = escape(writers[i]!(row[i]!, row))
          return type === 'text' && written !== ''
            ? `<td${PHONE.test(written) ? ' class="d"' : ''}><bdi>${written}</bdi></td>`
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
    yield `<tr><td class="none" colspan="${columns.length}">${escape(words.say('Nothing in this period.'))}</td></tr>\n`
  }
  yield '</tbody>\n'

  const totals = result.totals()
  if (rowCount > 0 && Object.keys(totals).length > 0) {
    const cells = columns.map((column, i) => {
      if (!column.total) return `<td>${i === 0 ? escape(words.say('Total')) : ''}</td>`
      const written = writeTotal(column, totals[column.name], words.locale)
      return `<td${cellClass(column.type)}>${escape(written).replaceAll('\n', '<br>')}</td>`
    })
    yield `<tfoot><tr>${cells.join('')}</tr></tfoot>\n`
  }
  yield footOf(result.definitions, rowCount, words)
}

function headOf(result: ReportResult, words: Words) {
  const { report, parameters, columns, kpis, sentences } = result
  const charts = result.charts.filter(hasValues)
  const { locale } = words
  const wide = drawCharts(charts, { locale })
  const narrow = drawCharts(charts, { locale, room: 'phone' })
  return `<!doctype html>
<html lang="${words.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(report.reportName)}, ${writePeriod(parameters, words)}</title>
<style>:root { --accent: ${result.accentColor ?? '#2f5d50'}; --per-row: ${chartsPerRow(charts)}; }${STYLE}</style>
</head>
<body>
<main>
<header>
${logoOf(result)}<h1>${escape(report.reportName)}</h1>
<p class="business"><bdi>${escape(result.businessName)}</bdi></p>
<dl>${describeScope(result).map(fact).join('')}</dl>
</header>
${sentences.map((sentence) => `<p class="sentence">${escape(sentence)}</p>`).join('\n')}
<section class="kpis">${kpis.map((kpi) => tile(kpi, result, words)).join('')}</section>
<section class="charts">${charts
    .map(({ title }, i) => figure(title, { wide: wide[i]!, narrow: narrow[i]! }))
    .join('')}</section>
<div class="rows" tabindex="0"><table${columns.length > MAX_USUAL_COLUMNS ? ' class="many"' : ''}>
<thead><tr>${columns.map(({ label, type }) => `<th scope="col"${cellClass(type)}>${escape(label)}</th>`).join('')}</tr></thead>
<tbody>
`
}

/** A table with more columns has a smaller font, so that it fits the page. */
const MAX_USUAL_COLUMNS = 10

const logoOf = ({ logo, businessName }: ReportResult) =>
  logo
    ? `<img class="logo" alt="${escape(businessName)}" src="data:${logo.type};base64,${logo.data}">\n`
    : ''

const footOf = (
  definitions: ReportResult['definitions'],
  rowCount: number,
  words: Words,
) => `</table></div>
<footer>${
  definitions.length === 0
    ? ''
    : `<h2>${escape(words.say('What the figures count'))}</h2><ul>${definitions
        .map(([label, definition]) => `<li><b>${escape(label)}</b> ${escape(definition)}</li>`)
        .join('')}</ul>`
}
<p>${escape(writeRowCount(rowCount, words))}</p></footer>
</main>
</body>
</html>
`

const fact = ([label, value]: [string, string]) =>
  `<div><dt>${escape(label)}</dt><dd><bdi>${escape(value)}</bdi></dd></div>`

function tile(kpi: KpiResult, result: ReportResult, words: Words) {
  const change = writeChange(kpi, result, words)
  return `<div class="kpi" title="${escape(kpi.definition)}"><span>${escape(kpi.label)}</span><strong>${escape(writeFigure(kpi, words).replaceAll('\u00a0', ' '))}</strong><small class="${change.trend}">${escape(change.text)}</small></div>`
}

const figure = (title: string, { wide, narrow }: { wide: string; narrow: string }) =>
  `<figure><figcaption>${escape(title)}</figcaption><div class="wide">${wide}</div><div class="narrow">${narrow}</div></figure>`

/** Phone numbers do not wrap. */
const PHONE = /^\+?\d[\d ()./-]{5,}$/

/** Only text cells may wrap. */
const cellClass = (type: Column['type']) =>
  isFigure(type) ? ' class="n"' : type === 'text' ? '' : ' class="d"'

const escape = (text: string) => escapeHtml(removeBidiControls(text))

const STYLE = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #faf9f5; color: #1b2824; font: 14px/1.45 "Inter", "Noto Sans", system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 32px; background: #fff; min-height: 100vh; }
header { border-top: 3px solid var(--accent); padding-top: 16px; }
.logo { float: right; max-height: 48px; max-width: 200px; }
h1 { font: 560 28px/1.2 "Source Serif 4", Georgia, "Noto Serif", serif; margin: 0; overflow-wrap: anywhere; }
.business { font-size: 15px; color: #52615a; margin: 2px 0 10px; }
dl { display: flex; flex-wrap: wrap; gap: 4px 24px; margin: 0 0 18px; font-size: 13px; }
dl div { display: flex; gap: 6px; }
dt { color: #616d66; flex: none; }
dd { margin: 0; font-weight: 600; }
.sentence { font: 17px/1.5 "Source Serif 4", Georgia, "Noto Serif", serif; max-width: 70ch; margin: 0 0 10px; }
.kpis { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 10px; margin: 18px 0 16px; }
.kpi { border-radius: 8px; padding: 12px 14px; background: #f3f2ec; display: flex; flex-direction: column; gap: 4px; break-inside: avoid; min-width: 0; overflow-wrap: break-word; container-type: inline-size; }
.kpi span { color: #52615a; font-size: 13px; }
.kpi strong { font-size: clamp(13px, 11.5cqi, 20px); line-height: 1.2; font-variant-numeric: tabular-nums; }
.kpi small { font-size: 12px; color: #52615a; }
.kpi .good { color: #2f5d50; }
.kpi .bad { color: #a83a2a; }
.charts { display: grid; grid-template-columns: repeat(var(--per-row), minmax(0, 1fr)); gap: 12px 20px; margin-bottom: 20px; }
figure { margin: 0; break-inside: avoid; }
figcaption { font-weight: 600; margin-bottom: 4px; }
figure svg { display: block; width: 100%; height: auto; }
.narrow { display: none; }
table { width: 100%; border-collapse: collapse; font-size: 13px; }
th { background: #f3f2ec; text-align: left; vertical-align: bottom; padding: 7px 8px; color: #52615a; font-weight: 600; }
td { padding: 6px 8px; border-bottom: 1px solid #eeece4; vertical-align: top; overflow-wrap: anywhere; }
tbody td:not([class]) { min-width: 6em; }
.rows { overflow-x: auto; }
.many { font-size: 11.5px; }
.many th, .many td { padding-left: 5px; padding-right: 5px; }
.d { white-space: nowrap; }
td.n { white-space: nowrap; }
.n { text-align: right; }
.n, .d { font-variant-numeric: tabular-nums; }
tfoot td { font-weight: 700; border-top: 2px solid #52615a; border-bottom: 0; }
.none { text-align: center; color: #616d66; padding: 28px; }
footer { margin-top: 24px; color: #52615a; font-size: 12.5px; }
footer h2 { font-size: 13px; color: #1b2824; margin: 0 0 6px; }
footer ul { margin: 0; padding: 0; list-style: none; columns: 340px; column-gap: 28px; }
footer li { break-inside: avoid; margin-bottom: 3px; }
footer b { color: #1b2824; }
@media screen and (max-width: 640px) {
  main { padding: 16px; }
  h1 { font-size: 24px; }
  .charts { grid-template-columns: minmax(0, 1fr); }
  .wide { display: none; }
  .narrow { display: block; }
  .kpis { grid-template-columns: 1fr 1fr; }
  .rows { overflow: auto; max-height: 480px; }
  thead th { position: sticky; top: 0; z-index: 1; background: var(--card, #fff); }
  th:first-child, td:first-child { position: sticky; left: 0; background: var(--card, #fff); max-width: 40vw; }
  thead th:first-child { z-index: 2; }
}
@media print { body { background: #fff; } main { padding: 0; max-width: none; } thead { display: table-header-group; } tr { break-inside: avoid; } .new-page { break-before: page; } tfoot { display: table-row-group; } }
`
