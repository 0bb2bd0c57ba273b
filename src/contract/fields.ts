import {
  Type,
  type Static,
  type TArray,
  type TBoolean,
  type TEnum,
  type TInteger,
  type TNumber,
  type TObject,
  type TRecord,
  type TSchema,
  type TString,
} from 'typebox'
import { parseAddress, parseDomain } from './addresses.ts'
import { escapePointer, isPlainObject } from './json.ts'
import { textFault } from './text.ts'

/**
 * One property of an object: how it is described, read from a body and kept in its column.
 * Adding a property to an object is one of these in its declaration, and its column in a migration.
 */
export type Field = {
  schema: TSchema
  column: string
  sqlType: string
  required: boolean
  /** What an absent or cleared property becomes; null unless said otherwise. */
  initially: unknown
  /** The kind of object whose id this is, or whose ids these are. */
  refersTo?: string
  /** What is wrong with the value, in words, and where below the property; none means it is good. */
  faults(value: unknown): Complaint[]
  /** Moments travel as milliseconds and are kept as Instants. */
  instant: boolean
}

type Complaint = { at?: string; detail: string }

type Shape = Omit<Field, 'column' | 'required' | 'initially' | 'instant'> &
  Partial<Pick<Field, 'initially' | 'instant'>>

/** The shape of values of this schema, so that the types of objects follow from their fields. */
type Of<S extends TSchema> = Shape & { schema: S }

/** The value that a field has in an answer. */
export type FieldValue<F> = F extends { schema: infer S extends TSchema }
  ? F extends { required: true } | { initially: {} }
    ? Static<S>
    : Static<S> | null
  : never

/** A property that may be absent or null. */
export const optional = <S extends Shape>(
  shape: S,
  about?: string,
): S & Field & { required: false } => ({
  initially: null,
  instant: false,
  ...shape,
  schema: about === undefined ? shape.schema : described(shape.schema, about),
  column: '',
  required: false,
})

/** A property that an object cannot be without. */
export const required = <S extends Shape>(
  shape: S,
  about?: string,
): S & Field & { required: true } => ({
  ...optional(shape, about),
  required: true,
})

/** What TypeBox keeps beside the keywords is not enumerable, and is copied along. */
const described = (schema: TSchema, about: string): TSchema => {
  const { description } = schema as { description?: string }
  const value = description ? `${about} ${description}` : about
  return Object.defineProperties({} as TSchema, {
    ...Object.getOwnPropertyDescriptors(schema),
    description: { value, enumerable: true },
  })
}

const complain = (detail: string | false | undefined, at?: string): Complaint[] =>
  detail ? [at === undefined ? { detail } : { at, detail }] : []

/** A single line. */
export const line = (most = 300): Of<TString> => ({
  schema: Type.String({ maxLength: most }),
  sqlType: 'text',
  faults: (value) => complain(textFault(value, most)),
})

/** A single line that says something. */
export const name = (most = 300): Of<TString> => ({
  schema: Type.String({ minLength: 1, maxLength: most }),
  sqlType: 'text',
  faults: (value) =>
    complain(
      textFault(value, most) ?? (String(value).trim() === '' ? 'must not be empty' : undefined),
    ),
})

/** Text that may have several lines. */
export const text = (most = 20_000): Of<TString> => ({
  schema: Type.String({ maxLength: most }),
  sqlType: 'text',
  faults: (value) => complain(textFault(value, most, 'many')),
})

export const address = (): Of<TString> => ({
  schema: Type.String({ format: 'email', maxLength: 254 }),
  sqlType: 'text',
  faults: (value) =>
    complain(
      typeof value !== 'string'
        ? 'must be a string'
        : parseAddress(value) === undefined && 'must be one plain address, local@domain',
    ),
})

/** Domains of mail addresses. */
export const domains = (most = 100): Of<TArray<TString>> & { initially: string[] } => ({
  schema: Type.Array(Type.String({ maxLength: 253, examples: ['clinic.example'] }), {
    maxItems: most,
  }),
  sqlType: 'text[]',
  initially: [],
  faults: (value) => {
    if (!Array.isArray(value)) return complain('must be a list of domain names')
    if (value.length > most) return complain(`must hold at most ${most} domain names`)
    return value.flatMap((entry, i) =>
      complain(
        (typeof entry !== 'string' || parseDomain(entry) === undefined) &&
          'must be a domain name, such as clinic.example',
        `/${i}`,
      ),
    )
  },
})

/** An IANA zone, not an offset. */
export function isTimeZone(value: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{1,63}$/.test(value) || ONLY_OF_ICU.test(value)) return false
  try {
    return Intl.DateTimeFormat('en', { timeZone: value }) !== undefined
  } catch {
    return false
  }
}

/**
 * Names that JavaScript takes beside those of IANA. No database knows them, or it means something
 * else: IST is in India, Ireland or Israel.
 */
const ONLY_OF_ICU =
  /^(?!(CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$)[a-z]{3}$|^SystemV\/|^US\/Pacific-New$|^Canada\/East-Saskatchewan$/i

export const timeZone = (): Of<TString> => ({
  schema: Type.String({ examples: ['Europe/Zurich'] }),
  sqlType: 'text',
  faults: (value) =>
    complain(
      typeof value !== 'string'
        ? 'must be a string'
        : !isTimeZone(value) && 'must be an IANA time zone, such as Europe/Zurich',
    ),
})

export const language = (): Of<TString> => ({
  schema: Type.String({ examples: ['de-CH'] }),
  sqlType: 'text',
  faults: (value) =>
    complain(
      typeof value !== 'string'
        ? 'must be a string'
        : !/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,3}$/.test(value) &&
            'must be a language tag, such as de-CH',
    ),
})

export const url = (): Of<TString> => ({
  schema: Type.String({ format: 'uri', maxLength: 2_000 }),
  sqlType: 'text',
  faults: (value) => {
    const fault = textFault(value, 2_000)
    if (fault) return complain(fault)
    const parsed = URL.parse(String(value))
    return complain(
      !(parsed && /^https?:$/.test(parsed.protocol)) && 'must be an http or https address',
    )
  },
})

export const integer = (least: number, most: number): Of<TInteger> => ({
  schema: Type.Integer({ minimum: least, maximum: most }),
  sqlType: 'bigint',
  faults: (value) =>
    complain(
      !Number.isSafeInteger(value)
        ? 'must be an integer'
        : ((value as number) < least || (value as number) > most) &&
            `must be between ${least} and ${most}`,
    ),
})

/** Money, in the currency beside it. */
export const amount = (): Of<TNumber> => ({
  schema: Type.Number({ minimum: 0, maximum: 9_999_999_999 }),
  sqlType: 'numeric',
  faults: (value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return complain('must be a number')
    if (value < 0 || value > 9_999_999_999) return complain('must be between 0 and 9999999999')
    return complain(
      Math.abs(value * 100 - Math.round(value * 100)) > 1e-6 && 'must have at most two decimals',
    )
  },
})

export const currency = (): Of<TString> => ({
  schema: Type.String({ examples: ['CHF'] }),
  sqlType: 'text',
  faults: (value) =>
    complain(
      !(typeof value === 'string' && /^[A-Z]{3}$/.test(value)) &&
        'must be a currency of three capital letters, such as CHF',
    ),
})

export const boolean = <I extends boolean | null>(
  initially: I,
): Of<TBoolean> & { initially: I } => ({
  schema: Type.Boolean(),
  sqlType: 'boolean',
  initially,
  faults: (value) => complain(typeof value !== 'boolean' && 'must be true or false'),
})

const EARLIEST = Date.UTC(2000, 0)
const LATEST = Date.UTC(2200, 0)

const isInRange = (ms: number) => ms >= EARLIEST && ms <= LATEST

/** Most moments out of range are in another unit. */
function momentFault(value: unknown) {
  if (!Number.isSafeInteger(value)) return 'must be an integer of milliseconds'
  const given = value as number
  if (isInRange(given)) return undefined
  const [unit, ms] = isInRange(given * 1000)
    ? ['seconds', given * 1000]
    : ['microseconds', Math.round(given / 1000)]
  if (!isInRange(ms)) {
    return 'must be a moment from 2000 to 2200, in milliseconds since 1970-01-01 UTC'
  }
  const day = new Date(ms).toISOString().slice(0, 10)
  return `must be in milliseconds: ${given} looks like ${unit}, ${ms} is ${day}`
}

/**
 * A moment: milliseconds since 1970-01-01 UTC. The range catches moments in seconds, which would
 * all be in January 1970.
 */
export const instant = (): Of<TInteger> => ({
  schema: Type.Integer({
    minimum: EARLIEST,
    maximum: LATEST,
    description: 'Milliseconds since 1970-01-01 00:00 UTC.',
  }),
  sqlType: 'timestamptz',
  instant: true,
  faults: (value) => complain(momentFault(value)),
})

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0

/** The id of another object of the business. */
export const reference = (refersTo: string): Of<TInteger> & { refersTo: string } => ({
  schema: Type.Integer({ minimum: 1 }),
  sqlType: 'bigint',
  refersTo,
  faults: (value) => complain(!isId(value) && 'must be an id'),
})

/** Ids of other objects of the business, each once. */
export const references = (
  refersTo: string,
  most = 5_000,
): Of<TArray<TInteger>> & { refersTo: string; initially: number[] } => ({
  schema: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: most }),
  sqlType: 'bigint[]',
  refersTo,
  initially: [],
  faults: (value) => {
    if (!Array.isArray(value)) return complain('must be a list of ids')
    if (value.length > most) return complain(`must hold at most ${most} ids`)
    return value.flatMap((id, i) => complain(!isId(id) && 'must be an id', `/${i}`))
  },
})

export const lines = (most = 200): Of<TArray<TString>> & { initially: string[] } => ({
  schema: Type.Array(Type.String({ maxLength: 300 }), { maxItems: most }),
  sqlType: 'text[]',
  initially: [],
  faults: (value) => {
    if (!Array.isArray(value)) return complain('must be a list of strings')
    if (value.length > most) return complain(`must hold at most ${most} strings`)
    return value.flatMap((entry, i) => complain(textFault(entry, 300), `/${i}`))
  },
})

/** Tags: an object of arrays of strings. */
export const tags = (): Of<TRecord<string, TArray<TString>>> & { initially: {} } => ({
  schema: Type.Record(Type.String(), Type.Array(Type.String()), {
    title: 'Tags',
    examples: [{ membership: ['gold'] }],
  }),
  sqlType: 'jsonb',
  initially: {},
  faults: (value) => {
    if (!isPlainObject(value)) return complain('must be an object of arrays of strings')
    const entries = Object.entries(value)
    if (entries.length > 100) return complain('must hold at most 100 tags')
    return entries.flatMap(([tag, values]) => tagFaults(tag, values))
  },
})

function tagFaults(tag: string, values: unknown): Complaint[] {
  const at = `/${escapePointer(tag)}`
  if (tag === '' || textFault(tag, 100)) return complain('must have a name of one short line', at)
  if (!Array.isArray(values)) return complain('must be an array of strings', at)
  if (values.length > 100) return complain('must hold at most 100 values', at)
  return values.flatMap((value, i) => complain(textFault(value, 300), `${at}/${i}`))
}

export const WEEKDAYS = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const

const DAY_TIME = /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/

/** When a member of staff works: a weekday, from and to, on the clock of the place. */
export const workingHours = (): Of<
  TArray<TObject<{ weekday: TEnum<[...typeof WEEKDAYS]>; from: TString; to: TString }>>
> & { initially: [] } => ({
  schema: Type.Array(
    Type.Object(
      {
        weekday: Type.Enum([...WEEKDAYS], { title: 'Weekday' }),
        from: Type.String({ examples: ['09:00'] }),
        to: Type.String({ examples: ['17:30'] }),
      },
      { title: 'WorkingHours', additionalProperties: false },
    ),
    { maxItems: 100 },
  ),
  sqlType: 'jsonb',
  initially: [],
  faults: (value) => {
    if (!Array.isArray(value)) return complain('must be a list of { weekday, from, to }')
    if (value.length > 100) return complain('must hold at most 100 entries')
    return value.flatMap((entry, i) => hoursFaults(entry, `/${i}`))
  },
})

function hoursFaults(entry: unknown, at: string): Complaint[] {
  if (!isPlainObject(entry)) return complain('must be { weekday, from, to }', at)
  const { weekday, from, to } = entry
  const isTime = (time: unknown) => typeof time === 'string' && DAY_TIME.test(time)
  return [
    ...complain(
      !WEEKDAYS.includes(weekday as never) && `must be one of ${WEEKDAYS.join(', ')}`,
      `${at}/weekday`,
    ),
    ...complain(!isTime(from) && 'must be a time, HH:MM', `${at}/from`),
    ...complain(!isTime(to) && 'must be a time, HH:MM', `${at}/to`),
    ...complain(
      isTime(from) && isTime(to) && String(to) <= String(from) && 'must be after from',
      `${at}/to`,
    ),
  ]
}

/** The state an object is in, one of its kind's statuses. */
export const status = (initially: string): Of<TString> & { initially: string } => ({
  schema: Type.String({ minLength: 1, maxLength: 60, examples: [initially] }),
  sqlType: 'text',
  initially,
  faults: (value) =>
    complain(textFault(value, 60) ?? (value === '' ? 'must not be empty' : undefined)),
})

const TOKEN = /%[A-Z][A-Z0-9_]{2,}%/

/** A template's address: one plain address, or tokens that become one (`email/` looks at those). */
export const addressOrToken = (): Of<TString> => ({
  schema: Type.String({ maxLength: 254, examples: ['%CLIENT_EMAILADDRESS%'] }),
  sqlType: 'text',
  faults: (value) =>
    complain(
      typeof value !== 'string'
        ? 'must be a string'
        : value !== '' &&
            parseAddress(value) === undefined &&
            !TOKEN.test(value) &&
            'must be one plain address or a token',
    ),
})
