import type { Dice } from './dice.ts'
import { clientId } from './people.ts'
import { memberOf, PLACES, SERVICE_WISHES, serviceId, serviceMinutes, staffId } from './places.ts'

export type Span = {
  first: Temporal.PlainDate
  today: Temporal.PlainDate
  last: Temporal.PlainDate
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export type Appointment = {
  kind: 'calendar'
  externalId: string
  clientExternalId: string
  professionalExternalId: string
  reasonExternalId: string
  locationExternalId: string
  startTime: number
  endTime: number
  status: string
  note?: string
  changeNote?: string
  /** When it was booked; an object's own record begins there. */
  createdDate: number
}

/**
 * A practice that grows a little, rests at the year's end, and is booked out sooner than far ahead.
 * As many appointments as asked for, in the order of their days.
 */
export function* appointments(
  { first, today, last }: Span,
  { count, clients, staff }: { count: number; clients: number; staff: number },
  dice: Dice,
): Iterable<Appointment> {
  const days = [...daysFrom(first, last)]
  const weights = days.map((day, i) => weightOf(day, i / days.length, today))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let made = 0
  let due = 0
  for (const [i, day] of days.entries()) {
    due += (weights[i]! / total) * count
    const wanted = (i === days.length - 1 ? count : Math.round(due)) - made
    if (wanted <= 0) continue
    const slots = slotsOf(day, staff, dice)
    for (let k = 0; k < wanted; k += 1) {
      const slot = slots[k % slots.length]!
      yield appointment(made, slot, day, today, clients, dice)
      made += 1
    }
  }
}

function* daysFrom(first: Temporal.PlainDate, last: Temporal.PlainDate) {
  for (let day = first; Temporal.PlainDate.compare(day, last) <= 0; day = day.add({ days: 1 })) {
    if (day.dayOfWeek < 7) yield day
  }
}

function weightOf(day: Temporal.PlainDate, along: number, today: Temporal.PlainDate) {
  const grown = 0.8 + 0.4 * along
  const saturday = day.dayOfWeek === 6 ? 0.2 : 1
  const rest = day.month === 12 && day.day > 22 ? 0.1 : day.month === 7 ? 0.75 : 1
  const ahead = today.until(day, { largestUnit: 'days' }).days
  const booked = ahead <= 0 ? 1 : Math.max(0.08, 1 - ahead / 60)
  return grown * saturday * rest * booked
}

type Slot = { member: number; start: number }

/** Every hour of everyone who works that day, in no order. */
function slotsOf(day: Temporal.PlainDate, staff: number, dice: Dice): Slot[] {
  const midnights = new Map(
    [...new Set(PLACES.map(({ zone }) => zone))].map((zone) => [
      zone,
      noonOf(day, zone) - 12 * HOUR,
    ]),
  )
  const slots: Slot[] = []
  for (let member = 0; member < staff; member += 1) {
    const { days, from, to, place } = memberOf(member)
    if (!days.includes(day.dayOfWeek)) continue
    const midnight = midnights.get(PLACES[place]!.zone)!
    for (let hour = from; hour < to; hour += 1)
      slots.push({ member, start: midnight + hour * HOUR })
  }
  // Somebody always works on a weekday; on a Saturday few do.
  return dice.shuffle(slots)
}

/** Clocks change at night: what is counted from noon is right by day. */
export const noonOf = (day: Temporal.PlainDate, zone: string) =>
  day.toZonedDateTime({ timeZone: zone, plainTime: '12:00' }).epochMilliseconds

function appointment(
  i: number,
  { member, start }: Slot,
  day: Temporal.PlainDate,
  today: Temporal.PlainDate,
  clients: number,
  dice: Dice,
): Appointment {
  // Some come often: the lower their number, the oftener.
  const client = Math.floor(dice.next() ** 1.7 * clients)
  const service = dice.pick(SERVICE_WISHES)
  const startTime = start + (dice.chance(0.3) ? 30 * MINUTE : 0)
  const lead = Math.ceil(-Math.log(1 - dice.next()) * 9)
  const isPast = Temporal.PlainDate.compare(day, today) < 0
  const now = noonOf(today, 'UTC') - 12 * HOUR
  const status = isPast
    ? pastStatus(client, dice)
    : dice.weigh({ OPEN: 55, CONFIRMED: 37, CANCELLED: 8 })
  const note = dice.chance(0.12) ? dice.pick(NOTES) : undefined
  return {
    kind: 'calendar',
    externalId: `demo-appointment-${i}`,
    clientExternalId: clientId(client),
    professionalExternalId: staffId(member),
    reasonExternalId: serviceId(service),
    locationExternalId: PLACES[memberOf(member).place]!.externalId,
    startTime,
    endTime: startTime + serviceMinutes(service) * MINUTE,
    status,
    ...(note ? { note } : {}),
    ...(status === 'CANCELLED' && dice.chance(0.5) ? { changeNote: dice.pick(EXCUSES) } : {}),
    createdDate: Math.min(startTime - lead * DAY - dice.between(0, 9) * HOUR, now - HOUR),
  }
}

/** One client in nine forgets far more often than the others. */
function pastStatus(client: number, dice: Dice) {
  return client % 9 === 4
    ? dice.weigh({ COMPLETED: 66, NO_SHOW: 20, CANCELLED: 14 })
    : dice.weigh({ COMPLETED: 86, NO_SHOW: 3, CANCELLED: 11 })
}

const NOTES = [
  'Prefers the room at the back.',
  'Brings an interpreter.',
  'Left knee, after surgery.',
  'Please call when you are downstairs.',
  'Insurance form is in the file.',
  'Comes with a dog.',
]

const EXCUSES = ['Ill in bed.', 'Has to work.', 'The child has no care today.', 'Will call again.']
