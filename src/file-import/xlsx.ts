import type { FileHandle } from 'node:fs/promises'
import { RequestError } from '../errors.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { XmlReader, type XmlEvents } from '../xml.ts'
import { MAX_LENGTH, TOO_LONG, type FileRow } from './csv-records.ts'
import { damaged, tooLarge, ZipFile } from './unzip.ts'

const MIB = 1_048_576
/** A million rows of a dozen columns unpack to about 500 MiB. */
const MAX_SHEET = 512 * MIB
const MAX_PART = 8 * MIB
/** Texts are kept in memory while the sheet is read. */
const MAX_TEXTS = 96 * MIB
const MAX_TEXT_COUNT = 2_000_000
/** A cell of Excel has 32,767 characters, one of Google Sheets 50,000. */
const MAX_CELL = 65_536
const MAX_COLUMNS = 1_000
/** A cell of a few bytes can repeat a long text, or stand behind many empty ones. */
const MAX_GROWTH = 4
const MAX_SLACK = 4 * MIB
/** Excel refuses longer ones. */
const MAX_FORMAT_CODE = 255

/** The rows of the first visible sheet of a workbook. Dates and times are written as in ISO 8601. */
export async function* readXlsx(file: FileHandle): AsyncIterable<FileRow[]> {
  const zip = await ZipFile.open(file)
  if (!zip.has('xl/workbook.xml')) throw notAWorkbook()
  const { sheet, is1904 } = await findSheet(zip)
  const texts = await readTexts(zip)
  const isDate = await readDateStyles(zip)
  const rows = new SheetRows({ texts, isDate, is1904 })
  for await (const piece of textOf(zip, sheet, MAX_SHEET)) {
    rows.write(piece)
    if (rows.records.length > 0) yield rows.takeRecords()
    if (isSliceOver()) await nextSlice()
  }
  rows.end()
  if (rows.records.length > 0) yield rows.takeRecords()
}

const notAWorkbook = () =>
  new RequestError(422, 'The file is a zip archive, but not a workbook. Send a CSV or XLSX file.')

async function* textOf(zip: ZipFile, name: string, limit: number) {
  const decoder = new TextDecoder()
  for await (const piece of zip.read(name, limit)) yield decoder.decode(piece, { stream: true })
}

async function readPart(zip: ZipFile, name: string, events: Partial<XmlEvents>, limit = MAX_PART) {
  const reader = new XmlReader(
    { onOpen: () => {}, onText: () => {}, onClose: () => {}, ...events },
    damaged,
  )
  for await (const piece of textOf(zip, name, limit)) {
    reader.write(piece)
    if (isSliceOver()) await nextSlice()
  }
  reader.end()
}

async function findSheet(zip: ZipFile) {
  const ids: string[] = []
  let is1904 = false
  await readPart(zip, 'xl/workbook.xml', {
    onOpen: (name, attribute) => {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attribute('date1904') ?? '')
      if (name === 'sheet' && (attribute('state') ?? 'visible') === 'visible') {
        ids.push(attribute('r:id') ?? '')
      }
    },
  })
  const targets = new Map<string, string>()
  await readPart(zip, 'xl/_rels/workbook.xml.rels', {
    onOpen: (name, attribute) => {
      if (name === 'Relationship') targets.set(attribute('Id') ?? '', attribute('Target') ?? '')
    },
  })
  const target = targets.get(ids[0] ?? '')
  if (target === undefined) throw damaged()
  return { sheet: target.startsWith('/') ? target.slice(1) : `xl/${target}`, is1904 }
}

async function readTexts(zip: ZipFile) {
  const texts: string[] = []
  if (!zip.has('xl/sharedStrings.xml')) return texts
  let text: string | undefined
  let isText = false
  // Phonetic hints (rPh) are not part of the text.
  let hints = 0
  await readPart(
    zip,
    'xl/sharedStrings.xml',
    {
      onOpen: (name) => {
        if (name === 'si') text = ''
        if (name === 'rPh') hints += 1
        if (name === 't') isText = hints === 0
      },
      onText: (piece) => {
        if (isText && text !== undefined) text = append(text, piece)
      },
      onClose: (name) => {
        if (name === 't') isText = false
        if (name === 'rPh') hints -= 1
        if (name !== 'si' || text === undefined) return
        if (texts.push(text) > MAX_TEXT_COUNT) throw tooLarge()
      },
    },
    MAX_TEXTS,
  )
  return texts
}

function append(text: string, piece: string) {
  if (text.length + piece.length > MAX_CELL) throw tooLarge()
  return text + piece
}

/** Which cell styles show a number as a date or a time. */
async function readDateStyles(zip: ZipFile): Promise<boolean[]> {
  const isDate: boolean[] = []
  if (!zip.has('xl/styles.xml')) return isDate
  const ownFormats = new Map<number, boolean>()
  let isWithin = false
  await readPart(zip, 'xl/styles.xml', {
    onOpen: (name, attribute) => {
      if (name === 'numFmt') {
        ownFormats.set(Number(attribute('numFmtId')), isDateFormat(attribute('formatCode') ?? ''))
      }
      if (name === 'cellXfs') isWithin = true
      if (name === 'xf' && isWithin) {
        const id = Number(attribute('numFmtId') ?? 0)
        isDate.push(ownFormats.get(id) ?? isBuiltInDate(id))
      }
    },
    onClose: (name) => {
      if (name === 'cellXfs') isWithin = false
    },
  })
  return isDate
}

const isBuiltInDate = (id: number) =>
  (id >= 14 && id <= 22) ||
  (id >= 27 && id <= 36) ||
  (id >= 45 && id <= 47) ||
  (id >= 50 && id <= 58)

/** Texts in quotes, and colours and conditions in brackets, are not part of the date; `[h]` is. */
const isDateFormat = (code: string) =>
  code.length <= MAX_FORMAT_CODE &&
  /[ymdhs]/i.test(code.replace(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|general/gi, ''))

type Workbook = { texts: string[]; isDate: boolean[]; is1904: boolean }

/** Combines the cells of a sheet to rows. */
class SheetRows {
  records: FileRow[] = []
  readonly #workbook: Workbook
  readonly #reader: XmlReader
  #number = 0
  #cells: string[] = []
  #column = -1
  #type = ''
  #style = 0
  #value: string | undefined
  #isValue = false
  /** The characters of the sheet so far, and of its rows as CSV. */
  #readLength = 0
  #length = 0

  constructor(workbook: Workbook) {
    this.#workbook = workbook
    const events: XmlEvents = {
      onOpen: (name, attribute) => this.#open(name, attribute),
      onText: (text) => {
        if (this.#isValue) this.#value = append(this.#value ?? '', text)
      },
      onClose: (name) => this.#close(name),
    }
    this.#reader = new XmlReader(events, damaged)
  }

  write(piece: string) {
    this.#readLength += piece.length
    this.#reader.write(piece)
  }

  end() {
    this.#reader.end()
  }

  takeRecords() {
    const { records } = this
    this.records = []
    return records
  }

  #open(name: string, attribute: (name: string) => string | undefined) {
    if (name === 'row') {
      const stated = Number(attribute('r'))
      this.#number = Number.isSafeInteger(stated) ? stated : this.#number + 1
      this.#cells = []
      this.#column = -1
    } else if (name === 'c') {
      const place = attribute('r')
      this.#column = place === undefined ? this.#column + 1 : columnOf(place)
      this.#type = attribute('t') ?? 'n'
      this.#style = Number(attribute('s') ?? 0)
      this.#value = undefined
    } else if (name === 'v' || name === 't') this.#isValue = true
  }

  #close(name: string) {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'c') this.#addCell()
    else if (name === 'row') this.#addRow()
  }

  #addRow() {
    const number = this.#number
    const cells = Array.from(this.#cells, (cell) => cell ?? '')
    this.#cells = []
    const length = cells.reduce((sum, cell) => sum + cell.length + 1, 0)
    this.#length += length
    if (this.#length > MAX_SLACK + MAX_GROWTH * this.#readLength) throw tooLarge()
    if (length > MAX_LENGTH) this.records.push({ number, fault: TOO_LONG })
    else if (cells.some((cell) => cell.trim() !== '')) this.records.push({ number, cells })
  }

  #addCell() {
    if (this.#value === undefined || this.#column < 0 || this.#column >= MAX_COLUMNS) return
    this.#cells[this.#column] = this.#read(this.#value)
  }

  #read(value: string) {
    const { texts, isDate, is1904 } = this.#workbook
    if (this.#type === 's') return texts[Number(value)] ?? ''
    if (this.#type === 'b') return value === '1' ? 'true' : 'false'
    if (this.#type !== 'n') return this.#type === 'e' ? '' : value
    const number = Number(value)
    if (!Number.isFinite(number)) return value
    return isDate[this.#style] ? writeDate(number, is1904) : String(number)
  }
}

/** `B7` is column 1; -1 for what is not a place. */
function columnOf(place: string) {
  let column = 0
  for (const letter of /^[A-Z]{1,3}(?=\d)/.exec(place)?.[0] ?? '') {
    column = column * 26 + letter.charCodeAt(0) - 64
  }
  return column - 1
}

const SECONDS_OF_DAY = 86_400

/** A number of days since the end of 1899, or a part of a day, which is a time or a duration. */
function writeDate(days: number, is1904: boolean) {
  const seconds = Math.round(days * SECONDS_OF_DAY)
  const two = (part: number) => String(part).padStart(2, '0')
  const ofDay = ((seconds % SECONDS_OF_DAY) + SECONDS_OF_DAY) % SECONDS_OF_DAY
  const clock = `${two(Math.floor(ofDay / 3600))}:${two(Math.floor(ofDay / 60) % 60)}`
  const time = ofDay % 60 === 0 ? clock : `${clock}:${two(ofDay % 60)}`
  const day = Math.floor(seconds / SECONDS_OF_DAY)
  if (day < 1) return time
  if (day > 300_000) return String(days)
  const epoch = is1904 ? '1904-01-01' : '1899-12-30'
  const date = Temporal.PlainDate.from(epoch).add({ days: day }).toString()
  return ofDay === 0 ? date : `${date} ${time}`
}
