import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addBusiness, reminder, startWorld } from '../support/world.ts'

type Check = { check: string; ok: boolean; reason: string }
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

test('every active definition of the kind is explained: what will fire, what will not, and why', async (t) => {
  const { book, businessId, call, clock, save } = await startWorld(t)
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
  const { checks: looked, ...waiting } = by['the day before']!
  assert.deepEqual(waiting, {
    eventDefnId: dayBefore.eventDefnId,
    description: 'the day before',
    eventType: 'APPT_REMINDER',
    outcome: 'WAITING',
    scheduledTime: clock.in({ minutes: 48 * 60 - 1 }).epochMilliseconds,
    eventTriggerId: trigger.eventTriggerId,
  })
  assert.deepEqual(
    looked.filter((check) => check.check === 'time'),
    [
      {
        check: 'time',
        ok: true,
        reason: 'due on Wednesday, 4 March 2026 at 10:00 (Europe/Zurich)',
      },
    ],
  )
  assert.deepEqual(against(by['the day before']!), [
    'action: it has no active action, so nothing is sent',
  ])

  const nothing = 'action: it has no active action, so nothing is sent'
  assert.equal(by.elsewhere!.outcome, 'NOT')
  assert.equal(by.elsewhere!.eventTriggerId, null)
  assert.deepEqual(against(by.elsewhere!), ['location: location Altstadt is not selected', nothing])
  assert.equal(by['a week before']!.outcome, 'NOT')
  assert.deepEqual(against(by['a week before']!), [
    'time: it was due on Thursday, 26 February 2026 at 10:00 (Europe/Zurich), too late to be of use: booked after its reminder time',
    nothing,
  ])
  assert.deepEqual(against(by['younger than the booking']!), [
    'created: it was made on Monday, 2 March 2026 at 10:00 (Europe/Zurich), before the definition was saved as it is now',
    nothing,
  ])
  assert.equal(younger.eventType.eventType, 'APPT_CREATED')
  assert.deepEqual(against(by['two days before']!), [
    'time: it was due on Saturday, 28 February 2026 at 10:00 (Europe/Zurich), before the definition was there to ask for it',
    nothing,
  ])

  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const after: Explanation[] = (await call('GET', `/explain/CALENDAR/${calendarId}`)).body
  assert.equal(after[0]!.outcome, 'NOT')
  assert.equal(after[0]!.eventTriggerId, trigger.eventTriggerId)
  assert.deepEqual(against(after[0]!), [
    'still live: status CANCELLED calls for nothing before it',
    nothing,
  ])
})

test('a definition that waits for a change is explained by the last one', async (t) => {
  const { book, businessId, call, clock, save } = await startWorld(t)
  const changed = (more: object) =>
    save('/eventDefinition', reminder(businessId, 0, { eventType: { eventTypeId: 2 }, ...more }))
  await changed({ oldStatus: '*', newStatus: 'CANCELLED' })
  const { calendarId } = await book(clock.in({ hours: 72 }))
  const ask = async () =>
    ((await call('GET', `/explain/CALENDAR/${calendarId}`)).body as Explanation[])[0]!

  assert.match(against(await ask())[0]!, /change: it has not been changed/)
  await save('/calendar', { calendarId, status: 'CONFIRMED' })
  await save('/calendar', { calendarId, note: 'rings twice' })
  const confirmed = await ask()
  assert.equal(confirmed.outcome, 'NOT')
  assert.equal(against(confirmed)[0], 'status now: is CONFIRMED now, not CANCELLED')
  await save('/calendar', { calendarId, status: 'CANCELLED' })
  const cancelled = await ask()
  assert.equal(cancelled.outcome, 'WAITING')
  assert.equal(cancelled.scheduledTime, clock.now().epochMilliseconds)
})

test('an invitation is explained by its UUID, and what is not there is not found', async (t) => {
  const world = await startWorld(t)
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
  assert.match(against(body[0])[0]!, /neither the invitation nor its campaign says when it ends/)

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
