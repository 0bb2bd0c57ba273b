import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { reconcileAll } from '../../src/automation/reconcile.ts'
import { findQuietSpan } from '../../src/automation/quiet-hours.ts'
import { firingTime, type AnchorTimes, type Timing } from '../../src/automation/timing.ts'
import { sql } from '../../src/database/sql.ts'
import type { Unavailable } from '../../src/email/mailer.ts'
import { readQueueHealth } from '../../src/store/queue-health.ts'
import { mailerParts } from '../support/scripted-mailer.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

const at = (text: string) => Temporal.Instant.from(text)
const ms = (text: string) => at(text).epochMilliseconds
const NIGHT = { from: '21:00', to: '08:00' }

const timing = (eventTypeId: number, triggerHours: number): Timing => ({
  eventTypeId,
  offsetMode: 'ELAPSED',
  triggerAnchor: 'START',
  triggerMonths: 0,
  triggerHours,
  triggerMinutes: 0,
})

const appointment = (startTime: string, more: Partial<AnchorTimes> = {}): AnchorTimes => ({
  objectType: 'CALENDAR',
  timeZone: 'Europe/Zurich',
  quietHours: NIGHT,
  startTime: at(startTime),
  endTime: at(startTime).add({ minutes: 30 }),
  dueTime: null,
  expiresTime: null,
  createdDate: at('2026-01-01T00:00Z'),
  ...more,
})

const REMINDER = 3
const CREATED = 1

const cases: { name: string; hours: number; start: string; due: string }[] = [
  {
    name: 'a reminder during the day keeps its time',
    hours: -24,
    start: '2026-06-10T12:00+02:00',
    due: '2026-06-09T12:00+02:00',
  },
  {
    name: 'a reminder at night is sent when quiet hours end',
    hours: -12,
    start: '2026-06-10T15:00+02:00',
    due: '2026-06-10T08:00+02:00',
  },
  {
    name: 'a reminder in the late evening is sent the next morning',
    hours: -36,
    start: '2026-06-11T11:00+02:00',
    due: '2026-06-10T08:00+02:00',
  },
  {
    name: 'quiet hours include their beginning',
    hours: -24,
    start: '2026-06-10T21:00+02:00',
    due: '2026-06-10T08:00+02:00',
  },
  {
    name: 'quiet hours do not include their end',
    hours: -24,
    start: '2026-06-10T08:00+02:00',
    due: '2026-06-09T08:00+02:00',
  },
  {
    name: 'a reminder that is useless in the morning is sent before quiet hours begin',
    hours: -1,
    start: '2026-06-10T07:30+02:00',
    due: '2026-06-09T20:59+02:00',
  },
  {
    name: 'a reminder of an appointment at the end of quiet hours is sent before they begin',
    hours: -1,
    start: '2026-06-10T08:00+02:00',
    due: '2026-06-09T20:59+02:00',
  },
  {
    name: 'a follow-up at night is sent in the morning',
    hours: 12,
    start: '2026-06-10T12:00+02:00',
    due: '2026-06-11T08:00+02:00',
  },
  {
    name: 'a reminder in a night with a clock change is sent when quiet hours end',
    hours: -12,
    start: '2026-03-29T12:00+02:00',
    due: '2026-03-29T08:00+02:00',
  },
]
for (const { name, hours, start, due } of cases) {
  test(name, () => {
    const firing = firingTime(timing(REMINDER, hours), appointment(start))!
    assert.equal(firing.scheduledTime.toString(), at(due).toString())
  })
}

test('an event at night waits for the morning, unless its appointment begins before', () => {
  const night = at('2026-06-09T23:10+02:00')
  const later = firingTime(timing(CREATED, 0), appointment('2026-06-12T09:00+02:00'), night)!
  assert.equal(later.scheduledTime.toString(), at('2026-06-10T08:00+02:00').toString())
  assert.equal(later.anchorTime.toString(), night.toString())
  const early = firingTime(timing(CREATED, 0), appointment('2026-06-10T07:00+02:00'), night)!
  assert.equal(early.scheduledTime.toString(), night.toString())
  const past = firingTime(timing(CREATED, 0), appointment('2026-06-01T07:00+02:00'), night)!
  assert.equal(past.scheduledTime.toString(), at('2026-06-10T08:00+02:00').toString())
})

test('quiet hours contain the moment for which they were found, also around clock changes', () => {
  for (const [from, to] of [
    ['21:00', '02:30'],
    ['01:15', '02:45'],
    ['02:10', '02:50'],
    ['23:00', '03:00'],
  ]) {
    for (const day of ['2026-03-29T00:00Z', '2026-10-25T00:00Z']) {
      for (let minute = -240; minute < 300; minute += 5) {
        const time = at(day).add({ minutes: minute })
        const span = findQuietSpan(time, {
          timeZone: 'Europe/Zurich',
          quietHours: { from: from!, to: to! },
        })
        if (!span) continue
        assert.ok(Temporal.Instant.compare(span.to, time) > 0, `${time} ${from}–${to}`)
        assert.ok(Temporal.Instant.compare(span.from, time) <= 0, `${time} ${from}–${to}`)
      }
    }
  }
})

type World = Awaited<ReturnType<typeof startWorld>>

const moveTo = (clock: World['clock'], time: string) => clock.advance(clock.now().until(at(time)))

/** It is 9:00 on Monday, 1 June 2026, in Zurich. */
async function startQuiet(t: TestContext, quietHours: object | null = NIGHT, environment = {}) {
  const world = await startWorld(t, environment)
  const { businessId, save, clock } = world
  moveTo(clock, '2026-06-01T09:00+02:00')
  await save('/business', { businessId, quietHours })
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const define = (eventTypeId: number, triggerHours: number, more: object = {}) =>
    save('/eventDefinition', {
      ...reminder(businessId, triggerHours, { eventType: { eventTypeId } }),
      eventActions: [
        { actionType: 'SEND_EMAIL', active: true, businessId, template: { emailTemplateId } },
      ],
      ...more,
    })
  const triggersOf = async (calendarId: number) =>
    (await world.call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  return { ...world, define, triggersOf, engine: startEngine(world) }
}

test('plan, forecast, explain, backtest and reconciliation agree on quiet hours', async (t) => {
  const { define, book, call, clock, database, triggersOf, businessId, engine } =
    await startQuiet(t)
  const { eventDefnId } = await define(REMINDER, -12)
  const { calendarId } = await book(at('2026-06-03T15:00+02:00'))
  const [trigger] = await triggersOf(calendarId)
  assert.equal(trigger.scheduledTime, ms('2026-06-03T08:00+02:00'))

  const [explained] = (await call('GET', `/explain/CALENDAR/${calendarId}`)).body
  const time = explained.checks.find((one: { check: string }) => one.check === 'time')
  assert.match(
    time.reason,
    /due on Wednesday, 3 June 2026 at 08:00 .*, when quiet hours \(21:00–08:00\) end; its own time would be Wednesday, 3 June 2026 at 03:00/,
  )

  const planned = await call('POST', '/eventDefinition/plan', reminder(businessId, -12))
  assert.deepEqual(
    planned.body.samples.map((one: { to: number }) => one.to),
    [ms('2026-06-03T08:00+02:00')],
  )
  assert.deepEqual(
    await reconcileAll(database.engine, () => clock.now()).then(({ missing, unfounded }) => [
      missing,
      unfounded,
    ]),
    [0, 0],
  )

  moveTo(clock, '2026-06-03T07:59+02:00')
  assert.equal(await engine.runEngine(), 0)
  moveTo(clock, '2026-06-03T08:00+02:00')
  assert.equal(await engine.runEngine(), 1)
  const tested = await call('POST', '/eventDefinition/backtest', {
    definition: { eventDefnId, ...reminder(businessId, -12) },
    startDate: '2026-06-03',
    endDate: '2026-06-03',
  })
  assert.equal(tested.body.mails, 1, JSON.stringify(tested.body))
  assert.equal(tested.body.atNight, 0)
  assert.equal(tested.body.samples[0].scheduledTime, ms('2026-06-03T08:00+02:00'))
})

test('pending reminders follow a change of quiet hours, and invalid quiet hours are refused', async (t) => {
  const { define, book, save, call, triggersOf, businessId, engine } = await startQuiet(t, null)
  await define(REMINDER, -12)
  const { calendarId } = await book(at('2026-06-03T15:00+02:00'))
  const timeOf = async () => (await triggersOf(calendarId))[0].scheduledTime
  assert.equal(await timeOf(), ms('2026-06-03T03:00+02:00'))
  await save('/business', { businessId, quietHours: NIGHT })
  await engine.plan()
  assert.equal(await timeOf(), ms('2026-06-03T08:00+02:00'))
  await save('/business', { businessId, quietHours: { from: '02:00', to: '04:30' } })
  await engine.plan()
  assert.equal(await timeOf(), ms('2026-06-03T04:30+02:00'))
  await save('/business', { businessId, quietHours: null })
  await engine.plan()
  assert.equal(await timeOf(), ms('2026-06-03T03:00+02:00'))
  for (const [quietHours, pointer] of [
    [{ from: '21:00', to: '21:00' }, '/quietHours'],
    [{ from: '9pm', to: '08:00' }, '/quietHours/from'],
    [{ from: '21:00' }, '/quietHours/to'],
    ['night', '/quietHours'],
    [{ ...NIGHT, days: 1 }, '/quietHours/days'],
  ]) {
    const { status, body } = await call('POST', '/business', { businessId, quietHours })
    assert.equal(status, 422, JSON.stringify(quietHours))
    assert.equal(body.errors[0].pointer, pointer)
  }
})

for (const latePolicy of ['SKIP', 'SEND']) {
  test(`a reminder keeps its time if quiet hours are set too late to move it, with ${latePolicy}`, async (t) => {
    const world = await startQuiet(t, null)
    const { define, book, save, clock, database, triggersOf, businessId, engine } = world
    const { eventDefnId } = await define(REMINDER, -1, { latePolicy })
    const { calendarId } = await book(at('2026-06-02T08:00+02:00'))
    const own = ms('2026-06-02T07:00+02:00')
    const expectPending = async (time: number) => {
      await engine.plan()
      const [{ status, scheduledTime }] = await triggersOf(calendarId)
      assert.deepEqual([status, scheduledTime], ['SCHEDULED', time])
      const found = await reconcileAll(database.engine, () => clock.now())
      assert.deepEqual([found.missing, found.unfounded], [0, 0])
    }
    moveTo(clock, '2026-06-01T21:30+02:00')
    await save('/business', { businessId, quietHours: { from: '22:00', to: '08:00' } })
    await expectPending(ms('2026-06-01T21:59+02:00'))
    await save('/business', { businessId, quietHours: NIGHT })
    await expectPending(own)
    await save('/calendar', { calendarId, note: 'brings a dog' })
    await expectPending(own)
    await save('/eventDefinition', { eventDefnId, offsetMode: 'CALENDAR' })
    await expectPending(own)
    await save('/eventDefinition', { eventDefnId, offsetMode: 'ELAPSED' })
    moveTo(clock, '2026-06-02T07:00+02:00')
    // As if the definition was saved again, and not planned yet.
    await world.db.query(sql`
      update event_definition set version = version + 1 where event_defn_id = ${eventDefnId}`)
    assert.equal(await engine.fire(), 1)
    await engine.runEngine()
    assert.equal((await triggersOf(calendarId))[0].status, 'COMPLETED')
  })
}

test('a reminder that waits for the end of quiet hours is sent if they are removed', async (t) => {
  const { define, book, save, clock, database, triggersOf, businessId, engine } =
    await startQuiet(t)
  await define(REMINDER, -12)
  const { calendarId } = await book(at('2026-06-02T15:00+02:00'))
  moveTo(clock, '2026-06-02T06:00+02:00')
  for (const [quietHours, time] of [
    [null, '2026-06-02T08:00+02:00'],
    [{ from: '07:00', to: '12:00' }, '2026-06-02T12:00+02:00'],
    [{ from: '22:00', to: '02:00' }, '2026-06-02T12:00+02:00'],
  ] as const) {
    await save('/business', { businessId, quietHours })
    await engine.plan()
    const [{ status, scheduledTime }] = await triggersOf(calendarId)
    assert.deepEqual([status, scheduledTime], ['SCHEDULED', ms(time)])
    const found = await reconcileAll(database.engine, () => clock.now())
    assert.deepEqual([found.missing, found.unfounded], [0, 0])
  }
  moveTo(clock, '2026-06-02T12:00+02:00')
  assert.equal(await engine.runEngine(), 1)
  assert.equal((await triggersOf(calendarId))[0].status, 'COMPLETED')
})

test('a reminder that an outage delays into quiet hours is sent when they end', async (t) => {
  const { define, book, clock, triggersOf, engine } = await startQuiet(t)
  await define(REMINDER, -24)
  const hour = await book(at('2026-06-02T20:00+02:00'))
  const minutes = await book(at('2026-06-02T20:58+02:00'))
  moveTo(clock, '2026-06-01T21:05+02:00')
  await engine.runEngine()
  assert.equal((await triggersOf(minutes.calendarId))[0].status, 'COMPLETED')
  assert.equal((await triggersOf(hour.calendarId))[0].status, 'SCHEDULED')
  moveTo(clock, '2026-06-02T08:00+02:00')
  assert.equal(await engine.runEngine(), 1)
  const late = await book(at('2026-06-04T12:00+02:00'))
  moveTo(clock, '2026-06-03T22:00+02:00')
  await engine.runEngine()
  assert.equal((await triggersOf(late.calendarId))[0].status, 'SCHEDULED')
  moveTo(clock, '2026-06-04T07:59+02:00')
  assert.equal(await engine.runEngine(), 0)
  moveTo(clock, '2026-06-04T08:00+02:00')
  assert.equal(await engine.runEngine(), 1)
  const [sent] = await triggersOf(late.calendarId)
  assert.equal(sent.status, 'COMPLETED')
  assert.equal(sent.scheduledTime, ms('2026-06-03T12:00+02:00'))
})

const UNAVAILABLE: Unavailable = { kind: 'unavailable', phase: 'connect', reply: 'ECONNREFUSED' }

test('mails that an outage of the mail server delays into quiet hours are sent when they end', async (t) => {
  const world = await startQuiet(t, NIGHT, { SMTP_URL: 'smtp://mail.test:25?tls=never' })
  const { define, book, call, clock, database } = world
  await define(REMINDER, -24)
  const server = { trouble: UNAVAILABLE as Unavailable | undefined, taken: 0 }
  const { runEngine } = startEngine(world, {
    captures: false,
    mailer: {
      ...mailerParts,
      check: async () => server.trouble,
      async send({ beforeMessageEnd }) {
        if (server.trouble) return server.trouble
        await beforeMessageEnd()
        server.taken++
        return { kind: 'sent', phase: 'end', reply: '250 taken' }
      },
    },
  })
  await book(at('2026-06-02T18:00+02:00'))
  // One reminder is useless in the morning, and a user fires one manually.
  const early = await define(REMINDER, -10)
  await book(at('2026-06-02T06:30+02:00'), { status: 'CONFIRMED' })
  const planned = await call('GET', `/eventTriggers?eventDefnId=${early.eventDefnId}`)
  const firedManually = planned.body.items.at(-1)
  moveTo(clock, '2026-06-01T20:40+02:00')
  await runEngine()
  await call('POST', `/eventTriggers/${firedManually.eventTriggerId}/fire`)
  await runEngine()
  server.trouble = undefined
  moveTo(clock, '2026-06-01T23:00+02:00')
  await runEngine()
  assert.equal(server.taken, 2)
  const waiting = async () => (await call('GET', '/emails?status=QUEUED')).body.items
  const [shown, ...others] = await waiting()
  assert.equal(
    shown.statusReason,
    'the business has quiet hours; it is sent at 2026-06-02T06:00:00Z',
  )
  assert.deepEqual(others, [])
  const health = await readQueueHealth(database.engine, clock.now(), 10)
  assert.equal(health.emailsWaiting, 0, 'it waits on purpose')
  moveTo(clock, '2026-06-02T07:59+02:00')
  await runEngine()
  assert.equal(server.taken, 2)
  moveTo(clock, '2026-06-02T08:00+02:00')
  await runEngine()
  assert.equal(server.taken, 3)
})

test('a late reminder waits for the morning if latePolicy sends it, and stays planned', async (t) => {
  const { define, book, save, clock, database, triggersOf, engine } = await startQuiet(t)
  await define(REMINDER, -48, { latePolicy: 'SEND' })
  moveTo(clock, '2026-06-01T23:00+02:00')
  const { calendarId } = await book(at('2026-06-02T12:00+02:00'))
  const morning = ms('2026-06-02T08:00+02:00')
  assert.equal((await triggersOf(calendarId))[0].scheduledTime, morning)
  await save('/calendar', { calendarId, note: 'brings a dog' })
  const found = await reconcileAll(database.engine, () => clock.now())
  assert.deepEqual([found.missing, found.unfounded], [0, 0])
  assert.equal((await triggersOf(calendarId))[0].scheduledTime, morning)
  const early = await book(at('2026-06-02T07:00+02:00'))
  assert.equal(await engine.runEngine(), 1, 'a reminder that is useless in the morning is sent now')
  assert.equal((await triggersOf(early.calendarId))[0].status, 'COMPLETED')
  moveTo(clock, '2026-06-02T08:00+02:00')
  assert.equal(await engine.runEngine(), 1)
})

test('events at night wait for the morning, also if quiet hours were set after them', async (t) => {
  const { define, book, save, clock, triggersOf, businessId, engine } = await startQuiet(t)
  await define(CREATED, 0)
  moveTo(clock, '2026-06-01T22:00+02:00')
  const { calendarId } = await book(at('2026-06-05T12:00+02:00'))
  assert.equal((await triggersOf(calendarId))[0].scheduledTime, ms('2026-06-02T08:00+02:00'))
  await save('/business', { businessId, quietHours: null })
  const second = await book(at('2026-06-05T13:00+02:00'))
  await save('/business', { businessId, quietHours: { from: '21:00', to: '07:00' } })
  assert.equal(await engine.runEngine(), 1, 'checked and postponed')
  assert.equal((await triggersOf(second.calendarId))[0].scheduledTime, ms('2026-06-02T07:00+02:00'))
  moveTo(clock, '2026-06-02T07:00+02:00')
  assert.equal(await engine.runEngine(), 1)
  moveTo(clock, '2026-06-02T08:00+02:00')
  assert.equal(await engine.runEngine(), 1, 'the first one keeps its planned time')
})
