import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { assertAccessible, skipInShortRun, startConsole } from '../support/console.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'

const lifetime = { after } as Pick<TestContext, 'after'>
const mailServer = await startMailServer(lifetime, {
  at: 'connect',
  act: { next: 'close' },
  times: Infinity,
})
const { openAs, call } = await startConsole([{ username: 'sofia', role: 'OWNER' }], {
  SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
})

const DAY_MS = 86_400_000

/** Books an appointment whose confirmation stays in the queue. */
async function bookDuringOutage() {
  const client = { firstName: 'Zoe', lastName: 'Novak', emailAddress: 'zoe@example.org' }
  const { clientId } = await call('POST', '/client', client)
  const startTime = Math.floor(Date.now() / 60_000) * 60_000 + 20 * DAY_MS
  const place = { clientId, professionalId: 1, reasonId: 1, locationId: 1 }
  const times = { startTime, endTime: startTime + 1_800_000 }
  const { calendarId } = await call('POST', '/calendar', { ...place, ...times })
  type Mail = { status: string; eventTriggerId: number }
  const list = (): Promise<Mail[]> => call('GET', `/emails/calendar/${calendarId}`)
  await until(async () => (await list()).some(({ status }) => status === 'QUEUED'))
  await until(async () => (await call('GET', '/overview')).mail.failingSince !== null)
  const [mail] = await list()
  return { clientId: clientId as number, calendarId, eventTriggerId: mail!.eventTriggerId }
}

const { clientId, calendarId, eventTriggerId } = await bookDuringOutage()

test('a mail that is still in the queue cannot be sent again', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', `/activity/${eventTriggerId}`)
  await page.getByText('zoe@example.org').first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'Send again' }).count(), 0)

  await page.goto(
    page.url().replace(/\/activity.*/, `/activity?outcome=sending&client=${clientId}`),
  )
  await page.getByLabel('Select all shown messages').check()
  const bar = page.getByRole('region', { name: 'Selected messages' })
  await bar.getByRole('button', { name: /^Export \d/ }).waitFor()
  assert.equal(await bar.getByRole('button', { name: /again/ }).count(), 0)
})

/** In words and local time, without the raw instant of the service. */
const SINCE = /the mail server has taken no mail since today \d\d:\d\d: /i

test('during an outage Today says that no mail is sent, since when, and how many mails wait', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia')
  const navigation = page.getByRole('navigation', { name: 'Main' }).first()
  await navigation.getByText('The mail server takes no mail').waitFor()
  assert.equal(await navigation.getByText('Service is healthy').count(), 0)

  await page.getByText('No mail leaves: the mail server does not take it.').waitFor()
  const item = page.getByRole('listitem').filter({ hasText: 'No mail is sent' })
  await item.getByText(SINCE).waitFor()
  assert.doesNotMatch((await item.textContent())!, /\d{4}-\d\d-\d\dT/)
  await item.getByText(/^\d+ mails? (is|are) in the queue, and (is|are) sent when this/).waitFor()
  await item.getByText('Ask the operator of the service').waitFor()
  const { connections } = mailServer
  const before = connections()
  await item.getByRole('button', { name: 'Try now' }).click()
  await item.getByText('It was tried again').waitFor()
  await until(() => connections() > before)
  assert.equal(await page.getByText('Nothing needs you').count(), 0)
  await page.getByText(/(is|are) being sent or waits? in the queue\.$/).waitFor()
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

test('a message in the queue says why it waits, and is not shown as sent', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', `/activity/${eventTriggerId}`)
  await page.getByRole('heading', { level: 1, name: /^Zoe Novak will get/ }).waitFor()
  await page.getByText('The mail waits in the queue: ').and(page.getByText(SINCE)).waitFor()
  await page.getByRole('heading', { name: 'The mail, as it will be sent' }).waitFor()
  await page.getByText('this message').waitFor()
  const explanations = await call('GET', `/explain/CALENDAR/${calendarId}`)
  const explanation = explanations.find(
    (one: { eventTriggerId: number }) => one.eventTriggerId === eventTriggerId,
  )
  assert.equal(explanation.status, 'RUNNING')
  const row = page.getByText('this message').locator('xpath=..')
  assert.equal(await row.locator('svg path').count(), 1, 'the half circle of sending')
})

test('during an outage a test and an invitation are queued, not sent', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/settings/people')
  await page.getByRole('button', { name: 'Add a person' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Username').fill('elena')
  await dialog.getByLabel('Email address').fill('elena@lindenhof.example')
  await dialog.getByRole('button', { name: 'Send the invitation' }).click()
  await page.getByText('Queued: the mail server takes no mail at the moment. elena@').waitFor()

  const { items } = await call('GET', '/emailTemplate?limit=1')
  await page.goto(page.url().replace('settings/people', `templates/${items[0].emailTemplateId}`))
  const address = page.getByRole('combobox', { name: 'Send a test to' })
  await address.fill('me@example.org')
  await address.press('Enter')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Queued: the mail server takes no mail at the moment.').waitFor()
})
