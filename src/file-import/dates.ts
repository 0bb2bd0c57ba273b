import { plainText } from '../matching/plain.ts'

/** Whether 03/04/2026 is 3 April or 4 March. */
export type DateOrder = 'dmy' | 'mdy'

/** What a text says about a moment: a date, a time of day, both, or an instant. */
export type When = {
  instant?: Temporal.Instant
  date?: Temporal.PlainDate
  time?: Temporal.PlainTime
  /** If the text is a range of times, such as 09:00 – 09:30. */
  endTime?: Temporal.PlainTime
}

const MONTHS = [
  'jan janv january januar janvier janner',
  'feb fev fevr february februar fevrier feber',
  'mar mars march marz mrz',
  'apr avr april avril',
  'may mai',
  'jun june juni juin',
  'jul juil july juli juillet',
  'aug aout august',
  'sep sept september septembre',
  'oct okt october oktober octobre',
  'nov november novembre',
  'dec dez december dezember decembre',
]
const MONTH_OF = new Map(
  MONTHS.flatMap((names, i) => names.split(' ').map((name) => [name, i + 1] as const)),
)

const WEEKDAY =
  /^(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|mo|di|mi|do|fr|sa|so|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|lun|mar|mer|jeu|ven|sam|dim|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|(?:mon|tues|wednes|thurs|fri|satur|sun)day)[.,]{0,2} (?=\d|\p{L})/iu

/** Longer texts are not dates. */
const MAX_LENGTH = 80

/** Reads a date, a time of day or both; undefined if the text is something else. */
export function readWhen(given: string, order: DateOrder): When | undefined {
  if (given.length > MAX_LENGTH) return undefined
  const text = given.replace(/[\s\u00a0\u202f]+/g, ' ').trim()
  if (/^-?\d{9,15}$/.test(text)) {
    return { instant: Temporal.Instant.fromEpochMilliseconds(Number(text)) }
  }
  if (SERIAL.test(text)) return readSerial(Number(text.replace(',', '.')))
  const bare = text.replace(WEEKDAY, '')
  const found = takeDate(bare, order)
  if (found === 'invalid') return undefined
  const rest = (found ? bare.slice(found.length) : bare).replace(
    /^ ?(?:T|,|\||@|-|–|at\b|um\b|à|a\b)? ?/i,
    '',
  )
  if (found && rest === '') return { date: found.date }
  return withTimes(found?.date, rest)
}

/** A date, a time of day or both as a spreadsheet counts them, if their cells are not formatted. */
const SERIAL = /^(?:[34567]\d{4}(?:[.,]\d{1,15})?|0?[.,]\d{1,17})$/

function readSerial(days: number): When {
  const minutes = Math.round(days * 1_440)
  const time = Temporal.PlainTime.from('00:00').add({ minutes: minutes % 1_440 })
  if (days < 1) return { time }
  const date = Temporal.PlainDate.from('1899-12-30').add({ days: Math.floor(minutes / 1_440) })
  return Number.isInteger(days) ? { date } : { date, time }
}

/** Which order a text proves: `either` if it can be read in both, undefined if it is not such a date. */
export function provenOrder(text: string): DateOrder | 'either' | undefined {
  const match = NUMERIC.exec(text.trim().replace(WEEKDAY, ''))
  if (!match || match[2] === '.') return undefined
  const [first, second] = [Number(match[1]), Number(match[3])]
  if (first > 12) return 'dmy'
  if (second > 12) return 'mdy'
  return first === second ? undefined : 'either'
}

const ISO = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?!\d)/
const NUMERIC = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/
const DAY_FIRST =
  /^(\d{1,2})(?:\.|st|nd|rd|th|er)?[ -](?!uhr)([\p{L}]{3,10})\.?[ ,-]{1,2}(\d{4}|\d{2})(?!\d)/iu
const MONTH_FIRST = /^([\p{L}]{3,10})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?!\d)/iu

type Dated = { date: Temporal.PlainDate; length: number }

function takeDate(text: string, order: DateOrder): Dated | 'invalid' | undefined {
  let match = ISO.exec(text)
  if (match) return dated(match, match[1]!, match[3]!, match[4]!)
  match = COMPACT.exec(text)
  if (match) return dated(match, match[1]!, match[2]!, match[3]!)
  match = NUMERIC.exec(text)
  if (match) {
    const isDayFirst = match[2] === '.' || order === 'dmy'
    const [day, month] = isDayFirst ? [match[1]!, match[3]!] : [match[3]!, match[1]!]
    return dated(match, match[4]!, month, day)
  }
  match = DAY_FIRST.exec(text)
  if (match) return dated(match, match[3]!, MONTH_OF.get(plainText(match[2]!)), match[1]!)
  match = MONTH_FIRST.exec(text)
  return match ? dated(match, match[3]!, MONTH_OF.get(plainText(match[1]!)), match[2]!) : undefined
}

function dated(
  [all]: RegExpExecArray,
  year: string,
  month: string | number | undefined,
  day: string,
): Dated | 'invalid' {
  const fields = {
    year: year.length === 2 ? 2000 + Number(year) : Number(year),
    month: Number(month ?? 0),
    day: Number(day),
  }
  if (!isDate(fields)) return 'invalid'
  return { date: Temporal.PlainDate.from(fields), length: all.length }
}

const isDate = ({ year, month, day }: { year: number; month: number; day: number }) =>
  month >= 1 &&
  month <= 12 &&
  day >= 1 &&
  day <= new Temporal.PlainYearMonth(year, month).daysInMonth

const TIME =
  /^(\d{1,2})(?:([:.]| ?h ?| uhr )(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?)? ?(h(?!\p{L})|uhr|[ap]\.?(?:m\.?)?(?!\p{L}))?/iu

function withTimes(date: Temporal.PlainDate | undefined, text: string): When | undefined {
  const first = takeTime(text)
  if (!first) return undefined
  const rest = text.slice(first.length)
  if (rest === '') return when(date, first)
  const zone = /^ ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})$/i.exec(rest)
  if (zone && date) return { instant: instantOf(date, timeOf(first)!, zone[1]!) }
  const range = /^ ?(?:-|–|—|to|bis|à|until) ?/i.exec(rest)
  const second = range && takeTime(rest.slice(range[0].length))
  if (!second || range[0].length + second.length !== rest.length) return undefined
  return when(date, first, second)
}

type TimeParts = { hour: number; minute: number; second: number; half: string; length: number }

/** A number alone is not a time: it needs minutes, a word or a half of the day. */
function takeTime(text: string): TimeParts | undefined {
  const match = TIME.exec(text)
  if (!match || (match[3] === undefined && match[5] === undefined)) return undefined
  const half = /^[ap]/i.test(match[5] ?? '') ? match[5]![0]!.toLowerCase() : ''
  const parts = {
    hour: Number(match[1]),
    minute: Number(match[3] ?? 0),
    second: Number(match[4] ?? 0),
    half,
    length: match[0].length,
  }
  return timeOf(parts) ? parts : undefined
}

function timeOf({ hour, minute, second, half }: TimeParts): Temporal.PlainTime | undefined {
  if (half !== '' && (hour < 1 || hour > 12)) return undefined
  const whole = half === '' ? hour : (hour % 12) + (half === 'p' ? 12 : 0)
  if (whole > 23 || minute > 59 || second > 59) return undefined
  return new Temporal.PlainTime(whole, minute, second)
}

/** `9:00 – 9:30 am`: the half of the day counts for both times. */
function when(date: Temporal.PlainDate | undefined, first: TimeParts, second?: TimeParts): When {
  const endTime = second && timeOf(second)
  const isHalfShared = second?.half && first.half === '' && first.hour <= 12 && first.hour > 0
  const shared = isHalfShared ? timeOf({ ...first, half: second.half }) : undefined
  const time =
    shared && endTime && Temporal.PlainTime.compare(shared, endTime) < 0 ? shared : timeOf(first)!
  return { ...(date && { date }), time, ...(endTime && { endTime }) }
}

function instantOf(date: Temporal.PlainDate, time: Temporal.PlainTime, zone: string) {
  const offset = /^[+-]/.test(zone) ? zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2') : 'Z'
  return Temporal.Instant.from(`${date.toString()}T${time.toString()}${offset}`)
}

const HOURS = 'h|hr|hrs|hour|hours|std|stunde|stunden|heure|heures'
const MINUTES = 'm|min|mins|mn|minute|minuten|minutes'
const DURATION = new RegExp(
  `^(?:(\\d{1,3}(?:[.,]\\d{1,2})?) ?(?:${HOURS})\\.?)? ?(?:(\\d{1,5}) ?(?:${MINUTES})?\\.?)?$`,
  'i',
)

/** Minutes of `45`, `45 min`, `1 h 30`, `1:30` or `01:30:00`. */
export function readDuration(given: string): number | undefined {
  if (given.length > MAX_LENGTH) return undefined
  const text = given.replace(/[\s\u00a0\u202f]+/g, ' ').trim()
  const clock = /^(\d{1,3}):(\d{2})(?::\d{2})?$/.exec(text)
  if (clock) return positive(Number(clock[1]) * 60 + Number(clock[2]))
  const match = DURATION.exec(text.replace(/ (?:and|und|et) /i, ' '))
  if (!match || (match[1] === undefined && match[2] === undefined)) return undefined
  const hours = Number((match[1] ?? '0').replace(',', '.'))
  return positive(Math.round(hours * 60) + Number(match[2] ?? 0))
}

/** Minutes of `1.5` or `0,75` hours, or of a duration with units. */
export function readHours(given: string): number | undefined {
  const text = given.trim()
  if (!/^\d{1,2}(?:[.,]\d{1,4})?$/.test(text)) return readDuration(given)
  return positive(Math.round(Number(text.replace(',', '.')) * 60))
}

const positive = (minutes: number) => (minutes > 0 ? minutes : undefined)
