/** Encodes the values of a statement. pg would send an Instant as quoted JSON. */
export const toParameters = (values: readonly unknown[]) => values.map(toParameter)

function toParameter(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Temporal.Instant) return timeText(value)
  if (value instanceof Temporal.PlainDate) return value.toString()
  return Array.isArray(value) ? arrayText(value.map(toParameter)) : value
}

/** The text format of an array. pg escapes every element twice, which costs a tenth of a booking. */
function arrayText(values: unknown[]): unknown {
  const elements: string[] = []
  for (const value of values) {
    if (value === null || value === undefined) elements.push('NULL')
    else if (typeof value === 'number' || typeof value === 'boolean') elements.push(String(value))
    else if (typeof value === 'string') elements.push(`"${escapeText(value)}"`)
    else return values
  }
  return `{${elements.join(',')}}`
}

const escapeText = (text: string) => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text)

/** `Date` writes a time faster than Temporal, but only whole milliseconds. */
function timeText(time: Temporal.Instant) {
  const ms = time.epochMilliseconds
  const isExact = ms >= 0 && ms <= MAX_DATE_MS && time.epochNanoseconds % 1_000_000n === 0n
  return isExact ? new Date(ms).toISOString() : time.toString()
}

/** The end of the year 9999: later years have more digits. */
const MAX_DATE_MS = 253_402_300_799_999
