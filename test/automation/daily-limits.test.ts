import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REASONS } from '../../src/contract/reasons.ts'
import { sql } from '../../src/database/sql.ts'
import type { Mailer } from '../../src/email/mailer.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { mailerParts, scripted } from '../support/scripted-mailer.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** Mails that are due, each `hours` before its appointment. */
async function startMailing(world: World, more: object = {}, { hours = 48, mails = 5 } = {}) {
  const { businessId, save, book, clock } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Soon</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -hours, { eventActions: [action], ...more }))
  for (let i = 0; i < mails; i += 1) await book(clock.in({ hours: hours + 1 }))
  clock.advance({ hours: 1 })
}

/** Sets the limit as the operator does. */
const setLimit = ({ database, businessId, clock }: World, limit: number | null) =>
  database.operator.query(sql`
    update business set daily_mail_limit = ${limit}, modified_date = ${clock.now()}
    where business_id = ${businessId}`)

const SMTP = { SMTP_URL: 'smtp://mail.test:25?tls=never' }

test('mails above the daily limit of a business wait for its next day', async (t) => {
  const world = await startWorld(t, SMTP)
  const { businessId, call, clock } = world
  const own = await call('POST', '/business', { businessId, dailyMailLimit: 2 })
  assert.equal(own.status, 422, 'only the operator sets it')
  assert.equal(own.body.errors[0].pointer, '/dailyMailLimit')
  await setLimit(world, 2)
  await startMailing(world)
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  assert.equal(taken.length, 2)
  // It is 11:00 in Zurich.
  clock.advance({ hours: 20, minutes: 59 })
  await runEngine()
  assert.equal(taken.length, 2, 'not at midnight')
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 4)
  clock.advance({ hours: 24 })
  await runEngine()
  assert.equal(taken.length, 5)
})

test('mails that waited for days count for the daily limit', async (t) => {
  const world = await startWorld(t, SMTP)
  await setLimit(world, 1)
  await startMailing(world, {}, { hours: 14 * 24, mails: 10 })
  const { mailer, taken } = scripted()
  const oneAtOnce = { ...mailer, room: () => 1 }
  const { runEngine } = startEngine(world, { mailer: oneAtOnce, captures: false })
  const sentByDay: number[] = []
  for (let day = 0; day < 6; day += 1) {
    await runEngine()
    sentByDay.push(taken.length)
    world.clock.advance({ hours: 24 })
  }
  assert.deepEqual(sentByDay, [1, 2, 3, 4, 5, 6])
})

test('mails that another node is sending count for the daily limit', async (t) => {
  const world = await startWorld(t, SMTP)
  await setLimit(world, 1)
  await startMailing(world)
  const answered = Promise.withResolvers<void>()
  let sending = 0
  const mailer: Mailer = {
    ...mailerParts,
    room: () => 1,
    async send({ beforeMessageEnd }) {
      sending += 1
      await answered.promise
      await beforeMessageEnd()
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
  }
  const one = startEngine(world, { mailer, captures: false })
  const other = startEngine(world, { mailer, captures: false })
  while ((await one.fire()) > 0);
  await one.deliver()
  await other.deliver()
  assert.equal(sending, 1)
  answered.resolve()
  await one.settle()
  await other.settle()
  assert.equal(sending, 1)
})

test('people see that the daily limit was reached, and a raised limit sends at once', async (t) => {
  const world = await startWorld(t, SMTP)
  const { call, clock, database } = world
  await setLimit(world, 1)
  await startMailing(world)
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  const waiting = (await call('GET', '/emails?status=QUEUED')).body.items
  const reason =
    'the business has reached its daily limit of 1 mails; mails are sent again from 2026-03-03T07:00:00Z on'
  assert.deepEqual(
    waiting.map(({ statusReason }: { statusReason: string }) => statusReason),
    Array.from({ length: 4 }, () => reason),
  )
  assert.equal((await call('GET', '/overview')).body.mail.problem, reason)
  clock.advance({ hours: 2 })
  const health = await readQueueHealth(database.engine, clock.now(), 10)
  const { emailsWaiting, oldestWaitingEmail, emailsAboveLimit } = health
  assert.deepEqual([emailsWaiting, oldestWaitingEmail, emailsAboveLimit], [0, null, 4])

  await setLimit(world, 3)
  await runEngine()
  assert.equal(taken.length, 3)
  await setLimit(world, 2)
  await runEngine()
  assert.equal(taken.length, 3, 'a lower limit sends no more')
  await setLimit(world, null)
  await runEngine()
  assert.equal(taken.length, 5)
})

test('mails above the limit wait for the end of quiet hours, unless they are useless then', async (t) => {
  const world = await startWorld(t, SMTP)
  const { businessId, save, book, clock } = world
  await save('/business', { businessId, quietHours: { from: '21:00', to: '06:30' } })
  await setLimit(world, 5)
  await startMailing(world, { latePolicy: 'SEND' })
  // It is 11:00 in Zurich; the first appointment begins at 6:00 of the next day.
  await book(clock.in({ hours: 19 }))
  await book(clock.in({ hours: 43 }))
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  assert.equal(taken.length, 5)
  clock.advance({ hours: 12, minutes: 59 })
  await runEngine()
  assert.equal(taken.length, 5)
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 6, 'midnight')
  clock.advance({ hours: 6, minutes: 29 })
  await runEngine()
  assert.equal(taken.length, 6)
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 7)
})

test('mails about accounts ignore the daily limit, the pause and suppressions', async (t) => {
  const world = await startWorld(t, SMTP)
  const { businessId, call, db, save } = world
  const person = { role: 'OWNER', password: 'long enough', emailAddress: 'olga@praxis.example' }
  await save('/user', { ...person, username: 'olga' })
  await setLimit(world, 1)
  await startMailing(world)
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  assert.equal(taken.length, 1)
  // The mail is queued after the response.
  const askForPassword = async () => {
    const count = async () => (await db.query(sql`select from password_link`)).length
    await db.query(sql`delete from password_link`)
    await call('POST', '/user/password/forgotten', { emailAddress: person.emailAddress })
    await until(async () => (await count()) > 0)
  }
  await askForPassword()
  await runEngine()
  assert.equal(taken.length, 2, 'the limit was reached')
  await save('/business', { businessId, mailPaused: true })
  await setLimit(world, null)
  const line = { kind: 'suppression', emailAddress: person.emailAddress, reason: 'BOUNCED' }
  const ndjson = { 'content-type': 'application/x-ndjson' }
  assert.equal((await call('POST', '/import', JSON.stringify(line), ndjson)).body.refused.length, 0)
  await askForPassword()
  // The same claim takes mails that wait for the end of the pause.
  await runEngine()
  assert.deepEqual(
    taken.slice(1).map(({ to }) => to),
    [person.emailAddress, person.emailAddress],
  )
  const invitation = { role: 'USER', username: 'otto', emailAddress: person.emailAddress }
  const invited = await call('POST', '/user/invite', invitation)
  assert.deepEqual(
    [invited.status, invited.body.detail],
    [409, 'olga@praxis.example bounced before. Remove it with DELETE /suppression first.'],
    'the inviter is told',
  )
})

test('a mail to a paused domain is not attempted, and is sent after the pause', async (t) => {
  const world = await startWorld(t, SMTP)
  const { call, clock, db } = world
  await startMailing(world)
  // They have nothing to do with the pause, which ends at a whole minute too.
  const quietHours = { from: '22:00', to: '06:00' }
  await world.save('/business', { businessId: world.businessId, quietHours })
  const state = { isPaused: true, sent: 0 }
  const mailer: Mailer = {
    ...mailerParts,
    async send(mail) {
      if (state.isPaused)
        return { kind: 'postponed', phase: 'connect', reply: REASONS.domainPaused, waitMs: 300_000 }
      await mail.beforeMessageEnd()
      state.sent += 1
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
  }
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  const rows = await db.query<{ status: string; attempts: object[] }>(sql`
    select status, attempts from email`)
  assert.deepEqual(
    rows.map(({ status, attempts }) => [status, attempts.length]),
    Array.from({ length: 5 }, () => ['QUEUED', 0]),
  )
  const [shown] = (await call('GET', '/emails?status=QUEUED')).body.items
  assert.equal(
    shown.statusReason,
    `${REASONS.domainPaused}; it is sent at ${clock.in({ minutes: 5 })}`,
  )
  state.isPaused = false
  clock.advance({ minutes: 4 })
  await runEngine()
  assert.equal(state.sent, 0)
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(state.sent, 5)
})
