import { isMissing, type Found, type Reading } from './body.ts'

/** Months are counted on the calendar first, then signed hours and signed minutes. */
export type Offset = { triggerMonths: number; triggerHours: number; triggerMinutes: number }

const MINUTES_A_MONTH = (365.25 / 12) * 24 * 60
const MAX_MINUTES = 10 * 12 * MINUTES_A_MONTH

/** How long an offset is with months of the average length: what its sign and its limit go by. */
export const nominalMinutes = ({ triggerMonths, triggerHours, triggerMinutes }: Offset) =>
  triggerMonths * MINUTES_A_MONTH + triggerHours * 60 + triggerMinutes

/** Each part by itself too, so that no two absurd ones make up for each other. */
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

/**
 * The offset that the plain fields or the units of the write form make. In an update, what the body
 * does not say stays as it is.
 */
export function readOffset(
  reading: Reading,
  find: (name: string) => Found,
  { isNew }: { isNew: boolean },
): { [Part in keyof Offset]?: number | undefined } {
  const read = (name: string) => {
    const found = find(name)
    return { ...found, value: reading.integer(found), present: !isMissing(found.value) }
  }
  const hours = read('triggerHours')
  const minutes = read('triggerMinutes')
  const months = read('triggerMonths')
  const weeks = read('triggerWeeks')
  const days = read('triggerDays')
  const hoursValue = read('triggerHoursValue')
  const minutesValue = read('triggerMinutesValue')
  const units = [months, weeks, days, hoursValue, minutesValue]
  const when = reading.oneOf(reading.inside(find('triggerWhen'), 'value'), ['before', 'after'])

  if (isNew && !units.some((unit) => unit.present)) {
    for (const name of ['triggerHours', 'triggerMinutes']) {
      reading.require(find(name), `send ${name}: 0 if it fires at the event itself`)
    }
  }
  const plain = { triggerHours: hours.value ?? 0, triggerMinutes: minutes.value ?? 0 }
  const signedMonths = months.value === null ? 0 : months.value

  if (!when) {
    limit(reading, { ...plain, triggerMonths: signedMonths ?? 0 }, [hours, minutes, months])
    return {
      triggerHours: hours.value ?? undefined,
      triggerMinutes: minutes.value ?? undefined,
      triggerMonths: signedMonths,
    }
  }
  if (![hours, minutes, ...units].some((part) => part.present)) return {}

  for (const { value, pointer } of units) {
    if (value && value < 0) reading.fault(pointer, 'must not be negative beside triggerWhen')
  }
  const sign = when === 'before' ? -1 : 1
  for (const { value, pointer } of [hours, minutes]) {
    if (value && Math.sign(value) !== sign) {
      reading.fault(
        pointer,
        `must not be ${sign < 0 ? 'positive' : 'negative'}: triggerWhen says ${when}`,
      )
    }
  }
  if (plain.triggerHours !== 0 || plain.triggerMinutes !== 0) {
    limit(reading, { ...plain, triggerMonths: 0 }, [hours, minutes])
    return { ...plain, triggerMonths: 0 }
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

function limit(
  reading: Reading,
  offset: Offset,
  parts: { value: number | null | undefined; pointer: string }[],
) {
  if (!isTooLong(offset)) return
  const longest = parts.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]!
  reading.fault(longest.pointer, TOO_LONG)
}

/** In minutes, by the unit that its name says. */
function lengthOf({ value, pointer }: { value: number | null | undefined; pointer: string }) {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1).replace('Value', '')
  return Math.abs(value ?? 0) * (UNITS[name] ?? 1)
}

const UNITS: Record<string, number> = {
  triggerMonths: MINUTES_A_MONTH,
  triggerWeeks: 7 * 1440,
  triggerDays: 1440,
  triggerHours: 60,
}
