import { escapeHtml } from '../email/merge.ts'
import type { MessageAttachment } from '../email/message.ts'
import type { ChartPicture } from '../reports/formats/chart-picture.ts'
import type { MailSummary } from '../reports/mail-summary.ts'
import type { Texts } from '../texts/texts.ts'

/**
 * The figures and the picture of a report in a mail: tables with inline styles and a font in each cell,
 * because Outlook and Gmail drop the rest.
 */

const FONT = 'font-family:Helvetica,Arial,sans-serif'
const CELL = `${FONT};word-break:normal;font-size:15px;line-height:21px;padding:9px 0;border-bottom:1px solid #e3e1d8;vertical-align:top`
const HEAD = `${FONT};white-space:nowrap;font-size:13px;line-height:18px;padding:0 0 6px;border-bottom:1px solid #c9c7bd;font-weight:normal;color:#52615a`
/** Class and colour; the classes have another colour in dark mode. */
const TRENDS = {
  good: ['bw-good', '#2f5d50'],
  bad: ['bw-alert', '#a83a2a'],
  even: ['bw-soft', '#52615a'],
} as const

type Figure = MailSummary['figures'][number]

/** One line for each figure: its name and change on the left, its value on the right, so that it fits a phone. */
export function figuresTable(figures: Figure[], words: Texts['reportMails']) {
  const rows = figures.map(({ label, value, change, trend }) => {
    const [name, color] = TRENDS[trend]
    const changed = change
      ? `<br><span class="${name}" style="font-size:13px;color:${color}">${escapeHtml(change)}</span>`
      : ''
    return `<tr><th class="bw-ink bw-line" scope="row" align="left" style="${CELL};font-weight:normal;text-align:left;color:#1b2824">${escapeHtml(label)}${changed}</th><td class="bw-ink bw-line" align="right" style="${CELL};text-align:right;padding-left:12px;font-weight:bold;color:#1b2824;white-space:nowrap">${escapeHtml(value)}</td></tr>`
  })
  const head = (word: string, align: string) =>
    `<th class="bw-soft bw-line" scope="col" align="${align}" style="${HEAD};text-align:${align}">${escapeHtml(word)}</th>`
  return {
    html: `<table role="table" cellpadding="0" cellspacing="0" border="0" width="100%" style="margin:20px 0;border-collapse:collapse"><tr>${head(words.figure, 'left')}${head(words.value, 'right')}</tr>
${rows.join('\n')}
</table>`,
    text: figures
      .map(({ label, value, change }) => `${label}: ${value}${change && ` (${change})`}`)
      .join('\n'),
  }
}

const CONTENT_ID = 'chart'

/** The picture with its title and labels as text, which stay if the reader's program shows no pictures. */
export function pictureBlock({
  title,
  alt,
  width,
  height,
  first,
  last,
  legend,
}: Omit<ChartPicture, 'png'>) {
  const small = `${FONT};font-size:13px;line-height:18px;color:#52615a`
  const names = legend.map(
    ({ name, color }) =>
      `<span style="white-space:nowrap"><span style="color:${color}">&#9632;</span> ${escapeHtml(name)}</span>`,
  )
  return {
    html: `<table role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%" style="margin:20px 0"><tr><td class="bw-ink" colspan="2" style="${FONT};font-size:15px;line-height:21px;font-weight:bold;color:#1b2824;padding:0 0 8px">${escapeHtml(title)}</td></tr>
<tr><td colspan="2"><img src="cid:${CONTENT_ID}" alt="${escapeHtml(alt)}" width="${width}" style="display:block;width:100%;max-width:${width}px;height:auto;border:0" height="${height}" /></td></tr>
<tr><td class="bw-soft" align="left" style="${small};padding-top:4px">${escapeHtml(first)}</td><td class="bw-soft" align="right" style="${small};padding-top:4px">${escapeHtml(last)}</td></tr>${names.length > 0 ? `<tr><td class="bw-soft" colspan="2" style="${small};padding-top:4px">${names.join(' &nbsp; ')}</td></tr>` : ''}</table>`,
    text: alt,
  }
}

export const pictureFile = ({ png }: ChartPicture): MessageAttachment => ({
  fileName: 'chart.png',
  contentType: 'image/png',
  bytes: png,
  contentId: CONTENT_ID,
})
