import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { reconcileAll } from '../../src/automation/reconcile.ts'
import { saveLastReconciliation } from '../../src/store/reconciliation.ts'
import { openPage } from '../support/browser.ts'
import {
  assertAccessible,
  keepScreenshot,
  SCHEMES,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, businessId, openAs, call, database } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'stella', role: 'USER' },
  { username: 'rita', role: 'REPORTS_ONLY' },
])

const DAY_MS = 86_400_000

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

const { items: pending } = await call('GET', '/eventTriggers?status=SCHEDULED&order=newest&limit=1')
const MAIN_PAGES = [
  '/',
  '/calendar',
  '/clients',
  '/automations',
  '/automations/3',
  '/templates/3',
  '/activity',
  `/activity/${pending[0].eventTriggerId}`,
]
const OTHER_PAGES = [
  '/automations/new',
  '/templates',
  '/import',
  '/settings/business',
  '/settings/locations',
  '/settings/staff',
  '/settings/services',
  '/settings/statuses',
  '/settings/people',
  '/inbox',
  '/settings/keys',
  '/settings/mail',
  '/settings/suppressions',
  '/settings/audit',
  '/settings/account',
  '/settings/feeds',
  '/settings/tags',
  '/settings/export',
  '/clients/1',
  '/classes',
  '/recalls',
  '/campaigns',
  '/forms',
  '/reports',
]

// The first tests, because the others change what the pages show.
test('the main pages follow WCAG 2.2 AA and fit a phone of 360 px', (t) =>
  checkPages(t, MAIN_PAGES))

test('the other pages follow WCAG 2.2 AA and fit a phone of 360 px', async (t) => {
  if (skipInShortRun(t)) return
  await checkPages(t, OTHER_PAGES)
})

async function checkPages(t: TestContext, paths: string[]) {
  const { page, complaints } = await openAs(t, 'sofia')
  const desktop = page.viewportSize()!
  for (const path of paths) {
    await page.setViewportSize(desktop)
    await page.goto(`${service.base}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await waitUntilLoaded(page)
    const name = path === '/' ? 'today' : path.slice(1).replaceAll('/', '-')
    for (const scheme of SCHEMES) {
      await assertAccessible(page, [scheme])
      await keepScreenshot(page, `${name}-${scheme}`)
    }
    await page.setViewportSize({ width: 360, height: 740 })
    await waitUntilLoaded(page)
    await keepScreenshot(page, `${name}-phone`)
    await assertAccessible(page, ['light'])
    const overflows = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(overflows, false, path)
    assert.deepEqual(complaints, [], path)
  }
}

test('a wrong password shows an error, and the right one opens the requested page', async (t) => {
  const { page } = await openPage(t)
  await page.goto(`${service.base}/console/automations`)
  await page.getByLabel('Username').fill('sofia')
  await page.getByLabel('Password').first().fill('not this one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Username or password is wrong.').waitFor()
  await assertAccessible(page)
  await page.getByLabel('Password').first().fill('ring-the-bell-2026')
  await page.keyboard.press('Enter')
  await heading(page, 'Automations')
})

test('an unknown URL shows that the page was not found, with the navigation', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/some/page')
  await page.getByRole('main').getByText('Page not found').waitFor()
  await page.getByRole('link', { name: 'Calendar' }).first().waitFor()
  await assertAccessible(page)
  await page.setViewportSize({ width: 360, height: 740 })
  await assertAccessible(page, ['light'])
})

test('Today shows the day, the next messages and the health of the service', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia')
  await heading(page, /\d+ \w+$/)
  await page.getByText('Lindenhof Physiotherapy').waitFor()
  await page.getByRole('img', { name: 'Messages of the day by hour' }).waitFor()
  await page.getByRole('heading', { name: 'Next' }).waitFor()
  await page.getByText('nothing is overdue').waitFor()
  const bar = page.getByText('No mail leaves: every mail stays here until a mail server is set up.')
  await bar.waitFor()
  await page.getByText('engine · database').waitFor()
  await page.getByRole('link', { name: 'Reports' }).first().click()
  await heading(page, 'Reports')
  assert.equal(await bar.count(), 1, 'the bar is on every page')
  assert.deepEqual(complaints, [])
})

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)

test('Today shows the messages of the week by day', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia')
  const asked = page.waitForResponse(/overview\?.*days=7/)
  await page.getByText('Week', { exact: true }).click()
  const { day } = (await (await asked).json()) as { day: string }
  assert.equal(new Date(day).getUTCDay(), 1)
  await page.getByRole('img', { name: 'Messages of the week by day' }).waitFor()
  const rows = page.getByRole('table', { name: 'Messages of the week by day' }).getByRole('row')
  // The engine may still plan messages of the demo.
  await until(async () => {
    const { quarterHours } = await call('GET', `/overview?day=${day}&days=7`)
    const counts: number[] = quarterHours.map(({ count }: { count: number }) => count)
    const texts = await rows.allTextContents()
    const shown = texts.flatMap((text) => text.replace(/^\w+ \d\d?/, '').match(/\d+/g) ?? [])
    return sum(counts) > 0 && sum(shown.map(Number)) === sum(counts)
  })
  assert.equal(await rows.count(), 7)
  assert.match(await rows.first().innerText(), /^Mon/)
  for (const scheme of SCHEMES) {
    await assertAccessible(page, [scheme])
    await keepScreenshot(page, `week-${scheme}`)
  }
  await page.setViewportSize({ width: 360, height: 740 })
  await keepScreenshot(page, 'week-phone')
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
  assert.deepEqual(complaints, [])
})

test('Automations are sentences, and can be found and switched off and on', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  await heading(page, 'Automations')
  const sentence = /^2 days before an appointment starts, mail the client/
  const onOff = page.getByRole('switch', { name: sentence })
  assert.equal(await onOff.isChecked(), true)
  await page.getByLabel('Find a sentence').fill('zzzz')
  await page.getByText('No automation found').waitFor()
  await page.getByRole('button', { name: 'Remove all filters' }).click()
  await page.getByRole('switch').nth(1).waitFor()
  await page.getByLabel('Find a sentence').fill('two days')
  await page.getByRole('switch').nth(1).waitFor({ state: 'detached' })

  // One click does nothing yet: the window says how many reminders it would cancel.
  await onOff.click({ force: true })
  const asking = page.getByRole('dialog', { name: 'Switch this automation off?' })
  await asking.getByRole('button', { name: /^Switch off: cancel \d+$/ }).waitFor()
  await asking.getByRole('button', { name: 'Leave it as it is' }).click()
  assert.equal(await onOff.isChecked(), true)
  await onOff.click({ force: true })
  await asking.getByRole('button', { name: /^Switch off: cancel \d+$/ }).click()
  await page.getByText('switched off').waitFor()
  await page.reload()
  await page.getByText('switched off').waitFor()
  assert.equal(await onOff.isChecked(), false)
  await onOff.click({ force: true })
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Switch on/ })
    .click()
  await page.getByText('switched off').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('Activity is filtered by outcome and by text, and its URL keeps the filters', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/activity')
  await heading(page, 'Activity')
  await page.getByRole('link', { name: /^Waiting/ }).click()
  const rows = page.getByRole('rowgroup').getByRole('row')
  await rows.first().waitFor()
  const name = await rows.first().getByRole('cell').nth(3).innerText()
  await page.getByLabel('Client or address').fill(name)
  await page.waitForURL(/text=/)
  await page.reload()
  await rows.first().waitFor()
  const cells = await rows.getByRole('cell').allInnerTexts()
  const names = cells.filter((_, place) => place % 6 === 3)
  assert.deepEqual([...new Set(names)], [name])
  assert.deepEqual(complaints, [])
})

test('the filters of Activity are saved as a view, opened and removed', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/activity?outcome=waiting&location=1')
  const views = page.getByRole('button', { name: 'Views' })
  await views.click()
  await page.getByLabel('Name of this view').fill('To come in Zürich')
  await page.getByRole('button', { name: 'Save view' }).click()
  const view = page.getByRole('button', { name: 'To come in Zürich', exact: true })
  await view.waitFor()
  await assertAccessible(page, ['light'])
  await keepScreenshot(page, 'views')

  await page.goto(`${service.base}/console/activity`)
  await page.getByLabel('Client or address').fill('unknown')
  await page.waitForURL(/text=unknown/)
  await views.click()
  await view.click()
  await page.waitForURL(/outcome=waiting&location=1$/)
  assert.equal(await page.getByLabel('Client or address').inputValue(), '')
  await views.click()
  await page.getByRole('button', { name: 'Remove To come in Zürich' }).click()
  await view.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('a user sees only the pages of their role', async (t) => {
  const { page, complaints } = await openAs(t, 'rita')
  await heading(page, 'Reports')
  const navigation = page.getByRole('navigation', { name: 'Main' }).first()
  assert.deepEqual(await navigation.getByRole('link').allInnerTexts(), ['Reports', 'Settings'])
  await navigation.getByRole('link', { name: 'Settings' }).click()
  await heading(page, 'Business')
  const settings = page.getByRole('navigation', { name: 'Settings' })
  assert.deepEqual(await settings.getByRole('link').allInnerTexts(), ['Business', 'Your account'])
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
  assert.deepEqual(complaints, [])
})

test('keys open pages, and signing out ends the session', async (t) => {
  const { page } = await openAs(t, 'sofia')
  await heading(page, /\d+ \w+$/)
  await page.keyboard.press('g')
  await page.keyboard.press('v')
  await heading(page, 'Activity')
  await page.keyboard.press('Control+k')
  await page.getByLabel('Go to or do …').fill('autom')
  await page.keyboard.press('Enter')
  await heading(page, 'Automations')
  await page.getByRole('button', { name: /sofia/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await heading(page, 'Sign in')
  await page.goto(`${service.base}/console/activity`)
  await heading(page, 'Sign in')
})

test('the clock shows all times in the time zone of a location, of the client, or UTC', async (t) => {
  if (skipInShortRun(t)) return
  const { clientId } = await call('POST', '/client', {
    firstName: 'Maximiliana',
    lastName: 'von Hohenberg-Schwarzenfels',
    timeZone: 'America/New_York',
  })
  const startTime = Math.floor(Date.now() / DAY_MS + 10.5) * DAY_MS + DAY_MS / 2
  const who = { clientId, professionalId: 1, reasonId: 1, locationId: 1 }
  await call('POST', '/calendar', { ...who, startTime, endTime: startTime + 1_800_000 })
  const { page, complaints } = await openAs(t, 'sofia', `/clients/${clientId}`)
  const isShownIn = (timeZone: string) => {
    const time = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' })
    return page.locator('.list-row').getByText(time.format(startTime)).first().waitFor()
  }
  await isShownIn('Europe/Zurich')
  const clock = page.getByRole('button', { name: /^\w+ \d\d:\d\d / })
  const menu = page.getByRole('dialog', { name: 'Time zone of all times' })
  const desktop = page.viewportSize()!
  for (const scheme of SCHEMES) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const width of [desktop.width, 360]) {
      await page.setViewportSize({ ...desktop, width })
      await clock.click()
      await menu.getByRole('button', { name: /New York/ }).waitFor()
      await assertAccessible(page, [scheme])
      await keepScreenshot(page, `clock-${scheme}-${width}`)
      const box = (await menu.boundingBox())!
      assert.ok(box.x >= 0 && box.x + box.width <= width, JSON.stringify(box))
      await page.keyboard.press('Escape')
      await menu.waitFor({ state: 'detached' })
    }
  }
  await page.setViewportSize(desktop)

  await clock.click()
  assert.match(await page.locator('button:focus').innerText(), /^Lindenhof Physiotherapy/)
  const zones = (await menu.getByRole('button').allInnerTexts()).map((text) => text.split('\n')[1])
  // The next one is the time zone of the device.
  assert.deepEqual(zones.slice(0, 3), ['Zürich', 'London', 'New York'])
  await menu.getByRole('button', { name: /New York/ }).click()
  await menu.waitFor({ state: 'detached' })
  await isShownIn('America/New_York')
  assert.match(await page.locator('button:focus').innerText(), /New York/)
  await page.keyboard.press('Enter')
  await menu.getByRole('button', { name: /UTC/ }).click()
  await isShownIn('UTC')
  assert.deepEqual(complaints, [])
})

/** The text of the link that has the focus. */
const focusedLink = (page: Page) => page.locator('a:focus').innerText()

test('J and K move in the lists of clients, automations and templates, and Enter opens', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/clients')
  for (let i = 0; i < 60; i++) {
    await call('POST', '/client', { firstName: 'Aaron', lastName: `Aab ${100 + i}` })
  }
  await page.reload()
  const links = page.locator('#page .list-row a')
  await links.nth(49).waitFor()
  const clients = await links.allInnerTexts()
  await page.keyboard.press('j')
  assert.equal(await focusedLink(page), clients[0])
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  assert.equal(await focusedLink(page), clients[1])
  // Clicking elsewhere keeps the position in the list.
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('j')
  assert.equal(await focusedLink(page), clients[2])
  // The last row loads more.
  for (let i = 3; i < clients.length; i++) await page.keyboard.press('j')
  await links.nth(clients.length).waitFor()
  await page.keyboard.press('j')
  assert.equal(await focusedLink(page), await links.nth(clients.length).innerText())
  const chosen = await focusedLink(page)
  await page.keyboard.press('Enter')
  await heading(page, chosen)

  for (const path of ['/automations', '/templates']) {
    await page.goto(`${service.base}/console${path}`)
    const second = page
      .locator('#page .list-row')
      .filter({ has: page.locator('a') })
      .nth(1)
    await second.waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    assert.equal(await focusedLink(page), await second.locator('a').first().innerText())
  }
  assert.deepEqual(complaints, [])
})

/** Fires `count` pending messages with one call, which must wait for approval. */
async function fireTooMany(count: number): Promise<number> {
  // A trigger of a class has a mail for each student.
  const filter = `status=SCHEDULED&objectType=CALENDAR&limit=${count}`
  const { items } = await call('GET', `/eventTriggers?${filter}`)
  assert.equal(items.length, count)
  const ids = items.map(({ eventTriggerId }: { eventTriggerId: number }) => eventTriggerId)
  return (await call('POST', '/eventTriggers/fire', { ids })).approvalId
}

const statusOf = async (approvalId: number) =>
  (await call('GET', `/approval/${approvalId}`)).status as string

test('Today shows mails that wait for approval, and an owner sends or cancels them', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/business', { businessId, bulkLimit: 1 })
  const first = await fireTooMany(3)

  const { page: stellas } = await openAs(t, 'stella')
  await stellas.getByText('3 mails wait for approval').waitFor()
  await stellas.getByText('An owner or administrator decides.').waitFor()
  assert.equal(await stellas.getByRole('button', { name: 'Send 3 mails' }).count(), 0)

  const { page, complaints } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/`)
  await page.getByText('3 mails wait for approval').waitFor()
  await page.getByText('the key test sent them before their time.').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'See the list and decide' }).click()
  const list = page.getByRole('dialog', { name: 'Mails that wait for a decision' })
  await list.getByRole('listitem').nth(2).waitFor()
  assert.equal(await list.getByRole('listitem').count(), 3)
  await assertAccessible(page)
  await keepScreenshot(page, 'approval')
  await list.getByRole('listitem').first().getByRole('checkbox').uncheck()
  await list.getByRole('button', { name: 'Send 2, leave out 1' }).click()
  await page.getByText('Sending 2 mails').waitFor()
  assert.equal(await statusOf(first), 'WAITING')
  await page.clock.fastForward(6_500)
  await page.getByText('2 mails are being sent').waitFor()
  await page.getByText('3 mails wait for approval').waitFor({ state: 'detached' })
  assert.equal(await statusOf(first), 'RELEASED')

  const second = await fireTooMany(2)
  await page.reload()
  await page.getByText('2 mails wait for approval').waitFor()
  await page.getByRole('button', { name: 'See the list and decide' }).click()
  await list.getByRole('button', { name: 'Cancel them' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('2 mails wait for approval').waitFor({ state: 'detached' })
  assert.equal(await statusOf(second), 'CANCELLED')
  assert.deepEqual(complaints, [])
})

test('messages sent in bulk above the limit say that they wait for approval', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/business', { businessId, bulkLimit: 1 })
  const { page } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/activity?outcome=waiting`)
  await page.getByRole('rowgroup').getByRole('row').nth(1).waitFor()
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Send 2 now' }).click()
  await page.getByRole('button', { name: 'Send 2 now' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('They are more than may be sent at once').waitFor()
  const { items } = await call('GET', '/approval?status=WAITING')
  assert.deepEqual(
    items.map(({ triggers, createdUser }: { triggers: number; createdUser: string }) => [
      triggers,
      createdUser,
    ]),
    [[2, 'sofia']],
  )
})

test('mail is paused in the settings, Today shows why, and it is resumed there', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/settings/business')
  await page.getByRole('button', { name: 'Pause all mail' }).click()
  const asking = page.getByRole('dialog', { name: 'Pause all mail?' })
  await asking.getByText(/of the rest of today|for the rest of today/).waitFor()
  await asking.getByLabel('Why (optional)').fill('wrong prices in the template')
  await asking.getByRole('button', { name: 'Pause all mail' }).click()
  await page.getByRole('heading', { name: 'Mail is paused' }).waitFor()
  const { mailPaused, mailPausedReason } = await call('GET', `/business/${businessId}`)
  assert.deepEqual([mailPaused, mailPausedReason], [true, 'wrong prices in the template'])

  const { page: stellas } = await openAs(t, 'stella')
  await stellas.getByText('Mail is paused', { exact: true }).waitFor()
  assert.equal(await stellas.getByRole('button', { name: 'Resume mail' }).count(), 0)

  await page.goto(`${service.base}/console/`)
  await page.getByText('wrong prices in the template').first().waitFor()
  await page.getByRole('button', { name: 'Resume mail' }).click()
  const resuming = page.getByRole('dialog', { name: 'Resume mail?' })
  await resuming.getByText(/sent now/).waitFor()
  await resuming.getByRole('button', { name: 'Resume mail' }).click()
  await page.getByText('Mail is paused', { exact: true }).waitFor({ state: 'detached' })
  await page.getByText(/^All mail is paused/).waitFor({ state: 'detached' })
  assert.equal((await call('GET', `/business/${businessId}`)).mailPaused, false)
  assert.deepEqual(complaints, [])
})

/** Books appointments at one location. */
async function bookMany(count: number, locationId: number, inDays: number) {
  const start = Math.floor(Date.now() / 60_000) * 60_000 + inDays * DAY_MS
  const who = { clientId: 1, professionalId: 1, reasonId: 1, locationId }
  await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const startTime = start + i * 1_800_000
      return call('POST', '/calendar', { ...who, startTime, endTime: startTime + 1_800_000 })
    }),
  )
}

test('an automation that stopped matching is marked in its list and on Today', async (t) => {
  if (skipInShortRun(t)) return
  const definition = {
    businessId,
    active: true,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 1 },
    triggerHours: 0,
    triggerMinutes: 0,
    description: 'Tell the first location',
    locationIdList: [1],
  }
  const { eventDefnId } = await call('POST', '/eventDefinition', definition)
  await bookMany(60, 1, 30)
  // Later bookings are at another location.
  await call('POST', '/eventDefinition', { eventDefnId, description: 'Tell the first' })
  await bookMany(20, 2, 60)
  const now = () => Temporal.Now.instant()
  const findings = await reconcileAll(database.engine, now)
  assert.ok(findings.stoppedDefinitionIds.includes(eventDefnId))
  await saveLastReconciliation(database.engine, { endedAt: now(), findings })

  const { page, complaints } = await openAs(t, 'sofia')
  const item = page.getByRole('listitem').filter({ hasText: '“Tell the first” stopped matching' })
  await item.getByText('the key test changed it today').waitFor()
  await page.goto(`${service.base}/console/automations`)
  await page.getByText('It stopped matching').first().waitFor()
  await page.goto(`${service.base}/console/`)
  await item.getByRole('button', { name: 'This is intended' }).click()
  await item.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Needs you' }).waitFor()
  await waitUntilLoaded(page)
  assert.equal(await item.count(), 0)
  assert.deepEqual(complaints, [])
})

test('Today asks an owner for the postal address that news and offers lack', async (t) => {
  if (skipInShortRun(t)) return
  const { postalAddress } = await call('GET', `/business/${businessId}`)
  await call('POST', '/business', { businessId, postalAddress: null })
  t.after(() => call('POST', '/business', { businessId, postalAddress }))
  const { page, complaints } = await openAs(t, 'sofia')
  const item = page.getByRole('listitem').filter({ hasText: 'Your postal address is missing' })
  await item.getByText(/^\d+ automations? sends? (no )?news or offers/).waitFor()
  await assertAccessible(page)
  await item.getByRole('link', { name: 'Add the address' }).click()
  await page.getByLabel('Postal address', { exact: true }).fill('Seestrasse 12, 8002 Zürich')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved', { exact: false }).first().waitFor()
  await page.goto(`${service.base}/console/`)
  await page.getByRole('heading', { name: 'Needs you' }).waitFor()
  await waitUntilLoaded(page)
  assert.equal(await item.count(), 0)
  assert.deepEqual(complaints, [])
})
