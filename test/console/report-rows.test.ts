import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  keepScreenshot,
  SCHEMES,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'

const { openAs } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'rita', role: 'REPORTS_ONLY' },
])

const SUMMARY = '/reports/102?period=lastMonth'

const frameOf = (page: Page) => page.frameLocator('iframe')
const drawerOf = (page: Page) => page.getByRole('dialog')

/** The cell of a row of the printed page, by the label of its column. */
async function cellOf(page: Page, row: number, column: string) {
  await frameOf(page).locator('tbody tr').first().waitFor()
  const labels = await frameOf(page).locator('thead th').allInnerTexts()
  const place = labels.findIndex(
    (label) => label.replace(/\s+/g, ' ').replace('- ', '-') === column,
  )
  assert.notEqual(place, -1, labels.join())
  return frameOf(page).locator('tbody tr').nth(row).locator('td').nth(place)
}

const choose = async (page: Page, field: string, option: string) => {
  await drawerOf(page).getByRole('combobox', { name: field }).click()
  await page.getByRole('option', { name: option, exact: true }).first().click()
}

const TIME = /^\d{4}-\d\d-\d\d/

test('a click on a figure lists the appointments that it counts, and leads to one', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', SUMMARY)
  const cell = await cellOf(page, 1, 'Appointments')
  const count = Number(await cell.innerText())
  assert.ok(count > 1)
  const day = await frameOf(page).locator('tbody tr').nth(1).locator('td').first().innerText()
  await cell.click()
  await drawerOf(page).getByText(`${count} entries`, { exact: true }).waitFor()
  const items = drawerOf(page).getByRole('listitem')
  assert.equal(await items.count(), count)
  const times = await items.getByRole('link', { name: TIME }).allInnerTexts()
  assert.equal(times.length, count)
  assert.ok(times.every((time) => time.startsWith(day)))

  await items.first().getByRole('link', { name: TIME }).click()
  await page.waitForURL(new RegExp(`/calendar\\?day=${day}&appointment=\\d+$`))
  await page.locator('iframe').waitFor({ state: 'detached' })
  await page.goBack()
  await frameOf(page).locator('.kpi').first().click()
  const all = (await frameOf(page).locator('.kpi strong').first().innerText()).replace(/\D/g, '')
  await drawerOf(page)
    .getByText(`${Number(all).toLocaleString('en')} entries`, { exact: true })
    .waitFor()
  // The list is read page by page.
  assert.equal(await items.count(), 50)
  await drawerOf(page).getByRole('button', { name: 'Show more' }).click()
  await items.nth(99).waitFor()
  assert.deepEqual(complaints, [])
})

test('a figure is also chosen by keyboard, and a rate has no list', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', SUMMARY)
  const missed = await cellOf(page, 0, 'No-shows')
  const day = await frameOf(page).locator('tbody tr').first().locator('td').first().innerText()
  const count = Number(await missed.innerText())
  await page.getByRole('button', { name: 'choose one' }).press('Enter')
  await choose(page, 'Figure', 'No-shows')
  await drawerOf(page)
    .getByText(/entries$/)
    .waitFor()
  await choose(page, 'Row', `${day}, ${await weekdayOf(page)}`)
  await drawerOf(page)
    .getByText(count === 1 ? '1 entry' : `${count} entries`, { exact: true })
    .waitFor()
  await page.keyboard.press('Escape')

  await frameOf(page).locator('.kpi', { hasText: 'Kept rate' }).click()
  await drawerOf(page).getByText('There is no list behind this figure').waitFor()
  assert.deepEqual(complaints, [])
})

const weekdayOf = (page: Page) =>
  frameOf(page).locator('tbody tr').first().locator('td').nth(1).innerText()

test('the sum of amounts is shown with its currency', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', SUMMARY)
  const tile = frameOf(page).locator('.kpi', { hasText: 'Revenue (CHF)' })
  const amount = (await tile.locator('strong').innerText()).replace(/[^\d.]/g, '')
  await tile.click()
  const sum = `${Number(amount).toLocaleString('en', { minimumFractionDigits: 2 })}`
  await drawerOf(page)
    .getByText(new RegExp(`entries · CHF\\s${sum}$`))
    .waitFor()
})

test('a message that a figure counts opens in Activity', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/reports/901')
  await frameOf(page).locator('tbody tr').nth(2).locator('td').nth(2).click()
  await drawerOf(page).getByRole('listitem').getByRole('link', { name: TIME }).click()
  await page.waitForURL(/\/activity\/\d+$/)
})

test('a role that may only print reports sees the entries without links', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'rita', SUMMARY)
  await (await cellOf(page, 1, 'Appointments')).click()
  await drawerOf(page).getByRole('listitem').first().waitFor()
  assert.equal(await drawerOf(page).getByRole('link').count(), 0)
  assert.deepEqual(complaints, [])
})

test('a page that is older than the data is printed again', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', SUMMARY)
  await frameOf(page).locator('tbody tr').first().waitFor()
  await page.route(/format=json/, async (route) => {
    const answer = await (await route.fetch()).json()
    await route.fulfill({ json: { ...answer, rowCount: answer.rowCount + 1 } })
  })
  await frameOf(page).locator('.kpi').first().click()
  await drawerOf(page).getByText('The data has changed').waitFor()
  await page.unroute(/format=json/)
  const printed = page.waitForResponse(/format=html/)
  await drawerOf(page).getByRole('button', { name: 'Print the page again' }).click()
  await printed
})

test('the entries follow WCAG 2.2 AA, have a dark page, and fit a phone', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', SUMMARY)
  await (await cellOf(page, 1, 'Appointments')).click()
  await drawerOf(page).getByRole('listitem').first().waitFor()
  await waitUntilLoaded(page)
  for (const scheme of SCHEMES) {
    await assertAccessible(page, [scheme])
    await keepScreenshot(page, `report-rows-${scheme}`)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
  await keepScreenshot(page, 'report-rows-390')
  assert.deepEqual(complaints, [])
})
