import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planUnplanned } from '../../src/automation/planner.ts'
import { sql } from '../../src/database/sql.ts'
import { reminder, startWorld } from '../support/world.ts'

type World = Awaited<ReturnType<typeof startWorld>>
type Pending = { id: number; time: number }

const listPending = ({ db }: World) =>
  db.query<Pending>(sql`
    select event_trigger_id as id, (extract(epoch from scheduled_time) * 1000)::bigint as time
    from pending_trigger order by event_trigger_id`)

/** What a save did to pending triggers, computed from their tables. */
function changesBetween(before: Pending[], after: Pending[]) {
  const timeBefore = new Map(before.map(({ id, time }) => [id, time]))
  const idsAfter = new Set(after.map(({ id }) => id))
  return {
    create: after.filter(({ id }) => !timeBefore.has(id)).length,
    move: after.filter(({ id, time }) => timeBefore.has(id) && timeBefore.get(id) !== time).length,
    cancel: before.filter(({ id }) => !idsAfter.has(id)).length,
  }
}

const none = { create: 0, move: 0, cancel: 0 }

test('the plan of settings counts what the save and the planner then do, and writes nothing', async (t) => {
  const world = await startWorld(t)
  const { book, businessId, call, clock, database, ids, save } = world
  const { clientId, locationId } = ids
  const settle = () => planUnplanned({ database, now: () => clock.now(), onError: assert.ifError })
  await save('/eventDefinition', reminder(businessId, -24, { offsetMode: 'CALENDAR' }))
  await save(
    '/eventDefinition',
    reminder(businessId, -2, { filterTagMapJson: '{"level":["gold"]}' }),
  )
  const { invitationCampaignId } = await save('/invitationCampaign', {
    name: 'Check-up',
    expiresTime: clock.in({ hours: 400 }).epochMilliseconds,
  })
  await save('/eventDefinition', {
    ...reminder(businessId, -24),
    objectType: 'INVITATION_CAMPAIGN',
    eventType: { eventTypeId: 8 },
  })
  await save('/invitation', { invitationCampaignId, clientId })
  for (const hours of [72, 96, 120]) await book(clock.in({ hours }))
  const { calendarId } = await book(clock.in({ hours: 144 }))
  await save('/calendar', { calendarId, status: 'NO_SHOW' })
  await settle()

  const check = async (path: string, body: object, expected: Partial<typeof none>) => {
    const before = await listPending(world)
    const { status, body: planned } = await call('POST', `${path}/plan`, body)
    assert.equal(status, 200, JSON.stringify(planned))
    assert.equal(await settle(), 0, 'nothing is left to plan')
    assert.deepEqual(await listPending(world), before, 'a plan writes nothing')
    await save(path, body)
    await settle()
    const { create, move, cancel } = planned
    const real = changesBetween(before, await listPending(world))
    assert.deepEqual({ create, move, cancel }, real, path)
    assert.deepEqual(real, { ...none, ...expected }, path)
  }
  const expiresTime = clock.in({ hours: 500 }).epochMilliseconds
  await check('/invitationCampaign', { invitationCampaignId, expiresTime }, { move: 1 })
  await check('/client', { clientId, tags: { level: ['gold'] } }, { create: 3 })
  await check('/client', { clientId, tags: {} }, { cancel: 3 })
  await check('/client', { clientId, firstName: 'Eva' }, {})
  const noShow = { objectType: 'CALENDAR', status: 'NO_SHOW' }
  await check('/status', { ...noShow, live: true }, { create: 1 })
  await check('/status', { ...noShow, live: false }, { cancel: 1 })
  await check('/business', { businessId, quietHours: { from: '00:00', to: '23:00' } }, { move: 4 })
  await check('/location', { locationId, timeZone: 'America/New_York' }, { move: 3 })
  await check('/business', { businessId, phone: '+41 44 555 01 10' }, {})
})

test('the plan of a template counts the pending triggers that would not send it', async (t) => {
  const { book, businessId, call, clock, save } = await startWorld(t)
  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'Soon',
    emailBody: '<p>Soon</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  await save('/eventDefinition', reminder(businessId, -48))
  await book(clock.in({ hours: 72 }))
  await book(clock.in({ hours: 96 }))
  const plan = async (body: object) => {
    const { body: planned } = await call('POST', '/emailTemplate/plan', {
      emailTemplateId,
      ...body,
    })
    return planned.cancel
  }
  assert.equal(await plan({ active: false }), 2)
  assert.equal(await plan({ subject: 'Very soon', emailBody: '<p>Very soon</p>' }), 0)
})

test('a plan of settings refuses what the save refuses', async (t) => {
  const { call } = await startWorld(t)
  for (const [path, body] of [
    ['/business', { businessId: 987_654, timeZone: 'Europe/Zurich' }],
    ['/business', { timeZone: 'Europe/Zurich' }],
    ['/location', { locationId: 1, timeZone: 'Mars/Olympus' }],
    ['/status', { objectType: 'CALENDAR', status: 'OPEN', live: 'perhaps' }],
  ] as const) {
    const planned = await call('POST', `${path}/plan`, body)
    const refused = await call('POST', path, body)
    assert.ok(refused.status >= 400, path)
    const { instance: _one, ...predicted } = planned.body
    const { instance: _other, ...real } = refused.body
    assert.deepEqual([planned.status, predicted], [refused.status, real])
  }
})
