import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { watchDialogs } from '../support/browser.ts'
import {
  assertAccessible,
  keepScreenshot,
  SCHEMES,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { htmlAttacks } from '../support/html-attacks.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'

const HOSTILE = '<img src=x onerror="globalThis.hacked=1"><i>Weber</i> {{who}}'
const REFUSAL = '550 5.1.1 <script>globalThis.hacked=2</script> User unknown'

const FULL = '552 5.2.2 <full@example.org>: Mailbox full, over quota'

const MAX_NAME = 100
/** Attacks that can be a name or a reply: one short line. */
const LINES = htmlAttacks.filter((text) => /^[\x20-\x7e]+$/.test(text) && text.length <= MAX_NAME)
/** A sample, because each attack costs requests. */
const ATTACKS = LINES.filter((_, i) => i % Math.ceil(LINES.length / 12) === 0)
const addressOf = (i: number) => `hostile${i}@example.org`
const hostileRefusals = ATTACKS.map((attack, i) => [
  addressOf(i),
  `550 5.1.1 ${attack} User unknown\r\n`,
])

const lifetime = { after } as Pick<TestContext, 'after'>
const mailServer = await startMailServer(lifetime, {
  refuses: {
    'gone@example.org': `${REFUSAL}\r\n`,
    'full@example.org': `${FULL}\r\n`,
    'staff@example.org': `${FULL}\r\n`,
    ...Object.fromEntries(hostileRefusals),
  },
})
const { service, businessId, openAs, call } = await startConsole(
  [
    { username: 'sofia', role: 'OWNER' },
    { username: 'stella', role: 'USER' },
    { username: 'rita', role: 'REPORTS_ONLY' },
  ],
  { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` },
)

const DAY_MS = 86_400_000
type Trigger = { eventTriggerId: number; status: string; eventDefnId: number }

/** Books an appointment and waits until its confirmation was sent or refused. */
async function book(clientId: number, inDays: number, professionalId = 1) {
  const startTime = Math.floor(Date.now() / 60_000) * 60_000 + inDays * DAY_MS
  const { calendarId } = await call('POST', '/calendar', {
    clientId,
    professionalId,
    reasonId: 1,
    locationId: 1,
    startTime,
    endTime: startTime + 1_800_000,
  })
  const list = (): Promise<Trigger[]> => call('GET', `/eventTriggers/CALENDAR/${calendarId}`)
  await until(async () => {
    const states = (await list()).map(({ status }) => status)
    return (
      states.some((status) => status === 'COMPLETED' || status === 'FAILED') &&
      !states.includes('RUNNING')
    )
  })
  const triggers = await list()
  return {
    calendarId: calendarId as number,
    ofStatus: (status: string) => triggers.filter((one) => one.status === status),
  }
}

/** The German templates of the demo contain the last name. */
const addClient = async (emailAddress: string, lastName: string): Promise<number> => {
  const client = { firstName: 'Zoe', lastName, emailAddress, language: 'de' }
  return (await call('POST', '/client', client)).clientId
}

const countEmails = async (clientId: number) =>
  ((await call('GET', `/emails/client/${clientId}`)) as unknown[]).length

const headline = (page: Page, text: string) =>
  page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor()

const isHacked = (page: Page) => page.evaluate('globalThis.hacked !== undefined')

const gone = await addClient('gone@example.org', HOSTILE)
const refused = await book(gone, 20)
const full = await addClient('full@example.org', 'Full')
const bounced = await book(full, 20)

test('a refused message shows the reply of the server and its meaning, and HTML in it is escaped', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/activity?outcome=failed')
  const row = page.getByRole('rowgroup').getByRole('row').filter({ hasText: '<img src=x' })
  await row.getByText(REFUSAL).waitFor()
  await row.getByRole('link').click()
  await headline(page, `Zoe ${HOSTILE} did not get Booking confirmed`)
  await page
    .getByText('There is no such mailbox. Ask the client for the right address.')
    .first()
    .waitFor()
  const timeline = page.getByRole('list', { name: 'What happened' })
  await timeline.getByText(/^Created by the key test for/).waitFor()
  await timeline.getByText('Attempt 1: refused permanently').waitFor()
  await page.getByText('Refused', { exact: true }).waitFor()
  await timeline.getByText(REFUSAL).waitFor()
  await timeline.getByText('Its status is “Open”').waitFor()
  await page.getByText('this message').waitFor()
  await page.getByText('it has not changed since it was booked').first().waitFor()

  const frame = page.locator('iframe')
  assert.equal(await frame.getAttribute('sandbox'), '')
  await page.frameLocator('iframe').getByText('<img src=x').first().waitFor()
  assert.equal(await isHacked(page), false)
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

const HELD = 'Sending “Booking confirmed” again, for Zoe Full'

test('sending again can be undone for six seconds', async (t) => {
  const [failed] = bounced.ofStatus('FAILED')
  const before = await countEmails(full)
  const { page } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/activity/${failed!.eventTriggerId}`)
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText(HELD).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText(HELD).waitFor({ state: 'detached' })
  await page.clock.fastForward(10_000)
  assert.equal(await countEmails(full), before)

  await page.keyboard.press('r')
  await page.getByText(HELD).waitFor()
  await page.clock.fastForward(6_500)
  await page.getByText('The message is sent again').waitFor()
  assert.equal(await countEmails(full), before + 1)

  const [unknown] = refused.ofStatus('FAILED')
  await page.goto(`${service.base}/console/activity/${unknown!.eventTriggerId}`)
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('1 was refused: gone@example.org bounced before').waitFor()
})

test('a pending message is sent now or cancelled, and keys open the next and previous one', async (t) => {
  const client = await addClient('zoe@example.org', 'Novak')
  const { ofStatus } = await book(client, 21)
  const [first, second] = ofStatus('SCHEDULED')
  const { page, complaints } = await openAs(t, 'sofia')
  await page.clock.install()
  const search = `?outcome=waiting&client=${client}`
  await page.goto(`${service.base}/console/activity/${first!.eventTriggerId}${search}`)
  await page.getByText('What is checked before it is sent').waitFor()
  const preview = page.frameLocator('iframe[title="The mail"]')
  // The version in the language of the client.
  await preview.getByText('Guten Tag Zoe Novak').waitFor()
  await page.getByRole('button', { name: 'Next message' }).and(page.locator(':enabled')).waitFor()
  await page.keyboard.press('j')
  await page.waitForURL(`**/activity/${second!.eventTriggerId}?**`)
  await page
    .getByRole('button', { name: 'Previous message' })
    .and(page.locator(':enabled'))
    .waitFor()
  await page.keyboard.press('k')
  await page.waitForURL(`**/activity/${first!.eventTriggerId}?**`)

  await page.getByRole('button', { name: 'Cancel it' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('The message is cancelled').waitFor()
  await page.getByText('Message cancelled by sofia').waitFor()
  await page.getByRole('heading', { level: 1, name: /^Zoe Novak will not get/ }).waitFor()

  await page.goto(`${service.base}/console/activity/${second!.eventTriggerId}`)
  await page.getByRole('button', { name: 'Send now' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('The message is being sent').waitFor()
  await until(async () => {
    const { status } = await call('GET', `/eventTriggers/${second!.eventTriggerId}`)
    return status === 'COMPLETED'
  })
  await page.reload()
  await page.getByRole('heading', { level: 1, name: /^Zoe Novak got/ }).waitFor()
  await page.getByText('Sent before its time by sofia').waitFor()
  await page.getByText('250 2.0.0 taken').waitFor()
  assert.deepEqual(complaints, [])
})

test('messages are selected by key and cancelled in bulk after a confirmation', async (t) => {
  if (skipInShortRun(t)) return
  const client = await addClient('zora@example.org', 'Kovac')
  const { ofStatus } = await book(client, 22)
  const pending = ofStatus('SCHEDULED')
  const { page } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/activity?outcome=waiting&client=${client}`)
  const rows = page.getByRole('rowgroup').getByRole('row')
  await rows.nth(1).waitFor()
  assert.equal(await rows.count(), pending.length)
  await rows
    .first()
    .getByText(/^\S.*, for the appointment of .*\d\d:\d\d$/)
    .waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  const bar = page.getByRole('region', { name: 'Selected messages' })
  await bar.getByText('1 selected').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await bar.getByRole('button', { name: 'Cancel 2' }).click()
  await bar.getByText('These messages will not be sent.').waitFor()
  await bar.getByRole('button', { name: 'Cancel 2' }).click()
  await page.getByText('Cancelling 2 messages').waitFor()
  await page.keyboard.press('z')
  await page.getByText('Cancelling 2 messages').waitFor({ state: 'detached' })

  await page.getByLabel('Select all shown messages').check()
  await page.getByRole('button', { name: `Cancel ${pending.length}` }).click()
  await page.getByRole('button', { name: `Cancel ${pending.length}` }).click()
  await page.clock.fastForward(6_500)
  await page.getByText(`${pending.length} messages are cancelled`).waitFor()
  await page.getByText('No message fits these filters').waitFor()
  await page.getByText(/^\d+ messages are on other tabs\.$/).waitFor()
  await page
    .getByRole('link', { name: `Cancelled ${pending.length}` })
    .last()
    .waitFor()
  await page.getByRole('link', { name: 'Remove all filters' }).waitFor()
  const left = await call('GET', `/eventTriggers?status=SCHEDULED&clientId=${client}`)
  assert.deepEqual(left.items, [])
})

test('Space shows a message next to the list, and the keys move on in the list', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', `/activity?outcome=failed`)
  const rows = page.getByRole('rowgroup').getByRole('row')
  await rows.nth(1).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  const peek = page.getByRole('complementary', { name: 'The message in short' })
  await peek.getByRole('heading', { name: 'Zoe Full did not get Booking confirmed' }).waitFor()
  await peek.getByText(FULL).first().waitFor()
  assert.equal(await peek.locator('iframe').getAttribute('sandbox'), '')
  assert.match(page.url(), /\/activity\?outcome=failed$/)
  await assertAccessible(page)
  await page.keyboard.press('j')
  await peek.getByText(`Zoe ${HOSTILE} did not get Booking confirmed`).waitFor()
  assert.equal(await isHacked(page), false)
  await page.keyboard.press('Escape')
  await peek.waitFor({ state: 'detached' })

  // Space on a checkbox selects.
  await rows.first().getByRole('checkbox').focus()
  await page.keyboard.press('Space')
  await page.getByText('1 selected').waitFor()
  assert.equal(await peek.count(), 0)
  assert.deepEqual(complaints, [])
})

test('messages are filtered by day and exported as a CSV file', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', `/activity?client=${gone}`)
  const rows = page.getByRole('rowgroup').getByRole('row')
  await rows.first().waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const file = await download
  assert.match(file.suggestedFilename(), /^messages-\d{4}-\d\d-\d\d\.csv$/)
  const text = readFileSync(await file.path(), 'utf8')
  assert.match(text, /^\uFEFFTime,Outcome,Client,Message,Automation,Location\r\n/)
  assert.ok(text.includes(`"Zoe ${HOSTILE.replaceAll('"', '""')}"`), text)

  await page.getByLabel('From').fill('2199-01-01')
  await page.getByText('No message of any outcome fits them').waitFor()
  await page.getByRole('link', { name: 'Remove all filters' }).waitFor()
  assert.match(page.url(), /from=/)
  const today = new Date().toISOString().slice(0, 10)
  await page.getByLabel('From').fill(today)
  await page.getByLabel('Until').fill('2199-01-01')
  await rows.first().waitFor()
  assert.deepEqual(complaints, [])
})

test('Today links a failure to its message, and sends it again', async (t) => {
  if (skipInShortRun(t)) return
  const before = await countEmails(full)
  const { page } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/`)
  await page.getByText(`Zoe ${HOSTILE} did not get Booking confirmed`).waitFor()
  await page.getByRole('button', { name: 'Send again' }).first().click()
  await page.getByRole('link', { name: 'What happened' }).first().click()
  await headline(page, 'Zoe Full did not get Booking confirmed')
  await page.clock.fastForward(6_500)
  await page.getByText('The message is sent again').waitFor()
  assert.equal(await countEmails(full), before + 1)
})

test('a role sees only its own messages and only the actions that it may do', async (t) => {
  const [failed] = refused.ofStatus('FAILED')
  const { page } = await openAs(t, 'stella', `/activity/${failed!.eventTriggerId}`)
  await page.getByText('It does not exist, or you may not see it.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Send again' }).count(), 0)

  const { page: ritas } = await openAs(t, 'rita')
  await ritas.goto(`${service.base}/console/activity/${failed!.eventTriggerId}`)
  await ritas.getByText('Your role may not open this page').waitFor()
})

test('the address of a refused message is corrected next to the refusal', async (t) => {
  if (skipInShortRun(t)) return
  const [failed] = refused.ofStatus('FAILED')
  const { page } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/activity/${failed!.eventTriggerId}`)
  await page.getByRole('button', { name: 'Correct the address' }).click()
  const dialog = page.getByRole('dialog', { name: 'Correct the address' })
  const field = dialog.getByLabel(/mail address/i)
  assert.equal(await field.inputValue(), 'gone@example.org')
  await field.fill('nobody')
  await dialog.getByRole('button', { name: 'Save the address' }).click()
  await dialog.getByText('must be one plain address, local@domain').waitFor()
  await field.fill('zoe.weber@example.org')
  await dialog.getByRole('button', { name: 'Save the address' }).click()
  await dialog.getByText('and this one if you send it again').waitFor()
  const { emailAddress } = await call('GET', `/client/${gone}`)
  assert.equal(emailAddress, 'zoe.weber@example.org')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('Sent again to zoe.weber@example.org').first().waitFor()

  // A full mailbox is not a wrong address.
  const [other] = bounced.ofStatus('FAILED')
  await page.goto(`${service.base}/console/activity/${other!.eventTriggerId}`)
  await headline(page, 'Zoe Full did not get Booking confirmed')
  assert.equal(await page.getByRole('button', { name: 'Correct the address' }).count(), 0)
})

/** Counts failures as the page Today does. */
async function countFailuresOfToday() {
  const { quarterHours } = await call('GET', '/overview')
  return (quarterHours as { status: string; count: number }[])
    .filter(({ status }) => status === 'FAILED')
    .reduce((sum, { count }) => sum + count, 0)
}

test('the navigation shows the number of failures of today and updates it live', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/settings/account')
  const activity = page.getByRole('navigation', { name: 'Main' }).first().getByText('Activity')
  const isShown = async () => {
    const count = await countFailuresOfToday()
    const badge = count === 0 ? '' : `${count}${count} failed today`
    return (await activity.textContent()) === `Activity${badge}`
  }
  await until(isShown)
  await keepScreenshot(page, 'failures')
  await book(full, 23)
  // Sooner than the poll after a minute.
  await until(isShown)
  await assertAccessible(page)

  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByRole('link', { name: /^Activity .*\d failed today$/ }).waitFor()
  for (const scheme of SCHEMES) {
    await assertAccessible(page, [scheme])
    await keepScreenshot(page, `failures-${scheme}-phone`)
  }
  assert.deepEqual(complaints, [])
})

/** Opens the page and waits for its data. */
async function visit(page: Page, path: string) {
  await page.goto(`${service.base}/console${path}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await waitUntilLoaded(page)
}

test('names and server replies that contain HTML are shown as text', async (t) => {
  if (skipInShortRun(t)) return
  const countFailed = async () => (await call('GET', '/eventTriggers/counts')).FAILED ?? 0
  const failedBefore = await countFailed()
  const start = Math.floor(Date.now() / 60_000) * 60_000 + 3 * DAY_MS
  for (const [i, lastName] of ATTACKS.entries()) {
    const client = { firstName: 'Zoe', lastName, emailAddress: addressOf(i) }
    const { clientId } = await call('POST', '/client', client)
    const startTime = start + i * 1_800_000
    const who = { clientId, professionalId: 1, reasonId: 1, locationId: 1 }
    await call('POST', '/calendar', { ...who, startTime, endTime: startTime + 1_800_000 })
  }
  for (const [i, name] of ATTACKS.entries()) {
    await call('POST', '/reason', { businessId, name, price: i })
  }
  await until(async () => (await countFailed()) === failedBefore + ATTACKS.length)

  const { page, complaints } = await openAs(t, 'sofia')
  watchDialogs(page, complaints)
  await visit(page, '/')
  await page.getByText(ATTACKS.at(-1)!).first().waitFor()
  await visit(page, '/activity?outcome=failed')
  for (const attack of ATTACKS) {
    await page.getByText(`550 5.1.1 ${attack} User unknown`).first().waitFor()
  }
  const { items } = await call('GET', '/eventTriggers?status=FAILED&order=newest&limit=2')
  for (const { eventTriggerId } of items) {
    await visit(page, `/activity/${eventTriggerId}`)
    await page
      .getByText(/hostile\d+@example\.org/)
      .first()
      .waitFor()
  }
  await visit(page, '/clients?text=Zoe')
  await visit(page, '/calendar?view=list')
  assert.deepEqual(complaints, [])
})

test('of a message with several mails only the one that failed is sent again', async (t) => {
  if (skipInShortRun(t)) return
  const { professionalId } = await call('POST', '/professional', {
    firstName: 'Ada',
    lastName: 'Full',
    emailAddress: 'staff@example.org',
  })
  const mailTo = (value: string) => ({
    actionType: 'SEND_EMAIL',
    active: true,
    businessId,
    emailTemplateId: 1,
    recipient: { value },
  })
  const { eventDefnId } = await call('POST', '/eventDefinition', {
    businessId,
    active: true,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 1 },
    triggerHours: 0,
    triggerMinutes: 0,
    description: 'Tell both',
    professionalIdList: [professionalId],
    eventActions: [mailTo('client'), mailTo('staff')],
  })
  const client = await addClient('both@example.org', 'Both')
  const { ofStatus } = await book(client, 22, professionalId)
  const failed = ofStatus('FAILED').find((one) => one.eventDefnId === eventDefnId)!
  const { emails } = await call('GET', `/eventTriggers/${failed.eventTriggerId}`)
  const statuses = emails.map(({ status }: { status: string }) => status)
  assert.deepEqual(statuses.toSorted(), ['FAILED', 'SENT'])

  const { page } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/activity/${failed.eventTriggerId}`)
  const request = page.waitForRequest((one) => one.url().endsWith('/emails/resend'))
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText(/^Sending .* again/).waitFor()
  await page.clock.fastForward(6_500)
  assert.deepEqual((await request).postDataJSON(), {
    ids: [emails[statuses.indexOf('FAILED')].emailId],
  })
})

// The last test, because the failure that it adds is the first of Today.
test('the chosen message stays chosen when others arrive, and a link removes the text filter', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/activity?outcome=failed')
  const list = page.getByRole('rowgroup').getByRole('row')
  await list.nth(1).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  const peek = page.getByRole('complementary', { name: 'The message in short' })
  const chosen = (await peek.getByRole('heading').first().textContent())!
  await book(await addClient('staff@example.org', 'Late'), 30)
  // The rows cannot be counted: only those in the window are drawn.
  await list.filter({ hasText: 'Zoe Late' }).first().waitFor()
  assert.equal(await peek.getByRole('heading').first().textContent(), chosen)
  await page.keyboard.press('Escape')

  const find = page.getByPlaceholder('Client or address')
  await find.fill('nobody-of-this-name')
  await page.getByRole('link', { name: 'Remove all filters' }).click()
  await list.first().waitFor()
  assert.equal(await find.inputValue(), '')
})
