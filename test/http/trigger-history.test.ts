import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scripted } from '../support/scripted-mailer.ts'
import { ask, createKey, createPerson, signInAs } from '../support/callers.ts'
import { addBusiness, reminder, shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>
type Entry = {
  time: number
  user: string | null
  change: string
  detail: string
  scheduledTime: number | null
}
type Check = { check: string; ok: boolean; reason: string }

const HOUR = 3_600_000

/** A definition that mails the client. */
async function define({ businessId, save }: World, hours: number, more: object = {}) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>See you</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const description = 'Remind a day before'
  const body = reminder(businessId, hours, { description, eventActions: [action], ...more })
  return { ...(await save('/eventDefinition', body)), emailTemplateId }
}

async function onlyTrigger({ call }: World) {
  const { items } = (await call('GET', '/eventTriggers')).body
  assert.equal(items.length, 1)
  return items[0].eventTriggerId as number
}

const changes = (history: Entry[]) => history.map(({ change }) => change)

test('the history of a trigger shows how it was planned, moved and fired, with the checks at that time', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, ids, save } = world
  await define(world, -24)
  clock.advance({ minutes: 1 })
  const booked = clock.now().epochMilliseconds
  const { calendarId } = await book(clock.in({ hours: 48 }))
  clock.advance({ minutes: 1 })
  const moved = clock.now().epochMilliseconds
  const start = booked + 72 * HOUR
  await save('/calendar', { calendarId, startTime: start, endTime: start + HOUR })
  clock.advance({ minutes: 1 })
  const { professionalId } = await save('/professional', { firstName: 'Marc', lastName: 'Weber' })
  await save('/calendar', { calendarId, status: 'CONFIRMED', professionalId })
  await save('/calendar', { calendarId, note: 'rings twice' })
  clock.advance({ hours: 48 })
  const mailer = scripted(
    { kind: 'retry', phase: 'rcpt', reply: '450 4.2.0 try again' },
    { kind: 'sent', phase: 'end', reply: '250 2.0.0 queued' },
  )
  const engine = startEngine(world, { mailer: mailer.mailer, captures: false })
  await engine.runEngine()
  const fired = clock.now().epochMilliseconds
  clock.advance({ minutes: 2 })
  await engine.runEngine()
  clock.advance({ hours: 30 })
  await save('/calendar', { calendarId, status: 'COMPLETED' })

  const id = await onlyTrigger(world)
  const { status, body } = await call('GET', `/eventTriggers/${id}`)
  assert.equal(status, 200)
  assert.equal(body.status, 'COMPLETED')
  assert.equal(body.clientName, 'Anna Müller')
  assert.equal(body.description, 'Remind a day before')
  assert.equal(body.objectStatus, 'COMPLETED')
  const history: Entry[] = body.history
  assert.deepEqual(changes(history), ['CREATED', 'MOVED', 'STATUS', 'FIRED'])
  assert.deepEqual(
    history.map(({ scheduledTime }) => scheduledTime),
    [booked + 24 * HOUR, start - 24 * HOUR, start - 24 * HOUR, null],
  )
  assert.deepEqual(history.map(({ time }) => time).slice(0, 2), [booked, moved])
  assert.equal(history[0]!.user, 'key:test')
  assert.match(history[0]!.detail, /^created for .*: Consultation, Elena García, Altstadt, Anna/)
  assert.match(history[1]!.detail, /^moved from Wednesday, 4 March 2026 at .* to Thursday, 5 March/)
  assert.equal(
    history[2]!.detail,
    'status changed from OPEN to CONFIRMED; staff changed from Elena García to Marc Weber',
  )
  assert.equal(history[3]!.time, fired)
  assert.equal(body.checkedTime, fired)
  const live = (body.checks as Check[]).find(({ check }) => check === 'still live')
  assert.partialDeepStrictEqual(live, {
    check: 'still live',
    ok: true,
    reason: "the appointment's status is CONFIRMED",
  })
  assert.equal(body.emails.length, 1)
  assert.deepEqual(
    body.emails[0].attempts.map(({ reply }: { reply: string }) => reply),
    ['450 4.2.0 try again', '250 2.0.0 queued'],
  )
  assert.equal(body.emails[0].clientId, ids.clientId)
})

test('the history of a cancelled trigger shows the change that cancelled it and the failed check', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, save } = world
  await define(world, -24)
  clock.advance({ minutes: 1 })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const id = await onlyTrigger(world)
  clock.advance({ minutes: 1 })
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  clock.advance({ minutes: 1 })
  await save('/calendar', { calendarId, status: 'OPEN' })

  const { body } = await call('GET', `/eventTriggers/${id}`)
  assert.deepEqual(changes(body.history), ['CREATED', 'STATUS', 'CANCELLED'])
  assert.equal(body.history[1].scheduledTime, null)
  const failed = (body.checks as Check[]).filter(({ ok }) => !ok)
  assert.deepEqual(
    failed.map(({ check }) => check),
    ['still live'],
  )

  const { items } = (await call('GET', '/eventTriggers?status=SCHEDULED')).body
  const { body: again } = await call('GET', `/eventTriggers/${items[0].eventTriggerId}`)
  assert.deepEqual(
    (again.history as Entry[]).map(({ scheduledTime }) => scheduledTime !== null),
    [false, false, true],
    'only entries after the trigger was planned have a scheduledTime',
  )
})

test('a definition that changes moves its pending trigger, and one switched off cancels it', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, save } = world
  const definition = await define(world, -24)
  const saveDefinition = (more: object) => save('/eventDefinition', { ...definition, ...more })
  clock.advance({ minutes: 1 })
  const { startTime } = await book(clock.in({ hours: 72 }))
  const id = await onlyTrigger(world)
  clock.advance({ minutes: 1 })
  await saveDefinition({ triggerHours: -48 })
  clock.advance({ minutes: 1 })
  await saveDefinition({ triggerHours: -48, description: 'Remind two days before' })
  const pending = (await call('GET', `/eventTriggers/${id}`)).body
  assert.deepEqual(changes(pending.history), ['CREATED', 'DEFINITION'])
  assert.equal(pending.history[1].detail, 'the definition now fires at another time')
  assert.equal(pending.history[1].scheduledTime, startTime - 48 * HOUR)
  assert.equal(pending.scheduledTime, startTime - 48 * HOUR)
  assert.equal(pending.checkedTime, null)

  clock.advance({ minutes: 1 })
  await saveDefinition({ triggerHours: -48, active: false })
  const { history, checks } = (await call('GET', `/eventTriggers/${id}`)).body
  assert.deepEqual(changes(history).slice(2), ['DEFINITION', 'CANCELLED'])
  assert.equal(history[2].detail, 'the definition was switched off')
  assert.equal(history[2].scheduledTime, null)
  assert.equal(checks[0].ok, false)
})

test('the history names the user who cancelled or fired a trigger', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock } = world
  await define(world, -24)
  clock.advance({ minutes: 1 })
  await book(clock.in({ hours: 48 }))
  const first = await onlyTrigger(world)
  clock.advance({ minutes: 1 })
  await call('POST', `/eventTriggers/${first}/cancel`)
  const cancelled = (await call('GET', `/eventTriggers/${first}`)).body.history.at(-1)
  assert.equal(cancelled.change, 'CANCELLED')
  assert.equal(cancelled.user, 'key:test')
  assert.equal(cancelled.detail, 'cancelled by key:test')

  await book(clock.in({ hours: 50 }))
  const [{ eventTriggerId: second }] = (await call('GET', '/eventTriggers?status=SCHEDULED')).body
    .items
  await call('POST', `/eventTriggers/${second}/fire`)
  const byHand = (await call('GET', `/eventTriggers/${second}`)).body.history.at(-1)
  assert.deepEqual(
    [byHand.change, byHand.user, byHand.scheduledTime],
    ['FIRED_BY_HAND', 'key:test', clock.now().epochMilliseconds],
  )
  await startEngine(world).runEngine()
  const { history } = (await call('GET', `/eventTriggers/${second}`)).body
  assert.deepEqual(changes(history).slice(-2), ['FIRED_BY_HAND', 'FIRED'])
  assert.equal(history.at(-2).user, 'key:test')
})

test('a trigger for a change is checked with the state that the change produced', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, save } = world
  const cancelledOnly = { eventType: { eventTypeId: 2 }, oldStatus: '*', newStatus: 'CANCELLED' }
  await define(world, 0, cancelledOnly)
  clock.advance({ minutes: 1 })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  clock.advance({ minutes: 1 })
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const changed = clock.now().epochMilliseconds
  clock.advance({ minutes: 1 })
  await save('/calendar', { calendarId, status: 'OPEN' })
  await startEngine(world).runEngine()
  const { body } = await call('GET', `/eventTriggers/${await onlyTrigger(world)}`)
  assert.deepEqual(
    (body.history as Entry[]).map(({ change, scheduledTime }) => [change, scheduledTime]),
    [
      ['CREATED', null],
      ['STATUS', changed],
      ['STATUS', changed],
      ['FIRED', null],
    ],
  )
  const now = (body.checks as Check[]).find(({ check }) => check === 'status now')
  assert.partialDeepStrictEqual(now, {
    check: 'status now',
    ok: true,
    reason: 'the status is CANCELLED now',
  })
})

test('a client’s tags count as they were when the trigger fired', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, ids, save } = world
  const { clientId } = ids
  await save('/client', { clientId, tags: { level: ['gold'] } })
  await define(world, -24, { filterTagMapJson: '{"level":["gold"]}' })
  await book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await startEngine(world).runEngine()
  clock.advance({ minutes: 1 })
  await save('/client', { clientId, tags: {} })
  const { body } = await call('GET', `/eventTriggers/${await onlyTrigger(world)}`)
  const tags = (body.checks as Check[]).find(({ check }) => check === 'tags')
  assert.partialDeepStrictEqual(tags, { check: 'tags', ok: true, reason: 'it has the tags' })
})

test('a trigger of another business, or of an object that the caller does not see, is not found', async (t) => {
  const world = await enterWorld(t)
  const { app, book, businessId, call, clock, database, ids, save } = world
  await define(world, -24)
  await book(clock.in({ hours: 48 }))
  const id = await onlyTrigger(world)
  const other = await addBusiness(world)
  assert.equal((await other.call('GET', `/eventTriggers/${id}`)).status, 404)
  assert.equal((await call('GET', '/eventTriggers/999999')).status, 404)
  assert.equal((await call('GET', '/eventTriggers/none')).status, 404)

  const marc = await save('/professional', { firstName: 'Marc', lastName: 'Weber' })
  const asUser = async (professionalId: number, username: string) => {
    const person = { username, role: 'USER', professionalId } as const
    await createPerson(database, clock, businessId, person)
    return ask(app, { cookie: await signInAs(app, username) })
  }
  const stranger = await asUser(marc.professionalId, 'marc')
  const own = await asUser(ids.professionalId, 'elena')
  assert.equal((await stranger('GET', `/eventTriggers/${id}`)).status, 404)
  assert.equal((await own('GET', `/eventTriggers/${id}`)).status, 200)
})

test('a refused mail that is sent again goes to the corrected address, and its failure is settled', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, ids, save } = world
  await define(world, -24)
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  const refusal = { kind: 'failed', phase: 'rcpt', reply: '550 5.1.1 unknown' } as const
  const { mailer, taken } = scripted(refusal, refusal, refusal)
  const { runEngine } = startEngine(world, { mailer, captures: false })
  await runEngine()
  const id = await onlyTrigger(world)
  const failuresOf = async () => (await call('GET', '/overview')).body.failures
  const [{ emailId, templateName }] = await failuresOf()
  assert.equal(templateName, 'Reminder')
  assert.deepEqual((await call('GET', `/eventTriggers/${id}`)).body.sentAgain, [])

  await save('/client', { clientId: ids.clientId, emailAddress: 'gone-too@example.org' })
  await call('POST', `/emails/${emailId}/resend`)
  assert.deepEqual(await failuresOf(), [], 'it is in the queue')
  await runEngine()
  assert.equal((await failuresOf()).length, 1, 'it was refused again')

  await save('/client', { clientId: ids.clientId, emailAddress: 'still-gone@example.org' })
  const { body: third } = await call('POST', `/emails/${emailId}/resend`)
  await runEngine()
  await save('/client', { clientId: ids.clientId, emailAddress: 'right@example.org' })
  const { body: last } = await call('POST', `/emails/${third.emailId}/resend`)
  assert.equal(last.repeatsEmailId, emailId)
  await runEngine()
  assert.deepEqual(await failuresOf(), [])
  assert.equal(taken[0]!.to, 'right@example.org')
  assert.match(taken[0]!.message.headers, /^To: .*\r\n <right@example\.org>\r$/m)
  assert.doesNotMatch(taken[0]!.message.headers, /anna@example/)
  const { body } = await call('GET', `/eventTriggers/${id}`)
  assert.equal(body.status, 'FAILED')
  assert.equal(body.templateName, 'Reminder')
  assert.equal(body.emails.length, 1)
  const again: { to: string; status: string }[] = body.sentAgain
  assert.deepEqual(
    again.map(({ to, status }) => [to, status]),
    [
      ['gone-too@example.org', 'FAILED'],
      ['still-gone@example.org', 'FAILED'],
      ['right@example.org', 'SENT'],
    ],
  )
})

test('a trigger names the recipient of its first action', async (t) => {
  const world = await enterWorld(t)
  const { businessId, book, call, clock } = world
  const { eventDefnId, emailTemplateId } = await define(world, -24)
  await define(world, -12)
  const action = {
    actionType: 'SEND_EMAIL',
    active: true,
    businessId,
    emailTemplateId,
    eventDefnId,
  }
  const [{ eventActionId }] = (await call('GET', `/eventAction/eventDefinition/${eventDefnId}`))
    .body
  await call('POST', '/eventAction', { ...action, eventActionId, recipient: { value: 'staff' } })
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}?expand=names`)
  assert.deepEqual(
    body.map((trigger: { recipient: string | null }) => trigger.recipient),
    ['staff', null],
  )
})

test('a mail that is sent again keeps its recipient if the template sets it', async (t) => {
  const world = await enterWorld(t)
  const { book, call, clock, ids, save } = world
  const { emailTemplateId } = await define(world, -24)
  await save('/client', { clientId: ids.clientId, externalId: 'c7' })
  await save('/emailTemplate', {
    emailTemplateId,
    toAddress: 'archive+%CLIENT_EXTERNALID%@crm.example',
  })
  await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()
  const [{ emailId, to }] = (await call('GET', '/emails')).body.items
  assert.equal(to, 'archive+c7@crm.example')
  await save('/client', { clientId: ids.clientId, emailAddress: 'new@example.org' })
  assert.equal((await call('POST', `/emails/${emailId}/resend`)).body.to, to)
})

test('a trigger has no emails for a key that may not read them', async (t) => {
  const world = await enterWorld(t)
  const { app, book, businessId, call, clock, database } = world
  await define(world, -24)
  const { calendarId } = await book(clock.in({ hours: 25 }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()
  const id = await onlyTrigger(world)
  assert.ok((await call('GET', `/eventTriggers/${id}`)).body.email.to)
  const { key } = await createKey(database, clock, businessId, ['definitions:read'])
  const reader = ask(app, { authorization: `Bearer ${key}` })
  const { status, body } = await reader('GET', `/eventTriggers/${id}`)
  assert.equal(status, 200)
  assert.deepEqual([body.emails, body.email], [null, null])
  const { body: listed } = await reader('GET', '/eventTriggers?expand=names')
  assert.equal(listed.items[0].email, null)
  const { body: ofObject } = await reader(
    'GET',
    `/eventTriggers/CALENDAR/${calendarId}?expand=names`,
  )
  assert.equal(ofObject[0].email, null)
})
