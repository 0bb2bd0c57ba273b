import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { makeMailer } from '../../src/cli/make-mailer.ts'
import { readConfig } from '../../src/config.ts'
import { engineMetrics } from '../../src/http/routes/engine-metrics.ts'
import { noDatabase } from '../support/app.ts'
import { manualClock } from '../support/clock.ts'
import { startMailServer, type Behaviour } from '../support/mail-server.ts'

async function openMailer(t: TestContext, behaviour: Behaviour, env: Record<string, string>) {
  const server = await startMailServer(t, behaviour)
  const config = readConfig({
    SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=never`,
    ...env,
  })
  const mailer = makeMailer(config)
  t.after(() => mailer.close())
  const send = (to: string) =>
    mailer.send({
      businessId: 1,
      from: 'hello@clinic.test',
      to,
      message: {
        messageId: '<1@clinic.test>',
        headers: 'Subject: See you\r\n',
        body: 'See you\r\n',
      },
      beforeMessageEnd: async () => {},
    })
  return { server, config, mailer, send }
}

test('the service greets the mail server with the host of PUBLIC_URL', async (t) => {
  const { server, send } = await openMailer(t, {}, { PUBLIC_URL: 'https://book.clinic.ch/mail' })
  assert.equal((await send('anna@example.org')).kind, 'sent')
  assert.equal(server.commands[0], 'EHLO book.clinic.ch')
})

test('SMTP_CONNECTIONS limits the connections, and SMTP_ANSWER_SECONDS the wait for an answer', async (t) => {
  const env = { SMTP_CONNECTIONS: '2', SMTP_ANSWER_SECONDS: '10' }
  const { server, send } = await openMailer(t, { hangsWith: () => true }, env)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent = Array.from({ length: 4 }, () => send('anna@example.org'))
  // Only real events happen here: no timer of the mailer has fired.
  while (server.commands.filter((line) => line === 'DATA').length < 2) await nextIteration()
  for (let i = 0; i < 100; i += 1) await nextIteration()
  assert.equal(server.connections(), 2)
  t.mock.timers.tick(10_000)
  const { kind, reply } = await Promise.race(sent)
  assert.deepEqual([kind, reply], ['uncertain', 'no answer within 10 s (end)'])
  t.mock.timers.reset()
  server.dropAll()
  const dropping = setInterval(() => server.dropAll(), 20)
  await Promise.all(sent)
  clearInterval(dropping)
})

test('the metrics show how many mails at a time a throttled recipient domain gets', async (t) => {
  const refuses = { 'busy@slow.test': '421 4.7.0 too many mails' }
  const { config, mailer, send } = await openMailer(
    t,
    { refuses },
    { SEND_LIMITS: 'slow.test=8@1000/s' },
  )
  const registry = engineMetrics({
    config,
    clock: manualClock(),
    database: noDatabase,
    throttledProviders: () => mailer.throttledProviders(),
  })
  const shown = async () => {
    const name = 'bellwether_smtp_provider_concurrent_emails'
    const lines = (await registry.getSingleMetricAsString(name)).split('\n')
    return lines
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => line.slice(name.length))
  }
  assert.deepEqual(await shown(), [])
  await send('anna@example.org')
  await send('busy@slow.test')
  assert.deepEqual(await shown(), ['{provider="slow.test"} 4'])
  for (let i = 0; i < 4; i += 1) await send('busy@slow.test')
  assert.deepEqual(await shown(), ['{provider="slow.test"} 0'], 'paused after five deferrals')
})
