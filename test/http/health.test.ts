import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ConnectionError, DiskFullError } from '../../src/database/postgres-errors.ts'
import type { Services } from '../../src/http/server/services.ts'
import { saveMailOutage } from '../../src/store/mail-servers.ts'
import { noDatabase, startApp } from '../support/app.ts'
import { assertWithin } from '../support/within.ts'

const METRICS_TOKEN = 'token-of-the-metrics'
const ADMIN_API_KEY = 'key-of-the-operator'
const { app } = await startApp({ after }, { env: { METRICS_TOKEN, ADMIN_API_KEY } })

const unreachableDatabase = {
  checkWritable: async () => {
    throw new ConnectionError(new Error('connect ECONNREFUSED'))
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

test('a node is not ready while the disk of its database is full', async (t) => {
  const full = {
    checkWritable: async () => {
      throw new DiskFullError()
    },
  } as unknown as Services['database']
  const { app } = await startApp(t, { database: full })
  const answer = await app.inject('/readyz')
  assert.equal(answer.statusCode, 503)
  assert.match(answer.json().detail, /^The disk of the database is full\./)
})

test('a node whose database is silent is not ready, and says so within 2 s', async (t) => {
  let checks = 0
  const silent = {
    checkWritable: () => {
      checks += 1
      return new Promise<void>(() => {})
    },
  } as unknown as Services['database']
  const { app } = await startApp(t, { database: silent })
  const startedAt = performance.now()
  const answers = await Promise.all([1, 2, 3].map(() => app.inject('/readyz')))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [503, 503, 503],
  )
  assertWithin(t, { what: 'answer', tookMs: performance.now() - startedAt, limitMs: 2_000 })
  assert.equal(checks, 1, 'probes share a check')
})

test('a node with an engine is ready if its last iteration is at most 15 s old', async (t) => {
  let lastIteration: Temporal.Instant | undefined
  const { app, clock } = await startApp(t, { lastClaimTime: () => lastIteration })
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

test('the log has the address of the client, and believes a header of a trusted proxy only', async (t) => {
  const addressWith = async (TRUST_PROXY: string) => {
    const { app, logged } = await startApp(t, { database: noDatabase, env: { TRUST_PROXY } })
    await app.inject({ url: '/healthz', headers: { 'x-forwarded-for': '203.0.113.9' } })
    return JSON.parse(logged.at(-1)!).clientIp
  }
  assert.equal(await addressWith('false'), '127.0.0.1')
  assert.equal(await addressWith('loopback'), '203.0.113.9')
})
