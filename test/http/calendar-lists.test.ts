import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/database/sql.ts'
import { reminder, shareWorld } from '../support/world.ts'

const enterWorld = shareWorld()

test('a list of appointments contains names and message counts on request', async (t) => {
  const { book, businessId, call, clock, save } = await enterWorld(t)
  await save('/eventDefinition', reminder(businessId, -24))
  await save('/eventDefinition', reminder(businessId, -48))
  const soon = await book(clock.in({ hours: 30 }))
  await book(clock.in({ hours: 1_000 }))

  const { body: plain } = await call('GET', '/calendar')
  assert.equal('clientName' in plain.items[0], false)
  assert.equal('messages' in plain.items[0], false)

  const to = clock.in({ hours: 100 }).epochMilliseconds
  const { body } = await call('GET', `/calendar?to=${to}&expand=names,messages`)
  assert.deepEqual(body.items, [
    {
      ...soon,
      clientName: 'Anna Müller',
      professionalName: 'Elena García',
      reasonName: 'Consultation',
      locationName: 'Altstadt',
      messages: { SCHEDULED: 1, EXPIRED: 1 },
    },
  ])
  const unknown = await call('GET', '/calendar?expand=everything')
  assert.equal(unknown.status, 422)
})

test('a list of invitations counts the messages of each', async (t) => {
  const { businessId, call, clock, ids, save } = await enterWorld(t)
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Check-up' })
  const invited = { objectType: 'INVITATION_CAMPAIGN', eventType: { eventTypeId: 7 } }
  await save('/eventDefinition', reminder(businessId, 1, invited))
  await save('/invitation', {
    invitationCampaignId,
    clientId: ids.clientId,
    expiresTime: clock.in({ hours: 90 }).epochMilliseconds,
  })
  const { body } = await call('GET', '/invitation?expand=names,messages')
  assert.deepEqual(body.items[0].messages, { SCHEDULED: 1 })
  assert.equal(body.items[0].clientName, 'Anna Müller')
  assert.equal(body.items[0].locationName, null)
})

test('the days of a calendar are counted in the time zone of the business', async (t) => {
  const { book, call, ids, save } = await enterWorld(t)
  const at = (text: string) => Temporal.Instant.from(text)
  // 23:30 UTC is the next day in Zurich.
  await book(at('2026-11-18T23:30:00Z'))
  await book(at('2026-11-19T10:00:00Z'))
  const { calendarId } = await book(at('2026-11-19T11:00:00Z'))
  await call('DELETE', `/calendar/${calendarId}`)
  const { locationId } = await save('/location', { name: 'Seefeld' })
  await book(at('2026-11-20T09:00:00Z'), { locationId })
  const range = `from=${Date.UTC(2026, 10, 15)}&to=${Date.UTC(2026, 10, 22)}`

  const all = await call('GET', `/calendar/days?${range}`)
  assert.deepEqual(all.body, { '2026-11-19': 2, '2026-11-20': 1 })
  const some = await call('GET', `/calendar/days?${range}&locationId=${ids.locationId}`)
  assert.deepEqual(some.body, { '2026-11-19': 2 })
  const { professionalId } = await save('/professional', { firstName: 'Noor', lastName: 'Haddad' })
  await book(at('2026-11-21T09:00:00Z'), { professionalId })
  const ofNoor = await call('GET', `/calendar/days?${range}&professionalId=${professionalId}`)
  assert.deepEqual(ofNoor.body, { '2026-11-21': 1 })
  assert.equal((await call('GET', '/calendar/days')).status, 422)
})

test('the triggers of an appointment contain the name of their definition on request', async (t) => {
  const { book, businessId, call, clock, save } = await enterWorld(t)
  await save('/eventDefinition', reminder(businessId, -24, { description: 'A day before' }))
  const { calendarId } = await book(clock.in({ hours: 100 }))
  const { body } = await call('GET', `/eventTriggers/CALENDAR/${calendarId}?expand=names`)
  assert.equal(body[0].description, 'A day before')
  assert.equal(body[0].clientName, 'Anna Müller')
})

test('a suppression is found by its address or a part of it, in upper or lower case', async (t) => {
  const { businessId, call, clock, db } = await enterWorld(t)
  for (const address of ['anna@example.org', 'beat@example.org']) {
    await db.query(sql`
      insert into suppression (business_id, email_address, reason, created_date, created_user)
      values (${businessId}, ${address}, 'UNSUBSCRIBED', ${clock.now()}, 'test')`)
  }
  const found = async (query: string) => {
    const { body } = await call('GET', `/suppression?${query}`)
    return body.items.map((one: { emailAddress: string }) => one.emailAddress)
  }
  assert.deepEqual(await found('emailAddress=Anna@Example.org'), ['anna@example.org'])
  assert.deepEqual(await found('text=NNA@'), ['anna@example.org'])
  assert.deepEqual(await found('text=example'), ['anna@example.org', 'beat@example.org'])
  assert.deepEqual(await found('text=%25'), [])
})

test('a list filtered by an id that the business does not have is refused', async (t) => {
  const { call } = await enterWorld(t)
  const filtersOf: Record<string, string[]> = {
    '/professional': ['locationId'],
    '/calendar': ['locationId', 'professionalId', 'reasonId', 'clientId'],
    '/classSchedule': ['locationId', 'professionalId', 'reasonId', 'clientId'],
    '/invitation': ['invitationCampaignId', 'clientId'],
    '/recall': ['clientId', 'professionalId', 'locationId'],
    '/disclaimer': ['disclaimerFormId', 'clientId', 'calendarId'],
    '/eventDefinition': ['eventDefnId'],
    '/eventTriggers': ['eventDefnId', 'clientId', 'locationId'],
    '/eventTriggers/counts': ['eventDefnId', 'clientId', 'locationId'],
    '/emails': ['emailTemplateId', 'eventTriggerId', 'clientId'],
    '/emails/counts': ['emailTemplateId', 'eventTriggerId', 'clientId'],
  }
  for (const [path, names] of Object.entries(filtersOf)) {
    const query = names.map((name) => `${name}=999999`).join('&')
    const { status, body } = await call('GET', `${path}?${query}`)
    assert.equal(status, 422, path)
    const pointers = body.errors.map(({ pointer }: { pointer: string }) => pointer)
    assert.deepEqual(
      pointers,
      names.map((name) => `?${name}`),
      path,
    )
  }
})

test('lists can be filtered by a deleted object', async (t) => {
  const { book, call, clock, ids } = await enterWorld(t)
  const { calendarId } = await book(clock.in({ hours: 30 }))
  await call('DELETE', `/client/${ids.clientId}`)
  const { status, body } = await call('GET', `/calendar?clientId=${ids.clientId}`)
  assert.equal(status, 200)
  assert.deepEqual(
    body.items.map((item: { calendarId: number }) => item.calendarId),
    [calendarId],
  )
})
