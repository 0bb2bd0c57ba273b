import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { readConfig } from '../../src/config.ts'
import type { App } from '../../src/http/server/app.ts'
import { authenticate } from '../../src/http/server/authenticate.ts'
import type { Services } from '../../src/http/server/services.ts'
import { ask, createKey, OPERATOR_KEY, startWithBusiness } from '../support/callers.ts'
import { manualClock } from '../support/clock.ts'

/** Open without a credential, as the contract lists them. */
const PUBLIC = [
  /^(GET|HEAD) \/(healthz|readyz|openapi\.json)$/,
  /^(GET|HEAD) \/docs(\/.*)?$/,
  /^(GET|HEAD) \/$/,
  /^(GET|HEAD) \/console(\/.*)?$/,
  /^(GET|HEAD) \/problems(\/.*)?$/,
  /^POST \/session$/,
  /^POST \/user\/password\/(forgotten|link|set)$/,
  /^(GET|HEAD|POST) \/unsubscribe\/.*$/,
  /^(GET|HEAD|POST) \/report\/stop\/.*$/,
  /^POST \/feed\/hook\/.*$/,
  /^(GET|HEAD) \/addToCalendar\/.*$/,
  /^(GET|HEAD) \/report\/link\/.*$/,
  /^(GET|HEAD|POST) \/answer\/.*$/,
]

const OPERATORS =
  /^(GET|HEAD|POST|DELETE) \/business(\/(?!plan$)|$)|^(GET|HEAD) \/(metrics|restore|senderDomain)$|^POST \/(mail\/retry|restore\/release)$/

const isRefused = (status: number) => status === 401 || status === 403

/** Every address that the router knows, whether it is described or not. */
function readRoutingTable(app: App) {
  return [...app.methodsByPath].flatMap(([path, methods]) =>
    [...methods].map((method) => ({
      name: `${method} ${path}`,
      method: method as 'GET' | 'POST' | 'DELETE',
      url: path
        .replace(/:\w*(UUID|UUId)\b/g, 'a'.repeat(32))
        .replace(/:\w+/g, '1')
        .replace('*', 'x'),
    })),
  )
}

test('every route needs a credential or is on the list of public routes', async (t) => {
  const { app } = await startWithBusiness(t)
  const routes = readRoutingTable(app)
  assert.ok(routes.length > 100)
  const anybody = ask(app, {})
  for (const { name, method, url } of routes) {
    const { status } = await anybody(method, url, method === 'POST' ? {} : undefined)
    const isPublic = PUBLIC.some((pattern) => pattern.test(name))
    assert.equal(isRefused(status), !isPublic, `${name}: ${status}`)
    if (!isPublic) assert.equal(status, 401, name)
  }
})

test('a key without scopes is refused by every route that is not public', async (t) => {
  const { app, database, clock, businessId, callAs } = await startWithBusiness(t)
  const { key } = await createKey(database, clock, businessId, [])
  const powerless = callAs({ authorization: `Bearer ${key}` })
  for (const { name, method, url } of readRoutingTable(app)) {
    if (PUBLIC.some((pattern) => pattern.test(name))) continue
    const { status } = await powerless(method, url, method === 'POST' ? {} : undefined)
    assert.equal(status, 403, name)
  }
})

test('the operator’s key works on operator routes only, not on data of a business', async (t) => {
  const { app } = await startWithBusiness(t)
  const operator = ask(app, { authorization: `Bearer ${OPERATOR_KEY}` })
  for (const { name, method, url } of readRoutingTable(app)) {
    if (PUBLIC.some((pattern) => pattern.test(name))) continue
    const { status } = await operator(method, url, method === 'POST' ? {} : undefined)
    assert.equal(isRefused(status), !OPERATORS.test(name), `${name}: ${status}`)
    if (!OPERATORS.test(name)) assert.equal(status, 403, name)
  }
})

test('a path with an id that is not one is 404 on every route, with any body', async (t) => {
  const { app, call: business, operator } = await startWithBusiness(t)
  for (const [path, methods] of app.methodsByPath) {
    if (!/:(?!objectType\b)\w*(Id|ID)\b/.test(path)) continue
    for (const method of methods) {
      for (const id of ['abc', '1.5', '99999999999999999999']) {
        const call = OPERATORS.test(`${method} ${path}`) ? operator : business
        const url = path.replaceAll(/:\w+/g, id)
        const { status } = await call(method as 'GET', url, method === 'POST' ? {} : undefined)
        assert.equal(status, 404, `${method} ${url}`)
      }
    }
  }
})

test('a route without an access rule cannot be registered', () => {
  const app = fastify()
  const services = { config: readConfig({}), clock: manualClock() } as unknown as Services
  authenticate(app, services)
  assert.throws(() => app.get('/forgotten', async () => 'data'), /needs an access rule/)
  app.get('/open', { config: { open: true } }, async () => 'data')
})
