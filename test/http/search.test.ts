import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey, createPerson, signInAs, ask } from '../support/callers.ts'
import {
  addBusiness,
  reminder,
  shareWorld,
  startEngine,
  type Answer,
  startWorld,
} from '../support/world.ts'

const enterWorld = shareWorld()

const titles = ({ body }: Answer) =>
  body.map(({ kind, title }: { kind: string; title: string }) => `${kind}: ${title}`)

test('a search finds clients and their appointments whatever the accents and apostrophes', async (t) => {
  const { book, call, clock, save } = await enterWorld(t)
  const client = await save('/client', { firstName: 'Olivia', lastName: "O'Brien" })
  const past = await book(clock.in({ hours: -48 }), { clientId: client.clientId })
  const next = await book(clock.in({ hours: 48 }), { clientId: client.clientId })
  const cancelled = { clientId: client.clientId, status: 'CANCELLED' }
  const { calendarId } = await book(clock.in({ hours: 24 }), cancelled)
  const { body: withCancelled } = await call('GET', '/search?text=obrien')
  assert.equal(withCancelled[0].time, next.startTime, 'a cancelled visit is not the next one')
  assert.equal(withCancelled[1].id, calendarId)
  await call('DELETE', `/calendar/${calendarId}`)
  for (const text of ['obrien', "O'Brien", 'O’BRIEN', 'brien', 'óbrien oliv']) {
    const { status, body } = await call('GET', `/search?text=${encodeURIComponent(text)}`)
    assert.equal(status, 200)
    assert.deepEqual(
      body,
      [
        {
          kind: 'client',
          id: client.clientId,
          title: "Olivia O'Brien",
          detail: null,
          time: next.startTime,
        },
        {
          kind: 'calendar',
          id: next.calendarId,
          title: "Olivia O'Brien, Consultation",
          detail: 'Altstadt',
          time: next.startTime,
        },
        {
          kind: 'calendar',
          id: past.calendarId,
          title: "Olivia O'Brien, Consultation",
          detail: 'Altstadt',
          time: past.startTime,
        },
      ],
      text,
    )
  }
  for (const text of ['muller', 'mueller', 'Müller', 'Mu\u0308ller', 'ann MULL']) {
    const found = await call('GET', `/search?text=${encodeURIComponent(text)}`)
    assert.deepEqual(titles(found), ['client: Anna Müller'], text)
  }
  assert.deepEqual((await call('GET', '/search?text=obrian')).body, [])
  assert.deepEqual((await call('GET', "/search?text=''")).body, [])
  assert.equal((await call('GET', '/search?text=')).status, 422)
  assert.equal((await call('GET', '/search?text=a&limit=21')).status, 422)
})

test('a search finds the messages of a client once each, the newest first', async (t) => {
  const world = await enterWorld(t)
  const { app, book, businessId, call, clock, database, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you at %LOCATION_NAME%',
    emailBody: 'Tomorrow',
  })
  // The second mail of the same trigger.
  const { emailTemplateId: otherTemplateId } = await save('/emailTemplate', {
    templateName: 'Directions',
    subject: 'How to find %LOCATION_NAME%',
    emailBody: 'By tram',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const another = { ...action, emailTemplateId: otherTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action, another] }))
  const { runEngine } = startEngine(world)
  const { professionalId } = await save('/professional', { firstName: 'Marc', lastName: 'Roth' })
  const first = await book(clock.in({ hours: 48 }))
  await book(clock.in({ hours: 49 }), { professionalId })
  clock.advance({ hours: 24 })
  await runEngine()
  clock.advance({ hours: 1 })
  await runEngine()
  const { items } = (await call('GET', '/emails')).body
  assert.equal(items.length, 4)
  const [newest, oldest] = [items.at(0), items.at(-1)]

  const messagesIn = ({ body }: Answer) =>
    body.filter(({ kind }: { kind: string }) => kind === 'eventTrigger')
  const found = messagesIn(await call('GET', '/search?text=muller'))
  assert.deepEqual(found, [
    {
      kind: 'eventTrigger',
      id: newest.eventTriggerId,
      title: 'How to find Altstadt',
      detail: 'Anna Müller',
      time: clock.now().epochMilliseconds,
    },
    { ...found[1], id: oldest.eventTriggerId, time: oldest.createdDate },
  ])
  assert.equal(oldest.objectId, first.calendarId)
  assert.deepEqual(messagesIn(await call('GET', '/search?text=muller&limit=1')), [found[0]])

  const staff = { username: 'elena', role: 'USER', professionalId: first.professionalId } as const
  await createPerson(database, clock, businessId, staff)
  const asStaff = ask(app, { cookie: await signInAs(app, 'elena') })
  assert.deepEqual(messagesIn(await asStaff('GET', '/search?text=muller')), [found[1]])
  const { key } = await createKey(database, clock, businessId, ['scheduling:read'])
  const asKey = ask(app, { authorization: `Bearer ${key}` })
  assert.deepEqual(messagesIn(await asKey('GET', '/search?text=muller')), [])
})

test('a search finds automations by description and template, and templates by name', async (t) => {
  const { businessId, call, save } = await enterWorld(t)
  const template = await save('/emailTemplate', {
    templateName: 'Zurück in die Praxis',
    subject: 'We miss you',
    emailBody: 'Hello',
  })
  const definition = await save(
    '/eventDefinition',
    reminder(businessId, -24, { description: 'Reminder on the day before' }),
  )
  await save('/eventAction', {
    active: true,
    actionType: 'SEND_EMAIL',
    businessId,
    eventDefnId: definition.eventDefnId,
    emailTemplateId: template.emailTemplateId,
  })
  const automation = 'eventDefinition: Reminder on the day before'
  assert.deepEqual(titles(await call('GET', '/search?text=day%20remind')), [automation])
  assert.deepEqual(titles(await call('GET', '/search?text=zuruck')), [
    automation,
    'emailTemplate: Zurück in die Praxis',
  ])
  await call('DELETE', `/eventDefinition/${definition.eventDefnId}`)
  assert.deepEqual(titles(await call('GET', '/search?text=zurueck')), [
    'emailTemplate: Zurück in die Praxis',
  ])
})

test('a search stays in its business and shows what the caller may read', async (t) => {
  const world = await startWorld(t)
  const { app, book, businessId, clock, database, save } = world
  const other = await addBusiness(world)
  await other.save('/client', { firstName: 'Anton', lastName: 'Fremd' })
  const mine = await book(clock.in({ hours: 1 }))
  const { professionalId } = await save('/professional', { firstName: 'Marc', lastName: 'Roth' })
  await book(clock.in({ hours: 2 }), { professionalId })
  await save('/emailTemplate', { templateName: 'Anna', subject: 'x', emailBody: 'x' })
  await save('/eventDefinition', reminder(businessId, -24, { description: 'Annual check' }))
  assert.deepEqual(titles(await other.call('GET', '/search?text=ann')), ['client: Anna Müller'])

  const staff = { username: 'elena', role: 'USER', professionalId: mine.professionalId } as const
  await createPerson(database, clock, businessId, staff)
  const asStaff = ask(app, { cookie: await signInAs(app, 'elena') })
  const seen = await asStaff('GET', '/search?text=ann')
  assert.deepEqual(
    seen.body.map(({ kind, id }: { kind: string; id: number }) => [kind, id]).slice(0, 2),
    [
      ['client', mine.clientId],
      ['calendar', mine.calendarId],
    ],
  )
  assert.deepEqual(titles(seen).slice(2), ['emailTemplate: Anna'])

  await createPerson(database, clock, businessId, { username: 'rita', role: 'REPORTS_ONLY' })
  const asReader = ask(app, { cookie: await signInAs(app, 'rita') })
  assert.equal((await asReader('GET', '/search?text=ann')).status, 403)
  const { key } = await createKey(database, clock, businessId, ['scheduling:read'])
  const asKey = ask(app, { authorization: `Bearer ${key}` })
  assert.deepEqual(titles(await asKey('GET', '/search?text=ann')).toSorted(), [
    'calendar: Anna Müller, Consultation',
    'calendar: Anna Müller, Consultation',
    'client: Anna Müller',
  ])
})
