import type { Db } from '../../database/database.ts'
import { findBusiness } from '../../store/businesses.ts'
import { listDefinitions } from '../../store/event-definitions.ts'
import { importLines, type Imported, type Line } from '../import.ts'
import { campaigns, classes, disclaimers, recalls } from './around.ts'
import { appointments, noonOf, type Span } from './days.ts'
import { Dice } from './dice.ts'
import { categoryLines, definitionLines, templateLines } from './messages.ts'
import { clientLine } from './people.ts'
import { locationLines, serviceLines, staffLine, TEAM_SIZE } from './places.ts'

export type Demo = {
  businessId: number
  user: string
  now: () => Temporal.Instant
  /** Another seed, another practice; the same seed on the same day, the same one. */
  seed?: number
  appointments?: number
  onProgress?: (share: number, lines: number) => void
}

export const APPOINTMENTS = 9_000
const CLIENTS = 400
/** Beyond these even a large practice does not grow. */
const MOST_TEAMS = 25
const MOST_CLIENTS = 60_000

/** The business of the demo, where one is made for it. */
export const DEMO_BUSINESS = {
  name: 'Lindenhof Physiotherapy',
  timeZone: 'Europe/Zurich',
  emailAddress: 'hello@lindenhof.example',
  phone: '+41 44 555 01 00',
  language: 'en',
  externalId: null,
  senderDomains: [],
  active: true,
}

/**
 * Fills a business with 18 months of a practice: fifteen behind, three ahead of the clock's day.
 * Everything has an `externalId`, so that a second time changes what is there and adds nothing.
 */
export async function loadDemo(db: Db, demo: Demo): Promise<Imported> {
  const { businessId, user, now, seed = 1, appointments: count = APPOINTMENTS } = demo
  const business = await findBusiness(db, businessId)
  const today = now()
    .toZonedDateTimeISO(business?.timeZone ?? DEMO_BUSINESS.timeZone)
    .toPlainDate()
  const span = { first: today.subtract({ months: 15 }), today, last: today.add({ months: 3 }) }
  const known = await listDefinitions(db, businessId, { afterId: 0, limit: 500 })
  const described = new Set(known.map((definition) => definition.description))

  const lines = numbered(linesOf(span, count, new Dice(seed), described))
  const expected = count + CLIENTS + 1_200
  return importLines(db, lines, {
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
}

function* linesOf(span: Span, count: number, dice: Dice, described: Set<string | null>) {
  const teams = Math.min(MOST_TEAMS, Math.max(1, Math.round(count / APPOINTMENTS)))
  const clients = Math.min(MOST_CLIENTS, Math.max(CLIENTS, Math.round(count / 25)))
  const staff = teams * TEAM_SIZE
  const createdDate = noonOf(span.first.subtract({ days: 1 }), 'UTC')
  for (const line of locationLines()) yield { ...line, createdDate }
  for (const line of serviceLines()) yield { ...line, createdDate }
  for (let i = 0; i < staff; i += 1) yield { ...staffLine(i), createdDate }
  for (let i = 0; i < clients; i += 1) yield { ...clientLine(i, dice), createdDate }
  yield* appointments(span, { count, clients, staff }, dice)
  yield* classes(span, dice)
  yield* campaigns(span, dice)
  yield* recalls(span, dice)
  yield* disclaimers(span, dice)
  for (const line of categoryLines()) yield { ...line, createdDate }
  for (const line of templateLines()) yield { ...line, createdDate }
  // Definitions have no externalId: one that is described so is there already.
  yield* definitionLines().filter(({ description }) => !described.has(description))
}

function* numbered(bodies: Iterable<Record<string, unknown>>): Iterable<Line[]> {
  let number = 0
  for (const body of bodies) yield [{ number: (number += 1), body }]
}
