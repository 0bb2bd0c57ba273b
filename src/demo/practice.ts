import { WEEKDAYS } from '../contract/fields.ts'
import type { Random } from './random.ts'

/** The locations, services and staff of the practice. */

const locationId = (i: number) => `demo-location-${i}`

export const LOCATIONS = [
  {
    name: 'Zürich Altstadt',
    timeZone: 'Europe/Zurich',
    address: 'Lindenhofstrasse 11\n8001 Zürich',
    emailAddress: 'zurich@lindenhof.example',
    phone: '+41 44 555 01 10',
    // The same in all languages of the mails.
    directions: 'Tram 6, 7, 11: Rennweg (Lindenhof)',
  },
  {
    name: 'Winterthur Technikum',
    timeZone: 'Europe/Zurich',
    address: 'Technikumstrasse 40\n8400 Winterthur',
    emailAddress: 'winterthur@lindenhof.example',
    phone: '+41 52 555 02 20',
    directions: 'Bahnhof Winterthur (5 min)',
  },
  {
    name: 'London Marylebone',
    timeZone: 'Europe/London',
    address: '27 Weymouth Mews\nLondon W1G 7EA',
    emailAddress: 'london@lindenhof.example',
    phone: '+44 20 5550 0330',
    directions: 'Regent’s Park station, then through Portland Place.',
  },
].map((location, i) => ({ kind: 'location', externalId: locationId(i), ...location }))

/** Name, minutes, price, and its share of the appointments. */
const SERVICES: [string, number, number, number][] = [
  ['First consultation', 60, 180, 10],
  ['Physiotherapy', 30, 92, 30],
  ['Physiotherapy, long', 45, 128, 14],
  ['Sports massage', 60, 140, 10],
  ['Classic massage', 45, 105, 9],
  ['Osteopathy', 45, 165, 7],
  ['Acupuncture', 45, 138, 5],
  ['Lymphatic drainage', 60, 148, 4],
  ['Shockwave therapy', 30, 110, 3],
  ['Nutrition advice', 45, 120, 3],
  ['Ergonomics at work', 60, 210, 2],
  ['Follow-up by video', 15, 48, 3],
]

export const serviceId = (i: number) => `demo-service-${i}`

export const serviceLines = SERVICES.map(([name, durationMinutes, price], i) => ({
  kind: 'reason',
  externalId: serviceId(i),
  name,
  durationMinutes,
  price,
  currency: 'CHF',
}))

export const serviceMinutes = (i: number) => SERVICES[i]![1]

const LONDON = 2

/** London charges in pounds, except if a Swiss insurance pays. */
export function priceAt(location: number, service: number, random: Random) {
  return location === LONDON && random.chance(0.8)
    ? { price: Math.round(SERVICES[service]![2] * 0.72), currency: 'GBP' }
    : {}
}

/** Each service, repeated as often as its share, for a random choice. */
export const SERVICES_BY_SHARE = SERVICES.flatMap(([, , , share], i) =>
  Array.from({ length: share }, () => i),
)

const TEAM = [
  { first: 'Elena', last: 'García', location: 0, days: [1, 2, 4], from: 8, to: 17 },
  { first: 'Tobias', last: 'Wyss', location: 0, days: [1, 3, 5], from: 9, to: 18 },
  { first: 'Noor', last: 'Haddad', location: 0, days: [2, 3, 4, 5], from: 8, to: 14 },
  { first: 'Matteo', last: 'Bernasconi', location: 1, days: [1, 2, 3], from: 7, to: 16 },
  { first: 'Sabine', last: 'Hürlimann', location: 1, days: [3, 4, 5], from: 10, to: 19 },
  { first: 'Oksana', last: 'Коваленко', location: 1, days: [2, 4, 6], from: 8, to: 13 },
  { first: 'Grace', last: 'Adeyemi', location: 2, days: [1, 2, 3, 4], from: 9, to: 17 },
  { first: 'Rhys', last: 'MacLeod', location: 2, days: [2, 4, 5], from: 11, to: 19 },
]

export const TEAM_SIZE = TEAM.length

/** A large practice repeats the team. */
export const staffMember = (i: number) => TEAM[i % TEAM.length]!

export const staffId = (i: number) => `demo-staff-${i}`

export function staffLine(i: number) {
  const { first, last, location, days, from, to } = staffMember(i)
  const repetition = Math.floor(i / TEAM.length)
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
