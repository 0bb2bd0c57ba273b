import { clientId } from './clients.ts'
import {
  LOCATIONS,
  SERVICES_BY_SHARE,
  serviceId,
  serviceMinutes,
  staffId,
  staffMember,
} from './practice.ts'
import type { Random } from './random.ts'

export type Period = Record<'first' | 'today' | 'last', Temporal.PlainDate>

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Exactly `count` appointments, by day. Demand grows, falls on holidays and with the days ahead. */
export function* appointments(
  { first, today, last }: Period,
  { count, clients, staff }: { count: number; clients: number; staff: number },
  random: Random,
) {
  const days = [...daysFrom(first, last)]
  const weights = days.map((day, i) => demandOn(day, i / days.length, today))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let made = 0
  let due = 0
  for (const [i, day] of days.entries()) {
    due += (weights[i]! / total) * count
    const wanted = (i === days.length - 1 ? count : Math.round(due)) - made
    if (wanted <= 0) continue
    const slots = slotsOf(day, staff, random)
    for (let k = 0; k < wanted; k += 1) {
      const slot = slots[k % slots.length]!
      yield newAppointment({ number: made, ...slot, day, today, clients }, random)
      made += 1
    }
  }
}

function* daysFrom(first: Temporal.PlainDate, last: Temporal.PlainDate) {
  for (let day = first; Temporal.PlainDate.compare(day, last) <= 0; day = day.add({ days: 1 })) {
    if (day.dayOfWeek < 7) yield day
  }
}

function demandOn(day: Temporal.PlainDate, along: number, today: Temporal.PlainDate) {
  const grown = 0.8 + 0.4 * along
  const saturday = day.dayOfWeek === 6 ? 0.2 : 1
  const rest = day.month === 12 && day.day > 22 ? 0.1 : day.month === 7 ? 0.75 : 1
  const ahead = today.until(day, { largestUnit: 'days' }).days
  const booked = ahead <= 0 ? 1 : Math.max(0.08, 1 - ahead / 60)
  return grown * saturday * rest * booked
}

type Slot = { member: number; start: number }

/** Each hour of the staff who work on that day, shuffled. */
function slotsOf(day: Temporal.PlainDate, staff: number, random: Random): Slot[] {
  const midnights = LOCATIONS.map(({ timeZone }) => noonOf(day, timeZone) - 12 * HOUR)
  const slots: Slot[] = []
  for (let member = 0; member < staff; member += 1) {
    const { days, from, to, location } = staffMember(member)
    if (!days.includes(day.dayOfWeek)) continue
    for (let hour = from; hour < to; hour += 1) {
      slots.push({ member, start: midnights[location]! + hour * HOUR })
    }
  }
  return random.shuffle(slots)
}

/** Hours are counted from noon, because clocks change at night. */
export const noonOf = (day: Temporal.PlainDate, zone: string) =>
  day.toZonedDateTime({ timeZone: zone, plainTime: '12:00' }).epochMilliseconds

type Booking = Slot & {
  number: number
  day: Temporal.PlainDate
  today: Temporal.PlainDate
  clients: number
}

function newAppointment({ number, member, start, day, today, clients }: Booking, random: Random) {
  // Clients with a low number come more often.
  const client = Math.floor(random.next() ** 1.7 * clients)
  const service = random.pick(SERVICES_BY_SHARE)
  const startTime = start + (random.chance(0.3) ? 30 * MINUTE : 0)
  const lead = Math.ceil(-Math.log(1 - random.next()) * 9)
  const isPast = Temporal.PlainDate.compare(day, today) < 0
  const now = noonOf(today, 'UTC') - 12 * HOUR
  const status = isPast
    ? pastStatus(client, random)
    : random.pickWeighted({ OPEN: 55, CONFIRMED: 37, CANCELLED: 8 })
  const note = random.chance(0.12) ? random.pick(NOTES) : undefined
  return {
    kind: 'calendar',
    externalId: `demo-appointment-${number}`,
    clientExternalId: clientId(client),
    professionalExternalId: staffId(member),
    reasonExternalId: serviceId(service),
    locationExternalId: LOCATIONS[staffMember(member).location]!.externalId,
    startTime,
    endTime: startTime + serviceMinutes(service) * MINUTE,
    status,
    ...(note ? { note } : {}),
    ...(status === 'CANCELLED' && random.chance(0.5) ? { changeNote: random.pick(EXCUSES) } : {}),
    createdDate: Math.min(startTime - lead * DAY - random.between(0, 9) * HOUR, now - HOUR),
  }
}

/** One client in nine misses far more appointments than the others. */
function pastStatus(client: number, random: Random) {
  return client % 9 === 4
    ? random.pickWeighted({ COMPLETED: 66, NO_SHOW: 20, CANCELLED: 14 })
    : random.pickWeighted({ COMPLETED: 86, NO_SHOW: 3, CANCELLED: 11 })
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
