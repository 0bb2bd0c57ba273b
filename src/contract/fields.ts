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
import { inWords, withRule, type RuleFault } from './rules.ts'
import {
  Named,
  about,
  Day,
  Id,
  MAX_TIME,
  MIN_TIME,
  Moment,
  MOMENT_UNIT,
  readDay,
  ServerOwned,
} from './schema.ts'
import { textFault, type Lines } from './text.ts'

/**
 * One property of an object: its schema, which also holds its checks, and its column. To add a property, declare it in
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
    Object.entries(fields).map(([property, field]) => [
      property,
      field.isServerOwned
        ? ServerOwned
        : Type.Optional(field.required ? requiredSchema(field) : orNull(field.schema)),
    ]),
  ) as BodyProperties<F>

/** A reference may be given by the `externalId` of its object instead. */
function requiredSchema({ schema, refersTo }: Field): TSchema {
  const { description } = schema as { description?: string }
  return refersTo || !description ? schema : about(schema, `${description} Required to create one.`)
}

type BodyProperties<F> = {
  [P in keyof F]: F[P] extends { required: true; schema: infer S extends TSchema }
    ? TOptional<S>
    : F[P] extends { schema: infer S extends TSchema }
      ? TOptional<TUnion<[S, TNull]>>
      : never
}

/** The properties of an answer. One that has no initial value may be null. */
export const answerProperties = <F extends Record<string, Field>>(fields: F) =>
  Object.fromEntries(
    Object.entries(fields).map(([property, { schema, required: isRequired, initially }]) => [
      property,
      isRequired || initially !== null ? schema : orNull(schema),
    ]),
  ) as AnswerProperties<F>

type AnswerProperties<F> = {
  [P in keyof F]: F[P] extends { schema: infer S extends TSchema }
    ? F[P] extends { required: true } | { initially: {} }
      ? S
      : TUnion<[S, TNull]>
    : never
}

/** The values of the properties that a new object need not have. */
export const initialValues = <F extends Record<string, Field>>(fields: F) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { required: isRequired }]) => !isRequired)
      .map(([property, { initially }]) => [property, initially]),
  ) as { [P in keyof F as F[P] extends { required: true } ? never : P]: FieldValue<F[P]> }

export const orNull = (schema: TSchema) => {
  const { description } = schema as { description?: string }
  return Type.Union([schema, Type.Null()], description ? { description } : {})
}

/** The schema of a value, with a description. */
export const schemaOf = <S extends TSchema>(
  { schema }: Of<S>,
  description?: string,
  example?: unknown,
): S => {
  if (description === undefined) return schema
  const { description: unit } = schema as { description?: string }
  return about(schema, unit ? `${description} ${unit}` : description, example)
}

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

const faultIf = (detail: string | false | undefined, at?: string): RuleFault[] =>
  detail ? [at === undefined ? { detail } : { at, detail }] : []

/** Text of a length, without control characters. */
export const Text = (
  options: { minLength?: number; maxLength: number; examples?: string[]; description?: string },
  lines: Lines = 'one',
) => withRule(Type.String(options), (value) => faultIf(textFault(value, options.maxLength, lines)))

/** Text with a condition that is said in words. */
const TextThat = (
  options: { format?: string; pattern?: string; maxLength?: number; examples?: string[] },
  isRight: (value: string) => boolean,
  detail: string,
) =>
  withRule(Type.String(options), (value) =>
    faultIf(typeof value !== 'string' ? 'must be a string' : !isRight(value) && detail),
  )

const ofText = (schema: TString): Of<TString> => ({ schema, sqlType: 'text' })

/** A single line, which may be empty. */
export const line = (max = 300) => ofText(Text({ maxLength: max }))

/** A single line that is not blank. */
export const name = (max = 300) =>
  ofText(
    withRule(Type.String({ minLength: 1, maxLength: max }), (value) =>
      faultIf(
        textFault(value, max) ?? (String(value).trim() === '' ? 'must not be empty' : undefined),
      ),
    ),
  )

/** Text that may have several lines. */
export const text = (max = 20_000) => ofText(Text({ maxLength: max }, 'many'))

const Address = TextThat(
  { format: 'idn-email', maxLength: 254 },
  (value) => parseAddress(value) !== undefined,
  'must be one plain address, local@domain',
)

export const address = () => ofText(Address)

type ListOf<S extends TSchema> = Of<TArray<S>> & { initially: [] }

const listOf = <S extends TSchema>(items: S, maxItems: number, sqlType: string): ListOf<S> => ({
  schema: Type.Array(items, { maxItems }),
  sqlType,
  initially: [],
})

export const addresses = (max: number) => listOf(Address, max, 'text[]')

/** Domains of email addresses. */
export const domains = (max = 100) =>
  listOf(
    TextThat(
      { maxLength: 253, examples: ['clinic.example'] },
      (value) => parseDomain(value) !== undefined,
      'must be a domain name, such as clinic.example',
    ),
    max,
    'text[]',
  )

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

export const timeZone = () =>
  ofText(
    TextThat(
      { examples: ['Europe/Zurich'] },
      isTimeZone,
      'must be an IANA time zone, such as Europe/Zurich',
    ),
  )

export const oneOf = <const T extends string>(
  choices: readonly T[],
  title: string,
): Of<TEnum<T[]>> => ({ schema: Type.Enum([...choices], { title }), sqlType: 'text' })

/** An id of 32 lower-case letters and digits. */
export const Uuid = (of: string) =>
  inWords(
    Type.String({ pattern: '^[a-z0-9]{32}$' }),
    `must be the ${of}: 32 lower-case letters and digits`,
  )

/** The id of a file of the library. */
export const fileUUId = () => ofText(Uuid('fileUUId of a file'))

/** A time of day, HH:MM. */
export const TimeOfDay = (options: {
  description?: string
  examples: string[]
  default?: string
}) =>
  inWords(
    Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', ...options }),
    'must be a time from 00:00 to 23:59, HH:MM',
  )

/** A span of the day, which may include midnight. */
export const quietHours = (): Of<TObject<{ from: TString; to: TString }>> => ({
  schema: withRule(
    Named('QuietHoursBody', {
      from: TimeOfDay({ description: 'When quiet hours begin.', examples: ['21:00'] }),
      to: TimeOfDay({
        description: 'When they end; on the next day if it is earlier than `from`.',
        examples: ['08:00'],
      }),
    }),
    (value) =>
      faultIf(
        isPlainObject(value) &&
          value.from !== undefined &&
          value.from === value.to &&
          'from and to must differ; null means no quiet hours',
      ),
  ),
  sqlType: 'jsonb',
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

export const language = () =>
  ofText(
    TextThat(
      { pattern: LANGUAGE_TAG.source, examples: ['de-CH'] },
      isLanguageTag,
      'must be a language tag (BCP 47), such as de-CH',
    ),
  )

export const url = () =>
  ofText(
    withRule(Type.String({ format: 'uri', maxLength: 2_000 }), (value) => {
      const fault = textFault(value, 2_000)
      if (fault) return faultIf(fault)
      const parsed = URL.parse(String(value))
      return faultIf(
        !(parsed && /^https?:$/.test(parsed.protocol)) && 'must be an http or https URL',
      )
    }),
  )

/** A colour as six hexadecimal digits. */
export const color = () =>
  ofText(
    inWords(
      Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', examples: ['#2f5d50'] }),
      'must be a colour, such as #2f5d50',
    ),
  )

export const integer = (minimum: number, maximum: number): Of<TInteger> => ({
  schema: Type.Integer({ minimum, maximum }),
  sqlType: 'bigint',
})

/** An amount of money. */
export const amount = (): Of<TNumber> => ({
  schema: withRule(Type.Number({ minimum: 0, maximum: 9_999_999_999 }), (value) =>
    faultIf(
      typeof value === 'number' &&
        Math.abs(value) <= 9_999_999_999 &&
        !hasAtMostDecimals(value, MAX_DECIMALS) &&
        'must have at most four decimals',
    ),
  ),
  sqlType: 'numeric',
})

/** No currency has more digits. */
export const MAX_DECIMALS = 4

/** Ignores the rounding errors of binary fractions: 0.1 + 0.2 has one decimal. */
export const hasAtMostDecimals = (value: number, decimals: number) =>
  Math.abs(value - Number(value.toFixed(decimals))) <= 1e-8

export const currency = () =>
  ofText(
    inWords(
      Type.String({ pattern: '^[A-Z]{3}$', examples: ['CHF'] }),
      'must be a currency code of three capital letters, such as CHF',
    ),
  )

export const boolean = <I extends boolean | null>(
  initially: I,
): Of<TBoolean> & { initially: I } => ({ schema: Type.Boolean(), sqlType: 'boolean', initially })

const isInRange = (ms: number) => ms >= MIN_TIME && ms <= MAX_TIME

/** Most times out of range are in another unit, so the fault names it. */
function timeFault(given: unknown) {
  if (typeof given !== 'number' || !Number.isSafeInteger(given))
    return 'must be an integer of milliseconds, such as 1789000000000'
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
  schema: withRule(
    Type.Integer({
      minimum: MIN_TIME,
      maximum: MAX_TIME,
      description: 'Milliseconds since 1970-01-01 00:00 UTC.',
    }),
    (value) => faultIf(timeFault(value)),
  ),
  sqlType: 'timestamptz',
  instant: true,
})

/** The id of another object of the business. */
export const reference = (refersTo: string): Of<TInteger> & { refersTo: string } => ({
  schema: Id,
  sqlType: 'bigint',
  refersTo,
})

/** The UUID of an invitation of the business. */
export const invitationReference = (): Of<TString> & { refersTo: string } => ({
  ...ofText(Uuid('UUID of an invitation')),
  refersTo: 'invitation',
})

/** The feed that mirrors an object. */
export const mirroringFeed = (): Of<TInteger> & { isServerOwned: true } => ({
  schema: Id,
  sqlType: 'bigint',
  isServerOwned: true,
})

/** Ids of other objects of the business, without duplicates. */
export const references = (
  refersTo: string,
  max = 5_000,
): Of<TArray<TInteger>> & { refersTo: string; initially: number[] } => ({
  ...listOf(Id, max, 'bigint[]'),
  refersTo,
})

export const lines = (max = 200): Of<TArray<TString>> & { initially: string[] } =>
  listOf(Text({ maxLength: 300 }), max, 'text[]')

/** Tags: an object of arrays of strings. */
export const tags = (): Of<TRecord<string, TArray<TString>>> & { initially: {} } => ({
  schema: withRule(
    Type.Record(Type.String(), Type.Array(Type.String()), {
      title: 'Tags',
      examples: [{ membership: ['gold'] }],
    }),
    (value) => {
      if (!isPlainObject(value)) return faultIf('must be an object of arrays of strings')
      const entries = Object.entries(value)
      if (entries.length > 100) return faultIf('must hold at most 100 tags')
      return entries.flatMap(([tag, values]) => tagFaults(tag, values))
    },
  ),
  sqlType: 'jsonb',
  initially: {},
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
export const attendance = () => {
  const { schema, ...shape } = listOf(
    Type.Object(
      { clientId: Id, present: about(Type.Boolean(), 'Whether the student was present.', true) },
      { title: 'Attendance', additionalProperties: false },
    ),
    5_000,
    'jsonb',
  )
  return {
    ...shape,
    schema: withRule(schema, repeatedStudents),
    itemsReferTo: { property: 'clientId', refersTo: 'client' },
  }
}

/** The last answer of each student by a link; the student who answered last is at the end. */
export const classAnswers = () =>
  ({ ...listOf(ClassAnswer, 5_000, 'jsonb'), isServerOwned: true }) as const

const ClassAnswer = Type.Object(
  {
    clientId: Id,
    answer: Type.Enum(['CONFIRMED', 'CANCELLED', 'RETURNED'], {
      title: 'StudentAnswer',
      description: 'RETURNED takes a cancellation back.',
    }),
    time: about(Moment, `When the student answered. ${MOMENT_UNIT}`, 1_799_000_000_000),
    note: Type.Union([Text({ maxLength: 1_000 }), Type.Null()], {
      description: 'Why the student cancelled: `%ANSWER_NOTE%` in an email to staff.',
      examples: ['I have a cold.'],
    }),
  },
  { title: 'ClassAnswer', additionalProperties: false },
)
export type ClassAnswer = Static<typeof ClassAnswer>

function repeatedStudents(list: unknown): RuleFault[] {
  const ids = Array.isArray(list) ? list.map((entry) => isPlainObject(entry) && entry.clientId) : []
  const seen = new Set()
  return ids.flatMap((id, i) => {
    const isRepeated = seen.has(id)
    seen.add(id)
    return faultIf(isRepeated && isId(id) && 'must be there once', `/${i}/clientId`)
  })
}

const DAY_TIME = '^([01]\\d|2[0-3]):[0-5]\\d$|^24:00$'

const DayTime = (options: { description?: string; examples?: string[] } = {}) =>
  inWords(Type.String({ pattern: DAY_TIME, ...options }), 'must be a time, HH:MM')

const OF_LOCATION = Type.Optional(
  Type.Union([Id, Type.Null()], { description: 'One of `locationIdList`. Absent: any of them.' }),
)

const isTime = (value: unknown) => typeof value === 'string' && new RegExp(DAY_TIME).test(value)

/** The end is after the start. Times as text have the order of times. */
const isAfter = ({ from, to }: Record<string, unknown>) =>
  faultIf(isTime(from) && isTime(to) && String(to) <= String(from) && 'must be after from', '/to')

const WorkingHours = withRule(
  Type.Object(
    {
      weekday: about(Type.Enum([...WEEKDAYS], { title: 'Weekday' }), 'The day of the week.'),
      from: about(DayTime({ examples: ['09:00'] }), 'The start, as HH:MM.'),
      to: about(DayTime({ examples: ['17:30'] }), 'The end, as HH:MM.'),
      locationId: OF_LOCATION,
    },
    { title: 'WorkingHours', additionalProperties: false },
  ),
  (value) => (isPlainObject(value) ? isAfter(value) : []),
)

const OF_LOCATIONS = { itemsReferTo: { property: 'locationId', refersTo: 'location' } }

/** The working hours of a member of staff, in the time zone of the location. */
export const workingHours = () => ({ ...listOf(WorkingHours, 100, 'jsonb'), ...OF_LOCATIONS })

const WorkingException = withRule(
  Type.Object(
    {
      startDate: Day({ description: 'The first day.', examples: ['2026-12-24'] }),
      endDate: Type.Optional(
        Type.Union([Day(), Type.Null()], {
          description: 'The last day. Default: the first one.',
          examples: ['2026-12-26'],
        }),
      ),
      from: Type.Optional(
        Type.Union([DayTime(), Type.Null()], {
          description: 'The start of special hours. Absent: a day off.',
          examples: ['09:00'],
        }),
      ),
      to: Type.Optional(
        Type.Union([DayTime(), Type.Null()], {
          description: 'The end of special hours.',
          examples: ['12:00'],
        }),
      ),
      locationId: OF_LOCATION,
    },
    { title: 'WorkingException', additionalProperties: false },
  ),
  exceptionFaults,
)

/** Special hours have a start and an end, and the days are in order. */
function exceptionFaults(value: unknown): RuleFault[] {
  if (!isPlainObject(value)) return []
  const { startDate, endDate, from, to } = value
  const isOneSided = (from ?? null) === null ? (to ?? null) !== null : (to ?? null) === null
  return [
    ...faultIf(
      readDay(startDate) !== undefined &&
        readDay(endDate) !== undefined &&
        String(endDate) < String(startDate) &&
        'must not be before startDate',
      '/endDate',
    ),
    ...faultIf(isOneSided && 'must be a time, HH:MM', (from ?? null) === null ? '/from' : '/to'),
    ...isAfter(value),
  ]
}

/** Days off and special hours of a member of staff, which replace the working hours of these days. */
export const workingExceptions = () => ({
  ...listOf(WorkingException, 1_000, 'jsonb'),
  ...OF_LOCATIONS,
})

/** The status of an object. */
export const status = (initially: string): Of<TString> & { initially: string } => ({
  ...ofText(Text({ minLength: 1, maxLength: 60, examples: [initially] })),
  initially,
})

const TOKEN = /%[A-Z][A-Z0-9_]{2,}[%|]|%IF:/

/** An address in a template: one plain address, or tokens, which `email/` checks. */
export const addressOrToken = () =>
  ofText(
    TextThat(
      { maxLength: 254, examples: ['%CLIENT_EMAILADDRESS%'] },
      (value) => value === '' || parseAddress(value) !== undefined || TOKEN.test(value),
      'must be one plain address or a token',
    ),
  )
