import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capturing } from '../support/capturing-engine.ts'
import { reminder, shareWorld, startEngine } from '../support/world.ts'
import { endOfRun, openInlet } from './support.ts'

const enterWorld = shareWorld()

type World = Awaited<ReturnType<typeof enterWorld>>

/** Automations that mail the client at a booking and a day before. */
async function automate({ businessId, save }: World) {
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Hello',
    subject: 'Hello',
    emailBody: '<p>Hello</p>',
  })
  const eventActions = [{ actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }]
  await save('/eventDefinition', reminder(businessId, -24, { eventActions }))
  await save(
    '/eventDefinition',
    reminder(businessId, 0, { eventActions, eventType: { eventTypeId: 1 } }),
  )
}

const mailsOf = async ({ call }: World) =>
  (await call('GET', '/emails')).body.items.map(
    ({ status, statusReason }: { status: string; statusReason: string | null }) =>
      `${status} ${statusReason}`,
  )

/** An engine that sends to a mail server, which captures without a reason. */
const startSending = (world: World) => startEngine(world, { ...capturing(), captures: false })

test('the first entries are history: reminders are planned, and no event fires', async (t) => {
  const world = await enterWorld(t)
  await automate(world)
  const feed = await openInlet(world)
  await feed.begin(feed.entry('B-1'))
  const { calendarId } = await feed.objectOf('B-1')
  const triggers = async () =>
    (await world.call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body.length
  assert.equal(await triggers(), 1)
  await feed.send([feed.entry('B-2', { startTime: feed.inHours(50) })])
  const second = await feed.objectOf('B-2')
  const { body } = await world.call('GET', `/eventTriggers/CALENDAR/${second.calendarId}`)
  assert.equal(body.length, 2)
  const old = { startTime: feed.inHours(51), createdTime: feed.inHours(-73) }
  await feed.send([feed.entry('B-3', old)])
  const third = await feed.objectOf('B-3')
  const later = await world.call('GET', `/eventTriggers/CALENDAR/${third.calendarId}`)
  assert.equal(later.body.length, 1, 'a booking that is dated more than 72 hours back')
})

test('in SHADOW each mail is captured with its reason, and in LIVE it is sent', async (t) => {
  const world = await enterWorld(t)
  await automate(world)
  const { runEngine } = startSending(world)
  const feed = await openInlet(world)
  await feed.begin()
  await feed.send([feed.entry('B-1')])
  await runEngine()
  assert.deepEqual(await mailsOf(world), ['CAPTURED feed "Salon" is in shadow mode'])
  const [email] = (await world.call('GET', '/emails')).body.items
  const captured = async () => (await world.call('GET', `${feed.path}/captured`)).body
  const [ofBooking, ...others] = await captured()
  assert.deepEqual([ofBooking.count, others], [1, []])
  const { emailId, eventTriggerId, to, subject, createdDate } = email
  assert.deepEqual(ofBooking.latest, [{ emailId, eventTriggerId, to, subject, createdDate }])
  assert.equal((await feed.go('LIVE')).status, 200)
  await feed.send([feed.entry('B-2', { startTime: feed.inHours(50) })])
  await runEngine()
  assert.deepEqual((await mailsOf(world)).toSorted(), [
    'CAPTURED feed "Salon" is in shadow mode',
    'CAPTURED null',
  ])
  assert.equal((await captured())[0].count, 1, 'what a feed does not capture is not listed')
})

test('LIVE needs a complete pull since the last change of the rules', async (t) => {
  const world = await enterWorld(t)
  const feed = await openInlet(world)
  await feed.send([feed.entry('B-1')])
  assert.equal((await feed.go('LIVE')).status, 409)
  await feed.send([], feed.allKeys('B-1'))
  world.clock.advance({ seconds: 1 })
  const rules = [{ when: { title: 'Lunch*' }, then: { skip: true } }]
  await world.save('/feed', { feedId: feed.feedId, rules })
  assert.equal((await feed.go('LIVE')).status, 409)
  await feed.send([], feed.allKeys('B-1'))
  assert.equal((await feed.go('PAUSED')).status, 409)
  assert.equal((await feed.go('LIVE')).status, 200)
  assert.equal((await feed.go('PAUSED')).status, 200)
  const paused = await world.call('POST', `${feed.path}/entries`, { entries: [] })
  assert.equal(paused.status, 409)
})

test('mails above the limit of the business wait for an approval of source FEED', async (t) => {
  const world = await enterWorld(t)
  await automate(world)
  await world.save('/business', { businessId: world.businessId, bulkLimit: 1 })
  const feed = await openInlet(world)
  await feed.begin()
  const entries = [48, 50].map((hours, i) =>
    feed.entry(`B-${i}`, { startTime: feed.inHours(hours) }),
  )
  const { approvalId } = await feed.send(entries)
  const { body } = await world.call('GET', `/approval/${approvalId}`)
  assert.deepEqual([body.source, body.mails, body.createdUser], ['FEED', 2, 'feed:Salon'])
})

test('a dry run says what would be mirrored and planned, and stores nothing', async (t) => {
  const world = await enterWorld(t)
  await automate(world)
  const feed = await openInlet(world, { mode: 'DRAFT' })
  const entries = [feed.entry('B-1'), feed.entry('B-2', { client: null })]
  const started = await world.call('POST', `${feed.path}/dryRun`, { entries })
  assert.equal(started.status, 202)
  const { body } = await endOfRun(world, feed.path, started.body.feedRunId)
  assert.equal(body.status, 'DONE')
  assert.deepEqual(body.counts, {
    entries: 2,
    created: 1,
    changed: 0,
    cancelled: 0,
    unchanged: 0,
    mirrored: 1,
    held: 0,
    skipped: 1,
  })
  assert.deepEqual(body.reasons, { 'no-client': 1 })
  assert.equal(body.withAddress, 1)
  assert.equal(body.planned.triggers, 1)
  assert.equal(body.planned.atOnce, 0)
  assert.equal((await feed.entries()).length, 0)
  assert.equal((await world.call('GET', '/calendar')).body.items.length, 0)
})

test('a corrected entry, a match and a rule are applied at once, without events', async (t) => {
  const world = await enterWorld(t)
  await automate(world)
  const feed = await openInlet(world)
  await feed.begin(
    feed.entry('B-1', { service: { name: 'Massage' }, title: 'Lunch with Anna' }),
    feed.entry('B-2', {
      client: { firstName: 'Ida', lastName: 'Nord' },
      startTime: feed.inHours(60),
    }),
  )
  const { entryId } = await feed.entryOf('B-2')
  const correct = (correction: object | null) =>
    world.call('POST', `${feed.path}/entry/${entryId}`, { correction })
  const corrected = await correct({ clientId: world.ids.clientId })
  assert.equal(corrected.body.state, 'MIRRORED')
  assert.equal((await feed.objectOf('B-2')).clientId, world.ids.clientId)
  assert.equal((await correct({ clientId: 999_999 })).status, 422)
  assert.equal((await correct(null)).body.state, 'SKIPPED')
  assert.equal((await feed.objectOf('B-2')).active, false)

  const matches = (await world.call('GET', `${feed.path}/match?kind=service`)).body.items
  assert.deepEqual([matches[0].name, matches[0].objectId, matches[0].by], ['Massage', null, 'NONE'])
  const made = await world.call('POST', `${feed.path}/match/${matches[0].feedMatchId}`, {
    create: true,
  })
  assert.equal(made.body.by, 'PERSON')
  assert.equal((await feed.objectOf('B-1')).reasonId, made.body.objectId)

  const rules = [{ when: { title: 'lunch*' }, then: { skip: true } }]
  await world.save('/feed', { feedId: feed.feedId, rules })
  assert.equal((await feed.entryOf('B-1')).reasonCode, 'rule')
  assert.equal((await feed.objectOf('B-1')).active, false)
  assert.deepEqual(await mailsOf(world), [])
})

test('a deleted feed keeps its appointments as own ones, or removes the upcoming ones', async (t) => {
  const world = await enterWorld(t)
  const kept = await openInlet(world)
  await kept.begin(kept.entry('B-1'))
  const { calendarId } = await kept.objectOf('B-1')
  assert.equal((await world.call('DELETE', kept.path)).status, 422)
  assert.equal((await world.call('DELETE', `${kept.path}?appointments=keep`)).body.active, false)
  const own = (await world.call('GET', `/calendar/${calendarId}`)).body
  assert.deepEqual([own.feedId, own.active], [null, true])

  const removed = await openInlet(world)
  const upcoming = { startTime: removed.inHours(70) }
  await removed.begin(
    removed.entry('B-2', upcoming),
    removed.entry('B-3', { startTime: removed.inHours(-3) }),
  )
  const ids = [await removed.objectOf('B-2'), await removed.objectOf('B-3')]
  assert.equal((await world.call('DELETE', `${removed.path}?appointments=remove`)).status, 200)
  const actives = await Promise.all(
    ids.map(async (one) => (await world.call('GET', `/calendar/${one.calendarId}`)).body.active),
  )
  assert.deepEqual(actives, [false, true])
})
