import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage } from '../support/browser.ts'
import { assertAccessible, keepScreenshot, startConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, openAs, password } = await startConsole([{ username: 'sofia', role: 'OWNER' }])

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

async function signIn(page: Page) {
  await page.getByLabel('Username').fill('sofia')
  await page.getByLabel('Password').first().fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** The user returns to the window: the page asks for everything that is older than a minute. */
async function returnLater(page: Page) {
  await page.clock.fastForward(61_000)
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
}

const signOutElsewhere = (page: Page) =>
  page.request.delete(`${service.base}/session`, { headers: { origin: service.base } })

test('a user who opened the sign-in directly is still signed in a minute later', async (t) => {
  const { page } = await openPage(t)
  await page.clock.install()
  await page.goto(`${service.base}/console/sign-in`)
  await signIn(page)
  await page.getByRole('link', { name: 'Settings' }).first().click()
  const name = page.getByLabel('Name')
  await name.fill('Lindenhof and Sport')
  const asked = page.waitForResponse('**/session')
  await returnLater(page)
  assert.equal((await asked).status(), 200)
  assert.equal(await name.inputValue(), 'Lindenhof and Sport')
})

test('a page asks for the session once, while its script is loaded', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  for (const path of ['/settings/account', '/sign-in']) {
    await page.goto(`${service.base}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const initiators = await page.evaluate(`performance.getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('/session'))
      .map(({ initiatorType }) => initiatorType)`)
    assert.deepEqual(initiators, ['link'], path)
  }
})

test('a session that ends on an untouched page leads to the sign-in, and back to the page', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  await page.clock.install()
  await page.goto(`${service.base}/console/activity?outcome=sent`)
  await heading(page, 'Activity')
  await signOutElsewhere(page)
  await returnLater(page)
  await heading(page, 'Sign in')
  await signIn(page)
  await heading(page, 'Activity')
  await page.waitForURL('**/console/activity?outcome=sent')
})

test('a session that ends keeps the typed text, which is saved after signing in in a new tab', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  await page.clock.install()
  await page.goto(`${service.base}/console/settings/business`)
  await page.getByLabel('Phone').fill('+41 44 000 00 00')
  await signOutElsewhere(page)
  await returnLater(page)
  const bar = page.getByRole('status').filter({ hasText: 'You were signed out.' })
  await bar.waitFor()
  await assertAccessible(page)
  await keepScreenshot(page, 'signed-out')
  const opened = page.context().waitForEvent('page')
  await bar.getByRole('link', { name: 'sign in in a new tab' }).click()
  const newTab = await opened
  await signIn(newTab)
  await newTab.getByRole('navigation', { name: 'Main' }).first().waitFor()
  await newTab.close()

  await until(async () => {
    await returnLater(page)
    return (await bar.count()) === 0
  })
  assert.equal(await page.getByLabel('Phone').inputValue(), '+41 44 000 00 00')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
})

for (const { what, path, field, saved } of [
  { what: 'a form', path: '/settings/business', field: 'Phone', saved: 'Saved.' },
  { what: 'a template', path: '/templates/2', field: 'Subject', saved: 'Saved' },
]) {
  test(`${what} that is saved after signing out elsewhere offers the sign-in and is saved then`, async (t) => {
    const { page } = await openAs(t, 'sofia', path)
    await page.getByRole('textbox', { name: field }).fill('+41 44 111 11 11')
    await signOutElsewhere(page)
    await page.getByRole('button', { name: /^Save/ }).click()
    const link = page.getByRole('main').getByRole('link', { name: 'sign in in a new tab' })
    const opened = page.context().waitForEvent('page')
    await link.click()
    assert.doesNotMatch(await page.getByRole('main').innerText(), /Bearer/)
    const newTab = await opened
    await signIn(newTab)
    await newTab.getByRole('navigation', { name: 'Main' }).first().waitFor()
    await newTab.close()
    await page.getByRole('button', { name: /^Save/ }).click()
    await page.getByText(saved, { exact: true }).waitFor()
  })
}
