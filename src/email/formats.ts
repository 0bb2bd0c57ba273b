import { RecentlyUsed } from '../recently-used.ts'
import { cityIn, fillText, textsFor } from '../texts/texts.ts'

const MAX_CACHED = 500
const made = new RecentlyUsed<string, Formats>(MAX_CACHED)

const RIGHT_TO_LEFT = new Set([
  'Arab',
  'Hebr',
  'Syrc',
  'Thaa',
  'Nkoo',
  'Adlm',
  'Rohg',
  'Mand',
  'Samr',
])

/** Formats times, durations and prices for one reader. */
export type Formats = {
  language: string
  timeZone: string
  date(moment: Temporal.Instant): string
  time(moment: Temporal.Instant): string
  dateTime(moment: Temporal.Instant): string
  timeRange(start: Temporal.Instant, end: Temporal.Instant): string
  /** Such as “London time”: people know the clock of a place, not the name of its zone. */
  zoneName(moment: Temporal.Instant): string
  /** The difference from UTC at that moment. */
  offsetMs(moment: Temporal.Instant): number
  minutes(count: number): string
  price(amount: number, currency: string | null): string
}

/** The first known language and the first zone. Cached, because creating formatters is slow. */
export function formatsFor(
  languages: (string | null | undefined)[],
  timeZones: (string | null | undefined)[],
): Formats {
  const language = firstLanguage(languages)
  const timeZone = timeZones.find((zone) => zone && isTimeZone(zone)) ?? 'UTC'
  return made.getOrMake(`${language} ${timeZone}`, () => makeFormats(language, timeZone))
}

/**
 * The language with the region of the first candidate in the same language, and English else with that
 * of the place: dates in an English mail of a clinic in Europe are written as in Britain.
 */
export function withRegion(
  language: string,
  candidates: (string | null | undefined)[],
  timeZoneOfPlace: string | null,
): string {
  if (language.includes('-')) return language
  for (const candidate of candidates) {
    const known = knownLanguage(candidate)
    if (known?.startsWith(`${language}-`)) return known
  }
  const [continent] = timeZoneOfPlace?.split('/') ?? []
  return (language === 'en' && continent && ENGLISH_OF[continent]) || language
}

/** On other continents English is written in several ways, and `en` as in the United States. */
const ENGLISH_OF: Record<string, string> = { Africa: 'en-GB', Australia: 'en-AU', Europe: 'en-GB' }

/** `rtl` for languages that are written from right to left. */
export const directionOf = remembered((language: string): 'ltr' | 'rtl' => {
  const { script } = new Intl.Locale(language).maximize()
  return RIGHT_TO_LEFT.has(script ?? '') ? 'rtl' : 'ltr'
})

/** The tag of a language as `Intl` spells it; undefined if `Intl` does not know it. */
export const knownLanguage = (text: string | null | undefined) =>
  (text && spelledLanguage(text)) || undefined

/** Empty if `Intl` does not know the language. */
const spelledLanguage = remembered((text: string) => {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(text.replaceAll('_', '-'))[0] ?? ''
  } catch {
    return ''
  }
})

const isTimeZone = remembered((zone: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }))
  } catch {
    return false
  }
})

/** Caches the last few hundred results of a slow function. */
function remembered<T>(answer: (text: string) => T) {
  const known = new RecentlyUsed<string, T>(MAX_CACHED)
  return (text: string) => known.getOrMake(text, () => answer(text))
}

function firstLanguage(languages: (string | null | undefined)[]) {
  for (const language of languages) {
    const known = knownLanguage(language)
    if (known) return known
  }
  return 'en'
}

function makeFormats(language: string, timeZone: string): Formats {
  const dateFormat = new Intl.DateTimeFormat(language, { timeZone, dateStyle: 'full' })
  const timeFormat = new Intl.DateTimeFormat(language, { timeZone, timeStyle: 'short' })
  const bothFormat = new Intl.DateTimeFormat(language, {
    timeZone,
    dateStyle: 'full',
    timeStyle: 'short',
  })
  const zoneFormat = new Intl.DateTimeFormat(language, { timeZone, timeZoneName: 'long' })
  const minuteFormat = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'minute',
    unitDisplay: 'long',
  })
  const prices = new Map<string, Intl.NumberFormat>()
  const polish = /^fr\b/.test(language) ? asInFrench : undefined
  const cityTime = cityTimeOf(language, timeZone)
  const longZoneName = (ms: number) =>
    zoneFormat.formatToParts(ms).find((part) => part.type === 'timeZoneName')?.value ?? timeZone

  return {
    language,
    timeZone,
    date: writer(dateFormat, polish),
    time: writer(timeFormat),
    dateTime: writer(bothFormat, polish),
    timeRange: rangeWriter(timeFormat),
    zoneName: cityTime === null ? lastRemembered(longZoneName) : () => cityTime,
    offsetMs: lastRemembered(
      (ms) =>
        Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).offsetNanoseconds /
        1_000_000,
    ),
    minutes: (count) => minuteFormat.format(count),
    price: (amount, currency) => {
      const key = currency ?? ''
      let format = prices.get(key)
      if (!format) prices.set(key, (format = priceFormat(language, currency)))
      return format.format(amount).replaceAll('\u202f', '\u00a0')
    },
  }
}

/** The time of the city that a zone is named after; null for a zone such as `UTC`. */
function cityTimeOf(language: string, timeZone: string) {
  const [, name] = CITY_ZONE.exec(timeZone) ?? []
  if (name === undefined) return null
  return fillText(textsFor(language).mail.cityTime, { city: cityIn(language, name) })
}

const CITY_ZONE =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)\/(?:\w+\/)?([\w-]+)$/

/** `Intl` writes “mardi, 1 décembre” for Switzerland; in a sentence it is “mardi 1er décembre”. */
const asInFrench = (date: string) =>
  date.replace(/^(\p{L}+), /u, '$1 ').replace(/^(\p{L}+ 1)(?= )/u, '$1er')

/** Remembers texts by minute, because the mails of a batch contain few different times. */
function writer(format: Intl.DateTimeFormat, polish = (text: string) => text) {
  const known = new RecentlyUsed<number, string>(MAX_TIMES)
  return ({ epochMilliseconds: ms }: Temporal.Instant) => {
    // A narrow space before "PM" shows as a box in older mail programs.
    const write = () => polish(format.format(ms).replaceAll('\u202f', ' '))
    return ms < WHOLE_MINUTES_SINCE_MS ? write() : known.getOrMake(Math.floor(ms / 60_000), write)
  }
}

/** Caches the last result of a slow function of a moment. */
function lastRemembered<T>(answer: (ms: number) => T) {
  let last: { ms: number; value: T } | undefined
  return ({ epochMilliseconds: ms }: Temporal.Instant): T => {
    if (last?.ms !== ms) last = { ms, value: answer(ms) }
    return last.value
  }
}

/** Remembers ranges of the same day by their minutes, as above. */
function rangeWriter(format: Intl.DateTimeFormat) {
  const known = new RecentlyUsed<number, string>(MAX_TIMES)
  return (
    { epochMilliseconds: start }: Temporal.Instant,
    { epochMilliseconds: end }: Temporal.Instant,
  ) => {
    const write = () =>
      format.formatRange(start, Math.max(start, end)).replace(/[\u2009\u202f]/g, ' ')
    const first = Math.floor(start / 60_000)
    const minutes = Math.floor(end / 60_000) - first
    const isKept = start >= WHOLE_MINUTES_SINCE_MS && minutes >= 0 && minutes < DAY_MINUTES
    return isKept ? known.getOrMake(first * DAY_MINUTES + minutes, write) : write()
  }
}

const DAY_MINUTES = 24 * 60
/** For each format: all of them together take a few megabytes. */
const MAX_TIMES = 100

/** 1973: the last offset from UTC with seconds ended in 1972. */
const WHOLE_MINUTES_SINCE_MS = 94_694_400_000

function priceFormat(language: string, currency: string | null) {
  try {
    if (currency) return new Intl.NumberFormat(language, { style: 'currency', currency })
  } catch {
    // The currency is unknown to `Intl`: show the number only.
  }
  return new Intl.NumberFormat(language, { minimumFractionDigits: 2 })
}
