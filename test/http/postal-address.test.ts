import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runCommand } from '../support/command.ts'
import { urlOf } from '../support/owner.ts'
import { reminder, startEngine, startWorld } from '../support/world.ts'

/** A business that mails its clients an offer a day before each appointment. */
async function startWithOffer(t: TestContext) {
  const world = await startWorld(t)
  const { businessId, call, clock, save } = world
  const { emailCategoryId } = await save('/emailCategory', { name: 'News', transactional: false })
  const offer = { templateName: 'Offer', subject: 'An offer', emailBody: '<p>Come again.</p>' }
  const template = await save('/emailTemplate', { ...offer, emailCategoryId })
  const { emailTemplateId } = template
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  const { runEngine } = startEngine(world)
  /** How the trigger of a new appointment ends. */
  const outcomeOfNext = async (inHours: number) => {
    const { calendarId } = await world.book(clock.in({ hours: inHours }))
    clock.advance({ hours: inHours - 24 })
    await runEngine()
    const [trigger] = (await call('GET', `/eventTriggers/CALENDAR/${calendarId}`)).body
    return [trigger.status, trigger.statusReason]
  }
  return { ...world, emailTemplateId, emailCategoryId, outcomeOfNext }
}

const SKIPPED = [
  'SKIPPED',
  'the mail is not transactional, and neither its location nor the business has a postal address; add postalAddress to the business',
]
const SENT = ['COMPLETED', null]

test('a business that requires a postal address sends no offer without one, and says why', async (t) => {
  const { businessId, ids, outcomeOfNext, save } = await startWithOffer(t)
  assert.deepEqual(await outcomeOfNext(30), SENT)
  await save('/business', { businessId, postalAddressRequired: true })
  assert.deepEqual(await outcomeOfNext(30), SKIPPED)
  // The address of the location is in the footer, too.
  await save('/location', { locationId: ids.locationId, address: 'Altstadt 2, Zürich' })
  assert.deepEqual(await outcomeOfNext(30), SENT)
  await save('/location', { locationId: ids.locationId, address: null })
  assert.deepEqual(await outcomeOfNext(30), SKIPPED)
  await save('/business', { businessId, postalAddress: 'Seestrasse 12, 8002 Zürich' })
  assert.deepEqual(await outcomeOfNext(30), SENT)
})

test('the postal address of a business is that of its only active location, unless it has its own', async (t) => {
  const { businessId, call, emailTemplateId, ids, save } = await startWithOffer(t)
  const { clientId } = ids
  const { invitationCampaignId } = await save('/invitationCampaign', { name: 'Spring' })
  const { invitationUUID } = await save('/invitation', { invitationCampaignId, clientId })
  await save('/emailTemplate', { emailTemplateId, emailBody: '<p>From %BUSINESS_ADDRESS%</p>' })
  const preview = async () => {
    const about = { objectType: 'INVITATION', objectId: invitationUUID }
    const { body } = await call('POST', `/emailTemplate/${emailTemplateId}/preview`, about)
    return body.text
  }
  await save('/location', { locationId: ids.locationId, address: 'Altstadt 2, Zürich' })
  assert.match(await preview(), /From Altstadt 2, Zürich/)
  const { locationId } = await save('/location', { name: 'Second', address: 'Quai 1, Zürich' })
  assert.doesNotMatch(await preview(), /Zürich/)
  await call('DELETE', `/location/${locationId}`)
  await save('/business', { businessId, postalAddress: 'Seestrasse 12, 8002 Zürich' })
  assert.match(await preview(), /From Seestrasse 12/)
})

test('a transactional mail needs no postal address', async (t) => {
  const { businessId, emailCategoryId, outcomeOfNext, save } = await startWithOffer(t)
  await save('/business', { businessId, postalAddressRequired: true })
  await save('/emailCategory', { emailCategoryId, transactional: true })
  assert.deepEqual(await outcomeOfNext(30), SENT)
})

test('saving an offer warns that it is not sent without a postal address', async (t) => {
  const { businessId, emailTemplateId, save } = await startWithOffer(t)
  const warningsOf = async () =>
    (await save('/emailTemplate', { emailTemplateId, active: true })).warnings
      .filter(({ property }: { property: string }) => property === 'emailCategory')
      .map(({ detail }: { detail: string }) => detail)
  assert.match((await warningsOf())[0], /which many countries require/)
  await save('/business', { businessId, postalAddressRequired: true })
  assert.match((await warningsOf())[0], /sends none/)
  await save('/business', { businessId, postalAddress: 'Seestrasse 12, 8002 Zürich' })
  assert.deepEqual(await warningsOf(), [])
})

test('plan, overview and doctor name offers that can lack a postal address', async (t) => {
  const world = await startWithOffer(t)
  const { businessId, call, emailCategoryId, emailTemplateId, ids, save } = world
  const [{ eventDefnId }] = (await call('GET', '/eventDefinition')).body.items
  const plan = async (body: object = { eventDefnId }) => {
    const answer = await call('POST', '/eventDefinition/plan', body)
    return answer.body.lacksPostalAddress
  }
  const overview = async () => (await call('GET', '/overview')).body.mail.withoutPostalAddress
  const doctor = async () =>
    (await runCommand(['doctor'], { DATABASE_URL: await urlOf(world.database) })).stdout.match(
      /^note +Post address +businesses \d+ send mails that are not transactional/m,
    ) !== null

  assert.deepEqual([await plan(), await overview(), await doctor()], [true, 1, true])
  // The address of each location is in the footer of mails about appointments.
  await save('/location', { locationId: ids.locationId, address: 'Altstadt 2, Zürich' })
  assert.deepEqual([await plan(), await overview()], [false, 0])
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  const invitation = { objectType: 'INVITATION', eventType: { eventTypeId: 7 } }
  const body = { ...reminder(businessId, 0), ...invitation, eventActions: [action] }
  assert.equal(await plan(body), false, 'the only location stands for the business')
  await save('/location', { name: 'Second house', address: 'Quai 1, Zürich' })
  assert.equal(await plan(body), true, 'an invitation has no location')
  await save('/eventDefinition', body)
  assert.equal(await overview(), 1)
  await save('/location', { name: 'New house' })
  assert.deepEqual([await plan(), await overview()], [true, 2])

  await save('/business', { businessId, postalAddress: 'Seestrasse 12, 8002 Zürich' })
  assert.deepEqual([await plan(body), await overview(), await doctor()], [false, 0, false])
  await save('/business', { businessId, postalAddress: null })
  await save('/emailCategory', { emailCategoryId, transactional: true })
  assert.deepEqual([await plan(body), await overview()], [false, 0])
})
