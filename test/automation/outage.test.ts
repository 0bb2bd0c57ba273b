import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MailServerChange } from '../../src/automation/mail-server.ts'
import { readConfig } from '../../src/config.ts'
import { sql } from '../../src/database/sql.ts'
import type { Mailer, Outcome, Unavailable } from '../../src/email/mailer.ts'
import { engineMetrics } from '../../src/http/routes/engine-metrics.ts'
import { findMailServer } from '../../src/store/mail-servers.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { mailerParts } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

const REFUSED: Unavailable = { kind: 'unavailable', phase: 'connect', reply: 'ECONNREFUSED' }

/** A mail server that takes every mail while `trouble` is unset. */
function switchable() {
  const state = {
    trouble: undefined as Unavailable | undefined,
    /** What it answers to mails although probes succeed. */
    answer: undefined as Outcome | undefined,
    taken: [] as string[],
    tried: 0,
    probes: 0,
  }
  const mailer: Mailer = {
    ...mailerParts,
    async send(mail) {
      state.tried++
      const refused = state.trouble ?? state.answer
      if (refused) return refused
      await mail.beforeMessageEnd()
      state.taken.push(mail.to)
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
    async check() {
      state.probes++
      return state.trouble
    },
  }
  return Object.assign(state, { mailer })
}

/** Reminders that are due `hours` before each appointment, in a world whose mail server can fail. */
async function startMailing(t: Parameters<typeof startWorld>[0], triggerHours = -24) {
  const world = await startWorld(t, { SMTP_URL: 'smtp://mail.test:25?tls=never' })
  const { businessId, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, triggerHours, { eventActions: [action] }))
  const server = switchable()
  const changes: MailServerChange[] = []
  const start = () =>
    startEngine(world, {
      mailer: server.mailer,
      captures: false,
      onMailServer: (change) => changes.push(change),
    })
  return { ...world, ...start(), server, changes, restart: start }
}

type Mail = { status: string; reason: string | null; attempts: object[]; objectId: number }

const mailsOf = ({ db }: Pick<World, 'db'>) =>
  db.query<Mail>(sql`
    select status, status_reason as reason, attempts, object_id as "objectId" from email
    order by email_id`)

const stateOf = ({ database }: Pick<World, 'database'>) =>
  findMailServer(database.engine, 'mail.test:25')

/** Reads the gauges without the five seconds for which a scrape is kept. */
async function metricsOf({ clock, database }: World) {
  const registry = engineMetrics({
    config: readConfig({ SMTP_URL: 'smtp://mail.test:25?tls=never' }),
    clock,
    database,
  })
  const metrics = await registry.getMetricsAsJSON()
  return new Map(metrics.map(({ name, values }) => [name, values[0]?.value]))
}

test('during an outage of two days nothing of use is lost, and mails fail when they become useless', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server, changes } = world
  const bookings = new Map<string, { calendarId: number }>()
  for (const hours of [30, 60, 71, 73]) bookings.set(`${hours}`, await book(clock.in({ hours })))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  // Two days in steps of an hour: reminders become due after 6, 36, 47 and 49 hours.
  for (let step = 0; step < 48; step++) {
    clock.advance({ hours: 1 })
    await runEngine()
  }
  const byBooking = async () => {
    const mails = await mailsOf(world)
    return [...bookings].map(([hours, { calendarId }]) => {
      const mail = mails.find((one) => one.objectId === calendarId)
      return `${hours}: ${mail?.status} ${mail?.reason}`
    })
  }
  const failed = 'FAILED the mail server took no mail while this one was still useful: ECONNREFUSED'
  assert.deepEqual(await byBooking(), [
    `30: ${failed}`,
    '60: QUEUED null',
    '71: QUEUED null',
    '73: QUEUED null',
  ])
  assert.deepEqual(new Set((await mailsOf(world)).flatMap((mail) => mail.attempts)), new Set())
  assert.equal(server.tried, 1, 'after the first mail it is probed without one')
  assert.ok(server.probes >= 40)

  const outage = (await stateOf(world))!.outage!
  assert.equal(`${outage.phase} ${outage.reply}`, 'connect ECONNREFUSED')
  assert.ok(clock.now().since(outage.since).total('hours') > 40)
  assert.ok(changes.length >= 40 && changes.length <= 48, 'reported once an hour')
  assert.ok(changes.every(({ isWorking }) => !isWorking))

  const { mail } = (await world.call('GET', '/overview')).body
  assert.deepEqual(
    [mail.ok, mail.waiting, mail.failingSince, mail.sentLastDay],
    [false, 3, outage.since.epochMilliseconds, 0],
  )
  assert.match(mail.problem, /^mails are sent when the mail server works again.*ECONNREFUSED$/)
  const [shown] = (await world.call('GET', '/emails?status=QUEUED')).body.items
  assert.equal(shown.statusReason, mail.problem)
  const down = await metricsOf(world)
  assert.equal(down.get('bellwether_smtp_up'), 0)
  assert.equal(down.get('bellwether_emails_waiting'), 3)
  assert.equal(down.get('bellwether_oldest_waiting_email_seconds'), 13 * 3600)

  server.trouble = undefined
  clock.advance({ minutes: 5 })
  await runEngine()
  assert.deepEqual(await byBooking(), [
    `30: ${failed}`,
    '60: SENT null',
    '71: SENT null',
    '73: SENT null',
  ])
  assert.equal(server.taken.length, 3, 'each once')
  assert.equal((await stateOf(world))!.outage, null)
  const up = await metricsOf(world)
  assert.equal(up.get('bellwether_smtp_up'), 1)
  assert.equal(up.get('bellwether_emails_waiting'), 0)
  assert.equal(up.get('bellwether_last_accepted_email_age_seconds'), 0)
  assert.deepEqual(
    (({ ok, problem, failingSince }) => [ok, problem, failingSince])(
      (await world.call('GET', '/overview')).body.mail,
    ),
    [true, null, null],
  )
  assert.deepEqual(
    [changes.at(-1)!.isWorking, Math.round(changes.at(-1)!.seconds / 3600)],
    [true, 43],
  )
})

test('a server that refuses everybody is probed with backoff, and reported once', async (t) => {
  const world = await startMailing(t)
  const { book, clock, server, changes } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = { kind: 'unavailable', phase: 'greeting', reply: '554 not welcome' }
  await world.runEngine()
  const probedAt: number[] = []
  const since = clock.now()
  for (let second = 5; second <= 1_000; second += 5) {
    clock.advance({ seconds: 5 })
    const before = server.probes
    while ((await world.deliver()) > 0) await world.settle()
    if (server.probes > before) probedAt.push(clock.now().since(since).total('seconds'))
  }
  assert.deepEqual(probedAt, [5, 15, 35, 75, 155, 315, 615, 915])
  assert.equal(changes.length, 1)
})

test('a wrong password, a refusing relay and a wrong certificate fail no mail', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server, changes } = world
  const troubles = [
    ['auth', '535 5.7.8 wrong password for <mail@operator.example>'],
    ['greeting', '554 5.7.1 you are not welcome'],
    ['starttls', "Hostname/IP does not match certificate's altnames"],
  ] as const
  for (const [phase, reply] of troubles) {
    for (let i = 0; i < 3; i++) await book(clock.in({ hours: 25 }))
    clock.advance({ hours: 1 })
    server.taken.length = 0
    server.trouble = { kind: 'unavailable', phase, reply }
    await runEngine()
    const waiting = (await mailsOf(world)).filter(({ status }) => status !== 'SENT')
    assert.deepEqual(
      waiting.map(({ status, attempts }) => [status, attempts.length]),
      [1, 2, 3].map(() => ['QUEUED', 0]),
    )
    const shown = reply.replace('<mail@operator.example>', '…')
    assert.equal((await stateOf(world))!.outage!.reply, shown)
    assert.equal(changes.at(-1)!.reply, shown, 'what is logged')
    server.trouble = undefined
    clock.advance({ minutes: 5 })
    await runEngine()
    assert.equal(server.taken.length, 3)
  }
  assert.deepEqual(
    changes.map((change) => `${change.isWorking} ${change.phase}`),
    troubles.flatMap(([phase]) => [`false ${phase}`, `true ${phase}`]),
  )
})

test('a flapping server is reported every five minutes, and each mail is sent once', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server, changes } = world
  for (let i = 0; i < 12; i++) await book(clock.in({ hours: 24, minutes: 20 * i }))
  for (let step = 0; step < 60; step++) {
    server.trouble = step % 2 === 0 ? REFUSED : undefined
    clock.advance({ seconds: 20 })
    await runEngine()
  }
  // Twenty minutes of ups and downs: only the mail of the first reminder was due.
  const reported = changes.map(({ isWorking }) => isWorking)
  assert.ok(reported.length >= 2 && reported.length <= 10, String(reported))
  assert.deepEqual(
    reported,
    reported.map((_, i) => i % 2 === 1),
    'each end follows its beginning',
  )
  for (let step = 0; step < 30; step++) {
    server.trouble = step % 3 === 0 ? REFUSED : undefined
    clock.advance({ minutes: 10 })
    await runEngine()
  }
  server.trouble = undefined
  clock.advance({ minutes: 5 })
  await runEngine()
  assert.equal(server.taken.length, 12)
  assert.deepEqual(new Set((await mailsOf(world)).map((mail) => mail.status)), new Set(['SENT']))
})

test('after an outage one mail is tried before all others follow', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server } = world
  for (let i = 0; i < 20; i++) await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  await runEngine()
  // Connections are accepted again, but the server wants another user.
  server.trouble = undefined
  server.answer = { kind: 'unavailable', phase: 'mail', reply: '530 5.7.0 sign in' }
  const { tried } = server
  const { since } = (await stateOf(world))!.outage!
  clock.advance({ minutes: 5 })
  await runEngine()
  assert.equal(server.tried, tried + 1)
  const { outage } = (await stateOf(world))!
  assert.equal(outage!.reply, '530 5.7.0 sign in')
  assert.ok(outage!.since.equals(since), 'the same outage')
  server.answer = undefined
  clock.advance({ minutes: 5 })
  await runEngine()
  assert.equal(server.taken.length, 20)
})

test('the oldest waiting mail is found in a queue that is too long to count', async (t) => {
  const { book, clock, database, runEngine, server } = await startMailing(t)
  server.trouble = REFUSED
  await book(clock.in({ hours: 25 }))
  await book(clock.in({ hours: 26 }))
  clock.advance({ hours: 1 })
  await runEngine()
  const first = clock.now()
  clock.advance({ hours: 1 })
  await runEngine()
  // Its row is now behind the other one.
  await database.engine.query(sql`
    update email_queue set attempts = attempts where created_date = ${first}`)
  const health = await readQueueHealth(database.engine, clock.now(), 10, 1)
  assert.deepEqual([health.emailsWaiting, String(health.oldestWaitingEmail)], [1, String(first)])
})

test('an outage ends by its probe if no mail waits, and a restart begins with a probe', async (t) => {
  const world = await startMailing(t)
  const { book, clock, server, changes } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  server.trouble = REFUSED
  await world.runEngine()
  await world.database.engine.query(sql`
    with gone as (delete from email_queue returning email_id)
    update email set status = 'CANCELLED', next_attempt_time = null`)
  const restarted = world.restart()
  server.trouble = undefined
  const { tried } = server
  await restarted.runEngine()
  assert.equal(server.probes, 1)
  assert.equal(server.tried, tried)
  assert.equal((await stateOf(world))!.outage, null)
  assert.equal(changes.length, 1, 'the node that restarted had reported nothing')
})

test('a lost connection and a deferred mail are no outage', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine, server, changes } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  for (const reply of ['the connection was closed', '451 busy', '421 closing']) {
    server.answer = { kind: 'retry', phase: 'rcpt', reply }
    await runEngine()
    clock.advance({ minutes: 30 })
  }
  assert.equal(changes.length, 0)
  const [mail] = await mailsOf(world)
  assert.deepEqual([mail!.status, mail!.attempts.length], ['RETRYING', 3])
})

test('the time of the last accepted mail is stored', async (t) => {
  const world = await startMailing(t)
  const { book, clock, runEngine } = world
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await runEngine()
  assert.equal(String((await stateOf(world))!.lastAcceptedTime), String(clock.now()))
})
