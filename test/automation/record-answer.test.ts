import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import type { Mailer } from '../../src/email/mailer.ts'
import { SmtpMailer } from '../../src/email/smtp.ts'
import { startMailServer } from '../support/mail-server.ts'
import { asOwner } from '../support/owner.ts'
import { until } from '../support/until.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'
import { mailerParts } from '../support/scripted-mailer.ts'

type World = Awaited<ReturnType<typeof startWorld>>

/** One reminder that is due now, with one mail to the client. */
async function makeDue({ businessId, book, clock, save }: World) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const booked = await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  return booked as { calendarId: number }
}

const mailOf = async ({ db }: World) =>
  (
    await db.query<{ status: string; reason: string | null; attempts: object[] }>(
      sql`select status, status_reason as reason, attempts from email`,
    )
  )[0]!

const statusesOf = async ({ call }: World, { calendarId }: { calendarId: number }) =>
  (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body.map(
    (trigger: { status: string }) => trigger.status,
  )

/** Moves appointments while the mails of their reminders are being sent. */
async function moveWhileSending(t: TestContext, { mails = 1 } = {}) {
  const world = await startWorld(t)
  const booked = await makeDue(world)
  const moving = [booked]
  while (moving.length < mails) moving.push(await world.book(world.clock.in({ hours: 24 })))
  const begun = Promise.withResolvers<void>()
  const answers = Array.from({ length: mails }, () => Promise.withResolvers<void>())
  let sending = 0
  const mailer: Mailer = {
    async send(mail) {
      const answer = answers[sending++]!
      await mail.beforeMessageEnd()
      if (sending === mails) begun.resolve()
      await answer.promise
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
    ...mailerParts,
  }
  const engine = startEngine(world, { mailer, captures: false })
  await engine.fire()
  await engine.deliver()
  await begun.promise
  const startTime = world.clock.in({ hours: 96 }).epochMilliseconds
  for (const { calendarId } of moving) {
    await world.save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  }
  return { world, engine, booked, answer: (mail = 0) => answers[mail]!.resolve() }
}

test('the answer of the mail server is recorded while another transaction locks the moved appointment', async (t) => {
  const { world, engine, booked, answer } = await moveWhileSending(t)
  await world.db.transaction(async (tx) => {
    await tx.query(
      sql`select from calendar where calendar_id = ${booked.calendarId} for no key update`,
    )
    answer()
    await until(async () => (await mailOf(world)).status === 'SENT')
    // The order of every save: first the object, then its triggers.
    await tx.query(sql`select from event_trigger where object_id = ${booked.calendarId} for update`)
    await engine.settle()
  })
  await engine.takeOver()
  assert.deepEqual(engine.errors, [])
  assert.deepEqual(await statusesOf(world, booked), ['COMPLETED', 'SCHEDULED'])
})

test('moved reminders whose appointments are locked are planned again later', async (t) => {
  const { world, engine, answer } = await moveWhileSending(t, { mails: 2 })
  const isSent = async (count: number) => {
    const [row] = await world.db.query<{ sent: number }>(
      sql`select count(*) as sent from email where status = 'SENT'`,
    )
    return row!.sent === count
  }
  await world.db.transaction(async (tx) => {
    await tx.query(sql`select from calendar for no key update`)
    answer(0)
    await until(() => isSent(1))
    answer(1)
    await until(() => isSent(2))
    await engine.settle()
    assert.equal((await world.db.query(sql`select from pending_trigger`)).length, 0)
  })
  await engine.takeOver()
  assert.deepEqual(engine.errors, [])
  const pending = await world.db.query(sql`select from pending_trigger`)
  assert.equal(pending.length, 2)
})

test('a mail is recorded as sent although its reminder cannot be planned again until later', async (t) => {
  const { world, engine, booked, answer } = await moveWhileSending(t)
  await asOwner(
    world.database,
    `create function refuse() returns trigger language plpgsql as
       $$ begin raise exception 'no new trigger today'; end $$`,
    'create trigger refuse before insert on pending_trigger for each row execute function refuse()',
  )
  answer()
  await engine.settle()
  assert.equal((await mailOf(world)).status, 'SENT')
  assert.match(String(engine.errors[0]), /no new trigger today/)
  assert.deepEqual(await statusesOf(world, booked), ['RUNNING'])

  // A worker that cannot plan it keeps running, and another one takes over.
  world.clock.advance({ seconds: 60 })
  const other = startEngine(world)
  assert.equal(await other.takeOver(), 0, 'the loop rests before it tries again')
  assert.match(String(other.errors[0]), /no new trigger today/)
  assert.equal((await mailOf(world)).status, 'SENT')
  await asOwner(world.database, 'drop trigger refuse on pending_trigger')
  await other.takeOver()
  assert.deepEqual(await statusesOf(world, booked), ['COMPLETED', 'SCHEDULED'])
})

test('a mail that is aborted because the database is lost was not attempted, and is sent at once', async (t) => {
  const world = await startWorld(t)
  await makeDue(world)
  const server = await startMailServer(t)
  const { port } = server
  const mailer = new SmtpMailer({
    host: '127.0.0.1',
    port,
    secure: false,
    requireTls: false,
    user: null,
    password: null,
  })
  t.after(() => mailer.close())
  let isLost = true
  const { engine: db } = world.database
  const query: Db['query'] = (statement) => {
    if (!isLost || !statement.text.includes('message_ended')) return db.query(statement)
    isLost = false
    throw Object.assign(new Error('connect ENOENT /srv/secret/.s.PGSQL.5432'), { code: 'ENOENT' })
  }
  const engine = startEngine(world, {
    mailer,
    captures: false,
    database: { ...world.database, engine: { ...db, query } },
  })
  await engine.fire()
  await engine.deliver()
  await engine.settle()
  assert.equal(server.taken.length, 0)
  const { status, reason, attempts } = await mailOf(world)
  assert.deepEqual([status, reason, attempts], ['QUEUED', null, []])

  await engine.deliver()
  await engine.settle()
  assert.equal(server.taken.length, 1)
  const sent = await mailOf(world)
  assert.equal(sent.status, 'SENT')
  assert.equal(sent.attempts.length, 1)
  assert.doesNotMatch(JSON.stringify(await world.call('GET', '/emails')), /PGSQL|secret/)
})

test('repeated statement timeouts do not lose the answer of the mail server', async (t) => {
  const world = await startWorld(t)
  await makeDue(world)
  const { engine: db } = world.database
  let [isSent, failures] = [false, 6]
  const transaction: Db['transaction'] = (work) =>
    db.transaction(async (tx) => {
      if (isSent && failures-- > 0) {
        await tx.query({
          text: `do $$ begin raise exception 'too slow' using errcode = '57014'; end $$`,
          values: [],
        })
      }
      return work(tx)
    })
  const mailer: Mailer = {
    async send(mail) {
      await mail.beforeMessageEnd()
      isSent = true
      return { kind: 'sent', phase: 'end', reply: '250 taken' }
    },
    ...mailerParts,
  }
  const engine = startEngine(world, {
    mailer,
    captures: false,
    database: { ...world.database, engine: { ...db, transaction } },
  })
  await engine.fire()
  await engine.deliver()
  await engine.settle()
  assert.equal((await mailOf(world)).status, 'SENT')
})
