import type { PastStatusChange } from '../store/demo-history.ts'
import { clientId, countJoined } from './clients.ts'
import practice from './content/practice.json' with { type: 'json' }
import {
  LOCATIONS,
  priceAt,
  SERVICES_BY_SHARE,
  serviceId,
  serviceMinutes,
  staffId,
  staffMember,
  TIME_ZONE,
} from './practice.ts'
import type { Period } from './period.ts'
import type { Random } from './random.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The statuses that the practice added to the usual ones. */
export const statusLines = practice.statuses.map((status) => ({ kind: 'status', ...status }))

/** Up to this many days back, appointments that took place also have a time of closing. */
const CLOSED_DAYS = 35

/** An appointment as other objects refer to it. */
export type Booking = {
  externalId: string
  clientExternalId: string
  startTime: number
  bookedTime: number
}

export type Size = { count: number; clients: number; staff: number }

/**
 * Exactly `count` appointments, by day. Demand grows over time, and falls on holidays and on later days of
 * the future. Each has its last status; or, if `changes` is given, its first status, and `changes` gets the
 * later one.
 */
export function* appointments(
  period: Period,
  { count, clients, staff }: Size,
  random: Random,
  changes?: PastStatusChange[],
) {
  const { first, today, last } = period
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
      const booking = newAppointment({ number: made, ...slot, day, period, clients }, random)
      const { body, changedTime } = booking
      if (changes && changedTime !== undefined) {
        const { externalId, status } = body
        const at = Temporal.Instant.fromEpochMilliseconds(changedTime)
        changes.push({ object: 'calendar', externalId, status, changedTime: at })
        yield { ...body, status: 'OPEN' }
      } else yield body
      made += 1
    }
  }
}

function* daysFrom(first: Temporal.PlainDate, last: Temporal.PlainDate) {
  for (let day = first; Temporal.PlainDate.compare(day, last) <= 0; day = day.add({ days: 1 })) {
    if (day.dayOfWeek < 7) yield day
  }
}

function demandOn(day: Temporal.PlainDate, progress: number, today: Temporal.PlainDate) {
  const growth = 0.8 + 0.4 * progress
  const saturday = day.dayOfWeek === 6 ? 0.2 : 1
  const rest = day.month === 12 && day.day > 22 ? 0.1 : day.month === 7 ? 0.75 : 1
  const ahead = today.until(day, { largestUnit: 'days' }).days
  const booked = ahead <= 0 ? 1 : Math.max(0.08, 1 - ahead / 60)
  return growth * saturday * rest * booked
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

type Wanted = Slot & {
  number: number
  day: Temporal.PlainDate
  period: Period
  clients: number
}

function newAppointment(booking: Wanted, random: Random) {
  const { number, member, start, day, period, clients } = booking
  const service = random.pick(SERVICES_BY_SHARE)
  const startTime = start + (random.chance(0.3) ? 30 * MINUTE : 0)
  const endTime = startTime + serviceMinutes(service) * MINUTE
  const lead = -Math.log(1 - random.next())
  const midnight = noonOf(period.today, TIME_ZONE) - 12 * HOUR
  // What is far ahead was booked early, so that the bookings of the last days look like any others.
  const daysAhead = Math.max(0, startTime - midnight) / DAY
  const bookedTime =
    Math.min(startTime, midnight) -
    Math.ceil(lead * (9 + daysAhead)) * DAY -
    random.between(0, 600) * MINUTE
  // Clients with a low number come more often.
  const chosen = Math.floor(random.next() ** 1.7 * countJoined(bookedTime, period, clients))
  const client = hasLeft(chosen, day, period.today) ? chosen - 1 : chosen
  const status = chooseStatus({ day, today: period.today, client }, random)
  const note = random.chance(0.12) ? random.pick(practice.notes) : undefined
  const { location } = staffMember(member)
  const visit = { status, bookedTime, startTime, endTime, midnight }
  return {
    body: {
      kind: 'calendar',
      externalId: `demo-appointment-${number}`,
      clientExternalId: clientId(client),
      professionalExternalId: staffId(member),
      reasonExternalId: serviceId(service),
      locationExternalId: LOCATIONS[location]!.externalId,
      startTime,
      endTime,
      status,
      ...priceAt(location, service, random),
      ...(note ? { note } : {}),
      ...(status === 'CANCELLED' && random.chance(0.5)
        ? { changeNote: random.pick(practice.excuses) }
        : {}),
      bookedTime,
      createdDate: bookedTime,
    },
    changedTime: changeOf(visit, random),
  }
}

/** One client in thirteen stopped coming in the last year, so that there are lapsed clients to call. */
const hasLeft = (client: number, day: Temporal.PlainDate, today: Temporal.PlainDate) =>
  client % 13 === 5 && day.until(today, { largestUnit: 'days' }).days < 80 + ((client * 37) % 250)

type Day = Pick<Wanted, 'day'> & { today: Temporal.PlainDate; client: number }

/** One client in nine misses far more appointments than the others. */
function chooseStatus({ day, today, client }: Day, random: Random) {
  const daysAgo = day.until(today, { largestUnit: 'days' }).days
  if (daysAgo <= 0) return random.pickWeighted({ OPEN: 55, CONFIRMED: 37, CANCELLED: 8 })
  if (daysAgo < 40 && random.chance(0.015)) return 'CONFIRMED'
  return client % 9 === 4
    ? random.pickWeighted({
        COMPLETED: 64,
        NO_SHOW: 18,
        CANCELLED: 13,
        LATE_CANCELLED: 4,
        ENDED_EARLY: 1,
      })
    : random.pickWeighted({
        COMPLETED: 83,
        NO_SHOW: 3,
        CANCELLED: 11,
        LATE_CANCELLED: 1,
        ENDED_EARLY: 2,
      })
}

type Visit = Record<'bookedTime' | 'startTime' | 'endTime' | 'midnight', number> & {
  status: string
}

/** When the appointment got its status, before `midnight`; undefined if it was booked with it. */
function changeOf({ status, bookedTime, startTime, endTime, midnight }: Visit, random: Random) {
  const [chance, closing] = [random.next(), random.between(5, 90) * MINUTE]
  const latest = Math.min(startTime, midnight) - HOUR / 2
  if (status === 'CANCELLED' || status === 'CONFIRMED') {
    // Most cancel in the last days.
    return Math.floor(bookedTime + (latest - bookedTime) * (1 - chance ** 2))
  }
  if (status === 'LATE_CANCELLED') return Math.max(bookedTime, startTime - closing * 4)
  if (status === 'OPEN') return undefined
  const isRecent = endTime > midnight - CLOSED_DAYS * DAY
  return isRecent || status === 'NO_SHOW' ? Math.min(endTime + closing, midnight) : undefined
}
