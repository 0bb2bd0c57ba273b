import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { suppress } from '../../src/store/suppressions.ts'
import {
  assertAccessible,
  keepPictures,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startNameServer } from '../support/name-server.ts'
import { until } from '../support/until.ts'

const lifetime = { after } as Pick<TestContext, 'after'>
const mailServer = await startMailServer(lifetime, {
  refuses: {
    'gone@example.org': '550 5.1.2 <gone@example.org>: Domain not found',
    'lost@example.org': '550 5.1.1 <lost@example.org>: User unknown in virtual mailbox table',
    'left@example.org': '550 5.1.1 <left@example.org>: User unknown in virtual mailbox table',
    'slow@example.org': '450 4.2.0 <slow@example.org>: Greylisted, try again in 60 seconds',
  },
})
const names = await startNameServer(lifetime, {
  'lindenhof.example': { TXT: ['v=spf1 ip4:192.0.2.10 ~all'] },
})
const { openAs, call, asOperator, businessId, database } = await startConsole(
  [
    { username: 'sofia', role: 'OWNER' },
    { username: 'stella', role: 'USER' },
  ],
  {
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    SMTP_SPF: 'ip4:192.0.2.10',
    DNS_SERVERS: names.server,
  },
)
await asOperator('POST', '/business', {
  businessId,
  senderDomains: ['lindenhof.example'],
  dailyMailLimit: 5_000,
})

const client = { firstName: 'Zoe', lastName: 'Novak', emailAddress: 'zoe.novak@example.org' }
await call('POST', '/client', client)
const REASONS = [
  { emailAddress: client.emailAddress, reason: 'UNSUBSCRIBED', detail: null },
  { emailAddress: client.emailAddress, reason: 'COMPLAINED', detail: null },
  { emailAddress: 'full@example.org', reason: 'BOUNCED', detail: '552 5.2.2 Mailbox full' },
] as const
await suppress(
  database.engine,
  REASONS.map((one) => ({ ...one, businessId })),
  { user: 'SYSTEM', now: Temporal.Instant.fromEpochMilliseconds(Date.now()) },
)

type Mail = { emailId: number; status: string; attempts: unknown[] }

/** Sends a test mail and waits for the first answer of the mail server. */
async function sendTestTo(address: string) {
  const [template] = (await call('GET', '/emailTemplate?limit=1')).items
  const [appointment] = (await call('GET', '/calendar?limit=1')).items
  const about = { objectType: 'CALENDAR', objectId: appointment.calendarId }
  const path = `/emailTemplate/${template.emailTemplateId}/test`
  const { items } = await call('POST', path, { ...about, to: [address] })
  await until(async () => {
    const mail: Mail = await call('GET', `/emails/${items[0].emailId}`)
    return mail.attempts.length > 0
  })
}

/** The line of "Does it work?" that begins with this name. */
const line = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

test('Settings, Mail shows what fails, the records to publish, and passes after they are', async (t) => {
  await sendTestTo('anna@example.org')
  const { page, complaints } = await openAs(t, 'sofia', '/settings/mail')
  await heading(page, 'Mail')
  await line(page, 'Mail server')
    .getByText(/^It accepted the last mail today \d\d:\d\d/)
    .waitFor()
  // The keys are made after the domain is allowed.
  await until(async () => {
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByText(/^checked today \d\d:\d\d$/).waitFor()
    return (await line(page, 'DKIM').getByText('does not exist').count()) > 0
  })
  await page
    .getByText(/the mail server accepted \d+ .*2 checks of your sender domains fail\.$/)
    .waitFor()
  await line(page, 'SPF').getByText('Passes: the SPF record covers ip4:192.0.2.10').waitFor()
  const { dnsRecords } = await call('GET', '/senderDomain/lindenhof.example')
  const records = dnsRecords as { purpose: string; name: string; value: string }[]
  for (const { purpose, name, value } of records.filter(({ purpose }) => purpose !== 'SPF')) {
    await line(page, purpose).getByText(value, { exact: true }).waitFor()
    await line(page, purpose)
      .getByRole('button', { name: `Copy the record at ${name}` })
      .waitFor()
    names.zone[name] = { TXT: [value] }
  }
  await assertAccessible(page)
  await keepPictures(page, 'settings-mail-checks')

  await page.getByRole('button', { name: 'Check again' }).click()
  await line(page, 'DMARC').getByText('Passes: mails from this domain are aligned').waitFor()
  await line(page, 'DKIM').getByText('Passes: both keys are published').waitFor()
  assert.equal(await page.getByText('checks of your sender domains fail').count(), 0)
  assert.deepEqual(complaints, [])
})

test('a test mail shows the answer of the mail server, and a bad address is a fault of its field', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/mail')
  const to = page.getByLabel('Send a test to')
  await to.fill('so..fia@lindenhof.example')
  const send = page.getByRole('button', { name: 'Send test' })
  await send.click()
  await page.getByText('must be one plain address').waitFor()
  assert.equal(await to.getAttribute('aria-invalid'), 'true')

  await to.fill('sofia@lindenhof.example')
  await send.click()
  const result = page.getByRole('status').filter({ hasText: 'to sofia@lindenhof.example' })
  await result.getByText('Accepted', { exact: true }).waitFor()
  await result.getByText('250 2.0.0 taken').waitFor()
  await result.getByText('The mail server accepted the mail.').waitFor()
  assert.ok(mailServer.taken.some((mail) => mail.to.includes('sofia@lindenhof.example')))

  await to.fill('gone@example.org')
  await send.click()
  const refusal = page.getByRole('status').filter({ hasText: 'to gone@example.org' })
  await refusal.getByText('550 5.1.2 <gone@example.org>: Domain not found').waitFor()
  await refusal.getByText('Refused', { exact: true }).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-mail-test')
})

test('alike answers of the mail server are counted together, with their meaning', async (t) => {
  if (skipInShortRun(t)) return
  for (const address of ['lost@example.org', 'left@example.org', 'slow@example.org'])
    await sendTestTo(address)
  const { page, complaints } = await openAs(t, 'sofia', '/settings/mail')
  const refused = page.getByRole('listitem').filter({ hasText: '550 5.1.1' })
  await refused.getByText('2 mails').waitFor()
  await refused.getByText('2 addresses').waitFor()
  await refused.getByText('There is no such mailbox.').waitFor()
  const deferred = page.getByRole('listitem').filter({ hasText: '450 4.2.0' })
  await deferred.getByText('1 mail', { exact: true }).waitFor()
  await deferred.getByText('Retrying').waitFor()
  await page.getByRole('listitem').filter({ hasText: '250 2.0.0 taken' }).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-mail')
  assert.deepEqual(complaints, [])
})

test('while mail is paused the page says so, and leads to where it is resumed', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/business', {
    businessId,
    mailPaused: true,
    mailPausedReason: 'wrong prices',
  })
  const { page } = await openAs(t, 'sofia', '/settings/mail')
  await page.getByText('Mail is paused: nothing is sent until it is resumed.').waitFor()
  await line(page, 'Paused').getByText('wrong prices').waitFor()
  await line(page, 'Paused').getByRole('link').click()
  await heading(page, 'Business')
  await page.getByRole('button', { name: 'Resume mail' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resume mail' }).click()
  await page.getByRole('button', { name: 'Pause all mail' }).waitFor()
  await page
    .getByRole('navigation', { name: 'Settings' })
    .getByText('Mail', { exact: true })
    .click()
  await page.getByText(/^Mails are sent/).waitFor()
})

test('a suppressed address is found, and gets mails again after a confirmation', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/suppressions')
  await heading(page, 'Suppressed addresses')
  const row = page.getByRole('row', { name: /zoe\.novak@example\.org/ })
  await row.getByText('Complained').waitFor()
  await row.getByText('Unsubscribed').waitFor()
  const other = page.getByRole('row', { name: /full@example\.org/ })
  await other.getByText('552 5.2.2 Mailbox full').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-suppressions')

  await row.getByRole('link', { name: 'Find the client with zoe.novak@example.org' }).click()
  await page.getByRole('link', { name: 'Zoe Novak' }).waitFor()
  await page.goBack()

  await page.getByLabel('Find an address').fill('Novak@')
  await page.waitForURL(/address=/)
  await page.getByText('1 suppressed address contains this text.').waitFor()
  assert.equal(await other.count(), 0)
  await row.getByRole('button', { name: /^Allow again/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/Do this only if they asked you to: further complaints/).waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Allow again' }).click()
  await page.getByText('Mails to zoe.novak@example.org are sent again.').waitFor()
  await page.getByText('No suppressed address contains this text').first().waitFor()
  const { items } = await call('GET', `/suppression?emailAddress=${client.emailAddress}`)
  assert.deepEqual(items, [])
  await page.getByRole('button', { name: 'All suppressed addresses' }).click()
  await other.waitFor()

  await page.getByRole('button', { name: 'Suppress an address' }).click()
  await dialog.getByLabel('Address').fill('nina@example.org')
  await dialog.getByLabel('Note').fill('asked by phone')
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Suppress', exact: true }).click()
  await page.getByText('nina@example.org gets only what an appointment needs.').waitFor()
  const added = page.getByRole('row', { name: /nina@example\.org/ })
  await added.getByText('asked by phone').waitFor()
  await added.getByText('Unsubscribed').waitFor()
  assert.deepEqual(complaints, [])
})

test('a user without the rights sees no page about mail, and allows no address again', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'stella', '/settings/suppressions')
  await page.getByRole('row', { name: /full@example\.org/ }).waitFor()
  assert.equal(await page.getByRole('button', { name: /^Allow again/ }).count(), 0)
  const settings = page.getByRole('navigation', { name: 'Settings' })
  assert.equal(await settings.getByText('Mail', { exact: true }).count(), 0)
  await page.goto(page.url().replace('suppressions', 'mail'))
  await page.getByText('Your role may not open this page').waitFor()
  await waitUntilLoaded(page)
  assert.equal(await page.getByRole('button', { name: 'Check again' }).count(), 0)
})
