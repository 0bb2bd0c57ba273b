import type { Field } from '../contract/fields.ts'
import type { ObjectKind } from '../contract/objects.ts'
import { readWhen, type DateOrder } from './dates.ts'
import { readLanguage } from './languages.ts'

export type CellRules = { kind: ObjectKind; order: DateOrder; zone: string }

/** Reads a cell's value. If it cannot be read, its text is kept, and refused like any wrong value. */
export function readerOf(
  { kind, order, zone }: CellRules,
  property: string,
): (cell: string) => unknown {
  const field = kind.fields[property]
  if (property === kind.id && kind.id !== 'invitationUUID') return readNumber
  if (property === 'active') return (cell) => readFlag(cell) ?? cell
  if (property === 'language') return readLanguage
  if (field) return readerOfField(field, order, zone)
  return property.endsWith('List') ? (cell) => splitList(cell) : (cell) => cell
}

function readerOfField(field: Field, order: DateOrder, zone: string): (cell: string) => unknown {
  if (field.instant) return (cell) => readMoment(cell, order, zone)
  switch (field.sqlType) {
    case 'bigint':
      return readNumber
    case 'numeric':
      return readAmount
    case 'boolean':
      return (cell) => readFlag(cell) ?? cell
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

/** `1'250.50`, `1.250,50 €`, `CHF 92.00` */
export function readAmount(cell: string): number | string {
  if (cell.length > 40) return cell
  const digits = cell
    .replace(/^[^\d-]{0,6}|[^\d]{0,6}$/g, '')
    .replace(/['’\s\u00a0\u202f]/g, '')
    .replace(/[.,](?=\d{3}(?:[.,]|$))/g, '')
  return /^-?\d{1,15}([.,]\d{1,4})?$/.test(digits) ? Number(digits.replace(',', '.')) : cell
}

const YES = /^(?:true|yes|y|1|x|ja|j|oui|o|wahr|vrai)$/i
const NO = /^(?:false|no|n|0|nein|non|falsch|faux|-)$/i

export function readFlag(cell: string): boolean | undefined {
  if (YES.test(cell)) return true
  return NO.test(cell) ? false : undefined
}

/** Yes or no, or since when, in any order of day and month. An amount, such as a fee, is neither. */
export function readFlagOrTime(cell: string): boolean | undefined {
  const flag = readFlag(cell)
  if (flag !== undefined || /^\d*[.,]\d+$/.test(cell.trim())) return flag
  return (readWhen(cell, 'dmy') ?? readWhen(cell, 'mdy')) === undefined ? undefined : true
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

/** Milliseconds of a moment, or of a local time or date of the zone. */
export function readMoment(cell: string, order: DateOrder, zone: string): unknown {
  const when = readWhen(cell, order)
  if (when?.instant) return when.instant.epochMilliseconds
  if (!when?.date) return cell
  return when.date.toZonedDateTime({ timeZone: zone, plainTime: when.time }).epochMilliseconds
}
