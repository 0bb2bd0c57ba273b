import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import type { Mailer, Outcome, Outgoing } from '../../src/email/mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** A mail server that answers as it is told, in turn, and then takes everything. */
function scripted(...answers: Outcome[]) {
  const taken: Outgoing[] = []
  const mailer: Mailer = {
    async send(mail) {
      const outcome = answers.shift() ?? { kind: 'sent', phase: 'end', reply: '250 taken' }
      if (outcome.phase === 'end') await mail.onMessageEnded()
      if (outcome.kind === 'sent' || outcome.kind === 'uncertain') taken.push(mail)
      return outcome
    },
    room: () => 10,
    close: async () => {},
  }
  return { mailer, taken }
}

/** One reminder that is due now, with one mail to the client. */
async function due(world: World, mailer: Mailer) {
  const { businessId, clock, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const booked = await world.book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  const engine = startEngine(world, { mailer, captures: false })
  return { ...engine, booked }
}

const mailOf = async ({ db }: World) =>
  (
    await db.query<{ status: string; reason: string; next: Temporal.Instant; attempts: object[] }>(
      sql`select status, status_reason as reason, next_attempt_time as next, attempts from email`,
    )
  )[0]!

const triggersOf = async ({ call }: World, { calendarId }: { calendarId: number }) =>
  (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body as {
    status: string
    statusReason: string | null
  }[]

const triggerOf = async (world: World, booked: { calendarId: number }) =>
  (await triggersOf(world, booked))[0]!

test('a mail that the server takes completes its trigger', async (t) => {
  const world = await startWorld(t)
  const { mailer, taken } = scripted()
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  assert.equal(taken.length, 1)
  assert.equal((await mailOf(world)).status, 'SENT')
  assert.equal((await triggerOf(world, booked)).status, 'COMPLETED')
  assert.match(taken[0]!.message.headers, /Message-ID: <\d+\.\d+@localhost>/)
  assert.match(taken[0]!.message.body, /text\/calendar; charset=utf-8; method=PUBLISH/)
})

test('a mail that is refused for now is tried again after 1, 4, 9 minutes', async (t) => {
  const world = await startWorld(t)
  const busy: Outcome = { kind: 'retry', phase: 'rcpt', reply: '451 busy' }
  const { mailer, taken } = scripted(busy, busy)
  const { runEngine, booked } = await due(world, mailer)
  const start = world.clock.now()
  await runEngine()
  const after = (minutes: number) => String(start.add({ minutes }))
  assert.equal((await mailOf(world)).status, 'RETRYING')
  assert.equal(String((await mailOf(world)).next), after(1))
  assert.equal((await triggerOf(world, booked)).status, 'RUNNING')
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(String((await mailOf(world)).next), after(5))
  world.clock.advance({ minutes: 4 })
  await runEngine()
  assert.equal(taken.length, 1)
  assert.equal((await mailOf(world)).attempts.length, 3)
  assert.equal((await triggerOf(world, booked)).status, 'COMPLETED')
})

test('a mail that is refused for good fails its trigger in the words of the server', async (t) => {
  const world = await startWorld(t)
  const gone: Outcome = { kind: 'failed', phase: 'rcpt', reply: '550 no such user' }
  const { runEngine, booked } = await due(world, scripted(gone).mailer)
  await runEngine()
  assert.equal((await mailOf(world)).status, 'FAILED')
  assert.deepEqual(
    (await triggersOf(world, booked)).map((one) => `${one.status} ${one.statusReason}`),
    ['FAILED 550 no such user'],
  )
  const next = await world.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  await runEngine()
  assert.equal((await triggerOf(world, next)).statusReason, 'the address bounced before')
})

test('a reminder cancelled while its mail waits for a retry is not sent', async (t) => {
  const world = await startWorld(t)
  const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  await world.save('/calendar', { calendarId: booked.calendarId, status: 'CANCELLED' })
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 0)
  assert.equal((await mailOf(world)).status, 'CANCELLED')
  assert.equal((await triggerOf(world, booked)).status, 'CANCELLED')
})

test('a reminder moved while its mail waits for a retry comes at its new time', async (t) => {
  const world = await startWorld(t)
  const { mailer, taken } = scripted({ kind: 'retry', phase: 'connect', reply: 'refused' })
  const { runEngine, booked } = await due(world, mailer)
  await runEngine()
  const startTime = world.clock.in({ hours: 96 }).epochMilliseconds
  const { calendarId } = booked
  await world.save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 0)
  assert.deepEqual(
    (await triggersOf(world, booked)).map((one) => one.status),
    ['CANCELLED', 'SCHEDULED'],
  )
  world.clock.advance({ hours: 72 })
  await runEngine()
  assert.equal(taken.length, 1)
})

test('an unknown answer is marked so, and sent again with the same bytes', async (t) => {
  const world = await startWorld(t)
  const lost: Outcome = { kind: 'uncertain', phase: 'end', reply: 'connection lost' }
  const { mailer, taken } = scripted(lost)
  const { runEngine } = await due(world, mailer)
  await runEngine()
  assert.equal((await mailOf(world)).status, 'UNCERTAIN')
  world.clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal((await mailOf(world)).status, 'SENT')
  assert.equal(taken.length, 2)
  assert.deepEqual(taken[0]!.message, taken[1]!.message)
})

test('a worker that dies before the end of a message leaves it safe to send, after it uncertain', async (t) => {
  const world = await startWorld(t)
  const { mailer, taken } = scripted()
  const { runEngine } = await due(world, mailer)
  const die = (ended: boolean) =>
    world.database.engine.query(sql`
      update email set status = 'SENDING', next_attempt_time = null, lease_worker = 'dead',
             lease_until = ${world.clock.now().subtract({ seconds: 1 })}, message_ended = ${ended}`)
  const engine = startEngine(world, { mailer, captures: false })
  await engine.fire()
  await die(false)
  await engine.keep()
  assert.equal((await mailOf(world)).status, 'RETRYING')
  await die(true)
  await engine.keep()
  assert.equal((await mailOf(world)).status, 'UNCERTAIN')
  await runEngine()
  assert.equal(taken.length, 1)
})
