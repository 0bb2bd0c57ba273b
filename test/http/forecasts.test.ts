import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { ask, createPerson, signInAs } from '../support/callers.ts'
import { reminder, shareWorld, startWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

/** Every row that a definition, an action or a plan could have written. */
const rowsOf = ({ db }: World) =>
  db.query(sql`
    select (select coalesce(json_agg(t order by event_trigger_id), '[]') from any_trigger t)::text as triggers,
           (select coalesce(json_agg(d order by event_defn_id), '[]') from event_definition d)::text as definitions,
           (select coalesce(json_agg(a order by event_action_id), '[]') from event_action a)::text as actions,
           (select count(*) from audit) as audit`)

/** Plans a body, checks that nothing was written, then saves it. */
async function planThenSave(world: World, body: object) {
  const { call } = world
  const before = await rowsOf(world)
  const { status, body: plan } = await call('POST', '/eventDefinition/plan', body)
  assert.equal(status, 200, JSON.stringify(plan))
  assert.deepEqual(await rowsOf(world), before, 'a plan writes nothing')
  return { plan, saved: await world.save('/eventDefinition', body) }
}

const countsOf = ({ create, move, cancel, expired, unchanged }: Record<string, unknown>) => ({
  create,
  move,
  cancel,
  expired,
  unchanged,
})
/** The change of a sample, without the names of its object. */
const changeOf = (sample: Record<string, unknown>) => {
  const { change, objectType, objectId, objectUUId, from, to } = sample
  return { change, objectType, objectId, objectUUId, from, to }
}
const none = { create: 0, move: 0, cancel: 0, expired: 0, unchanged: 0 }

async function scheduled({ call }: World, eventDefnId: number) {
  const { body } = await call('GET', `/eventTriggers?eventDefnId=${eventDefnId}&status=SCHEDULED`)
  return body.items.map((trigger: { scheduledTime: number }) => trigger.scheduledTime) as number[]
}

test('a plan predicts exactly what saving does', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock } = world
  const soon = await book(clock.in({ hours: 3 }))
  const later = await book(clock.in({ hours: 72 }))
  await book(clock.in({ hours: 100 }), { status: 'CANCELLED' })
  await book(clock.in({ hours: 101 }), { tags: { vip: ['yes'] } })

  const created = await planThenSave(world, reminder(businessId, -24))
  assert.deepEqual(countsOf(created.plan), { ...none, create: 2, expired: 1 })
  assert.deepEqual(changeOf(created.plan.samples[2]), {
    change: 'expired',
    objectType: 'CALENDAR',
    objectId: soon.calendarId,
    objectUUId: null,
    from: null,
    to: clock.now().subtract({ hours: 21 }).epochMilliseconds,
  })
  assert.deepEqual(changeOf(created.plan.samples[0]), {
    change: 'create',
    objectType: 'CALENDAR',
    objectId: later.calendarId,
    objectUUId: null,
    from: null,
    to: clock.in({ hours: 48 }).epochMilliseconds,
  })
  const { eventDefnId } = created.saved
  assert.equal((await scheduled(world, eventDefnId)).length, 2)

  const again = await planThenSave(world, reminder(businessId, -24, { eventDefnId }))
  assert.deepEqual(countsOf(again.plan), { ...none, unchanged: 2, expired: 1 })

  const moved = await planThenSave(world, reminder(businessId, -2, { eventDefnId }))
  assert.deepEqual(countsOf(moved.plan), { ...none, move: 2, create: 1 })
  assert.deepEqual(changeOf(moved.plan.samples[0]), {
    change: 'move',
    objectType: 'CALENDAR',
    objectId: later.calendarId,
    objectUUId: null,
    from: clock.in({ hours: 48 }).epochMilliseconds,
    to: clock.in({ hours: 70 }).epochMilliseconds,
  })
  assert.equal((await scheduled(world, eventDefnId)).length, 3)

  const vip = { eventDefnId, filterTagMapJson: '{"vip":["yes"]}' }
  const filtered = await planThenSave(world, reminder(businessId, -2, vip))
  assert.deepEqual(countsOf(filtered.plan), { ...none, cancel: 2, unchanged: 1 })
  assert.equal((await scheduled(world, eventDefnId)).length, 1)

  const turned = { eventDefnId, objectType: 'CLASS_SCHEDULE', eventType: { eventTypeId: 6 } }
  const other = await planThenSave(world, reminder(businessId, -2, turned))
  assert.deepEqual(countsOf(other.plan), { ...none, cancel: 1 })
  assert.equal((await scheduled(world, eventDefnId)).length, 0)

  const off = reminder(businessId, -2, { eventDefnId, active: false })
  assert.deepEqual(countsOf((await call('POST', '/eventDefinition/plan', off)).body), none)
})

test('pending triggers of a delayed event move with the delay; a save creates no new ones', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, save } = world
  const created = { eventType: { eventTypeId: 1 } }
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, 2, created))
  await book(clock.in({ hours: 72 }))
  const { plan } = await planThenSave(world, reminder(businessId, 5, { ...created, eventDefnId }))
  assert.deepEqual(countsOf(plan), { ...none, move: 1 })
  assert.deepEqual(await scheduled(world, eventDefnId), [clock.in({ hours: 5 }).epochMilliseconds])
})

test('a plan and a backtest refuse the same faults as saving, with the same pointers', async (t) => {
  const { businessId, call } = await enterWorld(t)
  const bad = reminder(businessId + 1, -24, { locationIdList: [999], objectType: 'RECALL' })
  const pointers = (answer: { body: { errors: { pointer: string }[] } }) =>
    answer.body.errors.map((fault) => fault.pointer).toSorted()
  const saving = await call('POST', '/eventDefinition', bad)
  const planning = await call('POST', '/eventDefinition/plan', bad)
  assert.equal(planning.status, 422)
  assert.deepEqual(pointers(planning), pointers(saving))

  const body = { definition: bad, startDate: '2026-02-30', endDate: '2026-03-01' }
  const testing = await call('POST', '/eventDefinition/backtest', body)
  assert.equal(testing.status, 422)
  assert.deepEqual(
    pointers(testing),
    [...pointers(saving).map((pointer) => `/definition${pointer}`), '/startDate'].toSorted(),
  )
  const empty = await call('POST', '/eventDefinition/backtest', {})
  assert.deepEqual(pointers(empty), ['/definition', '/endDate', '/startDate'])
  const unknown = reminder(businessId, -24, { eventDefnId: 999 })
  assert.equal((await call('POST', '/eventDefinition/plan', unknown)).status, 404)
})

const CLIENT = { label: 'Student', value: 'client' }

test('a backtest counts emails, clients, emails at night and empty tokens', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'Until %APPT_TIME%',
    emailBody: '<p>Dear %CLIENT_FIRSTNAME%, call %CLIENT_PHONE%</p>',
  })
  const hidden = await save('/client', { firstName: 'No', lastName: 'Address' })
  const start = clock.now() // Monday, 10:00 in Zurich
  await book(start.add({ hours: 48 }))
  await book(start.add({ hours: 48, minutes: 40 }))
  await book(start.add({ hours: 62 })) // its reminder is due at midnight
  await book(start.add({ hours: 50 }), { clientId: hidden.clientId })
  const cancelled = await book(start.add({ hours: 51 }))
  await save('/calendar', { calendarId: cancelled.calendarId, status: 'CANCELLED' })
  const before = await rowsOf(world)

  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  const definition = reminder(businessId, -24, { eventActions })
  const run = (startDate: string, endDate: string, of: object = definition) =>
    call('POST', '/eventDefinition/backtest', { definition: of, startDate, endDate })
  const { status, body } = await run('2026-03-01', '2026-03-31')
  assert.equal(status, 200, JSON.stringify(body))
  const { samples, byDay: _byDay, byHour: _byHour, ...counts } = body
  assert.deepEqual(counts, {
    mails: 3,
    clients: 1,
    atNight: 1,
    withinAnHour: 1,
    emptyTokens: { CLIENT_PHONE: 3 },
  })
  assert.equal(samples.length, 3)
  assert.equal(samples[0].to, 'anna@example.org')
  assert.equal(samples[0].subject, 'Until 10:00')
  assert.equal(samples[0].scheduledTime, start.add({ hours: 24 }).epochMilliseconds)
  assert.deepEqual(
    samples.map(({ reason }: { reason: string }) => reason),
    [
      'no value for CLIENT_PHONE',
      'less than an hour after another one; no value for CLIENT_PHONE',
      'it is night; no value for CLIENT_PHONE',
    ],
  )
  assert.deepEqual(await rowsOf(world), before, 'a backtest writes nothing')

  assert.equal(
    (await run('2026-03-03', '2026-03-03')).body.mails,
    2,
    'days are in the time zone of the business',
  )
  assert.equal((await run('2026-02-01', '2026-03-02')).body.mails, 0)
  const withoutAction = await run('2026-03-01', '2026-03-31', reminder(businessId, -24))
  assert.equal(withoutAction.body.mails, 3, 'without an action, one mail to each client is assumed')

  const { eventDefnId } = await save('/eventDefinition', definition)
  const [action] = eventActions
  const named = { ...definition, eventDefnId, eventActions: [{ ...action, recipient: CLIENT }] }
  const again = await run('2026-03-01', '2026-03-31', named)
  assert.equal(again.body.mails, 3, 'the saved action is not counted twice')

  const other = { templateName: 'Other', subject: 'Another mail', emailBody: '<p>Hello</p>' }
  const { emailTemplateId: otherId } = await save('/emailTemplate', other)
  const stored = await call('GET', '/eventAction')
  const [{ eventActionId }] = stored.body.items
  const changed = { ...action, eventActionId, emailTemplateId: otherId }
  const replaced = await run('2026-03-01', '2026-03-31', { ...named, eventActions: [changed] })
  assert.equal(replaced.body.mails, 3)
  assert.equal(replaced.body.samples[0].subject, 'Another mail', 'the action is changed')
})

test('a past visit counts with the status that it had when its reminder was due', async (t) => {
  const { book, businessId, call, clock, save } = await enterWorld(t)
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const dropped = await book(clock.in({ hours: 50 }))
  const late = clock.in({ hours: 12 })
  clock.advance({ hours: 5 })
  await save('/calendar', { calendarId: dropped.calendarId, status: 'CANCELLED' })
  await book(late) // booked within the day: too late for a reminder
  clock.advance({ hours: 60 })
  await save('/calendar', { calendarId, status: 'COMPLETED' })
  await book(clock.now().subtract({ hours: 1 }), { status: 'COMPLETED' }) // entered after the visit
  const days = { startDate: '2026-03-01', endDate: '2026-03-31' }
  const run = async (definition: object) =>
    (await call('POST', '/eventDefinition/backtest', { definition, ...days })).body.mails

  assert.equal(await run(reminder(businessId, -24)), 2)
  const changed = { eventType: { eventTypeId: 2 }, oldStatus: '*' }
  const created = { eventType: { eventTypeId: 1 } }
  assert.equal(await run(reminder(businessId, 0, created)), 3)
  assert.equal(await run(reminder(businessId, 0, { ...created, allowPast: true })), 4)
  assert.equal(await run(reminder(businessId, 0, { ...changed, newStatus: 'CANCELLED' })), 1)
  assert.equal(await run(reminder(businessId, 0, { ...changed, newStatus: '*' })), 2)
})

test('a plan names the client, the visit and the reason of a sample, and counts days and hours', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, save } = world
  const london = await save('/location', { name: 'London', timeZone: 'Europe/London' })
  const zurich = await save('/location', { name: 'Zürich Altstadt' })
  const at = (locationId: number) => ({ locationId })
  const start = clock.now() // Monday, 2 March 2026, 10:00 in Zurich
  await book(start.add({ hours: 72 }), at(zurich.locationId))
  await book(start.add({ hours: 72, minutes: 30 }), at(zurich.locationId))
  const away = await book(start.add({ hours: 84 }), at(london.locationId))

  const { plan, saved } = await planThenSave(world, reminder(businessId, -24))
  assert.deepEqual(plan.byDay, [{ day: '2026-03-04', count: 3 }])
  assert.deepEqual(
    plan.byHour.flatMap((count: number, hour: number) => (count > 0 ? [[hour, count]] : [])),
    [
      [10, 2],
      [21, 1],
    ],
    'hours are in the time zone of the location',
  )
  assert.equal(plan.atNight, 1)
  assert.equal(plan.withinAnHour, 1)

  const { eventDefnId } = saved
  const fewer = reminder(businessId, -48, { eventDefnId, locationIdList: [zurich.locationId] })
  const { body } = await call('POST', '/eventDefinition/plan?limit=1', fewer)
  assert.deepEqual(countsOf(body), { ...none, move: 2, cancel: 1 })
  assert.deepEqual(
    body.samples.map((sample: { change: string }) => sample.change),
    ['move', 'cancel'],
    'one of each kind',
  )
  const cancelled = body.samples[1]
  assert.equal(cancelled.reason, 'the definition does not select location London')
  assert.equal(cancelled.clientName, 'Anna Müller')
  assert.equal(cancelled.locationName, 'London')
  assert.equal(cancelled.objectId, away.calendarId)
  assert.equal(cancelled.objectTime, away.startTime)
  assert.equal(body.samples[0].reason, null)
  assert.equal(body.byDay[0].day, '2026-03-03')
  assert.equal((await call('POST', '/eventDefinition/plan?limit=201', fewer)).status, 422)

  const days = { startDate: '2026-03-01', endDate: '2026-03-31' }
  const test = { definition: reminder(businessId, -24), ...days }
  const { body: tested } = await call('POST', '/eventDefinition/backtest?limit=2', test)
  assert.equal(tested.samples.length, 2)
  assert.equal(tested.samples[0].clientName, 'Anna Müller')
  assert.deepEqual(tested.byDay, [{ day: '2026-03-04', count: 3 }])
  assert.equal(tested.byHour[10], 2)
})

test('samples are read page by page, of each kind of change', async (t) => {
  const { book, businessId, call, clock, ids, save } = await enterWorld(t)
  const london = await save('/location', { name: 'London' })
  for (const hours of [72, 73, 74]) await book(clock.in({ hours }))
  for (const hours of [72, 73]) await book(clock.in({ hours }), { locationId: london.locationId })
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  const fewer = reminder(businessId, -48, { eventDefnId, locationIdList: [ids.locationId] })
  const turned = { eventDefnId, objectType: 'CLASS_SCHEDULE', eventType: { eventTypeId: 6 } }
  const days = { startDate: '2026-03-01', endDate: '2026-03-31' }
  const test = { definition: reminder(businessId, -24), ...days }
  for (const [path, body, each] of [
    ['plan', fewer, [3, 2]],
    ['plan', reminder(businessId, -2, turned), [5]],
    ['backtest', test, [5]],
  ] as const) {
    const readPage = async (limit: number, offset: number) => {
      const address = `/eventDefinition/${path}?limit=${limit}&offset=${offset}`
      return (await call('POST', address, body)).body.samples.map(
        ({ change, objectId }: { change?: string; objectId: number }) => `${change} ${objectId}`,
      ) as string[]
    }
    const all = await readPage(200, 0)
    assert.equal(new Set(all).size, 5)
    const pages = [await readPage(2, 0), await readPage(2, 2), await readPage(2, 4)]
    assert.deepEqual(
      pages.map((page) => page.length),
      [0, 2, 4].map((offset) =>
        each.reduce((sum, count) => sum + Math.min(2, Math.max(0, count - offset)), 0),
      ),
    )
    assert.deepEqual(pages.flat().toSorted(), all.toSorted(), path)
  }
  assert.equal((await call('POST', '/eventDefinition/plan?offset=-1', fewer)).status, 422)
})

type Counted = { create?: number; mails?: number; samples: { locationName: string }[] }
type Call = (method: 'POST', path: string, body: object) => Promise<{ body: Counted }>

test('samples of a plan and a backtest show a location manager only their own locations', async (t) => {
  const { app, book, businessId, call, clock, database, ids, save } = await enterWorld(t)
  const other = await save('/location', { name: 'London' })
  await book(clock.in({ hours: 72 }))
  await book(clock.in({ hours: 73 }), { locationId: other.locationId })
  const lea = { username: 'lea', role: 'LOCATION_SUPER_USER' } as const
  await createPerson(database, clock, businessId, { ...lea, locationIdList: [ids.locationId] })
  const callAsLea = ask(app, { cookie: await signInAs(app, 'lea') })
  const definition = reminder(businessId, -24)
  const seenOf = async (by: Call, path: string, body: object) => {
    const { body: answer } = await by('POST', path, body)
    const named = answer.samples.map((sample) => sample.locationName)
    return { count: answer.create ?? answer.mails, named }
  }
  const days = { startDate: '2026-03-01', endDate: '2026-03-31' }
  for (const [path, body] of [
    ['/eventDefinition/plan', definition],
    ['/eventDefinition/backtest', { definition, ...days }],
  ] as const) {
    assert.deepEqual((await seenOf(call, path, body)).named, ['Altstadt', 'London'])
    const asLea = await seenOf(callAsLea, path, body)
    assert.deepEqual(asLea, { count: 2, named: ['Altstadt'] }, path)
  }

  // Hidden objects of other locations do not count towards a page.
  const { eventDefnId } = await save('/eventDefinition', definition)
  await book(clock.in({ hours: 74 }), { locationId: other.locationId })
  await book(clock.in({ hours: 75 }))
  const turned = { eventDefnId, objectType: 'CLASS_SCHEDULE', eventType: { eventTypeId: 6 } }
  const path = '/eventDefinition/plan?limit=1&offset=1'
  const { named } = await seenOf(callAsLea, path, reminder(businessId, -2, turned))
  assert.deepEqual(named, ['Altstadt'])
})
