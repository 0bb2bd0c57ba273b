import { looksLikeFormula } from './format-values.ts'

export const xml = (strings: TemplateStringsArray, ...values: unknown[]) =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${String.raw({ raw: strings }, ...values)}`

/** 0 → A, 25 → Z, 26 → AA. */
export function columnLetters(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : columnLetters(Math.floor(index / 26) - 1) + letter
}

const MAX_CELL_LENGTH = 32_767
// XML allows neither control characters nor lone surrogates.
// oxlint-disable-next-line no-control-regex
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
/** Excel reads `_x0041_` as the letter A, so the underscore itself is written that way. */
const LOOKS_ESCAPED = /_(?=x[0-9a-fA-F]{4}_)/g
const MARKUP = /[&<>]/g
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const text = (value: string) => value.replace(MARKUP, (sign) => ENTITIES[sign]!)

export const attribute = (value: string) => value.replace(/[&<>"]/g, (sign) => ENTITIES[sign]!)

// oxlint-disable-next-line no-control-regex
const NEEDS_CARE = /[&<>_\u0000-\u001f\ud800-\udfff\ufffe\uffff]/

/** A text cell. A text that looks like a formula stays text also when a user edits it. */
export function textCell(place: string, value: string, style: number) {
  const chosen = style === STYLE.text && looksLikeFormula(value) ? STYLE.quoted : style
  return `<c r="${place}" s="${chosen}" t="inlineStr"><is><t xml:space="preserve">${escape(value)}</t></is></c>`
}

function escape(value: string) {
  const short = value.length > MAX_CELL_LENGTH ? value.slice(0, MAX_CELL_LENGTH) : value
  if (!NEEDS_CARE.test(short)) return short
  return text(short.toWellFormed().replace(NOT_IN_XML, '').replace(LOOKS_ESCAPED, '_x005F_'))
}

/** Indexes in the list of cell formats below. Column types have their own names. */
export const STYLE = {
  plain: 0,
  header: 1,
  headerRight: 2,
  text: 3,
  quoted: 4,
  date: 5,
  time: 6,
  dateTime: 7,
  integer: 8,
  minutes: 8,
  money: 9,
  percent: 10,
  totalLabel: 11,
  totalInteger: 12,
  totalMoney: 13,
  totalPercent: 14,
  title: 15,
  muted: 16,
  heading: 17,
  note: 18,
  wrapped: 19,
  localTime: 20,
  unit: 21,
  headerIndented: 22,
  moneyOfThree: 23,
  totalMoneyOfThree: 24,
  decimal: 25,
}

/** `datePattern`: how the language writes a day, such as `dd.mm.yyyy`. */
export function stylesXml(datePattern: string) {
  const date = datePattern.replace(/[-./]/g, '\\$&')
  const right = '<alignment horizontal="right" vertical="center"/>'
  const middle = '<alignment vertical="center"/>'
  // Explicit, because programs align Hebrew and Arabic to the right by default.
  const left = '<alignment horizontal="left" vertical="center"/>'

  return xml`<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<numFmts count="7"><numFmt numFmtId="170" formatCode="#,##0.0"/><numFmt numFmtId="169" formatCode="#,##0.000"/><numFmt numFmtId="164" formatCode="${date}"/><numFmt numFmtId="165" formatCode="hh:mm"/><numFmt numFmtId="166" formatCode="${date}\\ hh:mm:ss"/><numFmt numFmtId="168" formatCode="${date}\\ hh:mm"/><numFmt numFmtId="167" formatCode="0.0&quot; %&quot;"/></numFmts>
<fonts count="4">${font(10, '1B2824')}${font(10, '1B2824', true)}${font(18, '1B2824', true)}${font(10, '52615A')}</fonts>
<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFF3F2EC"/></patternFill></fill></fills>
<borders count="3"><border><left/><right/><top/><bottom/><diagonal/></border><border><left/><right/><top/><bottom style="thin"><color rgb="FFB9BEB9"/></bottom><diagonal/></border><border><left/><right/><top style="thin"><color rgb="FF52615A"/></top><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="26">${[
    format({}, middle),
    format({ fontId: 1, fill: 2, border: 1 }, middle),
    format({ fontId: 1, fill: 2, border: 1 }, right),
    format({}, left),
    format({}, left, ' quotePrefix="1"'),
    format({ number: 164 }, left),
    format({ number: 165 }, left),
    format({ number: 166 }, left),
    format({ number: 3 }, middle),
    format({ number: 4 }, middle),
    format({ number: 167 }, middle),
    format({ fontId: 1, border: 2 }, middle),
    format({ number: 3, fontId: 1, border: 2 }, right),
    format({ number: 4, fontId: 1, border: 2 }, right),
    format({ number: 167, fontId: 1, border: 2 }, right),
    format({ fontId: 2 }, middle),
    format({ fontId: 3 }, middle),
    format({ fontId: 1 }, middle),
    format({ fontId: 3 }, '<alignment horizontal="left" vertical="center" wrapText="1"/>'),
    format({}, '<alignment horizontal="left" vertical="top" wrapText="1"/>'),
    format({ number: 168 }, left),
    format({ fontId: 3 }, '<alignment horizontal="left" vertical="center" indent="1"/>'),
    format({ fontId: 1, fill: 2, border: 1 }, '<alignment vertical="center" indent="1"/>'),
    format({ number: 169 }, middle),
    format({ number: 169, fontId: 1, border: 2 }, right),
    format({ number: 170 }, middle),
  ].join('')}</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
}

const font = (size: number, color: string, bold = false) =>
  `<font>${bold ? '<b/>' : ''}<sz val="${size}"/><color rgb="FF${color}"/><name val="Arial"/><family val="2"/></font>`
const format = (
  { number = 0, fontId = 0, fill = 0, border = 0 },
  alignment = '',
  attributes = '',
) =>
  `<xf numFmtId="${number}" fontId="${fontId}" fillId="${fill}" borderId="${border}" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1" applyAlignment="1"${attributes}>${alignment}</xf>`
