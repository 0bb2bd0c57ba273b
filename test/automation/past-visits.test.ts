import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { scripted } from '../support/scripted-mailer.ts'
import { startEngine, startWorld } from '../support/world.ts'

/** A world with one definition of an event, whose mails are sent. */
async function startTelling(t: TestContext, definition: object) {
  const world = await startWorld(t)
  const { businessId, call, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'News',
    subject: 'News',
    emailBody: '<p>News</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const body = {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventActions: [action],
    ...definition,
  }
  const { eventDefnId } = await save('/eventDefinition', body)
  const { mailer, taken } = scripted()
  const { runEngine } = startEngine(world, { mailer, captures: false })
  const change = (allowPast: boolean) => save('/eventDefinition', { eventDefnId, allowPast })
  const explain = async (calendarId: number) => {
    const [{ checks }] = (await call('GET', `/explain/CALENDAR/${calendarId}`)).body
    return checks.find(({ check }: { check: string }) => check === 'time').reason
  }
  const triggersOf = async (calendarId: number) =>
    (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  /** Whether each mail since the last call has a calendar file. */
  const mailed = async () => {
    await runEngine()
    return taken.splice(0).map(({ message }) => /text\/calendar/.test(message.body))
  }
  return { ...world, change, explain, triggersOf, mailed }
}

test('with allowPast false, an appointment that is recorded afterwards sends nothing, and explain says why', async (t) => {
  const world = await startTelling(t, { eventType: { eventTypeId: 1 }, allowPast: false })
  const { book, call, change, explain, clock, ids, mailed, triggersOf } = world
  const ahead = await book(clock.in({ hours: 1 }))
  assert.deepEqual(await mailed(), [true])
  assert.match(await explain(ahead.calendarId), /^sent/)

  const start = clock.in({ hours: -2 })
  const past = { startTime: start.epochMilliseconds, endTime: start.epochMilliseconds + 1_800_000 }
  const planned = await call('POST', '/calendar/plan', { ...ids, ...past })
  assert.deepEqual([planned.body.atOnce, planned.body.expired], [0, 1])
  assert.match(planned.body.samples[0].reason, /already over/)
  const recorded = await book(start)
  assert.deepEqual(await mailed(), [])
  const [{ status, statusReason }] = await triggersOf(recorded.calendarId)
  assert.equal(status, 'EXPIRED')
  assert.match(statusReason, /already over when it was saved; allowPast/)
  assert.match(await explain(recorded.calendarId), /^expired: it was already over/)

  const running = await book(clock.in({ minutes: -10 }))
  assert.equal((await triggersOf(running.calendarId))[0].status, 'SCHEDULED')
  await mailed()
  await change(true)
  await book(start)
  assert.deepEqual(await mailed(), [true])
})

test('with allowPast false, a move into the past and a correction of the past send nothing', async (t) => {
  const world = await startTelling(t, { eventType: { eventTypeId: 2 }, allowPast: false })
  const { book, clock, ids, mailed, save } = world
  const { calendarId } = await book(clock.in({ hours: 1 }))
  const moveTo = (start: Temporal.Instant) =>
    save('/calendar', {
      calendarId,
      startTime: start.epochMilliseconds,
      endTime: start.add({ minutes: 30 }).epochMilliseconds,
    })
  await moveTo(clock.in({ hours: -3 }))
  const { professionalId } = await save('/professional', { firstName: 'B', lastName: 'C' })
  await save('/calendar', { calendarId, professionalId })
  assert.deepEqual(await mailed(), [])
  await moveTo(clock.in({ hours: 5 }))
  assert.deepEqual(await mailed(), [true])
  assert.ok(ids.professionalId)
})

test('the mail about a no-show is sent, without a calendar file', async (t) => {
  const definition = { eventType: { eventTypeId: 2 }, newStatus: 'NO_SHOW' }
  const world = await startTelling(t, definition)
  const { book, change, clock, mailed, save } = world
  for (const allowPast of [false, true]) {
    await change(allowPast)
    const { calendarId } = await book(clock.in({ hours: -2 }))
    await save('/calendar', { calendarId, status: 'NO_SHOW' })
    assert.deepEqual(await mailed(), [false])
  }
})

test('a change of the status of a visit that is over is told by a definition of any change', async (t) => {
  const world = await startTelling(t, { eventType: { eventTypeId: 2 } })
  const { book, change, clock, mailed, save, call, triggersOf } = world
  const { calendarId } = await book(clock.in({ hours: -2 }))
  const plan = await call('POST', '/calendar/plan', { calendarId, status: 'COMPLETED' })
  assert.deepEqual([plan.body.atOnce, plan.body.expired], [1, 0])
  await save('/calendar', { calendarId, status: 'COMPLETED' })
  assert.deepEqual(await mailed(), [false])

  const [{ eventDefnId }] = await triggersOf(calendarId)
  await save('/eventDefinition', { eventDefnId, changes: ['TIME', 'STATUS'] })
  await save('/calendar', { calendarId, status: 'NO_SHOW' })
  assert.deepEqual(await mailed(), [false])
  await save('/calendar', { calendarId, startTime: clock.in({ hours: -3 }).epochMilliseconds })
  assert.deepEqual(await mailed(), [])

  await save('/eventDefinition', { eventDefnId, changes: ['TIME'] })
  const startTime = clock.in({ hours: -4 }).epochMilliseconds
  await save('/calendar', { calendarId, startTime, status: 'CONFIRMED' })
  assert.deepEqual(await mailed(), [])
  await change(true)
  await save('/calendar', { calendarId, startTime: startTime - 60_000 })
  assert.deepEqual(await mailed(), [true])
})

test('without allowPast in its body, a definition sends nothing about the past; the backtest counts nothing', async (t) => {
  const { book, businessId, call, clock, mailed } = await startTelling(t, {
    eventType: { eventTypeId: 1 },
  })
  await book(clock.in({ hours: -2 }))
  assert.deepEqual(await mailed(), [])

  const mailsWith = async (allowPast: object) => {
    const definition = {
      active: true,
      businessId,
      objectType: 'CALENDAR',
      triggerHours: 0,
      triggerMinutes: 0,
      eventType: { eventTypeId: 1 },
      ...allowPast,
    }
    const day = clock.now().toZonedDateTimeISO('UTC').toPlainDate()
    const [startDate, endDate] = [day.subtract({ days: 1 }), day.add({ days: 1 })].map(String)
    const body = { definition, startDate, endDate }
    return (await call('POST', '/eventDefinition/backtest', body)).body.mails
  }
  assert.deepEqual([await mailsWith({}), await mailsWith({ allowPast: true })], [0, 1])
})
