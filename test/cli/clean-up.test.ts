import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { cleanUp } from '../../src/cli/clean-up.ts'
import { sql } from '../../src/database/sql.ts'
import { deleteEndedTriggers } from '../../src/store/retention.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** A business that reminds a day before; its engine captures the mails. */
async function startReminding(t: TestContext, env: Record<string, string> = {}) {
  const world = await startWorld(t, env)
  const { businessId, clock, database, save } = world
  const template = { templateName: 'Reminder', subject: 'See you', emailBody: '<p>Tomorrow</p>' }
  const { emailTemplateId } = await save('/emailTemplate', template)
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const definition = await save(
    '/eventDefinition',
    reminder(businessId, -24, { eventActions: [action] }),
  )
  const { runEngine } = startEngine(world)
  return {
    ...world,
    action,
    definition,
    runEngine,
    /** No month has more than 31 days. */
    advanceMonths: (months: number) => clock.advance({ hours: 24 * 31 * months }),
    /** Books an appointment in two days and sends its reminder. */
    remind: async () => {
      const booked = await world.book(clock.in({ hours: 48 }))
      clock.advance({ hours: 24 })
      await runEngine()
      return booked
    },
    cleanUp: async (retentionMonths?: number) => {
      const settings = { bodyRetentionDays: 45, retentionMonths }
      const { triggers, mails } = await cleanUp(database, settings, clock.now())
      return { triggers, mails }
    },
    list: async (path: string) => (await world.call('GET', path)).body.items,
  }
}

test('triggers and mails that ended are deleted after RETENTION_MONTHS', async (t) => {
  const { remind, advanceMonths, cleanUp, list, call } = await startReminding(t)
  await remind()
  const [{ eventTriggerId }] = await list('/eventTriggers')
  const [{ emailId }] = await list('/emails')

  advanceMonths(11)
  await remind()
  assert.deepEqual(await cleanUp(12), { triggers: 0, mails: 0 })
  advanceMonths(1)
  assert.deepEqual(await cleanUp(12), { triggers: 1, mails: 1 })

  assert.equal((await call('GET', `/eventTriggers/${eventTriggerId}`)).status, 404)
  assert.equal((await call('GET', `/emails/${emailId}`)).status, 404)
  assert.equal((await list('/eventTriggers')).length, 1)
  assert.equal((await list('/emails')).length, 1)
})

test('without RETENTION_MONTHS no trigger and no mail is deleted', async (t) => {
  const { remind, advanceMonths, cleanUp, list } = await startReminding(t)
  await remind()
  advanceMonths(1_200)
  assert.deepEqual(await cleanUp(), { triggers: 0, mails: 0 })
  assert.equal((await list('/eventTriggers')).length, 1)
  assert.equal((await list('/emails')).length, 1)
})

test('mails without a trigger, and the original of a mail that was sent again, are deleted too', async (t) => {
  const { remind, advanceMonths, cleanUp, list, call, runEngine } = await startReminding(t)
  await remind()
  const [first] = await list('/emails')
  advanceMonths(2)
  const again = (await call('POST', `/emails/${first.emailId}/resend`)).body
  await runEngine()
  assert.deepEqual(await cleanUp(1), { triggers: 1, mails: 1 })
  const [kept] = await list('/emails')
  assert.deepEqual([kept.emailId, kept.repeatsEmailId], [again.emailId, null])

  advanceMonths(2)
  assert.deepEqual(await cleanUp(1), { triggers: 0, mails: 1 })
  assert.deepEqual(await list('/emails'), [])
})

test('pending triggers, and mails that are being sent, are never deleted', async (t) => {
  const world = await startReminding(t)
  const { book, clock, database, cleanUp, list, advanceMonths } = world
  const { runEngine } = startEngine(world, {
    ...scripted({ kind: 'retry', phase: 'rcpt', reply: '451 busy' }),
    captures: false,
  })
  await book(clock.in({ hours: 48 }))
  await book(clock.in({ hours: 24 * 31 * 20 }))
  clock.advance({ hours: 24 })
  await runEngine()
  advanceMonths(24)

  assert.deepEqual(await cleanUp(1), { triggers: 0, mails: 0 })
  assert.deepEqual(
    (await list('/eventTriggers')).map(({ status }: { status: string }) => status).toSorted(),
    ['RUNNING', 'SCHEDULED'],
  )
  assert.equal((await list('/emails?status=RETRYING')).length, 1)
  await assert.rejects(database.engine.query(sql`delete from event_trigger`), /is running/)
})

test('a queued mail without a trigger is deleted only after it has ended', async (t) => {
  const { remind, advanceMonths, cleanUp, list, call, runEngine } = await startReminding(t)
  await remind()
  const [first] = await list('/emails')
  await call('POST', `/emails/${first.emailId}/resend`)
  advanceMonths(2)
  assert.deepEqual(await cleanUp(1), { triggers: 1, mails: 1 })
  assert.equal((await list('/emails?status=QUEUED')).length, 1)
  await runEngine()
  assert.deepEqual(await cleanUp(1), { triggers: 0, mails: 1 })
})

test('a batch deletes at most as many triggers and mails as its limit', async (t) => {
  const { remind, clock, database, advanceMonths, list } = await startReminding(t)
  for (let n = 0; n < 3; n += 1) await remind()
  advanceMonths(2)
  const batches = []
  for (let left = 1; left > 0; left = (await list('/eventTriggers')).length) {
    batches.push(await deleteEndedTriggers(database.engine, clock.now(), 2))
  }
  // Mails first, then the triggers that have none left.
  assert.deepEqual(batches, [
    { triggers: 0, mails: 2 },
    { triggers: 2, mails: 0 },
    { triggers: 0, mails: 1 },
    { triggers: 1, mails: 0 },
  ])
})

test('triggers and mails about a future appointment are not deleted', async (t) => {
  const { save, book, clock, cleanUp, list, advanceMonths, runEngine, action, call, businessId } =
    await startReminding(t)
  const created = { eventType: { eventTypeId: 1 }, eventActions: [action] }
  await save('/eventDefinition', reminder(businessId, 0, created))
  await book(clock.in({ hours: 24 * 31 * 6 }))
  await runEngine()
  const [confirmation] = await list('/emails')
  advanceMonths(2)
  const again = (await call('POST', `/emails/${confirmation.emailId}/resend`)).body
  await runEngine()
  advanceMonths(2)

  assert.deepEqual(await cleanUp(1), { triggers: 0, mails: 0 })
  assert.equal((await call('GET', `/emails/${again.emailId}`)).status, 200)
  advanceMonths(4)
  assert.deepEqual(await cleanUp(1), { triggers: 1, mails: 2 })
})

test('only the engine can delete triggers and mails', async (t) => {
  const { remind, db } = await startReminding(t)
  await remind()
  await assert.rejects(db.query(sql`delete from event_trigger`), /permission denied/)
  await assert.rejects(db.query(sql`delete from email`), /permission denied/)
})

test('a reminder of a future appointment is not deleted, so it is not sent twice', async (t) => {
  const { save, book, clock, cleanUp, list, advanceMonths, runEngine, definition } =
    await startReminding(t)
  const early = { ...definition, triggerHours: -24 * 31 * 18 }
  await save('/eventDefinition', early)
  const booked = await book(clock.in({ hours: 24 * 31 * 19 }))
  advanceMonths(1)
  await runEngine()
  assert.equal((await list('/emails')).length, 1)

  advanceMonths(12)
  assert.deepEqual(await cleanUp(6), { triggers: 0, mails: 0 })
  await save('/eventDefinition', { ...early, triggerHours: -24 })
  await save('/calendar', { ...booked, note: 'Brings her X-rays' })
  advanceMonths(5)
  await runEngine()
  assert.equal((await list('/emails')).length, 1)
})

test('an object whose triggers were deleted is not reminded again when it is saved', async (t) => {
  const { remind, save, cleanUp, list, advanceMonths, runEngine, definition } =
    await startReminding(t)
  const booked = await remind()
  advanceMonths(3)
  assert.deepEqual(await cleanUp(1), { triggers: 1, mails: 1 })
  await save('/calendar', { ...booked, note: 'Came late' })
  await save('/eventDefinition', { ...definition, triggerHours: -12 })
  await runEngine()
  assert.deepEqual(await list('/eventTriggers'), [])
  assert.deepEqual(await list('/emails'), [])
})

test('a follow-up with latePolicy SEND and its resent mail are not deleted, so correcting an old appointment sends nothing', async (t) => {
  const { save, book, call, clock, cleanUp, list, advanceMonths, runEngine, definition } =
    await startReminding(t)
  await save('/eventDefinition', { ...definition, triggerHours: 24, latePolicy: 'SEND' })
  const { calendarId } = await book(clock.in({ hours: 1 }))
  clock.advance({ hours: 26 })
  await runEngine()
  const [first] = await list('/emails')
  await call('POST', `/emails/${first.emailId}/resend`)
  await runEngine()
  const sent = await list('/emails')
  assert.equal(sent.length, 2)
  await save('/calendar', { calendarId, status: 'NO_SHOW' })

  advanceMonths(3)
  await cleanUp(1)
  await save('/calendar', { calendarId, status: 'COMPLETED' })
  await runEngine()
  assert.deepEqual(await list('/emails'), sent)
})

test('explain says that the triggers of an old time are deleted', async (t) => {
  const { remind, advanceMonths, cleanUp, call } = await startReminding(t, {
    RETENTION_MONTHS: '12',
  })
  const { calendarId } = await remind()
  advanceMonths(13)
  await cleanUp(12)
  const [explanation] = (await call('GET', `/explain/CALENDAR/${calendarId}`)).body
  const { reason } = explanation.checks.find(({ check }: { check: string }) => check === 'time')
  assert.match(reason, /the triggers of that time are deleted/)
})
