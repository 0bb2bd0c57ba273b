/** A statement with its values: what the sql`…` tag makes and `Db` runs. */
export type Sql = {
  readonly text: string
  readonly values: readonly unknown[]
  /** See `kept`. */
  readonly isKept?: boolean
}

/** A statement in pieces: the texts between the values, so that fragments nest by concatenation. */
class Fragment implements Sql {
  readonly pieces: readonly string[]
  readonly values: readonly unknown[]
  readonly isKept: boolean

  constructor(pieces: readonly string[], values: readonly unknown[], isKept = false) {
    this.pieces = pieces
    this.values = values
    this.isKept = isKept
  }

  get text() {
    let text = texts.get(this.pieces)
    if (text === undefined) {
      text = this.pieces.reduce((before, piece, i) => `${before}$${i}${piece}`)
      texts.set(this.pieces, text)
    }
    return text
  }
}

/** The pieces of a statement without fragments are those in the source: its text is made once. */
const texts = new WeakMap<readonly string[], string>()

/** SQL with values as parameters; a fragment inside is woven in with its own. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  if (!values.some((value) => value instanceof Fragment)) {
    return new Fragment(strings, values.map(toParameter))
  }
  const pieces = [strings[0]!]
  const flat: unknown[] = []
  const glue = (piece: string) => (pieces[pieces.length - 1] += piece)
  values.forEach((value, i) => {
    if (value instanceof Fragment) {
      glue(value.pieces[0]!)
      pieces.push(...value.pieces.slice(1))
      flat.push(...value.values)
    } else {
      pieces.push('')
      flat.push(toParameter(value))
    }
    glue(strings[i + 1]!)
  })
  return new Fragment(pieces, flat)
}

/** The same statement with other values: where its text does not change, it is put together once. */
export const withValues = (statement: Sql, values: unknown[]): Sql =>
  new Fragment((statement as Fragment).pieces, values.map(toParameter))

/**
 * A statement whose plan is made once for each connection, and as it is written: each table in its
 * turn, each row by an index. To be used where the text finds every row by its key; there planning
 * costs more than the work, and the planner's choice is no better.
 */
export const kept = (statement: Sql): Sql =>
  new Fragment((statement as Fragment).pieces, statement.values, true)

/**
 * A list of texts in the server's own form, for a parameter that is a `text[]`. As one long text, each
 * letter would be looked at twice: here for what must be escaped, and there.
 */
export function textList(values: readonly (string | null)[]): Buffer {
  const sizes = values.map((value) => (value === null ? 0 : Buffer.byteLength(value)))
  const list = Buffer.allocUnsafe(
    20 + 4 * values.length + sizes.reduce((sum, size) => sum + size, 0),
  )
  const isOne = values.length > 0
  let at = list.writeInt32BE(isOne ? 1 : 0, 0) // dimensions
  at = list.writeInt32BE(values.includes(null) ? 1 : 0, at)
  at = list.writeInt32BE(TEXT_OID, at)
  if (!isOne) return list.subarray(0, at)
  at = list.writeInt32BE(values.length, at)
  at = list.writeInt32BE(1, at) // counted from
  values.forEach((value, i) => {
    at = list.writeInt32BE(value === null ? -1 : sizes[i]!, at)
    if (value !== null) at += list.write(value, at)
  })
  return list
}

const TEXT_OID = 25

/** A piece of SQL that is ours, such as a column's name from a declaration. Never a caller's text. */
export const raw = (text: string): Sql => new Fragment([text], [])

export const empty = raw('')

export function join(fragments: Sql[], separator: string): Sql {
  return fragments.reduce(
    (joined, next, i) => (i === 0 ? next : sql`${joined}${raw(separator)}${next}`),
    empty,
  )
}

/** pg would send an Instant as quoted JSON. */
function toParameter(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Temporal.Instant) return momentText(value)
  if (value instanceof Temporal.PlainDate) return value.toString()
  if (Array.isArray(value)) return value.map(toParameter)
  return value
}

/** A booking sends two dozen moments; by hand they are written ten times as fast. */
function momentText(moment: Temporal.Instant) {
  // A batch is written at one and the same moment.
  if (moment === lastMoment) return lastText
  lastMoment = moment
  return (lastText = textOf(moment))
}

let lastMoment: Temporal.Instant | undefined
let lastText = ''

function textOf(moment: Temporal.Instant) {
  const ms = moment.epochMilliseconds
  const isPlain = ms >= 0 && ms <= LAST_PLAIN_MS && moment.epochNanoseconds % 1_000_000n === 0n
  return isPlain ? plainText(ms) : moment.toString()
}

/** As `Date` writes it. The moments of a batch are mostly of one day: that part of them is kept. */
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

/** The end of the year 9999: later years are written in another way. */
const LAST_PLAIN_MS = 253_402_300_799_999
