import type { Db } from '../database/database.ts'
import { listActiveDefinitions, listDefinitions } from '../store/event-definitions.ts'
import { importLines, type Imported, type ImportLine } from '../scheduling/import.ts'
import { followPastStatuses } from '../scheduling/past-statuses.ts'
import {
  hasAppointment,
  linkInvitations,
  recordPastStatuses,
  type PastStatusChange,
} from '../store/demo-history.ts'
import { appointments, noonOf, statusLines, type Booking } from './appointments.ts'
import { clientLine, joinedTime } from './clients.ts'
import practice from './content/practice.json' with { type: 'json' }
import { recordPastMessages } from './history.ts'
import { categoryLines, definitionLines, templateLines } from './messages.ts'
import { campaigns, classes, disclaimers, FORMS, recalls } from './other-objects.ts'
import type { Period } from './period.ts'
import { LOCATIONS, serviceLines, staffLine, TEAM_SIZE, TIME_ZONE } from './practice.ts'
import { Random } from './random.ts'

export type Demo = {
  businessId: number
  user: string
  now: () => Temporal.Instant
  /** The same seed makes the same data on the same day. */
  seed?: number
  appointments?: number
  onProgress?: (share: number, lines: number) => void
}

export const APPOINTMENTS = 9_000
const CLIENTS = 400
const MAX_TEAMS = 25
const MAX_CLIENTS = 60_000

/** The business that `bellwether seed` creates unless it is given one. */
export const DEMO_BUSINESS = practice.business

/**
 * Fills a business with 15 past and 3 future months of a practice. All objects have an `externalId`,
 * so that loading them again adds nothing.
 */
export async function loadDemo(db: Db, demo: Demo): Promise<Imported> {
  const { businessId, user, now, seed = 1, appointments: count = APPOINTMENTS } = demo
  const today = now().toZonedDateTimeISO(TIME_ZONE).toPlainDate()
  const period = { first: today.subtract({ months: 15 }), today, last: today.add({ months: 3 }) }
  const known = await listDefinitions(db, businessId, { afterId: 0, limit: 500 })
  const described = new Set(known.map((definition) => definition.description))
  const own = await listActiveDefinitions(db, businessId)

  // Loading again must not set the appointments back to their first status.
  const isLoaded = await hasAppointment(db, businessId, 'demo-appointment-0')
  const changes: PastStatusChange[] = []
  const random = new Random(seed)
  const lines = demoLines({ period, count, random, described, ...(isLoaded ? {} : { changes }) })
  const expected = count + CLIENTS + 1_200
  const imported = await importLines(db, numbered(lines), {
    businessId,
    user,
    now,
    history: true,
    recordedAt: ({ createdDate }) =>
      typeof createdDate === 'number'
        ? Temporal.Instant.fromEpochMilliseconds(createdDate)
        : undefined,
    onRefused: (line, reason) => {
      throw new Error(`line ${line} of the demo: ${reason}`)
    },
    onProgress: (done) => demo.onProgress?.(Math.min(1, done / expected), done),
  })
  await recordPastStatuses(db, businessId, changes)
  if (!isLoaded) await linkInvitations(db, businessId)
  const definitions = await listActiveDefinitions(db, businessId)
  await followPastStatuses(db, { businessId, changes, own, definitions, now: now() })
  await recordPastMessages(db, businessId, today)
  return imported
}

type Making = {
  period: Period
  count: number
  random: Random
  /** Definitions that exist already. */
  described: Set<string | null>
  changes?: PastStatusChange[]
}

function* demoLines({ period, count, random, described, changes }: Making) {
  const teams = Math.min(MAX_TEAMS, Math.max(1, Math.round(count / APPOINTMENTS)))
  const clients = Math.min(MAX_CLIENTS, Math.max(CLIENTS, Math.round(count / 25)))
  const staff = teams * TEAM_SIZE
  const createdDate = noonOf(period.first.subtract({ days: 1 }), 'UTC')
  yield* statusLines
  for (const line of [...LOCATIONS, ...serviceLines]) yield { ...line, createdDate }
  for (let i = 0; i < staff; i += 1) yield { ...staffLine(i), createdDate }
  for (let i = 0; i < clients; i += 1) {
    yield { ...clientLine(i, random), createdDate: joinedTime(i, period, clients) }
  }
  // Some appointments, evenly spread over time, for the forms to sign.
  const bookings: Booking[] = []
  let number = 0
  for (const line of appointments(period, { count, clients, staff }, random, changes)) {
    if (number % Math.ceil(count / FORMS / 2) === 0) bookings.push(line)
    number += 1
    yield line
  }
  yield* classes(period, random)
  yield* campaigns(period, random, changes)
  yield* recalls(period, random)
  yield* disclaimers(period, random, { bookings, changes })
  for (const line of [...categoryLines, ...templateLines]) yield { ...line, createdDate }
  // Definitions have no externalId and are recognised by their description.
  yield* definitionLines.filter(({ description }) => !described.has(description))
}

function* numbered(bodies: Iterable<Record<string, unknown>>): Iterable<ImportLine[]> {
  let number = 0
  for (const body of bodies) yield [{ number: (number += 1), body }]
}
