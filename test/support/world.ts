import { randomBytes } from 'node:crypto'
import { after, type TestContext } from 'node:test'
import type { InjectOptions } from 'fastify'
import { digest } from '../../src/auth/secrets.ts'
import { SCOPES } from '../../src/contract/roles.ts'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import type { Services } from '../../src/http/server/services.ts'
import { insertApiKey } from '../../src/store/api-keys.ts'
import { createEngine, type EngineParts } from '../../src/automation/engine.ts'
import { startApp } from './app.ts'
import { capturing } from './capturing-engine.ts'
import { cloneWorld } from './database.ts'
import { stepsOf } from './engine-steps.ts'
import { until } from './until.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not typed
export type Answer = { status: number; body: any; headers: Record<string, unknown> }

/** An app on an empty database with one business, its staff and services, and a manual clock. */
export async function startWorld(
  t: TestContext,
  env: Record<string, string> = {},
  given: Partial<Services> = {},
) {
  const database = given.database ?? (await cloneWorld(t)).database
  const environment = { RATE_LIMIT: '1000000/s,1000000', ...env }
  const started = await startApp(t, { ...given, database, env: environment })
  const business = given.database
    ? await addBusiness(started)
    : useBusiness(started, FIRST_BUSINESS)
  return { ...started, ...business }
}

/** The business in the template from which worlds are cloned. */
export const FIRST_BUSINESS = {
  businessId: 1,
  key: `bw_${'0'.repeat(32)}`,
  ids: { locationId: 1, professionalId: 1, reasonId: 1, clientId: 1 },
}

/**
 * Like `startWorld`, for test files whose tests share an app and a database. Each test has its own
 * business; its pending triggers and queued mails are deleted when it ends. The clock is not reset.
 */
export function shareWorld(env: Record<string, string> = {}) {
  const app = startApp({ after }, { env: { RATE_LIMIT: '1000000/s,1000000', ...env } })
  return async (t: TestContext) => {
    const started = await app
    const business = await addBusiness(started)
    t.after(async () => {
      const { engine } = started.database
      await engine.query(
        sql`delete from pending_trigger where business_id = ${business.businessId}`,
      )
      await engine.query(sql`delete from email_queue where business_id = ${business.businessId}`)
    })
    return { ...started, ...business }
  }
}

type Started = Awaited<ReturnType<typeof startApp>>

/** A second business with its own key. */
export async function addBusiness(
  started: Started,
  { timeZone = 'Europe/Zurich', key = `bw_${randomBytes(16).toString('hex')}` } = {},
) {
  const { clock, database } = started
  const [row] = await database.operator.query<{ businessId: number }>(sql`
    insert into business (name, time_zone, created_date, created_user, modified_date, modified_user)
    values ('Praxis Grüner Baum', ${timeZone}, ${clock.now()}, 'OPERATOR', ${clock.now()}, 'OPERATOR')
    returning business_id as "businessId"`)
  const { businessId } = row!
  const db = database.forBusiness(businessId, 'key:test')
  await insertApiKey(
    db,
    businessId,
    {
      name: 'test',
      prefix: 'bw_',
      keyHash: digest(key),
      scopes: SCOPES,
      expiresTime: null,
      makerUserId: null,
    },
    { user: 'OPERATOR', now: clock.now() },
  )

  const ids = await saveSetup(saveWith(started, { businessId, key }))
  return useBusiness(started, { businessId, key, ids })
}

/** Calls, saves and bookings with the key of a business. */
function useBusiness(started: Started, { businessId, key, ids }: typeof FIRST_BUSINESS) {
  const db = started.database.forBusiness(businessId, 'key:test')
  const call = callWith(started.app, key)
  const save = saveWith(started, { businessId, key })

  /** Books an appointment of half an hour. */
  const book = (startsAt: Temporal.Instant, more: object = {}) =>
    save('/calendar', {
      ...ids,
      startTime: startsAt.epochMilliseconds,
      endTime: startsAt.add({ minutes: 30 }).epochMilliseconds,
      ...more,
    })

  return { businessId, db, key, call, save, book, ids }
}

/** Creates or updates an object; fails the test if that is refused. */
function saveWith({ app, database }: Started, { businessId, key }: Key) {
  const call = callWith(app, key)
  const db = database.forBusiness(businessId, 'key:test')
  return async (path: string, body: object) => {
    const { status, body: saved } = await call('POST', path, body)
    if (status > 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(saved)}`)
    const { planning, ...object } = saved
    // On a busy machine planning may take longer than the POST waits for it.
    if (planning) await until(() => isPlanned(db, object.eventDefnId))
    return object
  }
}

type Key = { businessId: number; key: string }

/** Calls the app with a key. */
const callWith =
  (app: Started['app'], key: string) =>
  async (
    method: InjectOptions['method'],
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await app.inject({
      method: method ?? 'GET',
      url,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    })
    const isJson = /json/.test(String(response.headers['content-type']))
    const { statusCode: status } = response
    return { status, body: isJson ? response.json() : response.body, headers: response.headers }
  }

/** One location, member of staff, service and client. */
async function saveSetup(save: (path: string, body: object) => Promise<Answer['body']>) {
  const { locationId } = await save('/location', { name: 'Altstadt' })
  const { professionalId } = await save('/professional', {
    firstName: 'Elena',
    lastName: 'García',
    emailAddress: 'elena@example.org',
  })
  const { reasonId } = await save('/reason', { name: 'Consultation', durationMinutes: 30 })
  const { clientId } = await save('/client', {
    firstName: 'Anna',
    lastName: 'Müller',
    emailAddress: 'anna@example.org',
  })
  return { locationId, professionalId, reasonId, clientId }
}

async function isPlanned(db: Db, eventDefnId: number) {
  const rows = await db.query(sql`
    select from event_definition
    where event_defn_id = ${eventDefnId} and planned_version >= version`)
  return rows.length === 1
}

/** A body that defines an appointment reminder `hours` from its start. */
export const reminder = (businessId: number, triggerHours: number, more: object = {}) => ({
  active: true,
  businessId,
  objectType: 'CALENDAR',
  triggerHours,
  triggerMinutes: 0,
  eventType: { eventTypeId: 3 },
  ...more,
})

/** A worker on the world's database and clock. */
export function startEngine({ clock, database }: Started, more: Partial<EngineParts> = {}) {
  const errors: unknown[] = []
  const engine = createEngine({
    database,
    clock,
    ...capturing(),
    onError: (error) => void errors.push(error),
    ...more,
  })
  const steps = stepsOf(engine)
  /** Fires all due triggers and sends their mails; returns how many triggers. */
  const runEngine = async () => {
    await steps.takeOver()
    await steps.plan()
    let fired = 0
    for (let some; (some = await steps.fire()) > 0;) fired += some
    while ((await steps.deliver()) > 0) await steps.settle()
    if (errors.length > 0) throw errors[0]
    return fired
  }
  return { ...engine, ...steps, errors, runEngine }
}
