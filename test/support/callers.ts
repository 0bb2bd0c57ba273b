import { argon2Sync } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { InjectOptions } from 'fastify'
import { createApiKey } from '../../src/auth/api-keys.ts'
import type { Environment } from '../../src/config.ts'
import { USER_BODY } from '../../src/contract/credentials.ts'
import { SCOPES, type Role, type KeyScope } from '../../src/contract/roles.ts'
import { saveUser } from '../../src/auth/users.ts'
import type { Clock } from '../../src/clock.ts'
import type { Database } from '../../src/database/database.ts'
import type { App } from '../../src/http/server/app.ts'
import { insertBusiness } from '../../src/store/businesses.ts'
import { startApp } from './app.ts'

export const OPERATOR_KEY = 'the-operator-of-the-tests'

/** The app with one business, and functions that call it with that business's credentials. */
export async function startWithBusiness(t: TestContext, env: Environment = {}) {
  const started = await startApp(t, { env: { ADMIN_API_KEY: OPERATOR_KEY, ...env } })
  const { app, database, clock } = started
  const business = await createBusiness(database, clock)
  const operator = ask(app, { authorization: `Bearer ${OPERATOR_KEY}` })
  const { key } = await createKey(database, clock, business.businessId)
  return {
    ...started,
    ...business,
    key,
    operator,
    call: ask(app, { authorization: `Bearer ${key}` }),
    callAs: (headers: Record<string, string>) => ask(app, headers),
  }
}

/** Calls the app with method, path and body; returns status, body and headers. */
export function ask(app: App, headers: Record<string, string>) {
  return async (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    body?: unknown,
    more: Record<string, string> = {},
  ) => {
    const options: InjectOptions = { method, url, headers: { ...headers, ...more } }
    if (body !== undefined) options.payload = body as object
    const answer = await app.inject(options)
    // oxlint-disable-next-line typescript/no-explicit-any -- a test's assertions say what it is
    const parsed: any = answer.body === '' ? undefined : parse(answer.body)
    return { status: answer.statusCode, body: parsed, headers: answer.headers }
  }
}

function parse(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function createBusiness(database: Database, clock: Clock, name = 'Praxis am See') {
  const fields = {
    name,
    timeZone: 'Europe/Zurich',
    emailAddress: null,
    phone: null,
    language: null,
    externalId: null,
    senderDomains: [],
    accentColor: null,
    website: null,
    replyTo: null,
    active: true,
  }
  return insertBusiness(database.operator, fields, { user: 'OPERATOR', now: clock.now() })
}

export function createKey(
  database: Database,
  clock: Clock,
  businessId: number,
  scopes: readonly KeyScope[] = SCOPES,
  expiresTime: Temporal.Instant | null = null,
) {
  const by = { user: 'OPERATOR', now: clock.now() }
  const wanted = { name: 'tests', scopes, expiresTime }
  return createApiKey(database.forBusiness(businessId, by.user), businessId, wanted, by, null)
}

export const PASSWORD = 'correct horse battery'

/** The hash of PASSWORD with the cheapest argon2id settings, so that sign-ins are fast. */
const CHEAP_HASH = (() => {
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 }
  const nonce = Buffer.alloc(16, 7)
  const tag = argon2Sync('argon2id', { message: PASSWORD, nonce, ...cost })
  return `$argon2id$v=19$m=8,t=1,p=1$${nonce.toString('base64')}$${tag.toString('base64')}`
})()

export async function createPerson(
  database: Database,
  clock: Clock,
  businessId: number,
  person: { username: string; role: Role; [field: string]: unknown },
) {
  const input = {
    ...USER_BODY,
    userId: undefined,
    body: person,
    passwordHash: CHEAP_HASH,
    faults: [],
  }
  const saving = { businessId, user: 'OPERATOR', now: clock.now(), role: null }
  const db = database.forBusiness(businessId, 'OPERATOR')
  const { user } = await db.transaction((tx) => saveUser(tx, input, saving))
  return user
}

/** Signs a user in and returns the cookie. */
export async function signInAs(app: App, username: string, password = PASSWORD) {
  const answer = await ask(app, {})('POST', '/session', { username, password })
  if (answer.status !== 201) throw new Error(`sign-in answered ${answer.status}`)
  return String(answer.headers['set-cookie']).split(';')[0]!
}
