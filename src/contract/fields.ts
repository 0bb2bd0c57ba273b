import {
  Type,
  type Static,
  type TArray,
  type TBoolean,
  type TEnum,
  type TInteger,
  type TNull,
  type TNumber,
  type TObject,
  type TOptional,
  type TRecord,
  type TSchema,
  type TString,
  type TUnion,
} from 'typebox'
import { parseAddress, parseDomain } from './addresses.ts'
import { escapePointer, isId, isPlainObject } from './json.ts'
import { withRule, type Rule, type RuleFault } from './rules.ts'
import { about, MAX_TIME, MIN_TIME, NOT_A_DAY, readDay, ServerOwned } from './schema.ts'
import { textFault } from './text.ts'

/**
 * One property of an object: its schema, its checks and its column. To add a property, declare it in
 * objects.ts and add the column in a migration.
 */
export type Field = {
  schema: TSchema
  column: string
  sqlType: string
  required: boolean
  /** The value of an absent or cleared property. Default: null. */
  initially: unknown
  /** The kind of object whose id, or ids, this property holds. */
  refersTo?: string
  /** The property of each item that holds the id of another object. */
  itemsReferTo?: { property: string; refersTo: string }
  /** The kind of object whose id this text can be. */
  textRefersTo?: string
  /** The rule of the schema. */
  faults: Rule
  /** A time: milliseconds in JSON, a Temporal.Instant in our code. */
  instant: boolean
  /** Only the service sets it: ignored in a body, and not exported. */
  isServerOwned?: boolean
}

type Shape = Omit<Field, 'column' | 'required' | 'initially' | 'instant'> &
  Partial<Pick<Field, 'initially' | 'instant'>>

/** The shape of values of this schema, so that the types of objects follow from their fields. */
export type Of<S extends TSchema> = Shape & { schema: S }

/** The value that a field has in an answer. */
export type FieldValue<F> = F extends { schema: infer S extends TSchema }
  ? F extends { required: true } | { initially: {} }
    ? Static<S>
    : Static<S> | null
  : never

/** The properties of a body. A required one may be absent from an update; any other one may be null. */
export const bodyProperties = <F extends Record<string, Field>>(fields: F) =>
  Object.fromEntries(
    Object.entries(fields).map(([property, { schema, required: isRequired, isServerOwned }]) => [
      property,
      isServerOwned ? ServerOwned : Type.Optional(isRequired ? schema : orNull(schema)),
    ]),
  ) as BodyProperties<F>

type BodyProperties<F> = {
  [P in keyof F]: F[P] extends { required: true; schema: infer S extends TSchema }
    ? TOptional<S>
    : F[P] extends { schema: infer S extends TSchema }
      ? TOptional<TUnion<[S, TNull]>>
      : never
}

export const orNull = (schema: TSchema) => {
  const { description } = schema as { description?: string }
  return Type.Union([schema, Type.Null()], description ? { description } : {})
}

/** The schema of a value, with its rule. */
export const schemaOf = <S extends TSchema>(shape: Of<S>, text?: string, example?: unknown): S =>
  withRule(text === undefined ? shape.schema : describe(shape.schema, text, example), shape.faults)

/** A property that may be absent or null. */
export const optional = <S extends Shape>(
  shape: S,
  text?: string,
  example?: unknown,
): S & Field & { required: false } => ({
  initially: null,
  instant: false,
  ...shape,
  schema: schemaOf(shape, text, example),
  column: '',
  required: false,
})

/** A property that every object must have. */
export const required = <S extends Shape>(
  shape: S,
  text?: string,
  example?: unknown,
): S & Field & { required: true } => ({
  ...optional(shape, text, example),
  required: true,
})

const describe = <S extends TSchema>(schema: S, description: string, example: unknown): S => {
  const { description: unit } = schema as { description?: string }
  return about(schema, unit ? `${description} ${unit}` : description, example)
}

const faultIf = (detail: string | false | undefined, at?: string): RuleFault[] =>
  detail ? [at === undefined ? { detail } : { at, detail }] : []

/** A single line, which may be empty. */
export const line = (max = 300): Of<TString> => ({
  schema: Type.String({ maxLength: max }),
  sqlType: 'text',
  faults: (value) => faultIf(textFault(value, max)),
})

/** A single line that is not blank. */
export const name = (max = 300): Of<TString> => ({
  schema: Type.String({ minLength: 1, maxLength: max }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      textFault(value, max) ?? (String(value).trim() === '' ? 'must not be empty' : undefined),
    ),
})

/** Text that may have several lines. */
export const text = (max = 20_000): Of<TString> => ({
  schema: Type.String({ maxLength: max }),
  sqlType: 'text',
  faults: (value) => faultIf(textFault(value, max, 'many')),
})

export const address = (): Of<TString> => ({
  schema: Type.String({ format: 'idn-email', maxLength: 254 }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      typeof value !== 'string'
        ? 'must be a string'
        : parseAddress(value) === undefined && 'must be one plain address, local@domain',
    ),
})

/** Domains of email addresses. */
export const domains = (max = 100): Of<TArray<TString>> & { initially: string[] } => ({
  schema: Type.Array(Type.String({ maxLength: 253, examples: ['clinic.example'] }), {
    maxItems: max,
  }),
  sqlType: 'text[]',
  initially: [],
  faults: (value) => {
    if (!Array.isArray(value)) return faultIf('must be a list of domain names')
    if (value.length > max) return faultIf(`must hold at most ${max} domain names`)
    return value.flatMap((entry, i) =>
      faultIf(
        (typeof entry !== 'string' || parseDomain(entry) === undefined) &&
          'must be a domain name, such as clinic.example',
        `/${i}`,
      ),
    )
  },
})

/** Whether it is an IANA time zone, not an offset. */
export function isTimeZone(value: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{1,63}$/.test(value) || ICU_ONLY.test(value)) return false
  try {
    return Intl.DateTimeFormat('en', { timeZone: value }) !== undefined
  } catch {
    return false
  }
}

/**
 * Names that JavaScript accepts in addition to those of IANA. PostgreSQL does not know them or gives them
 * another meaning: IST is in India, Ireland or Israel.
 */
const ICU_ONLY =
  /^(?!(CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$)[a-z]{3}$|^SystemV\/|^US\/Pacific-New$|^Canada\/East-Saskatchewan$/i

export const timeZone = (): Of<TString> => ({
  schema: Type.String({ examples: ['Europe/Zurich'] }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      typeof value !== 'string'
        ? 'must be a string'
        : !isTimeZone(value) && 'must be an IANA time zone, such as Europe/Zurich',
    ),
})

export const oneOf = <const T extends string>(
  choices: readonly T[],
  title: string,
): Of<TEnum<T[]>> => ({
  schema: Type.Enum([...choices], { title }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(!choices.some((choice) => choice === value) && `must be one of ${choices.join(', ')}`),
})

/** The id of a file of the library. */
export const fileUUId = (): Of<TString> => ({
  schema: Type.String({ pattern: '^[a-z0-9]{32}$' }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      !(typeof value === 'string' && /^[a-z0-9]{32}$/.test(value)) &&
        'must be the fileUUId of a file: 32 lower-case letters and digits',
    ),
})

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/

/** A span of the day, which may include midnight. */
export const quietHours = (): Of<TObject<{ from: TString; to: TString }>> => ({
  schema: Type.Object(
    {
      from: Type.String({
        pattern: TIME_OF_DAY.source,
        description: 'When quiet hours begin.',
        examples: ['21:00'],
      }),
      to: Type.String({
        pattern: TIME_OF_DAY.source,
        description: 'When they end; on the next day if it is earlier than `from`.',
        examples: ['08:00'],
      }),
    },
    { title: 'QuietHoursBody' },
  ),
  sqlType: 'jsonb',
  faults: (value) => {
    if (!isPlainObject(value)) return faultIf('must be an object with from and to, or null')
    const ofTimes = (['from', 'to'] as const).flatMap((key) => {
      const time = value[key]
      const isTime = typeof time === 'string' && TIME_OF_DAY.test(time)
      return faultIf(!isTime && 'must be a time of day, such as 21:00', `/${key}`)
    })
    if (ofTimes.length > 0) return ofTimes
    return faultIf(value.from === value.to && 'from and to must differ; null means no quiet hours')
  },
})

const LANGUAGE_TAG = /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,3}$/

/** Also with `_` instead of `-`. A language has 2 or 3 letters: longer words such as German are names. */
export function isLanguageTag(value: string) {
  if (!LANGUAGE_TAG.test(value) || !/^[A-Za-z]{2,3}(?![A-Za-z])/.test(value)) return false
  try {
    return Intl.getCanonicalLocales(value.replaceAll('_', '-')).length === 1
  } catch {
    return false
  }
}

export const language = (): Of<TString> => ({
  schema: Type.String({ pattern: LANGUAGE_TAG.source, examples: ['de-CH'] }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      typeof value !== 'string'
        ? 'must be a string'
        : !isLanguageTag(value) && 'must be a language tag (BCP 47), such as de-CH',
    ),
})

export const url = (): Of<TString> => ({
  schema: Type.String({ format: 'uri', maxLength: 2_000 }),
  sqlType: 'text',
  faults: (value) => {
    const fault = textFault(value, 2_000)
    if (fault) return faultIf(fault)
    const parsed = URL.parse(String(value))
    return faultIf(!(parsed && /^https?:$/.test(parsed.protocol)) && 'must be an http or https URL')
  },
})

/** A colour as six hexadecimal digits. */
export const color = (): Of<TString> => ({
  schema: Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', examples: ['#2f5d50'] }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      !(typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)) &&
        'must be a colour, such as #2f5d50',
    ),
})

export const integer = (min: number, max: number): Of<TInteger> => ({
  schema: Type.Integer({ minimum: min, maximum: max }),
  sqlType: 'bigint',
  faults: (value) =>
    faultIf(
      !Number.isSafeInteger(value)
        ? 'must be an integer'
        : ((value as number) < min || (value as number) > max) &&
            `must be between ${min} and ${max}`,
    ),
})

/** An amount of money. */
export const amount = (): Of<TNumber> => ({
  schema: Type.Number({ minimum: 0, maximum: 9_999_999_999 }),
  sqlType: 'numeric',
  faults: (value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return faultIf('must be a number')
    if (value < 0 || value > 9_999_999_999) return faultIf('must be between 0 and 9999999999')
    return faultIf(!hasAtMostDecimals(value, MAX_DECIMALS) && 'must have at most four decimals')
  },
})

/** No currency has more digits. */
export const MAX_DECIMALS = 4

/** Ignores the rounding errors of binary fractions: 0.1 + 0.2 has one decimal. */
export const hasAtMostDecimals = (value: number, decimals: number) =>
  Math.abs(value - Number(value.toFixed(decimals))) <= 1e-8

export const currency = (): Of<TString> => ({
  schema: Type.String({ pattern: '^[A-Z]{3}$', examples: ['CHF'] }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      !(typeof value === 'string' && /^[A-Z]{3}$/.test(value)) &&
        'must be a currency code of three capital letters, such as CHF',
    ),
})

export const boolean = <I extends boolean | null>(
  initially: I,
): Of<TBoolean> & { initially: I } => ({
  schema: Type.Boolean(),
  sqlType: 'boolean',
  initially,
  faults: (value) => faultIf(typeof value !== 'boolean' && 'must be true or false'),
})

const isInRange = (ms: number) => ms >= MIN_TIME && ms <= MAX_TIME

/** Most times out of range are in another unit, so the fault names it. */
function timeFault(value: unknown) {
  if (!Number.isSafeInteger(value))
    return 'must be an integer of milliseconds, such as 1789000000000'
  const given = value as number
  if (isInRange(given)) return undefined
  const [unit, ms] = isInRange(given * 1000)
    ? ['seconds', given * 1000]
    : ['microseconds', Math.round(given / 1000)]
  if (!isInRange(ms)) {
    return 'must be a time from 2000 to 2200, in milliseconds since 1970-01-01 UTC'
  }
  const day = new Date(ms).toISOString().slice(0, 10)
  return `must be in milliseconds: ${given} looks like ${unit}, ${ms} is ${day}`
}

/** A time in milliseconds. The range catches times in seconds, which would all be in January 1970. */
export const instant = (): Of<TInteger> => ({
  schema: Type.Integer({
    minimum: MIN_TIME,
    maximum: MAX_TIME,
    description: 'Milliseconds since 1970-01-01 00:00 UTC.',
  }),
  sqlType: 'timestamptz',
  instant: true,
  faults: (value) => faultIf(timeFault(value)),
})

/** The id of another object of the business. */
export const reference = (refersTo: string): Of<TInteger> & { refersTo: string } => ({
  schema: Type.Integer({ minimum: 1 }),
  sqlType: 'bigint',
  refersTo,
  faults: (value) => faultIf(!isId(value) && 'must be an id: an integer above 0'),
})

/** The UUID of an invitation of the business. */
export const invitationReference = (): Of<TString> & { refersTo: string } => ({
  schema: Type.String({ pattern: '^[a-z0-9]{32}$' }),
  sqlType: 'text',
  refersTo: 'invitation',
  faults: (value) =>
    faultIf(
      !(typeof value === 'string' && /^[a-z0-9]{32}$/.test(value)) &&
        'must be an invitationUUID: 32 lower-case letters and digits',
    ),
})

/** The feed that mirrors an object. */
export const mirroringFeed = (): Of<TInteger> & { isServerOwned: true } => ({
  schema: Type.Integer({ minimum: 1 }),
  sqlType: 'bigint',
  isServerOwned: true,
  faults: (value) => faultIf(!isId(value) && 'must be an id: an integer above 0'),
})

/** Ids of other objects of the business, without duplicates. */
export const references = (
  refersTo: string,
  max = 5_000,
): Of<TArray<TInteger>> & { refersTo: string; initially: number[] } => ({
  schema: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: max }),
  sqlType: 'bigint[]',
  refersTo,
  initially: [],
  faults: (value) => {
    if (!Array.isArray(value)) return faultIf('must be a list of ids')
    if (value.length > max) return faultIf(`must hold at most ${max} ids`)
    return value.flatMap((id, i) =>
      faultIf(!isId(id) && 'must be an id: an integer above 0', `/${i}`),
    )
  },
})

export const lines = (max = 200): Of<TArray<TString>> & { initially: string[] } => ({
  schema: Type.Array(Type.String({ maxLength: 300 }), { maxItems: max }),
  sqlType: 'text[]',
  initially: [],
  faults: (value) => {
    if (!Array.isArray(value)) return faultIf('must be a list of strings')
    if (value.length > max) return faultIf(`must hold at most ${max} strings`)
    return value.flatMap((entry, i) => faultIf(textFault(entry, 300), `/${i}`))
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
    if (!isPlainObject(value)) return faultIf('must be an object of arrays of strings')
    const entries = Object.entries(value)
    if (entries.length > 100) return faultIf('must hold at most 100 tags')
    return entries.flatMap(([tag, values]) => tagFaults(tag, values))
  },
})

function tagFaults(tag: string, values: unknown): RuleFault[] {
  const at = `/${escapePointer(tag)}`
  if (tag === '' || textFault(tag, 100))
    return faultIf('must have a name of 1 to 100 characters on one line', at)
  if (!Array.isArray(values)) return faultIf('must be an array of strings', at)
  if (values.length > 100) return faultIf('must hold at most 100 values', at)
  return values.flatMap((value, i) => faultIf(textFault(value, 300), `${at}/${i}`))
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

/** Who was present at a class. */
export const attendance = (
  max = 5_000,
): Of<TArray<TObject<{ clientId: TInteger; present: TBoolean }>>> & {
  initially: []
  itemsReferTo: { property: string; refersTo: string }
} => ({
  schema: Type.Array(
    Type.Object(
      {
        clientId: Type.Integer({ minimum: 1 }),
        present: about(Type.Boolean(), 'Whether the student was present.', true),
      },
      { title: 'Attendance', additionalProperties: false },
    ),
    { maxItems: max },
  ),
  sqlType: 'jsonb',
  initially: [],
  itemsReferTo: { property: 'clientId', refersTo: 'client' },
  faults: (value) => {
    if (!Array.isArray(value)) return faultIf('must be a list of { clientId, present }')
    if (value.length > max) return faultIf(`must hold at most ${max} entries`)
    const seen = new Set<unknown>()
    return value.flatMap((entry, i) => {
      if (!isPlainObject(entry)) return faultIf('must be { clientId, present }', `/${i}`)
      const isRepeated = seen.has(entry.clientId)
      seen.add(entry.clientId)
      return [
        ...faultIf(!isId(entry.clientId) && 'must be an id: an integer above 0', `/${i}/clientId`),
        ...faultIf(isRepeated && 'must be there once', `/${i}/clientId`),
        ...faultIf(typeof entry.present !== 'boolean' && 'must be true or false', `/${i}/present`),
      ]
    })
  },
})

const DAY_TIME = /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/

/** The working hours of a member of staff, in the time zone of the location. */
export const workingHours = (): Of<
  TArray<
    TObject<{
      weekday: TEnum<[...typeof WEEKDAYS]>
      from: TString
      to: TString
      locationId: TOptional<TUnion<[TInteger, TNull]>>
    }>
  >
> & { initially: []; itemsReferTo: { property: string; refersTo: string } } => ({
  schema: Type.Array(
    Type.Object(
      {
        weekday: about(Type.Enum([...WEEKDAYS], { title: 'Weekday' }), 'The day of the week.'),
        from: about(
          Type.String({ pattern: DAY_TIME.source, examples: ['09:00'] }),
          'The start, as HH:MM.',
        ),
        to: about(
          Type.String({ pattern: DAY_TIME.source, examples: ['17:30'] }),
          'The end, as HH:MM.',
        ),
        locationId: OF_LOCATION,
      },
      { title: 'WorkingHours', additionalProperties: false },
    ),
    { maxItems: 100 },
  ),
  sqlType: 'jsonb',
  initially: [],
  itemsReferTo: { property: 'locationId', refersTo: 'location' },
  faults: (value) => {
    if (!Array.isArray(value)) return faultIf('must be a list of { weekday, from, to }')
    if (value.length > 100) return faultIf('must hold at most 100 entries')
    return value.flatMap((entry, i) => hoursFaults(entry, `/${i}`))
  },
})

function hoursFaults(entry: unknown, at: string): RuleFault[] {
  if (!isPlainObject(entry)) return faultIf('must be { weekday, from, to }', at)
  const { weekday, from, to } = entry
  return [
    ...faultIf(
      !WEEKDAYS.some((known) => known === weekday) && `must be one of ${WEEKDAYS.join(', ')}`,
      `${at}/weekday`,
    ),
    ...spanFaults(from, to, at),
    ...locationFaults(entry, at),
  ]
}

const isTime = (time: unknown) => typeof time === 'string' && DAY_TIME.test(time)

const spanFaults = (from: unknown, to: unknown, at: string): RuleFault[] => [
  ...faultIf(!isTime(from) && 'must be a time, HH:MM', `${at}/from`),
  ...faultIf(!isTime(to) && 'must be a time, HH:MM', `${at}/to`),
  ...faultIf(
    isTime(from) && isTime(to) && String(to) <= String(from) && 'must be after from',
    `${at}/to`,
  ),
]

const locationFaults = ({ locationId }: Record<string, unknown>, at: string): RuleFault[] =>
  faultIf(
    locationId !== undefined &&
      locationId !== null &&
      !isId(locationId) &&
      'must be an id: an integer above 0',
    `${at}/locationId`,
  )

const OF_LOCATION = Type.Optional(
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: 'One of `locationIdList`. Absent: any of them.',
  }),
)

/** Days off and special hours of a member of staff, which replace the working hours of these days. */
export const workingExceptions = (
  max = 1_000,
): Of<TArray<typeof WorkingException>> & {
  initially: []
  itemsReferTo: { property: string; refersTo: string }
} => ({
  schema: Type.Array(WorkingException, { maxItems: max }),
  sqlType: 'jsonb',
  initially: [],
  itemsReferTo: { property: 'locationId', refersTo: 'location' },
  faults: (value) => {
    if (!Array.isArray(value)) return faultIf('must be a list of { startDate, endDate, from, to }')
    if (value.length > max) return faultIf(`must hold at most ${max} entries`)
    return value.flatMap((entry, i) => exceptionFaults(entry, `/${i}`))
  },
})

const WorkingException = Type.Object(
  {
    startDate: Type.String({
      format: 'date',
      description: 'The first day.',
      examples: ['2026-12-24'],
    }),
    endDate: Type.Optional(
      Type.Union([Type.String({ format: 'date' }), Type.Null()], {
        description: 'The last day. Default: the first one.',
        examples: ['2026-12-26'],
      }),
    ),
    from: Type.Optional(
      Type.Union([Type.String({ pattern: DAY_TIME.source }), Type.Null()], {
        description: 'The start of special hours. Absent: a day off.',
        examples: ['09:00'],
      }),
    ),
    to: Type.Optional(
      Type.Union([Type.String({ pattern: DAY_TIME.source }), Type.Null()], {
        description: 'The end of special hours.',
        examples: ['12:00'],
      }),
    ),
    locationId: OF_LOCATION,
  },
  { title: 'WorkingException', additionalProperties: false },
)

function exceptionFaults(entry: unknown, at: string): RuleFault[] {
  if (!isPlainObject(entry)) return faultIf('must be { startDate, endDate, from, to }', at)
  const { startDate, endDate, from, to } = entry
  const isOneDay = (endDate ?? null) === null
  const isOff = (from ?? null) === null && (to ?? null) === null
  return [
    ...faultIf(!isDate(startDate) && NOT_A_DAY, `${at}/startDate`),
    ...faultIf(!isOneDay && !isDate(endDate) && NOT_A_DAY, `${at}/endDate`),
    ...faultIf(
      isDate(startDate) &&
        isDate(endDate) &&
        String(endDate) < String(startDate) &&
        'must not be before startDate',
      `${at}/endDate`,
    ),
    ...(isOff ? [] : spanFaults(from, to, at)),
    ...locationFaults(entry, at),
  ]
}

const isDate = (value: unknown) => readDay(value) !== undefined

/** The status of an object. */
export const status = (initially: string): Of<TString> & { initially: string } => ({
  schema: Type.String({ minLength: 1, maxLength: 60, examples: [initially] }),
  sqlType: 'text',
  initially,
  faults: (value) =>
    faultIf(textFault(value, 60) ?? (value === '' ? 'must not be empty' : undefined)),
})

const TOKEN = /%[A-Z][A-Z0-9_]{2,}[%|]|%IF:/

/** An address in a template: one plain address, or tokens, which `email/` checks. */
export const addressOrToken = (): Of<TString> => ({
  schema: Type.String({ maxLength: 254, examples: ['%CLIENT_EMAILADDRESS%'] }),
  sqlType: 'text',
  faults: (value) =>
    faultIf(
      typeof value !== 'string'
        ? 'must be a string'
        : value !== '' &&
            parseAddress(value) === undefined &&
            !TOKEN.test(value) &&
            'must be one plain address or a token',
    ),
})
