import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saveDefinition } from '../../src/automation/define.ts'
import { pendingObjects } from '../../src/automation/plan.ts'
import { findDefinition, markPlanned, planAgain } from '../../src/store/event-definitions.ts'
import { reminder, shareWorld, startEngine, startWorld } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

async function triggersOf({ call }: World, { calendarId }: { calendarId: number }) {
  const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
  return body as { status: string; scheduledTime: number; statusReason: string | null }[]
}

const statuses = (triggers: { status: string }[]) => triggers.map((trigger) => trigger.status)

test('a reminder is planned with its appointment, and follows its changes', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, save } = world
  await save('/eventDefinition', reminder(businessId, -24))
  const booked = await book(clock.in({ hours: 72 }))

  const [planned] = await triggersOf(world, booked)
  assert.equal(planned!.status, 'SCHEDULED')
  assert.equal(planned!.scheduledTime, clock.in({ hours: 48 }).epochMilliseconds)

  const { calendarId } = booked
  const startTime = clock.in({ hours: 96 }).epochMilliseconds
  await save('/calendar', { calendarId, startTime, endTime: startTime + 60_000 })
  const [moved] = await triggersOf(world, booked)
  assert.equal(moved!.scheduledTime, clock.in({ hours: 72 }).epochMilliseconds)

  await save('/calendar', { calendarId, status: 'CANCELLED' })
  assert.deepEqual(statuses(await triggersOf(world, booked)), ['CANCELLED'])

  await save('/calendar', { calendarId, status: 'CONFIRMED' })
  assert.deepEqual(statuses(await triggersOf(world, booked)), ['CANCELLED', 'SCHEDULED'])

  await world.call('DELETE', `/calendar/${calendarId}`)
  assert.deepEqual(statuses(await triggersOf(world, booked)), ['CANCELLED', 'CANCELLED'])
})

test('saving a definition plans the reminders that are ahead and writes no row for past ones', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  const soon = await book(clock.in({ hours: 3 }))
  const later = await book(clock.in({ hours: 72 }))
  const definition = await save('/eventDefinition', reminder(businessId, -24))
  assert.deepEqual(statuses(await triggersOf(world, soon)), [])
  assert.deepEqual(statuses(await triggersOf(world, later)), ['SCHEDULED'])

  await save('/calendar', { calendarId: soon.calendarId, note: 'brings a friend' })
  assert.deepEqual(statuses(await triggersOf(world, soon)), [], 'a note plans nothing')

  const { eventDefnId } = definition
  await save('/eventDefinition', reminder(businessId, -2, { eventDefnId }))
  assert.deepEqual(statuses(await triggersOf(world, soon)), ['SCHEDULED'])
  const [moved] = await triggersOf(world, later)
  assert.equal(moved!.scheduledTime, clock.in({ hours: 70 }).epochMilliseconds)

  const other = { ...reminder(businessId, -2), eventDefnId, newStatus: null }
  await save('/eventDefinition', {
    ...other,
    professionalIdList: [],
    filterTagMapJson: '{"vip":["yes"]}',
  })
  assert.deepEqual(statuses(await triggersOf(world, later)), ['CANCELLED'])

  const deleted = await call('DELETE', `/eventDefinition/${eventDefnId}`)
  assert.equal(deleted.body.active, false)
  assert.equal((await call('DELETE', `/eventDefinition/${eventDefnId}`)).body.active, false)
  assert.equal((await call('GET', `/eventDefinition/${eventDefnId}`)).status, 404)
})

test('a definition changed from appointments to classes reminds of a class with the id of an appointment', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, ids, save } = world
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  const { calendarId } = await book(clock.in({ hours: 72 }))
  clock.advance({ hours: 48 })
  await startEngine(world).runEngine()
  assert.deepEqual(statuses(await triggersOf(world, { calendarId })), ['SKIPPED'])

  const ofClasses = { eventDefnId, objectType: 'CLASS_SCHEDULE', eventType: { eventTypeId: 6 } }
  await save('/eventDefinition', reminder(businessId, -1, ofClasses))
  const startTime = clock.in({ hours: 24 }).epochMilliseconds
  const { classScheduleId } = await save('/classSchedule', {
    name: 'Yoga',
    professionalId: ids.professionalId,
    locationId: ids.locationId,
    startTime,
    endTime: startTime + 3_600_000,
  })
  assert.equal(classScheduleId, calendarId)
  const { body } = await call('GET', `/eventTriggers/CLASS_SCHEDULE/${classScheduleId}`)
  assert.deepEqual(statuses(body), ['SCHEDULED'])
})

test('a booking after its reminder time is recorded as expired', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, save } = world
  await save('/eventDefinition', reminder(businessId, -24))
  await save('/eventDefinition', reminder(businessId, -24, { latePolicy: 'SEND' }))
  const booked = await book(clock.in({ hours: 3 }))
  const triggers = await triggersOf(world, booked)
  assert.deepEqual(statuses(triggers).toSorted(), ['EXPIRED', 'SCHEDULED'])
  assert.equal(
    triggers.find((trigger) => trigger.status === 'EXPIRED')!.statusReason,
    'booked after its reminder time',
  )
})

test('a change creates one trigger for each definition that matches that change of status', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, save } = world
  const changed = (more: object) =>
    save('/eventDefinition', reminder(businessId, 0, { eventType: { eventTypeId: 2 }, ...more }))
  await changed({ description: 'any change' })
  await changed({ oldStatus: '*', newStatus: 'CANCELLED' })
  await changed({ oldStatus: 'CONFIRMED', newStatus: '*' })
  const booked = await book(clock.in({ hours: 72 }))
  assert.equal((await triggersOf(world, booked)).length, 0)

  const { calendarId } = booked
  await save('/calendar', { calendarId, endTime: booked.endTime + 60_000 })
  assert.equal((await triggersOf(world, booked)).length, 1)
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  assert.equal((await triggersOf(world, booked)).length, 3)
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  assert.equal((await triggersOf(world, booked)).length, 3, 'the same status is not a change')
})

test('a request to plan again is not lost while a plan is running', async (t) => {
  const world = await enterWorld(t)
  const { businessId, db, save } = world
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  const plannedVersion = async () =>
    (await findDefinition(db, businessId, eventDefnId))!.plannedVersion
  assert.equal(await plannedVersion(), 1)

  await planAgain(db, businessId, [3])
  const begun = (await findDefinition(db, businessId, eventDefnId))!
  await planAgain(db, businessId, [3])
  await db.transaction((tx) => markPlanned(tx, begun))
  assert.ok((await plannedVersion()) < 1, 'the second request is not lost when the first ends')
  await startEngine(world).runEngine()
  assert.equal(await plannedVersion(), 1)
})

const MEANWHILE: { name: string; happens: (world: World, id: number) => Promise<unknown> }[] = [
  { name: 'nothing else', happens: async () => {} },
  {
    name: 'another description',
    happens: ({ businessId, db, clock }, eventDefnId) =>
      db.transaction((tx) =>
        saveDefinition(
          tx,
          reminder(businessId, -2, { eventDefnId, description: 'Two hours before' }),
          { businessId, user: 'key:test', now: clock.now() },
        ),
      ),
  },
  {
    name: 'a request to plan again',
    happens: ({ businessId, db }) => planAgain(db, businessId, [3]),
  },
]

for (const { name, happens } of MEANWHILE) {
  test(`an interrupted plan loses no reminder that came due before it resumed, with ${name} meanwhile`, async (t) => {
    const world = await enterWorld(t)
    const { book, businessId, clock, db } = world
    const soon = await book(clock.in({ hours: 3 }))
    // The node dies between the save and its plan.
    const defining = { businessId, user: 'key:test', now: clock.now() }
    const { definition } = await db.transaction((tx) =>
      saveDefinition(tx, reminder(businessId, -2), defining),
    )
    clock.advance({ hours: 2 })
    await happens(world, definition.eventDefnId)
    assert.deepEqual(statuses(await triggersOf(world, soon)), [])
    await startEngine(world).runEngine()
    const planned = (await findDefinition(db, businessId, definition.eventDefnId))!
    assert.equal(planned.plannedVersion, planned.version)
    assert.deepEqual(
      statuses(await triggersOf(world, soon)),
      ['SKIPPED'],
      'fired late: there is no action',
    )
  })
}

test('a plan ends although an appointment is booked during each of its pages', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, clock, save } = world
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  await book(clock.in({ hours: 72 }))
  const definition = await findDefinition(world.db, businessId, eventDefnId)
  let pages = 0
  for await (const ids of pendingObjects(world.db, definition!)) {
    assert.equal(ids.length, 1)
    await book(clock.in({ hours: 72 }))
    pages += 1
    assert.equal(pages, 1)
  }
})
