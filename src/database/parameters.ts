/** Encodes the values of a statement. Arrays of common types use PostgreSQL's binary format. */
export const toParameters = (values: readonly unknown[], lists: Lists) =>
  values.map((value, index) =>
    Array.isArray(value) ? listParameter(value, lists.get(index)) : toParameter(value),
  )

/** The element types of a statement's array parameters, by parameter index. */
export type Lists = ReadonlyMap<number, ListElement>

export function listsIn(text: string): Lists {
  const lists = new Map<number, ListElement>()
  for (const [, number, type] of text.matchAll(/\$(\d+)::(\w+)\[\]/g)) {
    const element = ELEMENTS[type!]
    if (element) lists.set(Number(number) - 1, element)
  }
  return lists
}

/** pg would send an Instant as quoted JSON. */
function toParameter(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Temporal.Instant) return momentText(value)
  if (value instanceof Temporal.PlainDate) return value.toString()
  return value
}

/** The binary format of one element type. */
type ListElement = {
  oid: number
  fits(value: unknown): boolean
  sizeOf(value: unknown): number
  /** Returns the offset after the value. */
  write(list: Buffer, value: unknown, at: number): number
}

const ELEMENTS: Record<string, ListElement> = {
  text: {
    oid: 25,
    fits: (value) => typeof value === 'string',
    sizeOf: (value: string) => Buffer.byteLength(value),
    write: (list, value: string, at) => at + list.write(value, at),
  },
  bigint: {
    oid: 20,
    fits: Number.isSafeInteger,
    sizeOf: () => 8,
    write: writeInteger,
  },
  int: {
    oid: 23,
    fits: (value) => value === ((value as number) | 0),
    sizeOf: () => 4,
    write: (list, value: number, at) => list.writeInt32BE(value, at),
  },
  timestamptz: {
    oid: 1184,
    fits: (value) => value instanceof Temporal.Instant,
    sizeOf: () => 8,
    write: writeMoment,
  },
}

/** A batch sends its columns as arrays. In text format each character would be escaped and unescaped. */
function listParameter(values: unknown[], element: ListElement | undefined): unknown {
  const isNull = (value: unknown) => value === null || value === undefined
  if (!element || !values.every((value) => isNull(value) || element.fits(value))) {
    return listText(values.map(toParameter))
  }
  let size = HEADER
  for (const value of values) size += 4 + (isNull(value) ? 0 : element.sizeOf(value))
  const list = Buffer.allocUnsafe(size)
  let at = list.writeInt32BE(values.length > 0 ? 1 : 0, 0) // dimensions
  at = list.writeInt32BE(values.some(isNull) ? 1 : 0, at)
  at = list.writeInt32BE(element.oid, at)
  if (values.length === 0) return list.subarray(0, at)
  at = list.writeInt32BE(values.length, at)
  at = list.writeInt32BE(1, at) // lower bound
  for (const value of values) {
    const end = isNull(value) ? at + 4 : element.write(list, value, at + 4)
    list.writeInt32BE(isNull(value) ? -1 : end - at - 4, at)
    at = end
  }
  return list
}

const HEADER = 20

function writeInteger(list: Buffer, value: number, at: number) {
  list.writeInt32BE(Math.floor(value / 2 ** 32), at)
  return list.writeInt32BE(value | 0, at + 4)
}

/** Microseconds since the year 2000. */
function writeMoment(list: Buffer, moment: Temporal.Instant, at: number) {
  const micros = (moment.epochMilliseconds - YEAR_2000_MS) * 1000
  const isPlain = Number.isSafeInteger(micros) && hasOnlyMs(moment)
  if (isPlain) return writeInteger(list, micros, at)
  const { epochNanoseconds } = moment.round({
    smallestUnit: 'microsecond',
    roundingMode: 'halfEven',
  })
  return list.writeBigInt64BE(epochNanoseconds / 1000n - BigInt(YEAR_2000_MS) * 1000n, at)
}

const YEAR_2000_MS = 946_684_800_000
const hasOnlyMs = (moment: Temporal.Instant) => moment.epochNanoseconds % 1_000_000n === 0n

/** The text format of an array. */
function listText(values: unknown[]) {
  const elements: string[] = []
  for (const value of values) {
    if (value === null || value === undefined) elements.push('NULL')
    else if (typeof value === 'number' || typeof value === 'boolean') elements.push(String(value))
    else if (typeof value === 'string') elements.push(`"${escaped(value)}"`)
    else return values
  }
  return `{${elements.join(',')}}`
}

const escaped = (text: string) => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text)

/** A booking sends about 24 timestamps. Formatting them here is ten times as fast as `toString`. */
function momentText(moment: Temporal.Instant) {
  // All rows of a batch carry the same timestamp.
  if (moment === lastMoment) return lastText
  lastMoment = moment
  return (lastText = textOf(moment))
}

let lastMoment: Temporal.Instant | undefined
let lastText = ''

function textOf(moment: Temporal.Instant) {
  const ms = moment.epochMilliseconds
  const isPlain = ms >= 0 && ms <= LAST_PLAIN_MS && hasOnlyMs(moment)
  return isPlain ? plainText(ms) : moment.toString()
}

/** ISO 8601 in UTC. The date part is cached: most timestamps of a batch are on one day. */
function plainText(ms: number) {
  const day = Math.floor(ms / DAY_MS)
  if (day !== lastDay) {
    lastDay = day
    dayText = new Date(ms).toISOString().slice(0, 'YYYY-MM-DDT'.length)
  }
  const inDay = ms - day * DAY_MS
  const seconds = Math.floor(inDay / 1000)
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${dayText}${DIGITS[hour]}:${DIGITS[minute]}:${DIGITS[seconds % 60]}.${String(inDay % 1000).padStart(3, '0')}Z`
}

const DAY_MS = 86_400_000
const DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))
let lastDay = NaN
let dayText = ''

/** The end of the year 9999: later years have more digits. */
const LAST_PLAIN_MS = 253_402_300_799_999
