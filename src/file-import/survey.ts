import type { FileHandle } from 'node:fs/promises'
import type { ObjectKind } from '../contract/objects.ts'
import { RequestError } from '../errors.ts'
import type { DescribedPerson } from '../matching/creation.ts'
import { keyOf, type Described } from '../matching/directory.ts'
import { plainText } from '../matching/plain.ts'
import { NAMED_KINDS, type NamedKind } from '../store/named-objects.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { readAppointment } from './appointment-rows.ts'
import type { FileRow } from './csv-records.ts'
import { provenOrder, type DateOrder } from './dates.ts'
import { fieldKey, fieldsOf } from './fields.ts'
import { countKnownHeadings, guessFields } from './headings.ts'
import { readRows, type FileFormat } from './read-rows.ts'

/** How many rows are shown as they are read. */
export const SHOWN_ROWS = 20

/** The mapping is guessed from this many rows. */
const SAMPLE = 200
/** Titles and empty lines may come before the header. */
const MAX_ROWS_BEFORE_HEADER = 10

/** A status word of the file, or a client, service, member of staff or location that it names. */
export type Named<T> = { value: T; count: number; firstRow: number }

/** What the first pass over a file finds. */
export type Survey = {
  header: string[]
  headerRow: number
  /** The field of each column. */
  fields: (string | null)[]
  firstRows: FileRow[]
  rowCount: number
  /** The proven order of dates; `either` if no date proves one, undefined if there are no such dates. */
  order: DateOrder | 'either' | 'both' | undefined
  /** Dates that can be read in two ways. */
  unclearDates: string[]
  statusWords: Map<string, Named<string>>
  described: Map<string, Named<Described | DescribedPerson>>
  /** How many rows do not say who, what or where. */
  missing: Record<NamedKind, number>
}

type Surveying = {
  kind: ObjectKind
  /** Corrections of the mapping by column; '' for a column that is not imported. */
  map: Record<string, string>
  /** A kept mapping. The file need not have all of its columns. */
  keptMap: Record<string, string>
  onProgress?: (rows: number) => void
}

/** Reads the whole file once, without storing its rows. */
export async function surveyFile(
  file: FileHandle,
  format: FileFormat,
  { kind, map, keptMap, onProgress }: Surveying,
): Promise<Survey> {
  let before: FileRow[] | undefined = []
  let survey: SurveyRun | undefined
  const begin = () => {
    survey = new SurveyRun(kind, findHeader(kind, before!), { map, keptMap }, before!)
    before = undefined
  }
  for await (const rows of readRows(file, format)) {
    for (const row of rows) {
      if (survey) survey.add(row)
      else if (before!.push(row) > SAMPLE) begin()
      if (isSliceOver()) await nextSlice()
    }
    onProgress?.(survey?.rowCount ?? 0)
  }
  if (!survey) begin()
  return survey!
}

/** The row with the most known headings, if there are two, else the first that is not a title. */
function findHeader(kind: ObjectKind, rows: FileRow[]) {
  const readable = rows
    .slice(0, MAX_ROWS_BEFORE_HEADER)
    .flatMap((row) => ('cells' in row ? [{ row, known: countKnownHeadings(kind, row.cells) }] : []))
  const [best] = readable.toSorted((a, b) => b.known - a.known)
  if (!best) throw new RequestError(422, 'The file is empty; a file begins with a header row.')
  if (best.known >= 2) return best.row
  const cellCount = (cells: string[]) => cells.filter((cell) => cell.trim() !== '').length
  const first = readable.find(({ row, known }) => known > 0 || cellCount(row.cells) > 1)
  return (first ?? readable[0]!).row
}

class SurveyRun implements Survey {
  readonly header: string[]
  readonly headerRow: number
  readonly fields: (string | null)[]
  readonly firstRows: FileRow[] = []
  rowCount = 0
  order: Survey['order']
  readonly unclearDates: string[] = []
  readonly statusWords: Survey['statusWords'] = new Map()
  readonly described: Survey['described'] = new Map()
  readonly missing: Survey['missing'] = { client: 0, professional: 0, reason: 0, location: 0 }
  readonly #kind: ObjectKind
  readonly #dateColumns: number[]
  /** Without dates, which cannot be read before their order is known. */
  readonly #nameFields: (string | null)[]
  readonly #ids = new Set<string>()
  #idColumn: number

  constructor(
    kind: ObjectKind,
    header: { number: number; cells: string[] },
    { map, keptMap }: Pick<Surveying, 'map' | 'keptMap'>,
    rows: FileRow[],
  ) {
    this.#kind = kind
    this.header = header.cells.map((cell) => cell.trim())
    this.headerRow = header.number
    const body = rows.filter((row) => row.number > header.number)
    const sample = body.flatMap((row) => ('cells' in row ? [row.cells] : []))
    const guessed = guessFields(kind, this.header, sample)
    const kept = Object.entries(keptMap).filter(([column]) => this.header.includes(column))
    const corrections = { ...Object.fromEntries(kept), ...map }
    this.fields = withCorrections(kind, this.header, guessed, corrections)
    const isDate = (field: string | null) =>
      field !== null && (/^(?:start|end)(?:Date|Time)$/.test(field) || kind.fields[field]?.instant)
    this.#dateColumns = [...this.fields.keys()].filter((i) => isDate(this.fields[i]!))
    this.#nameFields = this.fields.map((field) => (isDate(field) ? null : field))
    const idColumn = this.fields.indexOf('externalId')
    this.#idColumn =
      idColumn !== -1 && !Object.hasOwn(corrections, this.header[idColumn]!) ? idColumn : -1
    for (const row of body) this.add(row)
  }

  add(row: FileRow) {
    this.rowCount += 1
    if (this.firstRows.length < SHOWN_ROWS) this.firstRows.push(row)
    if ('fault' in row) return
    for (const column of this.#dateColumns) this.#addDate((row.cells[column] ?? '').trim())
    if (this.#kind.kind !== 'calendar') return
    this.#addId(row.cells)
    if (!this.#isSum(row.cells)) this.#addNames(row.number, row.cells)
  }

  /** A row without a date and a key, such as a sum below the table, names nobody. */
  #isSum(cells: string[]) {
    const isDated = this.#dateColumns.some((column) => /\d/.test(cells[column] ?? ''))
    const keys = ['externalId', 'calendarId'].map((field) => this.fields.indexOf(field))
    const hasKey = keys.some((column) => (cells[column] ?? '').trim() !== '')
    return this.#dateColumns.length > 0 && !isDated && !hasKey
  }

  #addDate(text: string) {
    const order = provenOrder(text)
    if (order === undefined) return
    if (order === 'either') {
      if (this.unclearDates.length < 3) this.unclearDates.push(text)
      this.order ??= 'either'
    } else if (this.order === undefined || this.order === 'either') this.order = order
    else if (this.order !== order) this.order = 'both'
  }

  /** A number that several rows have is not the number of the appointment, unless a person says so. */
  #addId(cells: string[]) {
    const id = this.#idColumn === -1 ? '' : (cells[this.#idColumn] ?? '').trim()
    if (id === '') return
    if (this.#ids.has(id)) {
      this.fields[this.#idColumn] = null
      this.#idColumn = -1
      this.#ids.clear()
    } else this.#ids.add(id)
  }

  #addNames(number: number, cells: string[]) {
    const row = readAppointment(cells, this.#nameFields, {
      kind: this.#kind,
      order: 'dmy',
      zone: 'UTC',
    })
    if (row.statusWord !== '')
      count(this.statusWords, plainText(row.statusWord), row.statusWord, number)
    for (const kind of NAMED_KINDS) {
      const described = row[kind]
      // Nobody is created for a row that is refused.
      if (described && row.faults.length > 0) continue
      if (described) count<Described>(this.described, keyOf(described), described, number)
      else if (!Object.keys(row.body).some((name) => name.startsWith(kind))) this.missing[kind] += 1
    }
  }
}

function count<T>(counted: Map<string, Named<T>>, key: string, value: T, firstRow: number) {
  const known = counted.get(key)
  if (known) known.count += 1
  else counted.set(key, { value, count: 1, firstRow })
}

function withCorrections(
  kind: ObjectKind,
  header: string[],
  guessed: (string | null)[],
  map: Record<string, string>,
) {
  const known = new Map(fieldsOf(kind).map((name) => [fieldKey(name), name]))
  const fields = [...guessed]
  for (const [column, wanted] of Object.entries(map)) {
    const at = header.indexOf(column)
    const mapping = `Mapping ${column}=${wanted}`
    if (at === -1) throw new RequestError(422, `${mapping}: the file has no column ${column}.`)
    const field = wanted === '' ? null : known.get(fieldKey(wanted))
    if (field === undefined) {
      const names = [...known.values()].join(', ')
      throw new RequestError(422, `${mapping}: a ${kind.title} has no ${wanted}, but ${names}.`)
    }
    // A guess gives way to a correction.
    if (field !== null) {
      for (const [i, other] of fields.entries()) {
        if (other === field && !Object.hasOwn(map, header[i]!)) fields[i] = null
      }
    }
    fields[at] = field
  }
  return fields
}
