import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { scripted } from '../support/scripted-mailer.ts'
import { addBusiness, reminder, shareWorld, startEngine, startWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

type Check = { check: string; ok: boolean; reason: string; code: string; params: object }
type Explanation = {
  eventDefnId: number
  description: string | null
  eventType: string
  outcome: string
  scheduledTime: number | null
  eventTriggerId: number | null
  checks: Check[]
}

const against = ({ checks }: Explanation) =>
  checks.filter((check) => !check.ok).map(({ check, reason }) => `${check}: ${reason}`)

test('every active definition for the object’s type is explained, with reasons', async (t) => {
  const { book, businessId, call, clock, save } = await enterWorld(t)
  const seefeld = await save('/location', { name: 'Seefeld' })
  const define = (description: string, hours: number, more: object = {}) =>
    save('/eventDefinition', reminder(businessId, hours, { description, ...more }))
  const dayBefore = await define('the day before', -24)
  await define('elsewhere', -24, { locationIdList: [seefeld.locationId] })
  await define('a week before', -168)
  await define('of classes', -24, { objectType: 'CLASS_SCHEDULE', eventType: { eventTypeId: 6 } })
  const gone = await define('gone', -1)
  await call('DELETE', `/eventDefinition/${gone.eventDefnId}`)
  const { calendarId } = await book(clock.in({ hours: 72 }))
  clock.advance({ minutes: 1 })
  const younger = await define('younger than the booking', 0, { eventType: { eventTypeId: 1 } })
  await define('two days before', -120)

  const { body } = await call('GET', `/explain/CALENDAR/${calendarId}`)
  const by = Object.fromEntries(
    (body as Explanation[]).map((each) => [each.description!, each]),
  ) as Record<string, Explanation>
  assert.deepEqual(Object.keys(by), [
    'the day before',
    'elsewhere',
    'a week before',
    'younger than the booking',
    'two days before',
  ])

  const [trigger] = (await call('GET', `/eventTriggers?eventDefnId=${dayBefore.eventDefnId}`)).body
    .items
  const { checks, ...waiting } = by['the day before']!
  assert.deepEqual(waiting, {
    eventDefnId: dayBefore.eventDefnId,
    description: 'the day before',
    eventType: 'APPT_REMINDER',
    outcome: 'WAITING',
    scheduledTime: clock.in({ minutes: 48 * 60 - 1 }).epochMilliseconds,
    eventTriggerId: trigger.eventTriggerId,
    status: 'SCHEDULED',
  })
  assert.deepEqual(
    checks.filter((check) => check.check === 'time'),
    [
      {
        check: 'time',
        ok: true,
        reason: 'due on Wednesday, 4 March 2026 at 10:00 (Europe/Zurich)',
        code: 'due',
        params: { time: waiting.scheduledTime, reason: null, reasonCode: null },
        reasons: [],
      },
    ],
  )
  assert.deepEqual(against(by['the day before']!), [
    'action: the definition has no active action; add one to send a mail',
  ])

  const nothing = 'action: the definition has no active action; add one to send a mail'
  assert.equal(by.elsewhere!.outcome, 'NOT')
  assert.equal(by.elsewhere!.eventTriggerId, null)
  assert.deepEqual(against(by.elsewhere!), [
    'location: the definition does not select location Altstadt',
    nothing,
  ])
  assert.equal(by['a week before']!.outcome, 'NOT')
  assert.deepEqual(against(by['a week before']!), [
    'time: expired: booked after its reminder time; it was due on Thursday, 26 February 2026 at 10:00 (Europe/Zurich)',
    nothing,
  ])
  assert.deepEqual(against(by['younger than the booking']!), [
    'created: it was created on Monday, 2 March 2026 at 10:00 (Europe/Zurich), before the definition was last saved',
    nothing,
  ])
  assert.equal(younger.eventType.eventType, 'APPT_CREATED')
  assert.deepEqual(against(by['two days before']!), [
    'time: it was due on Saturday, 28 February 2026 at 10:00 (Europe/Zurich), before the definition was created or changed',
    nothing,
  ])

  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const after: Explanation[] = (await call('GET', `/explain/CALENDAR/${calendarId}`)).body
  assert.equal(after[0]!.outcome, 'NOT')
  assert.equal(after[0]!.eventTriggerId, trigger.eventTriggerId)
  assert.deepEqual(against(after[0]!), [
    "still live: the appointment's status is CANCELLED",
    nothing,
  ])
  assert.deepEqual(after[0]!.checks.find(({ code }) => code === 'status-not-live')?.params, {
    objectType: 'CALENDAR',
    status: 'CANCELLED',
    since: clock.now().epochMilliseconds,
  })
})

test('a definition for a change is explained by the last matching change', async (t) => {
  const { book, businessId, call, clock, save } = await enterWorld(t)
  const changed = (more: object) =>
    save('/eventDefinition', reminder(businessId, 0, { eventType: { eventTypeId: 2 }, ...more }))
  await changed({ oldStatus: '*', newStatus: 'CANCELLED' })
  const { calendarId } = await book(clock.in({ hours: 72 }))
  const ask = async () =>
    ((await call('GET', `/explain/CALENDAR/${calendarId}`)).body as Explanation[])[0]!

  assert.match(against(await ask())[0]!, /change: it has not changed since it was created/)
  await save('/calendar', { calendarId, status: 'CONFIRMED' })
  await save('/calendar', { calendarId, note: 'rings twice' })
  const confirmed = await ask()
  assert.equal(confirmed.outcome, 'NOT')
  assert.equal(against(confirmed)[0], 'status now: the status is CONFIRMED now, not CANCELLED')
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const cancelled = await ask()
  assert.equal(cancelled.outcome, 'WAITING')
  assert.equal(cancelled.scheduledTime, clock.now().epochMilliseconds)
})

test('an invitation is explained by its UUID, and an unknown object is 404', async (t) => {
  const world = await enterWorld(t)
  const { businessId, call, clock, ids, save } = world
  const campaign = await save('/invitationCampaign', { name: 'Winter' })
  const invitation = await save('/invitation', {
    invitationCampaignId: campaign.invitationCampaignId,
    clientId: ids.clientId,
  })
  await save(
    '/eventDefinition',
    reminder(businessId, -24, {
      objectType: 'INVITATION_CAMPAIGN',
      eventType: { eventTypeId: 8 },
    }),
  )
  const uuid = invitation.invitationUUID
  const { body } = await call('GET', `/explain/INVITATION/${uuid}`)
  assert.match(against(body[0])[0]!, /neither the invitation nor its campaign has an expiresTime/)

  await save('/invitation', {
    invitationUUID: uuid,
    expiresTime: clock.in({ hours: 48 }).epochMilliseconds,
  })
  assert.equal((await call('GET', `/explain/INVITATION/${uuid}`)).body[0].outcome, 'WAITING')

  for (const path of ['CALENDAR/999', 'CALENDAR/x', `INVITATION/${'0'.repeat(32)}`, 'LOCATION/1']) {
    assert.equal((await call('GET', `/explain/${path}`)).status, 404, path)
  }
  const other = await addBusiness(world)
  assert.equal((await other.call('GET', `/explain/INVITATION/${uuid}`)).status, 404)
})

/** An active action that writes to the client. */
async function actionOf({ businessId, save }: World) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  return { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
}

const explained = async ({ call }: World, calendarId: number) =>
  ((await call('GET', `/explain/CALENDAR/${calendarId}`)).body as Explanation[])[0]!

const reasonOf = ({ checks }: Explanation, name: string) =>
  checks.find(({ check }) => check === name)?.reason

test('a fired trigger is explained by the state when it fired, even if object, definition or action changed since', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, ids, save } = world
  const definition = reminder(businessId, -24, { eventActions: [await actionOf(world)] })
  const { eventDefnId } = await save('/eventDefinition', definition)
  const update = { ...reminder(businessId, -24), eventDefnId }
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const { runEngine } = startEngine(world)
  clock.advance({ hours: 24 })
  await runEngine()
  const fired = await explained(world, calendarId)
  assert.equal(fired.outcome, 'FIRED')
  assert.deepEqual(against(fired), [])

  const elsewhere = await save('/location', { name: 'Seefeld' })
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  await save('/eventDefinition', { ...update, locationIdList: [elsewhere.locationId] })
  const [action] = await world.db.query<{ eventActionId: number }>(
    sql`select event_action_id as "eventActionId" from event_action`,
  )
  await save('/eventAction', { eventActionId: action!.eventActionId, active: false })
  const since = await explained(world, calendarId)
  assert.deepEqual(since, { ...fired, checks: since.checks })
  assert.deepEqual(against(since), [])
  assert.equal(
    reasonOf(since, 'still live'),
    "passed when it fired; now: the appointment's status is CANCELLED",
  )
  assert.equal(
    reasonOf(since, 'location'),
    'passed when it fired; now: the definition does not select location Altstadt',
  )
  assert.equal(
    reasonOf(since, 'action'),
    'passed when it fired; now: the definition has no active action; add one to send a mail',
  )

  // The reminder for the new time would be overdue; the mail that was sent stays FIRED.
  await save('/eventDefinition', { ...update, locationIdList: [] })
  const startTime = clock.in({ hours: 2 }).epochMilliseconds
  await save('/calendar', { calendarId, ...ids, status: 'OPEN', startTime, endTime: startTime + 1 })
  const moved = await explained(world, calendarId)
  assert.equal(moved.outcome, 'FIRED')
  assert.equal(moved.eventTriggerId, fired.eventTriggerId)
  assert.deepEqual(against(moved), [])
  assert.match(
    reasonOf(moved, 'time')!,
    /^captured, not sent: .*; it was due on .*; for its current time: expired: .*; it was due on /,
  )
})

test('explain tells captured, sent and failed mails apart', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, clock, save } = world
  await save(
    '/eventDefinition',
    reminder(businessId, -24, { eventActions: [await actionOf(world)] }),
  )
  const first = await book(clock.in({ hours: 48 }))
  const second = await book(clock.in({ hours: 49 }))
  const third = await book(clock.in({ hours: 50 }))
  clock.advance({ hours: 24 })
  await startEngine(world).runEngine()
  clock.advance({ hours: 1 })
  const { mailer } = scripted({ kind: 'sent', phase: 'end', reply: '250 ok' }, REFUSED)
  const sending = startEngine(world, { mailer, captures: false })
  await sending.runEngine()
  clock.advance({ hours: 1 })
  await sending.runEngine()

  const captured = await explained(world, first.calendarId)
  assert.equal(captured.outcome, 'FIRED')
  assert.equal(
    reasonOf(captured, 'time'),
    'captured, not sent: no mail server was configured; it was due on Tuesday, 3 March 2026 at 10:00 (Europe/Zurich)',
  )
  const sent = await explained(world, second.calendarId)
  assert.equal(
    reasonOf(sent, 'time'),
    'sent; it was due on Tuesday, 3 March 2026 at 11:00 (Europe/Zurich)',
  )
  const failed = await explained(world, third.calendarId)
  assert.equal(failed.outcome, 'FIRED')
  assert.deepEqual(against(failed), [
    'mail: a mail could not be delivered: 550 no; it was due on Tuesday, 3 March 2026 at 12:00 (Europe/Zurich)',
  ])
})

test('a trigger that a worker has claimed is WAITING, and one that was given up is NOT fired', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, clock, database, save } = world
  await save(
    '/eventDefinition',
    reminder(businessId, -24, { eventActions: [await actionOf(world)] }),
  )
  const { calendarId } = await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await database.engine.query(sql`
    with held as (insert into worker_lease values ('dead', ${clock.in({ seconds: 10 })}))
    update pending_trigger set worker = 'dead', attempts = 9`)
  const due = 'it was due on Tuesday, 3 March 2026 at 10:00 (Europe/Zurich)'
  const claimed = await explained(world, calendarId)
  assert.equal(claimed.outcome, 'WAITING')
  assert.deepEqual(against(claimed), [])
  assert.equal(reasonOf(claimed, 'time'), `a worker is firing it; ${due}`)

  clock.advance({ seconds: 11 })
  await startEngine(world).takeOver()
  const givenUp = await explained(world, calendarId)
  assert.equal(givenUp.outcome, 'NOT')
  assert.ok(givenUp.eventTriggerId)
  assert.deepEqual(against(givenUp), [
    `mail: nothing was sent: gave up after 3 failed attempts: the worker died or lost its lease; ${due}`,
  ])
})

const REFUSED = { kind: 'failed', phase: 'rcpt', reply: '550 no' } as const

test('a fired change event is explained by that change, not by later ones', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, save } = world
  await save(
    '/eventDefinition',
    reminder(businessId, 0, {
      eventType: { eventTypeId: 2 },
      oldStatus: '*',
      newStatus: 'CONFIRMED',
      locationIdList: [world.ids.locationId],
      eventActions: [await actionOf(world)],
    }),
  )
  const { calendarId } = await book(clock.in({ hours: 72 }))
  clock.advance({ minutes: 1 })
  await save('/calendar', { calendarId, status: 'CONFIRMED' })
  clock.advance({ minutes: 1 })
  const { locationId } = await save('/location', { name: 'Seefeld' })
  await save('/calendar', { calendarId, status: 'OPEN', locationId })

  // The trigger is pending and will fire, because the change that it reports did happen.
  const pending = await explained(world, calendarId)
  assert.equal(pending.outcome, 'WAITING')
  assert.deepEqual(against(pending), [])
  assert.equal(
    reasonOf(pending, 'location'),
    'passed when it happened; now: the definition does not select location Seefeld',
  )
  await startEngine(world).runEngine()
  const fired = await explained(world, calendarId)
  assert.equal(fired.outcome, 'FIRED')
  assert.deepEqual(against(fired), [])
  assert.equal(reasonOf(fired, 'status now'), 'the status is CONFIRMED now')
})
