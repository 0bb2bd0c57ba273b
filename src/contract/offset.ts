import { isMissing, type Found, type Reading } from './body.ts'

/** Added in this order: months on the calendar, then hours, then minutes. All are signed. */
export type Offset = { triggerMonths: number; triggerHours: number; triggerMinutes: number }

const MINUTES_A_MONTH = (365.25 / 12) * 24 * 60
const MAX_MINUTES = 10 * 12 * MINUTES_A_MONTH

/** The length of an offset with months of average length. It decides the sign and the limit. */
export const nominalMinutes = ({ triggerMonths, triggerHours, triggerMinutes }: Offset) =>
  triggerMonths * MINUTES_A_MONTH + triggerHours * 60 + triggerMinutes

/** Checks each part too: two huge parts of opposite sign could cancel each other out. */
export function isTooLong({ triggerMonths, triggerHours, triggerMinutes }: Offset) {
  const none = { triggerMonths: 0, triggerHours: 0, triggerMinutes: 0 }
  const lengths = [
    { ...none, triggerMonths },
    { ...none, triggerHours },
    { ...none, triggerMinutes },
    { triggerMonths, triggerHours, triggerMinutes },
  ]
  return lengths.some((length) => Math.abs(nominalMinutes(length)) > MAX_MINUTES)
}
export const TOO_LONG = 'the offset must be at most 10 years'

/** Reads the offset from the plain fields or from the units. In an update, absent parts stay unchanged. */
export function readOffset(
  reading: Reading,
  find: (name: string) => Found,
  { isNew }: { isNew: boolean },
): { [Part in keyof Offset]?: number | undefined } {
  const read = (name: string): Part => {
    const found = find(name)
    return { ...found, value: reading.integer(found), isPresent: !isMissing(found.value) }
  }
  const parts: Parts = {
    hours: read('triggerHours'),
    minutes: read('triggerMinutes'),
    months: read('triggerMonths'),
    weeks: read('triggerWeeks'),
    days: read('triggerDays'),
    hoursValue: read('triggerHoursValue'),
    minutesValue: read('triggerMinutesValue'),
  }
  const { hours, minutes, months } = parts
  const when = reading.oneOf(reading.inside(find('triggerWhen'), 'value'), ['before', 'after'])

  if (isNew && !unitsOf(parts).some((unit) => unit.isPresent)) {
    for (const name of ['triggerHours', 'triggerMinutes']) {
      reading.require(find(name), `send ${name}: 0 to fire at the time of the event`)
    }
  }
  if (when) return readUnsignedOffset(reading, parts, when)

  const triggerMonths = months.value === null ? 0 : months.value
  const offset = {
    triggerMonths: triggerMonths ?? 0,
    triggerHours: hours.value ?? 0,
    triggerMinutes: minutes.value ?? 0,
  }
  limit(reading, offset, [hours, minutes, months])
  return {
    triggerHours: hours.value ?? undefined,
    triggerMinutes: minutes.value ?? undefined,
    triggerMonths,
  }
}

type Part = Found & { value: number | null | undefined; isPresent: boolean }
type Parts = Record<
  'hours' | 'minutes' | 'months' | 'weeks' | 'days' | 'hoursValue' | 'minutesValue',
  Part
>

const unitsOf = ({ months, weeks, days, hoursValue, minutesValue }: Parts) => [
  months,
  weeks,
  days,
  hoursValue,
  minutesValue,
]

/** With `triggerWhen` the units are not negative; `before` and `after` give the sign. */
function readUnsignedOffset(reading: Reading, parts: Parts, when: 'before' | 'after') {
  const { hours, minutes, months, weeks, days, hoursValue, minutesValue } = parts
  const units = unitsOf(parts)
  if (![hours, minutes, ...units].some((part) => part.isPresent)) return {}

  for (const { value, pointer } of units) {
    if (value && value < 0) reading.fault(pointer, 'must not be negative together with triggerWhen')
  }
  const sign = when === 'before' ? -1 : 1
  for (const { value, pointer } of [hours, minutes]) {
    if (value && Math.sign(value) !== sign) {
      const wrong = sign < 0 ? 'positive' : 'negative'
      reading.fault(pointer, `must not be ${wrong}: triggerWhen is ${when}`)
    }
  }
  const plain = {
    triggerMonths: 0,
    triggerHours: hours.value ?? 0,
    triggerMinutes: minutes.value ?? 0,
  }
  if (plain.triggerHours !== 0 || plain.triggerMinutes !== 0) {
    limit(reading, plain, [hours, minutes])
    return plain
  }
  const signed = (amount: number) => (amount === 0 ? 0 : sign * amount)
  const offset = {
    triggerMonths: signed(months.value ?? 0),
    triggerHours: signed(
      (weeks.value ?? 0) * 168 + (days.value ?? 0) * 24 + (hoursValue.value ?? 0),
    ),
    triggerMinutes: signed(minutesValue.value ?? 0),
  }
  limit(reading, offset, units)
  return offset
}

function limit(reading: Reading, offset: Offset, parts: Part[]) {
  if (!isTooLong(offset)) return
  const longest = parts.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]!
  reading.fault(longest.pointer, TOO_LONG)
}

/** The length in minutes. */
function lengthOf({ value, pointer }: Part) {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1).replace('Value', '')
  return Math.abs(value ?? 0) * (UNITS[name] ?? 1)
}

const UNITS: Record<string, number> = {
  triggerMonths: MINUTES_A_MONTH,
  triggerWeeks: 7 * 1440,
  triggerDays: 1440,
  triggerHours: 60,
}
