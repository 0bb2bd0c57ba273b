import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultOutcome } from '../../src/contract/status.ts'
import { followZone } from '../../src/scheduling/follow.ts'
import { addBusiness, reminder, shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

/** Runs the engine's planning of definitions whose plan is outdated. */
const planOutdated = (world: World) => startEngine(world).plan()

async function remindersOf({ call }: World, path: string) {
  const { body } = await call('GET', `/eventTriggers/${path}`)
  return body.map(({ status, scheduledTime }: Record<string, unknown>) => [status, scheduledTime])
}

test('a new business has the predefined statuses', async (t) => {
  const { call } = await enterWorld(t)
  const { body } = await call('GET', '/status')
  assert.ok(Array.isArray(body))
  const read = (objectType: string) =>
    body
      .filter((status: { objectType: string }) => status.objectType === objectType)
      .map(({ status, live, liveAfter }: Record<string, unknown>) => [status, live, liveAfter])
      .toSorted()
  assert.deepEqual(read('CALENDAR'), [
    ['CANCELLED', false, false],
    ['CHECKED_IN', true, true],
    ['COMPLETED', false, true],
    ['CONFIRMED', true, true],
    ['IN_PROGRESS', true, true],
    ['NO_SHOW', false, false],
    ['OPEN', true, true],
  ])
  assert.deepEqual(read('CLASS_SCHEDULE'), [
    ['CANCELLED', false, false],
    ['CLOSED', false, true],
    ['OPEN', true, true],
  ])
  assert.deepEqual(read('INVITATION'), [
    ['CANCELLED', false, false],
    ['COMPLETED', false, false],
    ['EXPIRED', false, false],
    ['SENT', true, true],
  ])
  assert.deepEqual(read('RECALL'), [
    ['CANCELLED', false, false],
    ['COMPLETED', false, false],
    ['DUE', true, true],
  ])
  assert.deepEqual(read('DISCLAIMER'), [
    ['PENDING', true, true],
    ['SIGNED', false, false],
    ['WAIVED', false, false],
  ])
  assert.equal(body.length, 20)
})

test('a status can be created, used, changed, and deleted when it is unused', async (t) => {
  const { call, book, clock } = await enterWorld(t)
  const waiting = { objectType: 'CALENDAR', status: 'WAITING', label: 'Waiting' }
  const refused = await call('POST', '/calendar', {
    ...(await book(clock.now())),
    status: 'WAITING',
  })
  assert.equal(refused.status, 422)

  const created = await call('POST', '/status', { ...waiting, live: false })
  assert.equal(created.status, 201)
  assert.equal(created.headers.location, '/status/CALENDAR/WAITING')
  assert.deepEqual([created.body.live, created.body.liveAfter], [false, false])
  assert.deepEqual((await call('GET', '/status/CALENDAR/WAITING')).body, created.body)

  const { calendarId } = await book(clock.now(), { status: 'WAITING' })
  const inUse = await call('DELETE', '/status/CALENDAR/WAITING')
  assert.equal(inUse.status, 409)
  assert.equal(inUse.headers['content-type'], 'application/problem+json; charset=utf-8')
  assert.equal((await call('POST', '/status', { ...waiting, active: false })).status, 409)

  const changed = await call('POST', '/status', { ...waiting, label: 'In the queue', live: true })
  assert.equal(changed.status, 200)
  assert.deepEqual([changed.body.label, changed.body.liveAfter], ['In the queue', false])
  const cleared = await call('POST', '/status', { ...waiting, liveAfter: null })
  assert.equal(cleared.body.liveAfter, true, 'null means the same as live again')
  const same = await call('POST', '/status', waiting)
  assert.equal(same.body.version, cleared.body.version, 'nothing changed')

  await call('POST', '/calendar', { calendarId, status: 'OPEN' })
  const removed = await call('DELETE', '/status/CALENDAR/WAITING')
  assert.deepEqual([removed.status, removed.body.active], [200, false])
  assert.equal((await call('GET', '/status/CALENDAR/WAITING')).body.active, false)
  const { body: left } = await call('GET', '/status')
  assert.ok(!left.some(({ status }: { status: string }) => status === 'WAITING'))
  assert.equal((await call('POST', '/calendar', { calendarId, status: 'WAITING' })).status, 422)
})

test('a status cannot be deleted if a definition names it or if it is the initial one', async (t) => {
  const { call, save, businessId } = await enterWorld(t)
  await save('/eventDefinition', {
    ...reminder(businessId, 0, { eventType: { eventTypeId: 2 } }),
    newStatus: 'NO_SHOW',
  })
  assert.equal((await call('DELETE', '/status/CALENDAR/NO_SHOW')).status, 409)
  assert.equal((await call('DELETE', '/status/CALENDAR/OPEN')).status, 409)
  const asked = await save(
    '/eventDefinition',
    reminder(businessId, -2, { onlyIfStatus: ['IN_PROGRESS'] }),
  )
  assert.equal((await call('DELETE', '/status/CALENDAR/IN_PROGRESS')).status, 409)
  await save('/eventDefinition', { eventDefnId: asked.eventDefnId, active: false })
  assert.equal((await call('DELETE', '/status/CALENDAR/IN_PROGRESS')).status, 200)
  await save(
    '/eventDefinition',
    reminder(businessId, -2, {
      objectType: 'RECALL',
      eventType: { eventTypeId: 10 },
      onlyIfStatus: ['COMPLETED'],
    }),
  )
  assert.equal((await call('DELETE', '/status/RECALL/COMPLETED')).status, 409)
  assert.equal((await call('DELETE', '/status/CALENDAR/COMPLETED')).status, 200)
  // A reminder stores newStatus but does not use it.
  await save('/eventDefinition', reminder(businessId, -1, { newStatus: 'CHECKED_IN' }))
  assert.equal((await call('DELETE', '/status/CALENDAR/CHECKED_IN')).status, 200)
  assert.equal((await call('DELETE', '/status/RECALL/CANCELLED')).status, 200)
})

test('a definition cannot be activated while a status that it names is removed', async (t) => {
  const { call, save, businessId } = await enterWorld(t)
  for (const status of ['FROM', 'TO', 'STILL']) {
    await save('/status', { objectType: 'CALENDAR', status, label: status })
  }
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, 0, {
      active: false,
      eventType: { eventTypeId: 2 },
      oldStatus: 'FROM',
      newStatus: 'TO',
      onlyIfStatus: ['OPEN', 'STILL'],
    }),
  )
  for (const status of ['FROM', 'TO', 'STILL']) {
    assert.equal((await call('DELETE', `/status/CALENDAR/${status}`)).status, 200)
  }
  const described = await call('POST', '/eventDefinition', { eventDefnId, description: 'Moved' })
  assert.equal(described.status, 200)
  for (const path of ['/eventDefinition', '/eventDefinition/plan']) {
    const refused = await call('POST', path, { eventDefnId, active: true })
    assert.equal(refused.status, 422)
    assert.deepEqual(
      refused.body.errors.map((fault: { pointer: string }) => fault.pointer).toSorted(),
      ['/newStatus', '/oldStatus', '/onlyIfStatus/1'],
    )
  }
  const cleared = { oldStatus: null, newStatus: '*', onlyIfStatus: ['OPEN'] }
  const revived = await call('POST', '/eventDefinition', { eventDefnId, active: true, ...cleared })
  assert.equal(revived.status, 200)
})

test('liveAfter defaults to live, but to true for completed visits and closed classes', async (t) => {
  const { call } = await enterWorld(t)
  for (const [objectType, status, live, liveAfter] of [
    ['CALENDAR', 'COMPLETED', false, true],
    ['CLASS_SCHEDULE', 'CLOSED', false, true],
    ['CALENDAR', 'CLOSED', false, false],
    ['RECALL', 'PAUSED', false, false],
    ['DISCLAIMER', 'READ', true, true],
  ] as const) {
    const { body } = await call('POST', '/status', {
      objectType,
      status,
      label: status,
      live,
      liveAfter: null,
    })
    assert.equal(body.liveAfter, liveAfter, `${objectType} ${status}`)
  }
  const absent = await call('POST', '/status', { objectType: 'RECALL', status: 'X', label: 'X' })
  assert.deepEqual([absent.body.live, absent.body.liveAfter], [true, true])
})

test('all faults of a status are reported at once; an unknown status is 404', async (t) => {
  const world = await enterWorld(t)
  const { call } = world
  const { status, body } = await call('POST', '/status', {
    objectType: 'LOCATION',
    status: 'a\nb',
    live: 'yes',
    businessId: 0,
  })
  assert.equal(status, 422)
  assert.deepEqual(body.errors.map((fault: { pointer: string }) => fault.pointer).toSorted(), [
    '/businessId',
    '/label',
    '/live',
    '/objectType',
    '/status',
  ])
  const empty = await call('POST', '/status', {})
  assert.deepEqual(
    empty.body.errors.map((fault: { pointer: string }) => fault.pointer),
    ['/label', '/objectType', '/status'],
  )
  const any = await call('POST', '/status', { objectType: 'RECALL', status: '*', label: 'Any' })
  assert.equal(any.body.errors[0].pointer, '/status')
  assert.equal((await call('GET', '/status/CALENDAR/NOWHERE')).status, 404)
  assert.equal((await call('GET', '/status/LOCATION/OPEN')).status, 404)
  assert.equal((await call('DELETE', '/status/CALENDAR/NOWHERE')).status, 404)

  const other = await addBusiness(world)
  await other.save('/status', { objectType: 'CALENDAR', status: 'THEIRS', label: 'Theirs' })
  assert.equal((await call('GET', '/status/CALENDAR/THEIRS')).status, 404)
})

test('twenty posts of one status at the same moment make one', async (t) => {
  const { call } = await enterWorld(t)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      call('POST', '/status', { objectType: 'CALENDAR', status: 'NEW', label: 'New' }),
    ),
  )
  assert.ok(answers.every(({ status }) => status <= 201))
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
})

test('pending reminders are cancelled if a status is no longer live, and restored if it is live again', async (t) => {
  const world = await enterWorld(t)
  const { save, book, clock, businessId } = world
  await save('/eventDefinition', reminder(businessId, -24))
  const start = clock.in({ hours: 100 })
  const { calendarId } = await book(start, { status: 'CONFIRMED' })
  const due = start.subtract({ hours: 24 }).epochMilliseconds
  const path = `CALENDAR/${calendarId}`
  assert.deepEqual(await remindersOf(world, path), [['SCHEDULED', due]])

  const confirmed = { objectType: 'CALENDAR', status: 'CONFIRMED' }
  await save('/status', { ...confirmed, label: 'Sure' })
  assert.equal(await planOutdated(world), 0, 'a new label requires no planning')
  await save('/status', { ...confirmed, live: false })
  assert.equal(await planOutdated(world), 1)
  assert.deepEqual(await remindersOf(world, path), [['CANCELLED', due]])
  await save('/status', { ...confirmed, live: true })
  await planOutdated(world)
  assert.deepEqual((await remindersOf(world, path)).toSorted(), [
    ['CANCELLED', due],
    ['SCHEDULED', due],
  ])
})

test('pending reminders follow the time zone of the location and of the business', async (t) => {
  const world = await enterWorld(t)
  const { save, book, businessId, ids, database } = world
  await save('/eventDefinition', reminder(businessId, -24, { offsetMode: 'CALENDAR' }))
  // Clocks go forward in Zurich in the night to 29 March 2026; in New York on 8 March.
  const start = Temporal.Instant.from('2026-03-29T12:00:00Z')
  const { calendarId } = await book(start)
  const due = () => remindersOf(world, `CALENDAR/${calendarId}`).then(([row]) => row[1])
  const before = start.subtract({ hours: 23 }).epochMilliseconds
  const plain = start.subtract({ hours: 24 }).epochMilliseconds
  assert.equal(await due(), before)

  await save('/location', { locationId: ids.locationId, timeZone: 'America/New_York' })
  await planOutdated(world)
  assert.equal(await due(), plain)

  await save('/location', { locationId: ids.locationId, timeZone: null })
  await planOutdated(world)
  assert.equal(await due(), before)

  await save('/business', { businessId, timeZone: 'UTC' })
  await planOutdated(world)
  assert.equal(await due(), plain)

  await database.operator.transaction((tx) => followZone(tx, businessId))
  assert.equal(await planOutdated(world), 1, 'also if the operator changes the time zone')
})

test('pending reminders follow the end of the campaign', async (t) => {
  const world = await enterWorld(t)
  const { save, clock, businessId, ids } = world
  const campaign = await save('/invitationCampaign', {
    name: 'Spring',
    expiresTime: clock.in({ hours: 100 }).epochMilliseconds,
  })
  await save('/eventDefinition', {
    ...reminder(businessId, -24, { eventType: { eventTypeId: 8 } }),
    objectType: 'INVITATION_CAMPAIGN',
  })
  const { invitationCampaignId } = campaign
  const { invitationUUID } = await save('/invitation', {
    invitationCampaignId,
    clientId: ids.clientId,
  })
  const due = () => remindersOf(world, `invitation/${invitationUUID}`).then(([row]) => row[1])
  assert.equal(await due(), clock.in({ hours: 76 }).epochMilliseconds)
  const expiresTime = clock.in({ hours: 200 }).epochMilliseconds
  await save('/invitationCampaign', { invitationCampaignId, expiresTime })
  await planOutdated(world)
  assert.equal(await due(), clock.in({ hours: 176 }).epochMilliseconds)
})

test('pending reminders follow the tags of the client, in the same save', async (t) => {
  const world = await enterWorld(t)
  const { save, book, clock, businessId, ids } = world
  await save(
    '/eventDefinition',
    reminder(businessId, -24, { filterTagMapJson: '{"level":["gold"]}', latePolicy: 'SEND' }),
  )
  const past = await book(clock.in({ hours: -100 }))
  const { calendarId } = await book(clock.in({ hours: 100 }))
  const path = `CALENDAR/${calendarId}`
  assert.deepEqual(await remindersOf(world, path), [])

  await save('/client', { clientId: ids.clientId, tags: { level: ['gold'] } })
  const due = clock.in({ hours: 76 }).epochMilliseconds
  assert.deepEqual(await remindersOf(world, path), [['SCHEDULED', due]])
  assert.deepEqual(
    await remindersOf(world, `CALENDAR/${past.calendarId}`),
    [],
    'past appointments get no reminder',
  )

  await save('/client', { clientId: ids.clientId, tags: {} })
  assert.deepEqual(await remindersOf(world, path), [['CANCELLED', due]])
})

test('the outcome of a status is derived from its name, unless the body sets it', async (t) => {
  const { call } = await enterWorld(t)
  const { body } = await call('GET', '/status')
  const outcomes = Object.fromEntries(
    body.map(({ objectType, status, outcome }: Record<string, string>) => [
      `${objectType} ${status}`,
      outcome,
    ]),
  )
  assert.deepEqual(outcomes, {
    'CALENDAR OPEN': 'PENDING',
    'CALENDAR CONFIRMED': 'PENDING',
    'CALENDAR CHECKED_IN': 'PENDING',
    'CALENDAR IN_PROGRESS': 'PENDING',
    'CALENDAR COMPLETED': 'KEPT',
    'CALENDAR CANCELLED': 'CANCELLED',
    'CALENDAR NO_SHOW': 'MISSED',
    'CLASS_SCHEDULE OPEN': 'PENDING',
    'CLASS_SCHEDULE CLOSED': 'KEPT',
    'CLASS_SCHEDULE CANCELLED': 'CANCELLED',
    'INVITATION SENT': 'PENDING',
    'INVITATION COMPLETED': 'KEPT',
    'INVITATION EXPIRED': 'MISSED',
    'INVITATION CANCELLED': 'CANCELLED',
    'RECALL DUE': 'PENDING',
    'RECALL COMPLETED': 'KEPT',
    'RECALL CANCELLED': 'CANCELLED',
    'DISCLAIMER PENDING': 'PENDING',
    'DISCLAIMER SIGNED': 'KEPT',
    'DISCLAIMER WAIVED': 'CANCELLED',
  })

  const save = async (body: object) =>
    (await call('POST', '/status', { objectType: 'CALENDAR', label: 'x', ...body })).body
  assert.equal((await save({ status: 'LATE_CANCEL', live: false })).outcome, 'CANCELLED')
  assert.equal((await save({ status: 'NoShow2', live: false })).outcome, 'MISSED')
  assert.equal((await save({ status: 'PAID', live: false, liveAfter: true })).outcome, 'KEPT')
  assert.equal((await save({ status: 'WAITING_LIST', live: false })).outcome, 'PENDING')
  assert.equal((await save({ status: 'WAITING_LIST', outcome: 'MISSED' })).outcome, 'MISSED')
  assert.equal((await save({ status: 'WAITING_LIST', label: 'y' })).outcome, 'MISSED')
  assert.equal((await save({ status: 'WAITING_LIST', outcome: null })).outcome, 'PENDING')
  const refused = await call('POST', '/status', {
    objectType: 'CALENDAR',
    status: 'PAID',
    outcome: 'LOST',
  })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.errors[0].pointer, '/outcome')
})

test('the default outcome of a status follows its name, also if the name is negated', () => {
  const expected: Record<string, string> = {
    NOT_ATTENDED: 'MISSED',
    NotAttended: 'MISSED',
    UNATTENDED: 'MISSED',
    DID_NOT_ATTEND: 'MISSED',
    INCOMPLETE: 'PENDING',
    NOT_COMPLETED: 'PENDING',
    UNCLOSED: 'PENDING',
    NOT_YET_ATTENDED: 'PENDING',
    NOT_CANCELLED: 'PENDING',
    'never missed': 'PENDING',
    CANCELLED_NOT_ATTENDED: 'CANCELLED',
    NOT_CANCELLED_ATTENDED: 'KEPT',
    ATTENDED: 'KEPT',
    CheckInCompleted: 'KEPT',
    PARTIALLY_COMPLETED: 'KEPT',
    NOTARY_CLOSED: 'KEPT',
  }
  const names = Object.keys(expected)
  const live = { objectType: 'CALENDAR', live: false, liveAfter: false } as const
  const outcomes = names.map((status) => [status, defaultOutcome({ ...live, status })])
  assert.deepEqual(Object.fromEntries(outcomes), expected)
})
