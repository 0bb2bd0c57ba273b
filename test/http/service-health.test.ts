import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverOfUrl } from '../../src/email/smtp.ts'
import { saveMailOutage } from '../../src/store/mail-servers.ts'
import { saveOperatorProblem } from '../../src/store/operator-problems.ts'
import { VERSION } from '../../src/version.ts'
import { startApp } from '../support/app.ts'
import { manualClock } from '../support/clock.ts'
import { cloneDatabase } from '../support/database.ts'
import { addBusiness, reminder } from '../support/world.ts'

const ADMIN_API_KEY = 'key-of-the-operator'
const SMTP_URL = 'smtp://mail.example.org:587'

test('the operator reads the state of mail, queue, database and problems at one address', async (t) => {
  const { database } = await cloneDatabase(t)
  const clock = manualClock()
  const started = await startApp(t, { database, clock, env: { ADMIN_API_KEY, SMTP_URL } })
  const world = await addBusiness({ ...started, clock })
  await world.save('/eventDefinition', reminder(world.businessId, -24))
  await world.book(clock.in({ hours: 25 }))
  await world.book(clock.in({ hours: 72 }))
  clock.advance({ hours: 1, seconds: 90 })
  const since = clock.now()
  const outage = { since, phase: 'connect', reply: 'ECONNREFUSED' }
  await saveMailOutage(database.engine, serverOfUrl(SMTP_URL)!, outage, since)
  const problem = { problem: 'dkim', businessId: null, detail: 'The DKIM key cannot sign.' }
  await saveOperatorProblem(database.engine, problem, since)

  const answer = await started.app.inject({
    url: '/business/health',
    headers: { authorization: `Bearer ${ADMIN_API_KEY}` },
  })
  assert.equal(answer.statusCode, 200)
  const health = answer.json()
  assert.equal(health.node.version, VERSION)
  assert.match(health.database.version, /^\d+\.\d+$/)
  assert.equal(health.queue.pendingTriggers, 2)
  assert.equal(health.queue.overdueTriggers, 1)
  const overdueFor = since.epochMilliseconds - health.queue.oldestOverdueTime
  assert.equal(overdueFor, 90_000)
  assert.equal(health.mail.captured, false)
  assert.equal(health.mail.failingSince, since.epochMilliseconds)
  assert.equal(health.mail.reply, 'ECONNREFUSED')
  assert.deepEqual(
    health.problems.map(({ detail }: { detail: string }) => detail),
    ['The DKIM key cannot sign.'],
  )
})

test('nobody but the operator reads the state of the whole service', async (t) => {
  const { database } = await cloneDatabase(t)
  const clock = manualClock()
  const started = await startApp(t, { database, clock, env: { ADMIN_API_KEY } })
  const { call } = await addBusiness({ ...started, clock })
  assert.equal((await call('GET', '/business/health')).status, 403)
  assert.equal((await started.app.inject('/business/health')).statusCode, 401)
})
