import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REASONS } from '../../src/contract/reasons.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { addBusiness, reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

async function define(world: Pick<World, 'save' | 'businessId'>, triggerHours = -24) {
  const { businessId, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, triggerHours, { eventActions: [action] }))
}

const pause = ({ call, businessId }: World, mailPausedReason: string | null = null) =>
  call('POST', '/business', { businessId, mailPaused: true, mailPausedReason })

const resume = ({ call, businessId }: World) =>
  call('POST', '/business', { businessId, mailPaused: false })

const HELD = `SCHEDULED ${REASONS.mailPaused}`

type Shown = { status: string; statusReason: string | null }

const shown = ({ status, statusReason }: Shown) => `${status} ${statusReason}`

const triggerOf = async ({ call }: World, { calendarId }: { calendarId: number }) =>
  shown((await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body[0])

const mailsOf = async ({ call }: World, { calendarId }: { calendarId: number }) =>
  ((await call('GET', `/emails/calendar/${calendarId}`)).body as Shown[]).map(shown)

test('a pause holds triggers and mails, and those that are still useful are sent when it ends', async (t) => {
  const world = await startWorld(t)
  const { book, clock } = world
  await define(world)
  const busy = { kind: 'retry', phase: 'rcpt', reply: '451 busy' } as const
  const { mailer, taken } = scripted(busy, busy)
  const { runEngine } = startEngine(world, { mailer, captures: false })
  // Two mails are made before the pause, two triggers are due during it.
  const early = await book(clock.in({ hours: 25 }))
  const long = await book(clock.in({ hours: 25, minutes: 1 }))
  const useless = await book(clock.in({ hours: 26 }))
  const useful = await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 1, minutes: 1 })
  await runEngine()
  assert.deepEqual(await mailsOf(world, early), ['RETRYING 451 busy'])

  assert.equal((await pause(world, 'wrong prices')).status, 200)
  for (let step = 0; step < 6; step++) {
    clock.advance({ hours: 5 })
    await runEngine()
  }
  assert.equal(taken.length, 0)
  assert.deepEqual(await mailsOf(world, early), ['RETRYING 451 busy'])
  assert.equal(await triggerOf(world, useless), HELD)
  assert.equal(await triggerOf(world, useful), HELD)

  const { body } = await resume(world)
  assert.deepEqual([body.mailPaused, body.mailPausedReason], [false, null])
  await runEngine()
  assert.deepEqual(await mailsOf(world, early), [`CANCELLED ${REASONS.uselessWhilePaused}`])
  assert.deepEqual(await mailsOf(world, long), [`CANCELLED ${REASONS.uselessWhilePaused}`])
  assert.equal(await triggerOf(world, long), `EXPIRED ${REASONS.uselessWhilePaused}`)
  assert.equal(await triggerOf(world, useless), `EXPIRED ${REASONS.uselessWhilePaused}`)
  assert.deepEqual(await mailsOf(world, useful), ['SENT null'])
  assert.equal(await triggerOf(world, useful), 'COMPLETED null')
  const { late, expired } = await readQueueHealth(world.database.engine, clock.now(), 10)
  assert.deepEqual([late, expired], [0, 0], 'they were due when the pause ended')
  assert.equal(taken.length, 1)
})

test('a pause of one business does not delay the mails of another', async (t) => {
  const world = await startWorld(t)
  const other = { ...world, ...(await addBusiness(world)) }
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  for (const one of [world, other]) await define(one)
  await pause(world)
  const held = await world.book(world.clock.in({ hours: 25 }))
  const sent = await other.book(world.clock.in({ hours: 25 }))
  world.clock.advance({ hours: 1 })
  await runEngine()
  assert.equal(taken.length, 1)
  assert.equal(await triggerOf(other, sent), 'COMPLETED null')
  assert.equal(await triggerOf(world, held), HELD)
})

test('a pause also holds captured mails and manually fired triggers', async (t) => {
  const world = await startWorld(t)
  const { book, call, clock } = world
  await define(world)
  const { runEngine } = startEngine(world)
  const booked = await book(clock.in({ hours: 48 }))
  await pause(world)
  const [{ eventTriggerId }] = (await call('GET', `/eventTriggers/CALENDAR/${booked.calendarId}`))
    .body
  assert.equal((await call('POST', `/eventTriggers/${eventTriggerId}/fire`)).status, 200)
  await runEngine()
  assert.equal(await triggerOf(world, booked), HELD)
  await resume(world)
  await runEngine()
  assert.deepEqual(await mailsOf(world, booked), ['CAPTURED null'])
})

test('a mail that is queued during a pause is sent when it ends', async (t) => {
  const world = await startWorld(t, { SMTP_URL: 'smtp://mail.test:25?tls=never' })
  const { call, clock, save } = world
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  const template = { templateName: 'Test', subject: 'Hello', emailBody: '<p>Hello</p>' }
  const { emailTemplateId } = await save('/emailTemplate', template)
  const { calendarId } = await world.book(clock.in({ hours: 48 }))
  await pause(world, 'moving house')
  const test = { objectType: 'CALENDAR', objectId: calendarId, to: ['me@example.org'] }
  assert.ok((await call('POST', `/emailTemplate/${emailTemplateId}/test`, test)).status < 300)
  await runEngine()
  assert.equal(taken.length, 0)
  const [waiting] = (await call('GET', '/emails')).body.items
  assert.equal(shown(waiting), 'QUEUED all mail of the business is paused: moving house')
  await resume(world)
  await runEngine()
  assert.equal(taken.length, 1)
})

test('the reason of a pause is refused without a pause, and cleared when it ends', async (t) => {
  const world = await startWorld(t)
  const { call, businessId } = world
  const refused = await call('POST', '/business', { businessId, mailPausedReason: 'why' })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.errors[0].pointer, '/mailPausedReason')
  const { body } = await pause(world, 'why')
  assert.deepEqual([body.mailPaused, body.mailPausedReason], [true, 'why'])
  // The response can be sent back with only the flag changed.
  const { status, body: resumed } = await call('POST', '/business', { ...body, mailPaused: false })
  assert.equal(status, 200)
  assert.equal(resumed.mailPausedReason, null)
  assert.equal((await call('POST', '/business', { businessId, mailPaused: 'no' })).status, 422)
})
