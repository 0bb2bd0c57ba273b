import type { Property } from './content-lines.ts'

/** An event that cannot be read, though the others of its file can. */
export class HeldEvent extends Error {
  readonly code: HeldCode

  constructor(code: HeldCode, reason: string) {
    super(reason)
    this.code = code
  }
}

export type HeldCode = 'unknown-zone' | 'unsupported-rule' | 'bad-event'

export const badEvent = (reason: string) => new HeldEvent('bad-event', reason)

/** A DATE, or a DATE-TIME in its zone. A date is the midnight of the zone for floating times. */
export type CalendarTime = { local: Temporal.PlainDateTime; zone: string; isDate: boolean }

/** Gives the zone of a TZID; undefined: floating. Throws `unknown-zone`. */
export type ZoneOf = (tzid: string | undefined) => string

export const timeOf = ({ parameters, value }: Property, zoneOf: ZoneOf) =>
  parseTime(value, parameters.get('TZID'), zoneOf)

export function parseTime(value: string, tzid: string | undefined, zoneOf: ZoneOf): CalendarTime {
  const { local, isUtc, isDate } = parseLocal(value)
  if (isUtc) return { local, zone: 'UTC', isDate }
  return { local, zone: zoneOf(isDate ? undefined : tzid), isDate }
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?$/i

/** A time without its zone. */
export function parseLocal(value: string) {
  const [, year, month, day, hour = '0', minute = '0', second = '0', utc] =
    TIME.exec(value.trim()) ?? []
  const numbers = [year, month, day, hour, minute, second].map(Number)
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = numbers
  try {
    // A leap second is the last one of its minute.
    const local = new Temporal.PlainDateTime(y, mo, d, h, mi, Math.min(s, 59))
    return { local, isUtc: utc !== undefined, isDate: !/T/i.test(value) }
  } catch {
    throw badEvent(`It has a date or time that does not exist: ${value.slice(0, 40)}.`)
  }
}

/** A time that the clock skips counts with the offset before the gap, a repeated one is the first (3.3.5). */
export const instantOf = ({ local, zone }: CalendarTime) => local.toZonedDateTime(zone).toInstant()

export const msOf = (time: CalendarTime) => instantOf(time).epochMilliseconds

const DURATION =
  /^([+-])?P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?$/i

export function parseDuration(value: string) {
  const [whole, sign, weeks, days, hours, minutes, seconds] = DURATION.exec(value.trim()) ?? []
  if (whole === undefined || sign === '-') {
    throw badEvent(`It has a duration that cannot be read: ${value.slice(0, 40)}.`)
  }
  const [w = 0, d = 0, h = 0, m = 0, s = 0] = [weeks, days, hours, minutes, seconds].map((number) =>
    Number(number ?? 0),
  )
  return Temporal.Duration.from({ weeks: w, days: d, hours: h, minutes: m, seconds: s })
}
