import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import type { Mailer } from '../../src/email/mailer.ts'
import { mailerParts, scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>

async function startMailing(world: World) {
  const { businessId, save, book, clock } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Soon</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -48, { eventActions: [action] }))
  for (let i = 0; i < 5; i += 1) await book(clock.in({ hours: 49 }))
  clock.advance({ hours: 1 })
}

const SMTP = { SMTP_URL: 'smtp://mail.test:25?tls=never' }

test('mails above the daily limit of a business wait for its next day', async (t) => {
  const world = await startWorld(t, SMTP)
  const { businessId, call, clock, database } = world
  const own = await call('POST', '/business', { businessId, dailyMailLimit: 2 })
  assert.equal(own.status, 422, 'only the operator sets it')
  assert.equal(own.body.errors[0].pointer, '/dailyMailLimit')
  await database.operator.query(sql`
    update business set daily_mail_limit = 2 where business_id = ${businessId}`)
  await startMailing(world)
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  assert.equal(taken.length, 2)
  // It is 11:00 in Zurich.
  clock.advance({ hours: 12, minutes: 59 })
  await runEngine()
  assert.equal(taken.length, 2)
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(taken.length, 4)
  clock.advance({ hours: 24 })
  await runEngine()
  assert.equal(taken.length, 5)
})

test('a mail to a paused domain is not attempted, and is sent after the pause', async (t) => {
  const world = await startWorld(t, SMTP)
  const { clock, db } = world
  await startMailing(world)
  const state = { isPaused: true, sent: 0 }
  const mailer: Mailer = {
    ...mailerParts,
    async send(mail) {
      if (state.isPaused)
        return { kind: 'postponed', phase: 'connect', reply: 'paused', waitMs: 300_000 }
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
  state.isPaused = false
  clock.advance({ minutes: 4 })
  await runEngine()
  assert.equal(state.sent, 0)
  clock.advance({ minutes: 1 })
  await runEngine()
  assert.equal(state.sent, 5)
})
