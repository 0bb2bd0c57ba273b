import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  keepScreenshot,
  SCHEMES,
  skipInShortRun,
  startConsole,
} from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, openAs } = await startConsole([{ username: 'sofia', role: 'OWNER' }])

const cardOf = (page: Page, name: string) =>
  page.locator('li[data-row]', { has: page.getByRole('link', { name, exact: true }) })

const pictureOf = (page: Page, name: string) => cardOf(page, name).locator('svg[data-picture]')

const isPictureRequest = (url: string) => /\/report\/\d+\/(rows|sums)\?/.test(url)

test('each report has a small picture of its data, which is hidden from screen readers', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/reports')
  await pictureOf(page, 'Appointment summary').locator('rect').first().waitFor()
  // Peak times: seven weekdays by the hours of the demo.
  await pictureOf(page, 'Peak times').locator('rect').first().waitFor()
  assert.equal((await pictureOf(page, 'Peak times').locator('rect').count()) % 7, 0)
  assert.equal(
    await pictureOf(page, 'Peak times').locator('xpath=..').getAttribute('aria-hidden'),
    'true',
  )
  await page.getByRole('button', { name: 'Staff', exact: true }).click()
  await pictureOf(page, 'Staff utilisation').locator('rect').first().waitFor()
  await page.getByRole('button', { name: 'Automation', exact: true }).click()
  await pictureOf(page, 'Trigger log').locator('circle').first().waitFor()
  assert.deepEqual(complaints, [])
})

test('pictures are read when they come into view, two at a time, and only once', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/templates')
  const asked: string[] = []
  let [running, most] = [0, 0]
  await page.route(
    (url) => isPictureRequest(url.href),
    async (route) => {
      asked.push(route.request().url())
      running += 1
      most = Math.max(most, running)
      const answer = await route.fetch()
      running -= 1
      await route.fulfill({ response: answer })
    },
  )
  await page.getByRole('link', { name: 'Reports' }).first().click()
  await pictureOf(page, 'Peak times').waitFor()
  assert.equal(most, 2)
  const count = await page.locator('li[data-row]').count()
  assert.ok(asked.length < count, `${asked.length} of ${count} were asked for`)
  await page.locator('li[data-row]').last().scrollIntoViewIfNeeded()
  await pictureOf(page, 'Reminders and no-shows').waitFor()
  await until(() => running === 0)
  await page.getByRole('link', { name: 'Templates' }).first().click()
  await page.getByRole('link', { name: 'Reports' }).first().click()
  await pictureOf(page, 'Peak times').waitFor()
  assert.deepEqual(asked, [...new Set(asked)])
})

test('the whole gallery reads at most 200 KB', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/account')
  let [bytes, pictures] = [0, 0]
  const reads: Promise<unknown>[] = []
  page.on('response', (response) => {
    if (!response.url().startsWith(`${service.base}/report`)) return
    reads.push(
      response.body().then(
        (body) => {
          bytes += body.length
          if (isPictureRequest(response.url())) pictures += 1
        },
        () => {},
      ),
    )
  })
  await page.getByRole('link', { name: 'Reports' }).first().click()
  const cards = page.locator('li[data-row]')
  await cards.first().waitFor()
  for (let i = 0; i < (await cards.count()); i += 3) await cards.nth(i).scrollIntoViewIfNeeded()
  await cards.last().scrollIntoViewIfNeeded()
  await until(async () => pictures === (await cards.count()))
  await Promise.all(reads)
  t.diagnostic(`${bytes} bytes`)
  assert.ok(bytes <= 200_000, `${bytes} bytes`)
})

test('a report without data, or whose picture cannot be read, has an empty frame', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/templates')
  await page.route(/\/report\/102\/sums/, (route) => route.fulfill({ json: { items: [] } }))
  await page.route(/\/report\/105\/sums/, (route) => route.fulfill({ status: 500, json: {} }))
  const answers = [/\/report\/102\/sums/, /\/report\/105\/sums/].map((url) =>
    page.waitForResponse(url),
  )
  await page.getByRole('link', { name: 'Reports' }).first().click()
  await Promise.all(answers)
  await pictureOf(page, 'Appointment list').waitFor()
  assert.equal(await pictureOf(page, 'Appointment summary').count(), 0)
  assert.equal(await pictureOf(page, 'Peak times').count(), 0)
})

test('favourites are marked with a star, and stay in this browser', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/reports')
  await page.getByRole('button', { name: 'Favourites', exact: true }).click()
  await page.getByText('No favourite yet').waitFor()
  await page.getByRole('button', { name: 'All reports' }).click()
  const star = page.getByRole('button', { name: 'Favourite: Peak times' })
  await star.click()
  assert.equal(await star.getAttribute('aria-pressed'), 'true')
  await page.reload()
  await page.getByRole('button', { name: 'Favourites', exact: true }).click()
  await until(async () => (await page.locator('li[data-row]').count()) === 1)
  await page.getByRole('link', { name: 'Peak times' }).click()
  await page.getByRole('heading', { name: 'Peak times', level: 1 }).waitFor()
  await star.click()
  await page.goto(`${service.base}/console/reports`)
  await page.getByRole('button', { name: 'Favourites', exact: true }).click()
  await page.getByText('No favourite yet').waitFor()
  assert.deepEqual(complaints, [])
})

test('the gallery follows WCAG 2.2 AA, is drawn in dark, and fits a phone', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/reports')
  await page.setViewportSize({ width: 1440, height: 1000 })
  await page.getByRole('button', { name: 'Favourite: Appointment list' }).click()
  await pictureOf(page, 'Peak times').waitFor()
  for (const topic of ['Appointments', 'No-shows', 'Clients', 'Automation']) {
    await page.getByRole('button', { name: topic, exact: true }).click()
    // The demo has no feeds, so their report has an empty frame.
    const cards = page
      .locator('li[data-row]:nth-child(-n + 6)')
      .filter({ hasNot: page.getByRole('link', { name: 'Feeds and their sources', exact: true }) })
    await until(
      async () => (await cards.locator('svg[data-picture]').count()) === (await cards.count()),
    )
    await keepScreenshot(page, `gallery-${topic}`)
  }
  await page.getByRole('button', { name: 'All', exact: true }).click()
  for (const scheme of SCHEMES) {
    await assertAccessible(page, [scheme])
    await keepScreenshot(page, `gallery-${scheme}`)
  }
  for (const width of [1024, 390, 360]) {
    await page.setViewportSize({ width, height: 844 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    await keepScreenshot(page, `gallery-${width}`)
  }
  assert.deepEqual(complaints, [])
})
