import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { enPages } from '../../console/texts/en-pages.ts'
import { en } from '../../console/texts/en.ts'
import type { TextTree } from '../../console/texts/translate.ts'
import { openPage } from '../support/browser.ts'
import {
  assertAccessible,
  isCompleteRun,
  keepPictures,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'

const { service, openAs, call } = await startConsole([
  { username: 'dora', role: 'OWNER' },
  { username: 'fanny', role: 'OWNER' },
  { username: 'luca', role: 'REPORTS_ONLY' },
  { username: 'otto', role: 'OWNER' },
])
const { items: pending } = await call('GET', '/eventTriggers?status=SCHEDULED&order=newest&limit=1')

const MAIN_PAGES = ['/', '/automations/3', '/reports', '/settings/business']
const PAGES = isCompleteRun
  ? [
      ...MAIN_PAGES,
      '/activity',
      '/calendar',
      '/clients',
      '/automations',
      '/automations/new',
      '/templates',
      '/templates/3',
      `/activity/${pending[0].eventTriggerId}`,
      '/import',
      '/settings/staff',
      '/settings/statuses',
      '/settings/people',
      '/inbox',
      '/settings/keys',
      '/settings/mail',
      '/settings/suppressions',
      '/settings/audit',
      '/settings/account',
      '/settings/feeds',
    ]
  : MAIN_PAGES

const keysOf = (tree: TextTree, path = ''): string[] =>
  Object.entries(tree).flatMap(([name, text]) =>
    typeof text === 'string' ? [`${path}${name}`] : keysOf(text, `${path}${name}.`),
  )
const KEYS = new Set([...keysOf(en), ...keysOf(enPages)].map((key) => key.replace(/_other$/, '')))

/** Words that German and French do not have. */
const ENGLISH =
  /(?<!\p{L})(the|and|with|before|after|today|tomorrow|any|find|show|save|sent|waiting|failed|cancelled|staff|appointments?|settings|reports|templates|search|loading|next|day|week|days|Monday|Tuesday|Wednesday|Thursday|Friday)(?!\p{L})/u

/** What the console itself says on the page: names that people typed have `dir="auto"` or are in `bdi`. */
const ownWords = (page: Page) => page.evaluate<string[]>(OWN_WORDS)

// As text, because the tests are compiled without the types of a browser.
const OWN_WORDS = `(() => {
  const words = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement
    if (parent.closest('[dir=auto], bdi, code, kbd, script, style')) continue
    if (parent.checkVisibility()) words.push(walker.currentNode.textContent)
  }
  for (const field of document.querySelectorAll('[placeholder]')) words.push(field.placeholder)
  return words.map((text) => text.trim()).filter((text) => text !== '')
})()`

async function checkPages(t: TestContext, username: string, language: string) {
  const { page, complaints } = await openAs(t, username)
  const chosen = await page
    .context()
    .request.post(`${service.base}/user/language`, { data: { language } })
  assert.equal(chosen.status(), 200)
  for (const path of PAGES) {
    await page.goto(`${service.base}/console${path}`)
    await page.locator(`html[lang=${language}]`).waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await waitUntilLoaded(page)
    const words = await ownWords(page)
    assert.deepEqual(
      words.filter((text) => text.split(/\s/).some((word) => KEYS.has(word))),
      [],
      `${path} shows keys`,
    )
    assert.deepEqual(
      words.filter((text) => ENGLISH.test(text)),
      [],
      `${path} has English words`,
    )
    await assertAccessible(page, ['light'])
    await keepPictures(page, `${language}${path.replaceAll('/', '-')}`)
  }
  assert.deepEqual(complaints, [])
}

test('the pages are in German, without English words, accessible, and fit a phone', (t) =>
  checkPages(t, 'dora', 'de'))

test('the pages are in French, without English words, accessible, and fit a phone', (t) =>
  checkPages(t, 'fanny', 'fr'))

test('a person chooses the language on the page of the account, for every browser', async (t) => {
  const { page, complaints } = await openAs(t, 'luca', '/settings/account')
  await page.getByRole('heading', { name: 'Your account', level: 1 }).waitFor()
  await page.getByText('Deutsch').click()
  await page.getByRole('heading', { name: 'Ihr Konto', level: 1 }).waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'de')

  const { page: other } = await openPage(t)
  await other.context().addCookies(await page.context().cookies())
  await other.goto(`${service.base}/console/reports`)
  await other.getByRole('heading', { name: 'Berichte', level: 1 }).waitFor()
  assert.deepEqual(complaints, [])
})

test('what was read in one language is read again in another one', async (t) => {
  const { page, complaints } = await openAs(t, 'otto', '/settings/statuses')
  const settings = page.getByRole('navigation', { name: /Settings|Einstellungen/ })
  await page.getByRole('table').getByText('No-show').first().waitFor()
  await settings.getByRole('link', { name: 'Your account' }).click()
  await page.getByText('Deutsch').click()
  await settings.getByRole('link', { name: /^Status/ }).click()
  await page.getByRole('table').getByText('Nicht erschienen').first().waitFor()
  assert.equal(await page.getByText('No-show', { exact: true }).count(), 0)
  assert.deepEqual(complaints, [])
})

test('the sign-in is in the language of the browser', async (t) => {
  const { page, complaints } = await openPage(t)
  await page.addInitScript(
    "Object.defineProperty(navigator, 'languages', { get: () => ['it', 'fr-CH', 'en'] })",
  )
  await page.goto(`${service.base}/console/sign-in`)
  await page.getByRole('heading', { name: 'Connexion' }).waitFor()
  await assertAccessible(page, ['light'])
  // Without a session the service answers 401.
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.startsWith('401:')),
    [],
  )
})
