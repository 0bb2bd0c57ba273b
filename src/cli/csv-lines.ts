import type { Field } from '../contract/fields.ts'
import { externalName } from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'
import { StartError } from '../errors.ts'
import type { Line } from '../scheduling/import.ts'
import { refName } from '../contract/object-body.ts'
import { readCsvRecords } from './csv-records.ts'

export type CsvReading = {
  kind: ObjectKind
  /** Columns with a name of their own, and the property that each is. */
  map: Record<string, string>
  /** Of times that name none. */
  zone: string
  /** Told once, of columns that no property is called after. */
  onUnread: (columns: string[]) => void
}

/** The lines of a CSV file, its header left out, each as the body that a POST would take. */
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
      else if (header) lines.push(lineOf(record.number, record.cells, columns, reading))
      else {
        header = record.cells.map((cell) => cell.trim())
        columns = columnsOf(header, reading)
      }
    }
    yield lines
  }
  if (!header) throw new StartError('The file is empty; a CSV file begins with a header row.')
}

type Column = { property: string; read: (cell: string) => unknown } | undefined

function columnsOf(header: string[], reading: CsvReading): Column[] {
  const { kind, map } = reading
  const known = new Map(namesOf(kind).map((name) => [plain(name), name]))
  for (const [column, property] of Object.entries(map)) {
    if (!header.includes(column)) {
      throw new StartError(`--map ${column}=${property}: the file has no column ${column}.`)
    }
    if (!known.has(plain(property))) {
      throw new StartError(
        `--map ${column}=${property}: a ${kind.title} has no ${property}, but ${[...known.values()].join(', ')}.`,
      )
    }
  }
  const columns = header.map((column) => {
    const property = known.get(plain(map[column] ?? column))
    return property && { property, read: readerOf(kind, property, reading.zone) }
  })
  const unread = header.filter((_, i) => !columns[i])
  if (unread.length === header.length) {
    throw new StartError(`No column is a property of a ${kind.title}: is the first row a header?`)
  }
  if (unread.length > 0) reading.onUnread(unread)
  return columns as Column[]
}

function namesOf(kind: ObjectKind) {
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

/** What a cell says, where it can be read; else its text, which is refused like any wrong value. */
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

/** Milliseconds; a moment with its offset; or a time on the clock of the zone, or a day there. */
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
