import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import {
  assertAccessible,
  keepScreenshot,
  skipInShortRun,
  startConsole,
} from '../support/console.ts'
import { until } from '../support/until.ts'

const { openAs } = await startConsole([{ username: 'sofia', role: 'OWNER' }])

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

/** Calls the API as the signed-in user of the page. */
async function post(page: Page, path: string, body: object) {
  const { origin } = new URL(page.url())
  const answer = await page.request.post(origin + path, { data: body, headers: { origin } })
  assert.ok(answer.ok(), `${path}: ${await answer.text()}`)
  return answer.json()
}

async function get(page: Page, path: string) {
  const answer = await page.request.get(new URL(page.url()).origin + path)
  assert.ok(answer.ok(), `${path}: ${await answer.text()}`)
  return answer.json()
}

test('a change by the API appears on an open page without a reload', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  await page.clock.install()
  await page.goto(new URL('/console/activity', page.url()).href)
  await page.getByText('Live', { exact: true }).waitFor()
  const { items } = await get(page, '/eventTriggers?status=SCHEDULED&order=newest&limit=1')
  const [{ eventTriggerId }] = items
  await page.getByRole('link', { name: /^Cancelled/ }).click()
  const rows = page.getByRole('rowgroup').getByRole('row')
  const countOf = async () => (await get(page, '/eventTriggers/counts')).CANCELLED ?? 0
  const before = await countOf()
  const tab = page.getByRole('link', { name: `Cancelled ${before}`, exact: true })
  await tab.waitFor()

  // The page's clock passes 10 ms at a time from here on: its poll after a minute never comes.
  await page.clock.pauseAt(Date.now() + 1_000)
  await post(page, `/eventTriggers/${eventTriggerId}/cancel`, {})
  const after = page.getByRole('link', { name: `Cancelled ${before + 1}`, exact: true })
  await until(async () => {
    await page.clock.runFor(10)
    return after.isVisible()
  })
  await page.clock.resume()
  await rows.first().waitFor()
})

test('without the stream a page polls, and a list that cannot be loaded says why', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  await page.route('**/changes', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.goto(new URL('/console/activity', page.url()).href)
  await page.getByText('Every minute').waitFor()

  const rows = page.getByRole('rowgroup').getByRole('row')
  let isDown = true
  await page.route('**/eventTriggers?*', (route) => {
    const headers = {
      'retry-after': '0.001',
      'x-request-id': 'c1115f68-0000-4000-8000-0123456789ab',
    }
    return isDown ? route.fulfill({ status: 503, headers, json: {} }) : route.continue()
  })
  await page.reload()
  const failure = page.getByRole('alert')
  await failure.getByText('This list could not be loaded').waitFor()
  await failure.getByText(/^The service or its database did not answer in time\./).waitFor()
  await failure.getByText('503 · request c1115f68').waitFor()
  await assertAccessible(page)
  isDown = false
  await failure.getByRole('button', { name: 'Try again' }).click()
  await rows.first().waitFor()
  await failure.waitFor({ state: 'detached' })
})

test('the palette finds O’Brien by obrien and remembers the last result', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia')
  await heading(page, /\d+ \w+$/)
  const { clientId } = await post(page, '/client', { firstName: 'Olivia', lastName: "O'Brien" })
  await page.keyboard.press('Control+k')
  const field = page.getByRole('textbox', { name: 'Go to or do …' })
  await field.fill('obrien')
  await page.getByRole('button', { name: "Olivia O'Brien", exact: true }).waitFor()
  await page.getByRole('button', { name: "Book an appointment for Olivia O'Brien" }).waitFor()
  await assertAccessible(page)
  const opened = page.context().waitForEvent('page')
  await page.keyboard.press('Control+Enter')
  const newTab = await opened
  await newTab.waitForURL(`**/console/clients/${clientId}`)
  await newTab.close()
  await heading(page, /\d+ \w+$/)
  await page.keyboard.press('Control+k')
  await field.fill('obrien')
  await page.getByRole('button', { name: "Olivia O'Brien", exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/clients/${clientId}`)
  await page.goto(new URL('/console/', page.url()).href)
  await heading(page, /\d+ \w+$/)
  await page.keyboard.press('Control+k')
  await page.getByRole('button', { name: "Olivia O'Brien client" }).waitFor()
  await field.fill('obrian')
  await page.getByText('Nothing found.').waitFor()
  await field.fill('dark')
  await page.keyboard.press('Enter')
  await page.locator('[data-mantine-color-scheme=dark]').waitFor()
  assert.deepEqual(complaints, [])
})

test('the palette finds the messages of a client and opens one', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia')
  await heading(page, /\d+ \w+$/)
  const person = { firstName: 'Quirin', lastName: 'Xaver', emailAddress: 'quirin@example.org' }
  const { clientId } = await post(page, '/client', person)
  const startTime = Math.floor(Date.now() / 60_000) * 60_000 + 20 * 86_400_000
  const who = { clientId, professionalId: 1, reasonId: 1, locationId: 1 }
  await post(page, '/calendar', { ...who, startTime, endTime: startTime + 1_800_000 })
  let mails: { subject: string; eventTriggerId: number }[] = []
  await until(async () => {
    mails = await get(page, `/emails/client/${clientId}`)
    return mails.length > 0
  })
  const { subject, eventTriggerId } = mails[0]!
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to or do …' }).fill('quirin')
  const line = page.getByRole('button', { name: `${subject} Quirin Xaver` })
  await line.waitFor()
  await keepScreenshot(page, 'palette-messages')
  await assertAccessible(page)
  await line.click()
  await page.waitForURL(`**/activity/${eventTriggerId}`)
  assert.deepEqual(complaints, [])
})

test('the palette fits a phone', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia')
  await heading(page, /\d+ \w+$/)
  await page.setViewportSize({ width: 360, height: 740 })
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to or do …' }).fill('a')
  await page.getByRole('dialog').getByRole('button').nth(8).waitFor()
  const overflows = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  assert.equal(overflows, false)
})

test('? shows all keys, / goes to the search field, and single keys can be switched off', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  await heading(page, 'Automations')
  await page.getByLabel('Find a sentence').waitFor()
  await page.keyboard.press('/')
  const focused = await page.evaluate(`document.activeElement.getAttribute('aria-label')`)
  assert.equal(focused, 'Find a sentence')
  // Keys are letters while the user types.
  await page.keyboard.type('?g')
  assert.equal(await page.getByLabel('Find a sentence').inputValue(), '?g')
  await page.getByLabel('Find a sentence').fill('')
  await page.getByRole('heading', { name: 'Automations', level: 1 }).click()

  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'All keys' })
  await help.getByText('find on the page').waitFor()
  await assertAccessible(page)
  await help.getByRole('switch', { name: 'Single keys' }).click({ force: true })
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })

  await page.reload()
  await heading(page, 'Automations')
  for (const key of ['?', 'g', 'v', '/']) await page.keyboard.press(key)
  assert.equal(await help.count(), 0)
  assert.match(page.url(), /automations$/)
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to or do …' }).fill('all keys')
  await page.keyboard.press('Enter')
  await help.getByRole('switch', { name: 'Single keys' }).click({ force: true })
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('v')
  await heading(page, 'Activity')
  assert.deepEqual(complaints, [])
})

test('an offline bar says when the next try is, and an unsaved change stays', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  let isUp = true
  let tries = 0
  await page.route('**/readyz', (route) => {
    tries += 1
    return isUp ? route.continue() : route.abort()
  })
  await page.clock.install()
  await page.goto(new URL('/console/automations/1', page.url()).href)
  const switched = page.getByRole('switch', { name: 'On' })
  await switched.click({ force: true })
  await page.getByRole('button', { name: /^Save/ }).waitFor()
  await page.context().setOffline(true)
  await page.getByText(/^No connection since \d\d:\d\d\. What you see is from then/).waitFor()
  await page.getByText(/^next try in \d+ s$/).waitFor()
  await page.getByText('Service cannot be reached').waitFor()
  await assertAccessible(page)
  await keepScreenshot(page, 'offline')
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByText('Not saved: The service cannot be reached.').waitFor()
  assert.equal(await switched.isChecked(), false)

  // The device is online again, but the service is down: the page retries every ten seconds.
  isUp = false
  await page.context().setOffline(false)
  const before = tries
  await until(async () => {
    await page.clock.fastForward(10_000)
    return tries > before + 1
  })
  await page.getByText('No connection since').waitFor()
  isUp = true
  await until(async () => {
    await page.clock.fastForward(10_000)
    return (await page.getByText('No connection since').count()) === 0
  })
})

test('a 429 is retried after Retry-After', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  let asked = 0
  await page.route('**/eventDefinition?*', async (route) => {
    if (asked++ > 0) return route.continue()
    const problem = { title: 'Too Many Requests', status: 429 }
    await route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json: problem })
  })
  const start = Date.UTC(2026, 10, 16, 12)
  await page.clock.install({ time: start })
  await page.clock.pauseAt(start + 1_000)
  const refused = page.waitForResponse('**/eventDefinition?*')
  await page.goto(new URL('/console/automations', page.url()).href)
  // Files load in real time; timers of the page use its clock, which is stopped.
  const elapse = (ms: number) => page.clock.runFor(ms)
  const isShown = () => page.getByRole('switch').first().isVisible()
  while (asked === 0) await elapse(10)
  await refused
  await page.clock.fastForward(50_000)
  assert.equal(asked, 1)
  while (!(await isShown())) await elapse(1_000)
  assert.equal(asked, 2)
})

test('a slow answer shows grey bars after 150 ms, and old data stays while new data loads', async (t: TestContext) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  const slow = Promise.withResolvers<void>()
  await page.route('**/eventDefinition?*', async (route) => {
    await slow.promise
    await route.continue()
  })
  // Wide enough for any length of the sentence below the title.
  await page.setViewportSize({ width: 1440, height: 860 })
  await page.clock.install()
  await page.goto(new URL('/console/automations', page.url()).href)
  await page.locator('[aria-busy]').first().waitFor({ state: 'attached' })
  const bars = page.locator('.skeleton')
  await page.clock.runFor(160)
  await bars.first().waitFor()
  // The bar above the page that says that mail is only captured.
  await page.locator('[data-mail]').waitFor()
  const topOf = async (locator: Locator) => Math.round((await locator.boundingBox())!.y)
  const top = await topOf(page.locator('[aria-busy]'))
  slow.resolve()
  const list = page.locator('.card', { has: page.getByRole('switch') }).first()
  await list.waitFor()
  assert.equal(await bars.count(), 0)
  assert.equal(await topOf(list), top, 'the list begins where its placeholder did')

  const again = Promise.withResolvers<void>()
  let isAskedAgain = false
  await page.unroute('**/eventDefinition?*')
  await page.route('**/eventDefinition?*', async (route) => {
    isAskedAgain = true
    await again.promise
    await route.continue()
  })
  // The page polls one minute after it has drawn the answer.
  await until(async () => {
    await page.clock.fastForward(61_000)
    return isAskedAgain
  })
  assert.ok((await page.getByRole('switch').count()) > 0)
  assert.equal(await bars.count(), 0)
  again.resolve()
})

test('a page whose files cannot be loaded shows an error and a button to load it again', async (t) => {
  if (skipInShortRun(t)) return
  const openAutomations = (page: Page) =>
    page.getByRole('link', { name: 'Automations' }).first().click()
  const { page: other } = await openAs(t, 'sofia', '/settings/account')
  await heading(other, 'Your account')
  const files = new Set<string>()
  other.on('request', (request) => {
    if (request.url().endsWith('.js')) files.add(request.url())
  })
  await openAutomations(other)
  await heading(other, 'Automations')

  const { page } = await openAs(t, 'sofia', '/settings/account')
  await heading(page, 'Your account')
  const isOfThatPage = (url: URL) => files.has(url.href)
  await page.route(isOfThatPage, (route) => route.abort())
  await openAutomations(page)
  const failure = page.getByRole('alert')
  await failure.getByText('This page could not be loaded').waitFor()
  await failure
    .getByText(/^Its files could not be loaded. Bellwether was probably updated/)
    .waitFor()
  await assertAccessible(page)
  await keepScreenshot(page, 'page-failed')
  await page.unroute(isOfThatPage)
  await failure.getByRole('button', { name: 'Try again' }).click()
  await heading(page, 'Automations')
})

test('a page that is opened without a connection says so inside the console, and opens when it is back', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  await heading(page, 'Your account')
  await page.evaluate('globalThis.isSameDocument = true')
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Automations' }).first().click()
  const failure = page.getByRole('alert')
  await failure.getByText(/^Its files could not be loaded. Check your connection/).waitFor()
  await failure.getByRole('button', { name: 'Try again' }).click()
  await failure.getByText(/^Its files could not be loaded. Check your connection/).waitFor()
  await page.getByText('No connection since').waitFor()
  await page.getByRole('link', { name: 'Your account' }).waitFor({ state: 'detached' })
  await assertAccessible(page)

  await page.context().setOffline(false)
  await heading(page, 'Automations')
  assert.equal(await page.evaluate('globalThis.isSameDocument'), true, 'the console was reloaded')
})

test('the palette finds the pages of the settings and the pause by other words', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/account')
  await heading(page, 'Your account')
  for (const [typed, found] of [
    ['csv', 'Import'],
    ['people', 'People and roles'],
    ['team', 'People and roles'],
    ['pause', 'Pause all mail'],
    ['api key', 'API keys'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Go to or do …' }).fill(typed)
    await page.locator('[data-action]', { hasText: found }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: 'Go to or do …' }).waitFor({ state: 'detached' })
  }
  assert.deepEqual(complaints, [])
})
