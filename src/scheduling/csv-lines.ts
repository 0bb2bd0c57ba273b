import type { Field } from '../contract/fields.ts'
import { externalName } from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'
import { refName } from '../contract/object-body.ts'
import { RequestError } from '../errors.ts'
import { readCsvRecords } from './csv-records.ts'
import type { Line } from './import.ts'

type CsvReading = {
  kind: ObjectKind
  /** The property of each column with another name; '' if the column is not imported. */
  map: Record<string, string>
  /** The time zone of times without an offset. */
  zone: string
  /** Called once, with every column of the header and the property that is read from it. */
  onHeader: (columns: CsvColumn[]) => void
}

export type CsvColumn = { column: string; field: string | null }

/** `column=field`: the last equals sign counts, since a column may have one in its name. */
export function readMapping(text: string): [column: string, field: string] | undefined {
  const at = text.lastIndexOf('=')
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)]
}

/** The lines of a CSV file without its header, each as the body of a POST. */
export async function* readCsv(
  pieces: AsyncIterable<Buffer>,
  reading: CsvReading,
): AsyncIterable<Line[]> {
  let header: string[] | undefined
  let columns: Column[] = []
  for await (const records of readCsvRecords(pieces)) {
    const lines: Line[] = []
    for (const record of records) {
      if ('fault' in record) lines.push(record)
      else if (header) {
        if (!columns.some(Boolean)) throw noColumnRead(reading.kind)
        lines.push(lineOf(record.number, record.cells, columns, reading))
      } else {
        header = record.cells.map((cell) => cell.trim())
        columns = columnsOf(header, reading)
      }
    }
    yield lines
  }
  if (!header) {
    throw new RequestError(422, 'The file is empty; a CSV file begins with a header row.')
  }
}

const noColumnRead = ({ title }: ObjectKind) =>
  new RequestError(422, `No column is a property of a ${title}: is the first row a header?`)

type Column = { property: string; read: (cell: string) => unknown } | undefined

function columnsOf(header: string[], reading: CsvReading): Column[] {
  const { kind, map } = reading
  const known = new Map(fieldsOf(kind).map((name) => [plain(name), name]))
  for (const [column, property] of Object.entries(map)) {
    const mapping = `Mapping ${column}=${property}`
    if (!header.includes(column)) {
      throw new RequestError(422, `${mapping}: the file has no column ${column}.`)
    }
    if (property !== '' && !known.has(plain(property))) {
      const names = [...known.values()].join(', ')
      throw new RequestError(422, `${mapping}: a ${kind.title} has no ${property}, but ${names}.`)
    }
  }
  const columns = header.map((column) => {
    const wanted = Object.hasOwn(map, column) ? map[column]! : column
    const property = known.get(plain(wanted))
    return property && { property, read: readerOf(kind, property, reading.zone) }
  })
  reading.onHeader(
    header.map((column, i) => ({ column, field: columns[i] ? columns[i].property : null })),
  )
  return columns as Column[]
}

/** Every name that a column of this kind may have. */
export function fieldsOf(kind: ObjectKind) {
  const references = kind.references.flatMap(({ property }) => [
    externalName(property),
    refName(property),
  ])
  return [kind.id, 'externalId', 'active', 'ref', ...Object.keys(kind.fields), ...references]
}

/** `Start Time`, `start_time` and `startTime` are the same. */
const plain = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '')

function lineOf(number: number, cells: string[], columns: Column[], { kind }: CsvReading): Line {
  if (cells.length !== columns.length) {
    return { number, fault: `has ${cells.length} cells where the header has ${columns.length}` }
  }
  const body: Record<string, unknown> = { kind: kind.kind }
  for (const [i, cell] of cells.entries()) {
    const column = columns[i]
    const text = cell.trim()
    if (column && text !== '') body[column.property] = column.read(text)
  }
  return { number, body }
}

/** Reads a cell's value. If it cannot be read, its text is kept, and refused like any wrong value. */
function readerOf(kind: ObjectKind, property: string, zone: string): (cell: string) => unknown {
  const field = kind.fields[property]
  if (property === kind.id && kind.id !== 'invitationUUID') return readNumber
  if (property === 'active') return readBoolean
  if (field) return readerOfField(field, zone)
  return property.endsWith('List') ? (cell) => splitList(cell) : (cell) => cell
}

function readerOfField(field: Field, zone: string): (cell: string) => unknown {
  if (field.instant) return (cell) => readMoment(cell, zone)
  switch (field.sqlType) {
    case 'bigint':
    case 'numeric':
      return readNumber
    case 'boolean':
      return readBoolean
    case 'bigint[]':
      return (cell) => splitList(cell).map(readNumber)
    case 'text[]':
      return splitList
    case 'jsonb':
      return readJsonOrTags
    default:
      return (cell) => cell
  }
}

const readNumber = (cell: string) =>
  /^-?\d{1,15}([.,]\d{1,4})?$/.test(cell) ? Number(cell.replace(',', '.')) : cell

function readBoolean(cell: string) {
  if (/^(true|yes|1)$/i.test(cell)) return true
  return /^(false|no|0)$/i.test(cell) ? false : cell
}

const splitList = (cell: string) =>
  cell
    .split(/[;|]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** JSON, or tags as `level=gold|silver; source=web`. */
function readJsonOrTags(cell: string): unknown {
  if (/^[[{]/.test(cell)) {
    try {
      return JSON.parse(cell)
    } catch {
      return cell
    }
  }
  const tags = cell.split(';').map((part) => part.split('='))
  if (tags.some((tag) => tag.length !== 2)) return cell
  return Object.fromEntries(
    tags.map(([tag, values]) => [tag!.trim(), values!.split('|').map((value) => value.trim())]),
  )
}

/** Reads milliseconds, a time with an offset, or a local time or date of the zone. */
function readMoment(cell: string, zone: string): unknown {
  if (/^-?\d{9,15}$/.test(cell)) return Number(cell)
  const iso = cell.replace(/^(\d{1,2})\.(\d{1,2})\.(\d{4})/, (_, day, month, year) =>
    [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-'),
  )
  try {
    if (/(Z|[+-]\d{2}:?\d{2})$/i.test(iso) && iso.includes(':')) {
      return Temporal.Instant.from(iso.replace(' ', 'T')).epochMilliseconds
    }
    return Temporal.PlainDateTime.from(iso.replace(' ', 'T')).toZonedDateTime(zone)
      .epochMilliseconds
  } catch {
    return cell
  }
}
