const made = new Map<string, Formats>()
const MOST_KEPT = 500

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

/** How moments, lengths and prices are written for one reader. */
export type Formats = {
  language: string
  timeZone: string
  date(moment: Temporal.Instant): string
  time(moment: Temporal.Instant): string
  dateTime(moment: Temporal.Instant): string
  zoneName(moment: Temporal.Instant): string
  minutes(count: number): string
  price(amount: number, currency: string | null): string
}

/** The first language that is known, and the first zone. Kept: making formatters is slow. */
export function formatsFor(
  languages: (string | null | undefined)[],
  timeZones: (string | null | undefined)[],
): Formats {
  const language = firstLanguage(languages)
  const timeZone = timeZones.find((zone) => zone && isTimeZone(zone)) ?? 'UTC'
  const key = `${language} ${timeZone}`
  let formats = made.get(key)
  if (!formats) {
    if (made.size >= MOST_KEPT) made.clear()
    made.set(key, (formats = makeFormats(language, timeZone)))
  }
  return formats
}

/** `rtl` for the languages whose script runs from right to left. */
export const directionOf = remembered((language: string): 'ltr' | 'rtl' => {
  const { script } = new Intl.Locale(language).maximize()
  return RIGHT_TO_LEFT.has(script ?? '') ? 'rtl' : 'ltr'
})

/** The tag of a language as `Intl` spells it, or undefined where it knows no such language. */
export const knownLanguage = (text: string | null | undefined) =>
  text ? spelledLanguage(text) : undefined

const spelledLanguage = remembered((text: string): string | undefined => {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(text.replaceAll('_', '-'))[0]
  } catch {
    return undefined
  }
})

const isTimeZone = remembered((zone: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }))
  } catch {
    return false
  }
})

/** The answers of a slow question, the last few hundred of them. */
function remembered<T>(answer: (text: string) => T) {
  const known = new Map<string, T>()
  return (text: string): T => {
    const found = known.get(text)
    if (found !== undefined || known.has(text)) return found as T
    if (known.size >= MOST_KEPT) known.clear()
    const value = answer(text)
    known.set(text, value)
    return value
  }
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

  return {
    language,
    timeZone,
    date: writer(dateFormat),
    time: writer(timeFormat),
    dateTime: writer(bothFormat),
    zoneName: (moment) =>
      zoneFormat
        .formatToParts(moment.epochMilliseconds)
        .find((part) => part.type === 'timeZoneName')?.value ?? timeZone,
    minutes: (count) => minuteFormat.format(count),
    price: (amount, currency) => {
      const key = currency ?? ''
      let format = prices.get(key)
      if (!format) prices.set(key, (format = priceFormat(language, currency)))
      return format.format(amount).replaceAll('\u202f', '\u00a0')
    },
  }
}

/**
 * Mails that are made together speak of few moments, and of each minute only: the last one is
 * remembered. Clocks were off by seconds in the past.
 */
function writer(format: Intl.DateTimeFormat) {
  let [lastMinute, lastText] = [NaN, '']
  return (moment: Temporal.Instant) => {
    const ms = moment.epochMilliseconds
    const minute = Math.floor(ms / 60_000)
    if (minute === lastMinute) return lastText
    // A narrow space before "PM" shows as a box in older mail programs.
    const text = format.format(ms).replaceAll('\u202f', ' ')
    if (ms >= WHOLE_MINUTES_SINCE_MS) [lastMinute, lastText] = [minute, text]
    return text
  }
}

/** 1973: the last clock that was off by seconds was set right a year before. */
const WHOLE_MINUTES_SINCE_MS = 94_694_400_000

function priceFormat(language: string, currency: string | null) {
  try {
    if (currency) return new Intl.NumberFormat(language, { style: 'currency', currency })
  } catch {
    // Not a currency: the bare number then.
  }
  return new Intl.NumberFormat(language, { minimumFractionDigits: 2 })
}
