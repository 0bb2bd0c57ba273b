/** Lines of CSV (RFC 4180) with a byte order mark, so that spreadsheets read it as UTF-8. */
export const toCsv = (rows: (string | number | null | undefined)[][]) =>
  `\uFEFF${rows.map((row) => row.map(cellOf).join(',')).join('\r\n')}\r\n`

/** Spreadsheets read a cell that begins like this as a formula; a quote before it makes it text. */
const FORMULA = /^[=+\-@\t\r]/

function cellOf(value: string | number | null | undefined) {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
