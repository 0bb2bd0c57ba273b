import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailerParts } from '../support/scripted-mailer.ts'
import { reminder, shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

test('the overview counts today’s appointments, pending triggers and the outcomes of the last day', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  await save('/eventDefinition', reminder(businessId, -2))
  await book(clock.in({ hours: 3 }))
  await book(clock.in({ hours: 30 }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()

  const { body } = await call('GET', '/overview')
  assert.equal(body.timeZone, 'Europe/Zurich')
  assert.equal(body.appointmentsToday, 1)
  assert.equal(body.activeDefinitions, 1)
  assert.equal(body.triggersWaiting, 1)
  assert.equal(body.triggersDueToday, 0)
  assert.equal(body.nextTriggerTime, clock.in({ hours: 27 }).epochMilliseconds)
  assert.deepEqual(body.triggersOfLastDay, { SKIPPED: 1 })
  assert.deepEqual(body.emailsOfLastDay, {})
})

test('the overview shows the quarter hours of a day, 30 days, failures and what is set up', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  const definition = await save('/eventDefinition', reminder(businessId, -2))
  await book(clock.in({ hours: 3 }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()
  await book(clock.in({ hours: 4 }))

  const { body } = await call('GET', '/overview')
  const at = (hours: number) => clock.in({ hours }).epochMilliseconds
  const quarterOf = (ms: number) => ms - (ms % 900_000)
  assert.deepEqual(body.quarterHours, [
    { time: quarterOf(at(0)), status: 'SKIPPED', count: 1 },
    { time: quarterOf(at(2)), status: 'SCHEDULED', count: 1 },
  ])
  assert.equal(body.lastDays.length, 30)
  assert.deepEqual(body.lastDays.at(-1), { day: body.day, counts: { SKIPPED: 1 } })
  assert.deepEqual(body.lastDays.at(-2).counts, {})
  assert.deepEqual(body.failures, [])
  assert.equal(body.setup.appointments, 2)
  assert.equal(body.setup.automations, 1)
  assert.deepEqual(body.mail, {
    ok: true,
    captured: true,
    waiting: 0,
    lastSentTime: null,
    sentLastDay: 0,
    paused: false,
    problem: null,
    problems: [],
    failingSince: null,
    withoutPostalAddress: 0,
  })

  const { body: triggers } = await call('GET', '/eventTriggers?expand=names&status=SCHEDULED')
  assert.equal(triggers.items.length, 1)
  const [trigger] = triggers.items
  assert.equal(trigger.eventDefnId, definition.eventDefnId)
  assert.match(trigger.clientName, /\w+ \w+/)
  assert.equal(trigger.objectTime, at(4))
  assert.equal(trigger.email, null)
})

test('the overview counts the quarter hours of up to seven days', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  await save('/eventDefinition', reminder(businessId, -2))
  const hours = [3, 3 + 24, 3 + 6 * 24, 3 + 7 * 24]
  for (const each of hours) await book(clock.in({ hours: each }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()

  const times = hours.map((each) => clock.in({ hours: each - 3 }).epochMilliseconds)
  const quarterOf = (ms: number) => ms - (ms % 900_000)
  const { body: today } = await call('GET', '/overview')
  assert.equal(today.days, 1)
  assert.deepEqual(
    today.quarterHours.map(({ time }: { time: number }) => time),
    [quarterOf(times[0]!)],
  )
  const { body: week } = await call('GET', `/overview?day=${today.day}&days=7`)
  assert.deepEqual([week.day, week.days], [today.day, 7])
  assert.deepEqual(week.quarterHours, [
    { time: quarterOf(times[0]!), status: 'SKIPPED', count: 1 },
    { time: quarterOf(times[1]!), status: 'SCHEDULED', count: 1 },
    { time: quarterOf(times[2]!), status: 'SCHEDULED', count: 1 },
  ])
  for (const days of [0, 8, 1.5]) {
    assert.equal((await call('GET', `/overview?days=${days}`)).status, 422)
  }
})

test('failures of the same mail with the same reason are one entry with their number', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'Soon',
    emailBody: '<p>Soon</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const bookFor = async (firstName: string, minutes: number) => {
    const emailAddress = `${firstName.toLowerCase()}@example.org`
    const { clientId } = await save('/client', { firstName, lastName: 'Roth', emailAddress })
    await book(clock.in({ hours: 25, minutes }), { clientId })
  }
  for (let i = 1; i <= 21; i += 1) await bookFor(`Eva${i}`, i)
  await bookFor('Full', 0)
  clock.advance({ hours: 2 })
  const mailer = {
    ...mailerParts,
    send: async ({ to }: { to: string }) => ({
      kind: 'failed' as const,
      phase: 'rcpt' as const,
      reply: to.startsWith('full') ? '552 5.2.2 mailbox full' : `550 5.1.1 <${to}> unknown`,
    }),
  }
  await startEngine(world, { mailer, captures: false }).runEngine()
  const { failures } = (await call('GET', '/overview')).body
  assert.partialDeepStrictEqual(failures, [
    {
      count: 21,
      names: ['Eva21 Roth', 'Eva20 Roth', 'Eva19 Roth'],
      clientName: 'Eva21 Roth',
      to: 'eva21@example.org',
      templateName: 'Reminder',
    },
    { count: 1, names: ['Full Roth'], to: 'full@example.org' },
  ])
  assert.equal(failures.length, 2)
  assert.equal(new Set(failures[0].emailIds).size, 21)
  assert.equal(failures[0].emailIds[0], failures[0].emailId)
})
