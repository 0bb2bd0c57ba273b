import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockPlans } from '../../src/store/event-definitions.ts'
import { until } from '../support/until.ts'
import { reminder, shareWorld, startEngine } from '../support/world.ts'

const enterWorld = shareWorld()

test('a long plan continues after the POST was answered; the ETag does not depend on it', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, db } = world
  const { calendarId } = await book(clock.in({ hours: 48 }))
  const { promise: hold, resolve: letGo } = Promise.withResolvers<void>()
  // A booking that does not end: the plan waits for it, the caller does not.
  const booking = db.transaction(async (tx) => {
    lockPlans(tx, businessId)
    await hold
  })

  try {
    const key = { 'idempotency-key': 'one' }
    const saveOnce = () => call('POST', '/eventDefinition', reminder(businessId, -12), key)
    const [saved, savedOnce] = await Promise.all([
      call('POST', '/eventDefinition', reminder(businessId, -24)),
      saveOnce(),
    ])
    assert.deepEqual([saved.status, saved.body.planning], [201, true])
    assert.deepEqual([savedOnce.status, savedOnce.body.planning], [201, true])
    assert.deepEqual((await saveOnce()).body, savedOnce.body, 'a repeat gets the same answer')
    assert.equal((await saveOnce()).headers.etag, savedOnce.headers.etag)
    const { planning: _planning, ...definition } = saved.body
    const read = await call('GET', `/eventDefinition/${definition.eventDefnId}`)
    assert.deepEqual(read.body, definition)
    assert.equal(read.headers.etag, saved.headers.etag)
  } finally {
    letGo()
  }
  await booking
  const triggers = async () => (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
  // A plan that waited too long for the lock is made by the engine.
  const engine = startEngine(world)
  await until(async () => {
    await engine.plan()
    return (await triggers()).length === 2
  })
})

test('inactive definitions are listed on request, deleted ones never; a POST restores one', async (t) => {
  const { businessId, call, save } = await enterWorld(t)
  const body = reminder(businessId, -24)
  const on = await save('/eventDefinition', body)
  const paused = await save('/eventDefinition', { ...body, active: false })
  const deleted = await save('/eventDefinition', body)
  const { body: gone } = await call('DELETE', `/eventDefinition/${deleted.eventDefnId}`)
  assert.equal(gone.active, false)
  assert.equal(typeof gone.deletedDate, 'number')
  assert.equal(paused.deletedDate, null)

  const listed = async (query: string) =>
    (await call('GET', `/eventDefinition${query}`)).body.items.map(
      (one: { eventDefnId: number }) => one.eventDefnId,
    )
  assert.deepEqual(await listed(''), [on.eventDefnId])
  assert.deepEqual(await listed('?active=false'), [paused.eventDefnId])
  assert.deepEqual(await listed('?active=all'), [on.eventDefnId, paused.eventDefnId])
  assert.deepEqual(await listed(`?active=all&eventDefnId=${paused.eventDefnId}`), [
    paused.eventDefnId,
  ])

  const revived = await save('/eventDefinition', { ...deleted, active: true })
  assert.equal(revived.deletedDate, null)
  assert.ok((await listed('')).includes(deleted.eventDefnId))
})

test('a definition that names a disclaimer is not listed for the campaign of the same id', async (t) => {
  const { businessId, call, ids, save } = await enterWorld(t)
  const { disclaimerFormId } = await save('/disclaimerForm', { name: 'Consent' })
  const sign = async () =>
    (await save('/disclaimer', { disclaimerFormId, clientId: ids.clientId })).disclaimerId
  const invite = async () =>
    (await save('/invitationCampaign', { name: 'Spring' })).invitationCampaignId
  let [disclaimerId, campaignId] = [await sign(), await invite()]
  while (disclaimerId < campaignId) disclaimerId = await sign()
  while (campaignId < disclaimerId) campaignId = await invite()

  const about = { objectType: 'INVITATION_CAMPAIGN', objectId: campaignId, triggerHours: 0 }
  const define = (eventTypeId: number) =>
    save('/eventDefinition', { ...reminder(businessId, 0), ...about, eventType: { eventTypeId } })
  await define(12)
  const own = await define(7)
  const { body: listed } = await call('GET', `/eventDefinition/INVITATION_CAMPAIGN/${campaignId}`)
  assert.deepEqual(
    listed.map((definition: { eventDefnId: number }) => definition.eventDefnId),
    [own.eventDefnId],
  )
})

test('expand=actions,activity adds actions and activity to a list of definitions', async (t) => {
  const world = await enterWorld(t)
  const { book, businessId, call, clock, save } = world
  const definition = await save('/eventDefinition', reminder(businessId, -2))
  await book(clock.in({ hours: 3 }))
  clock.advance({ hours: 1 })
  await startEngine(world).runEngine()
  await book(clock.in({ hours: 9 }))

  const { body } = await call('GET', '/eventDefinition?expand=actions,activity')
  const [listed] = body.items
  assert.equal(listed.eventDefnId, definition.eventDefnId)
  assert.deepEqual(listed.eventActions, [])
  assert.deepEqual(listed.activity, {
    nextTime: clock.in({ hours: 7 }).epochMilliseconds,
    lastTime: clock.now().epochMilliseconds,
    waiting: 1,
    sent: 0,
    failed: 0,
    skipped: 1,
    hasStoppedMatching: false,
    days: Array(14).fill(0),
  })
  const plain = await call('GET', '/eventDefinition')
  assert.equal(plain.body.items[0].eventActions, null)
  assert.equal(plain.body.items[0].activity, undefined)
})

test('an inactive definition is read on request, and If-Match protects it', async (t) => {
  const { businessId, call, save } = await enterWorld(t)
  const { eventDefnId } = await save('/eventDefinition', reminder(businessId, -24))
  const body = reminder(businessId, -24, { eventDefnId, active: false })
  await save('/eventDefinition', body)
  const path = `/eventDefinition/${eventDefnId}`
  assert.equal((await call('GET', path)).status, 404)
  const seen = await call('GET', `${path}?active=all`)
  assert.equal(seen.status, 200)
  assert.equal(seen.body.active, false)

  const ifMatch = { 'if-match': String(seen.headers.etag) }
  const change = { ...body, description: 'changed' }
  assert.equal((await call('POST', '/eventDefinition', change, ifMatch)).status, 200)
  assert.equal((await call('POST', '/eventDefinition', change, ifMatch)).status, 412)

  await call('DELETE', path)
  assert.equal((await call('GET', `${path}?active=all`)).status, 404)
})

test('the ETag of a definition covers its actions, so If-Match notices a changed mail', async (t) => {
  const { businessId, call, save } = await enterWorld(t)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'Soon',
    emailBody: '<p>Soon</p>',
    toAddress: '%CLIENT_EMAILADDRESS%',
  })
  const { eventDefnId } = await save(
    '/eventDefinition',
    reminder(businessId, -24, {
      eventActions: [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }],
    }),
  )
  const path = `/eventDefinition/${eventDefnId}`
  const seen = await call('GET', `${path}?expand=actions`)
  const [action] = seen.body.eventActions
  assert.equal(seen.headers.etag, (await call('GET', path)).headers.etag)

  await save('/eventAction', { eventActionId: action.eventActionId, active: false })
  const after = await call('GET', `${path}?expand=actions`)
  assert.deepEqual(after.body.eventActions, [])
  assert.notEqual(after.headers.etag, seen.headers.etag)
  const change = { eventDefnId, description: 'changed' }
  const saveIf = (etag: unknown) =>
    call('POST', '/eventDefinition', change, { 'if-match': String(etag) })
  assert.equal((await saveIf(seen.headers.etag)).status, 412)
  const saved = await saveIf(after.headers.etag)
  assert.equal(saved.status, 200)
  assert.equal(saved.headers.etag, (await call('GET', path)).headers.etag)
})
