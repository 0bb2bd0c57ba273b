import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
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
