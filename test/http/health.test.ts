import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Services } from '../../src/http/server/services.ts'
import { saveMailOutage } from '../../src/store/mail-servers.ts'
import { noDatabase, startApp } from '../support/app.ts'

const METRICS_TOKEN = 'token-of-the-metrics'
const ADMIN_API_KEY = 'key-of-the-operator'
const { app } = await startApp({ after }, { env: { METRICS_TOKEN, ADMIN_API_KEY } })

const unreachableDatabase = {
  checkWritable: async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  },
} as unknown as Services['database']

test('healthz is ok even if the database is down', async (t) => {
  const { app } = await startApp(t, { database: unreachableDatabase })
  assert.equal((await app.inject('/healthz')).statusCode, 200)
})

test('a node is ready while its database answers', async (t) => {
  assert.deepEqual((await app.inject('/readyz')).json(), { status: 'ok' })
  const without = await startApp(t, { database: unreachableDatabase })
  const answer = await without.app.inject('/readyz')
  assert.equal(answer.statusCode, 503)
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
})

test('a node with an engine is ready if its last iteration is at most 15 s old', async (t) => {
  let lastIteration: Temporal.Instant | undefined
  const { app, clock } = await startApp(t, {
    database: noDatabase,
    lastClaimTime: () => lastIteration,
  })
  const status = async () => (await app.inject('/readyz')).statusCode
  assert.equal(await status(), 503, 'before its first iteration')
  lastIteration = clock.now()
  assert.equal(await status(), 200)
  clock.advance({ seconds: 15 })
  assert.equal(await status(), 200)
  clock.advance({ milliseconds: 1 })
  assert.equal(await status(), 503)
})

test('a node is ready, with a warning, if its mail server accepts no mail', async (t) => {
  const { app, database, clock } = await startApp(t, {
    env: { SMTP_URL: 'smtp://mail.test:25?tls=never' },
  })
  assert.deepEqual((await app.inject('/readyz')).json(), { status: 'ok' })
  const outage = { since: clock.now(), phase: 'auth', reply: '535 wrong password of bell' }
  await saveMailOutage(database.engine, 'mail.test:25', outage, clock.now())
  const answer = await app.inject('/readyz')
  assert.equal(answer.statusCode, 200)
  assert.deepEqual(answer.json(), {
    status: 'ok',
    warnings: ['The mail server has taken no mail since 2026-03-02T09:00:00Z: it fails at auth.'],
  })
})

test('health checks are logged at debug level only', async (t) => {
  const { app, logged } = await startApp(t, { database: noDatabase })
  await app.inject('/healthz')
  assert.equal(JSON.parse(logged.at(-1)!).level, 'debug')
})

const metricsFor = (token: string | undefined) =>
  app.inject({ url: '/metrics', headers: token ? { authorization: `Bearer ${token}` } : {} })

test('metrics need the operator’s key or METRICS_TOKEN', async () => {
  for (const token of [METRICS_TOKEN, ADMIN_API_KEY]) {
    assert.equal((await metricsFor(token)).statusCode, 200)
  }
  for (const token of [undefined, '', 'token-of-the-metric', `${METRICS_TOKEN}x`]) {
    assert.equal((await metricsFor(token)).statusCode, 401, String(token))
  }
})

test('requests are measured by the pattern of their route', async () => {
  await app.inject('/nowhere/anna')
  await app.inject('/location/17')
  const { body, headers } = await metricsFor(METRICS_TOKEN)
  assert.match(String(headers['content-type']), /^text\/plain/)
  assert.match(
    body,
    /request_seconds_count\{.*route="\/location\/:locationId",status="401".*\} \d+$/m,
  )
  assert.match(body, /^process_cpu_user_seconds_total/m)
  assert.doesNotMatch(body, /anna|17"/)
})
