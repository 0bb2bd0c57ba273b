import { isMissing, type Find, type Found, type Reading } from './body.ts'

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

/** What a body says about the offset. `pointer` is where faults of the whole offset are reported. */
export type GivenOffset = {
  /** All of it, nothing, or no months (`triggerMonths: null`). */
  offset: Partial<Offset>
  pointer: string
  /** Only `triggerWhen` is given: it must suit the stored offset. */
  direction?: Direction
}
export type Direction = 'before' | 'after'

/**
 * Reads the offset from the plain fields (`triggerHours`, `triggerMinutes`), from the units, or from both
 * if they say the same. An offset in any form replaces the whole offset.
 */
export function readOffset(
  reading: Reading,
  find: Find,
  { isNew }: { isNew: boolean },
): GivenOffset {
  const parts = readParts(reading, find)
  const when = find('triggerWhen', 'value')
  const direction = reading.oneOf(when, ['before', 'after'])
  const { pointer } = longestOf(parts)
  if (isNew) requireOffset(reading, parts)
  if (!Object.values(parts).some(isGiven)) {
    const offset = parts.triggerMonths.value === null ? { triggerMonths: 0 } : {}
    return direction ? { offset, pointer: when.pointer, direction } : { offset, pointer }
  }
  if (!direction) {
    if (isMissing(when.value)) requireDirection(reading, parts)
    return { offset: signedOffset(parts), pointer }
  }
  refuseContradictingSigns(reading, parts, direction)
  const plain = withSign(direction, { triggerMonths: 0, ...plainOffset(parts) })
  const units = withSign(direction, unitOffset(parts))
  if (nominalMinutes(units) === 0) return { offset: plain, pointer }
  refuseTwoReadings(reading, parts, plain, units)
  return { offset: units, pointer }
}

export const contradicts = (direction: Direction, offset: Offset) =>
  direction === 'before' ? nominalMinutes(offset) > 0 : nominalMinutes(offset) < 0

const PLAIN = ['triggerHours', 'triggerMinutes'] as const
const UNITS = [
  'triggerMonths',
  'triggerWeeks',
  'triggerDays',
  'triggerHoursValue',
  'triggerMinutesValue',
] as const
type Name = (typeof PLAIN)[number] | (typeof UNITS)[number]

const MINUTES: Record<Name, number> = {
  triggerMonths: MINUTES_A_MONTH,
  triggerWeeks: 7 * 1440,
  triggerDays: 1440,
  triggerHours: 60,
  triggerHoursValue: 60,
  triggerMinutes: 1,
  triggerMinutesValue: 1,
}

/** `amount` is 0 if the body has no such integer. */
type Part = Found & { name: Name; amount: number }
type Parts = Record<Name, Part>

function readParts(reading: Reading, find: Find): Parts {
  const parts = [...PLAIN, ...UNITS].map((name): [Name, Part] => {
    const found = find(name)
    return [name, { ...found, name, amount: reading.integer(found) ?? 0 }]
  })
  return Object.fromEntries(parts) as Parts
}

const isGiven = ({ value }: Part) => !isMissing(value)

/** A fault of the whole offset is reported at its longest part. */
const longestOf = (parts: Parts) =>
  Object.values(parts).reduce((a, b) =>
    Math.abs(b.amount) * MINUTES[b.name] > Math.abs(a.amount) * MINUTES[a.name] ? b : a,
  )

function requireOffset(reading: Reading, parts: Parts) {
  if (UNITS.some((name) => isGiven(parts[name]))) return
  for (const name of PLAIN) {
    reading.require(parts[name], `send ${name}: 0 to fire at the time of the event`)
  }
}

function requireDirection(reading: Reading, parts: Parts) {
  for (const name of UNITS) {
    if (name === 'triggerMonths' || parts[name].amount === 0) continue
    reading.fault(parts[name].pointer, 'needs triggerWhen: { "value": "before" } or "after"')
  }
}

/** Without `triggerWhen` months are one more plain field, as in answers. */
const signedOffset = (parts: Parts): Offset => ({
  ...plainOffset(parts),
  triggerMonths: parts.triggerMonths.amount,
})

const plainOffset = ({ triggerHours, triggerMinutes }: Parts) => ({
  triggerHours: triggerHours.amount,
  triggerMinutes: triggerMinutes.amount,
})

const unitOffset = (parts: Parts): Offset => ({
  triggerMonths: parts.triggerMonths.amount,
  triggerHours:
    parts.triggerWeeks.amount * 168 +
    parts.triggerDays.amount * 24 +
    parts.triggerHoursValue.amount,
  triggerMinutes: parts.triggerMinutesValue.amount,
})

function refuseContradictingSigns(reading: Reading, parts: Parts, direction: Direction) {
  for (const name of UNITS) {
    const { amount, pointer } = parts[name]
    if (amount < 0) reading.fault(pointer, 'must not be negative together with triggerWhen')
  }
  if (direction === 'before') return
  for (const name of PLAIN) {
    const { amount, pointer } = parts[name]
    if (amount < 0) reading.fault(pointer, 'must not be negative: triggerWhen is after')
  }
}

function withSign(direction: Direction, offset: Offset): Offset {
  const signed = (amount: number) => (direction === 'before' ? 0 - Math.abs(amount) : amount)
  return {
    triggerMonths: signed(offset.triggerMonths),
    triggerHours: signed(offset.triggerHours),
    triggerMinutes: signed(offset.triggerMinutes),
  }
}

/** The plain fields may repeat the hours and minutes of the units, or the whole offset. */
function refuseTwoReadings(reading: Reading, parts: Parts, plain: Offset, units: Offset) {
  const clock = parts.triggerHoursValue.amount * 60 + parts.triggerMinutesValue.amount
  const whole = Math.abs(units.triggerHours * 60 + units.triggerMinutes)
  if ([0, clock, whole].includes(Math.abs(nominalMinutes(plain)))) return
  const { pointer } = parts.triggerHours.amount === 0 ? parts.triggerMinutes : parts.triggerHours
  reading.fault(
    pointer,
    `triggerHours and triggerMinutes say ${describe(plain)}, the units say ${describe(units)}: send one of the two`,
  )
}

const describe = (offset: Offset) =>
  [
    count(offset.triggerMonths, 'month'),
    count(offset.triggerHours, 'hour'),
    count(offset.triggerMinutes, 'minute'),
  ]
    .filter((text) => text !== '')
    .join(' ')

const count = (amount: number, unit: string) => {
  if (amount === 0) return ''
  return `${amount} ${unit}${Math.abs(amount) === 1 ? '' : 's'}`
}
