import { WEEKDAYS } from '../contract/fields.ts'
import practice from './content/practice.json' with { type: 'json' }
import type { Random } from './random.ts'

/** The locations, services and staff of the practice. */

export const TIME_ZONE = practice.business.timeZone

const locationId = (i: number) => `demo-location-${i}`

export const LOCATIONS = practice.locations.map((location, i) => ({
  kind: 'location',
  externalId: locationId(i),
  ...location,
}))

export const serviceId = (i: number) => `demo-service-${i}`

export const serviceLines = practice.services.map(({ name, durationMinutes, price }, i) => ({
  kind: 'reason',
  externalId: serviceId(i),
  name,
  durationMinutes,
  price,
  currency: 'CHF',
}))

export const serviceMinutes = (i: number) => practice.services[i]!.durationMinutes

const LONDON = 2

/** London charges in pounds, except if a Swiss insurance pays. */
export function priceAt(location: number, service: number, random: Random) {
  const { price } = practice.services[service]!
  return location === LONDON && random.chance(0.8)
    ? { price: Math.round(price * 0.72), currency: 'GBP' }
    : { price, currency: 'CHF' }
}

/** Each service, repeated as often as its share, for a random choice. */
export const SERVICES_BY_SHARE = practice.services.flatMap(({ share }, i) =>
  Array.from({ length: share }, () => i),
)

export const TEAM_SIZE = practice.team.length

/** A large practice repeats the team. */
export const staffMember = (i: number) => practice.team[i % TEAM_SIZE]!

export const staffId = (i: number) => `demo-staff-${i}`

export function staffLine(i: number) {
  const { first, last, location, days, from, to } = staffMember(i)
  const repetition = Math.floor(i / TEAM_SIZE)
  const address = `${first}.${i}`.toLowerCase()
  return {
    kind: 'professional',
    externalId: staffId(i),
    firstName: first,
    lastName: repetition === 0 ? last : `${last} ${repetition + 1}`,
    emailAddress: `${address}@lindenhof.example`,
    locationExternalIdList: [locationId(location)],
    workingHours: days.map((day) => ({
      weekday: WEEKDAYS[day - 1],
      from: `${String(from).padStart(2, '0')}:00`,
      to: `${to}:00`,
    })),
  }
}
