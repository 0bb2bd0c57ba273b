import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { asOwner } from '../support/owner.ts'
import { assertAccessible, keepPictures, startEmptyConsole } from '../support/console.ts'

const { call, businessId, database, openAs } = await startEmptyConsole([
  { username: 'sofia', role: 'OWNER' },
])

const dayIn = (days: number) => Temporal.Now.plainDateISO('UTC').add({ days }).toString()

await call('POST', '/location', { name: 'Altstadt' })
await call('POST', '/professional', { firstName: 'Elena', lastName: 'García' })
for (const lastName of ['Adler', 'Brandt']) {
  const emailAddress = `${lastName}@example.org`
  await call('POST', '/client', { firstName: 'Ada', lastName, emailAddress })
}
const template = { templateName: 'Come again', subject: 'Come again', emailBody: '<p>Hello</p>' }
const { emailTemplateId } = await call('POST', '/emailTemplate', template)
await call('POST', '/eventDefinition', {
  businessId,
  active: true,
  description: 'Reminder of a recall',
  objectType: 'RECALL',
  triggerHours: -48,
  triggerMinutes: 0,
  eventType: { eventTypeId: 10 },
  eventActions: [{ businessId, active: true, actionType: 'SEND_EMAIL', emailTemplateId }],
})

async function chooseClient(page: Page, label: string, name: string) {
  await page.getByRole('combobox', { name: label }).fill(name)
  await page.getByRole('option', { name }).click()
}

test('a class is planned, gets students, and records who was present', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/classes')
  await page.getByRole('heading', { level: 1, name: 'Classes' }).waitFor()
  await page.getByText('No class from this day on').waitFor()
  await page.getByRole('button', { name: 'New class' }).click()
  const window = page.getByRole('dialog', { name: 'New class' })
  await window.getByLabel('Name').fill('Pilates')
  await window.getByRole('textbox', { name: 'Start' }).fill(dayIn(3))
  await window.getByRole('combobox', { name: 'Staff' }).click()
  await page.getByRole('option', { name: 'Elena García' }).click()
  await window.getByRole('combobox', { name: 'Location' }).click()
  await page.getByRole('option', { name: 'Altstadt' }).click()
  await window.getByText('No message changes').waitFor()
  await assertAccessible(page)
  await window.getByRole('button', { name: 'Save' }).click()

  await page.getByRole('heading', { level: 1, name: 'Pilates' }).waitFor()
  await chooseClient(page, 'Add a student', 'Ada Adler')
  await page.getByRole('link', { name: 'Ada Adler' }).waitFor()
  await chooseClient(page, 'Add a student', 'Ada Brandt')
  const row = page.getByRole('row').filter({ hasText: 'Ada Brandt' })
  await row.getByText('Yes', { exact: true }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'class')

  const { items } = await call('GET', '/classSchedule')
  const [{ clientIdList, attendance, startTime, endTime }] = items
  assert.equal(endTime - startTime, 3_600_000)
  assert.deepEqual(attendance, [{ clientId: clientIdList[1], present: true }])
  // Students who cancelled by the link may have said why.
  const answers = ['I have a cold.', 'My train is late.'].map((note, i) => ({
    clientId: clientIdList[i],
    answer: 'CANCELLED',
    time: startTime,
    note,
  }))
  await asOwner(database, `update class_schedule set answers = '${JSON.stringify(answers)}'`)
  await page.reload()
  await page.getByText('The client’s reason: “I have a cold.”').waitFor()
  await page.getByText('The client’s reason: “My train is late.”').waitFor()
  await page.getByRole('link', { name: 'Classes' }).first().click()
  await page
    .getByRole('row')
    .filter({ hasText: 'Pilates' })
    .getByText('2', { exact: true })
    .waitFor()
  assert.deepEqual(complaints, [])
})

test('a recall says before it is saved which message follows, and shows it and why', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/recalls')
  await page.getByRole('heading', { level: 1, name: 'Recalls' }).waitFor()
  await page.getByRole('button', { name: 'New recall' }).click()
  const window = page.getByRole('dialog', { name: 'New recall' })
  await chooseClient(page, 'Client', 'Ada Adler')
  await window.getByRole('textbox', { name: 'Due' }).fill(dayIn(30))
  await window.getByText('1 message is scheduled').waitFor()
  await window.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ada Adler' }).waitFor()
  await page.getByRole('link', { name: 'Come again' }).waitFor()
  await page.getByText('Reminder of a recall').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'recall')

  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Completed' }).click()
  await page.getByText('1 message is cancelled').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await page.getByText(/^Not sent: its status .*“Completed”/).waitFor()
  await page.getByRole('link', { name: 'Recalls' }).last().click()
  await page.getByText('No recall', { exact: true }).waitFor()
  await page.getByText('All', { exact: true }).click()
  await page.getByRole('link', { name: 'Ada Adler' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('a campaign invites a client, and a form is signed by one', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/campaigns')
  await page.getByRole('heading', { level: 1, name: 'Invitations' }).waitFor()
  await page.getByRole('button', { name: 'New campaign' }).click()
  const campaign = page.getByRole('dialog', { name: 'New campaign' })
  await campaign.getByLabel('Name').fill('Winter check-up')
  await campaign.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Winter check-up' }).waitFor()
  await page.getByRole('button', { name: 'Invite a client' }).click()
  await chooseClient(page, 'Client', 'Ada Brandt')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ada Brandt' }).waitFor()
  await page.getByText('No automation has a message about this.').waitFor()
  // A page of a client's name says what it is about.
  await page.getByRole('main').getByRole('link', { name: 'Winter check-up' }).waitFor()
  assert.equal((await call('GET', '/invitation')).items.length, 1)

  await page.goto(new URL('/console/forms', page.url()).href)
  await page.getByRole('heading', { level: 1, name: 'Forms' }).waitFor()
  await page.getByRole('button', { name: 'New form' }).click()
  const form = page.getByRole('dialog', { name: 'New form' })
  await form.getByLabel('Name').fill('Consent')
  await form.getByLabel('Text').fill('I agree.')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Consent' }).waitFor()
  await page.getByRole('button', { name: 'Ask a client' }).click()
  await chooseClient(page, 'Client', 'Ada Brandt')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ada Brandt' }).waitFor()
  const { items } = await call('GET', '/disclaimer')
  assert.equal(items[0].status, 'PENDING')
  const signed = { signedName: 'Ada Brandt', signedTime: Date.now(), signedText: 'I agree.' }
  const { disclaimerId, disclaimerFormId } = items[0]
  await call('POST', '/disclaimer', { disclaimerId, status: 'SIGNED', ...signed })
  await page.goto(new URL(`/console/forms/${disclaimerFormId}`, page.url()).href)
  await page.getByRole('row').filter({ hasText: 'Ada Brandt' }).getByText('Signed').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'form')
  await page.getByRole('link', { name: 'Ada Brandt' }).click()
  await page.getByText(/^Consent · Signed by Ada Brandt/).waitFor()
  await page.getByRole('heading', { name: 'What was signed' }).waitFor()
  assert.deepEqual(complaints, [])
})
