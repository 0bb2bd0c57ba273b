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

const { service, openAs, call } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'rita', role: 'REPORTS_ONLY' },
  { username: 'nora', role: 'REPORTS_ONLY' },
])

const goTo = (page: Page, path: string) => page.goto(`${service.base}/console${path}`)

const openViews = (page: Page) => page.getByRole('button', { name: 'Views', exact: true }).click()

const panelOf = (page: Page) =>
  page.locator('section', { has: page.getByRole('heading', { name: 'Saved views' }) })

/** The views that this person sees. */
const viewsOf = async (page: Page) =>
  (await (await page.context().request.get(`${service.base}/reportView`)).json()).items

async function saveView(page: Page, name: string) {
  await page.getByLabel('Name of this view').fill(name)
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByText(`${name} is saved.`).waitFor()
}

test('the filters of a report are saved under a name, opened, renamed and removed', async (t) => {
  const { page, complaints } = await openAs(
    t,
    'rita',
    '/reports/102?staff=2&groupBy=month&compare=LAST_YEAR',
  )
  await page.getByRole('button', { name: 'PDF' }).waitFor()
  await openViews(page)
  // Sharing needs a right that this role lacks.
  await page.getByLabel('Name of this view').waitFor()
  assert.equal(await page.getByLabel('Share it with everybody').count(), 0)
  await saveView(page, 'By month')
  assert.partialDeepStrictEqual(await viewsOf(page), [
    {
      name: 'By month',
      reportId: 102,
      filters: { professionalIdList: [2] },
      groupBy: ['month'],
      compareWith: 'LAST_YEAR',
    },
  ])

  await goTo(page, '/reports/102?period=lastMonth&location=1&groupBy=staff&thenBy=month')
  await openViews(page)
  await page.getByRole('button', { name: 'By month', exact: true }).click()
  // The period stays, because a view has none.
  await page.waitForURL(
    (url) => url.search === '?period=lastMonth&groupBy=month&staff=2&compare=LAST_YEAR',
  )
  await page.getByRole('combobox', { name: 'Group by' }).waitFor()

  // The same name replaces the filters.
  await goTo(page, '/reports/102?status=NO_SHOW')
  await openViews(page)
  await page.getByRole('button', { name: 'By month', exact: true }).waitFor()
  await saveView(page, 'By month')
  assert.partialDeepStrictEqual(await viewsOf(page), [{ filters: { statusList: ['NO_SHOW'] } }])

  await goTo(page, '/reports')
  const line = panelOf(page).getByRole('listitem')
  await line.getByText('Appointment summary').waitFor()
  await line.getByText('No-show', { exact: true }).waitFor()
  await line.getByRole('button', { name: 'Change By month' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Missed')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await line.getByRole('link', { name: 'Missed' }).click()
  await page.waitForURL(/\/reports\/102\?status=NO_SHOW$/)

  await openViews(page)
  await page.getByRole('button', { name: 'Remove Missed' }).click()
  await page.getByRole('button', { name: 'Remove the view' }).click()
  await page.getByText('“Missed” is removed.').waitFor()
  assert.deepEqual(await viewsOf(page), [])
  assert.deepEqual(complaints, [])
})

test('a shared view is found by everybody and changed by its owner', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/reports/102?service=1')
  await page.getByRole('button', { name: 'PDF' }).waitFor()
  await openViews(page)
  await page.getByLabel('Share it with everybody').check()
  await keepScreenshot(page, 'report-views-popover')
  await saveView(page, 'One service')

  const { page: other } = await openAs(t, 'nora', '/reports')
  const line = panelOf(other).getByRole('listitem')
  await line.getByText('shared by sofia').waitFor()
  assert.equal(await line.getByRole('button').count(), 0)
  await line.getByRole('link', { name: 'One service' }).click()
  await other.waitForURL(/\/reports\/102\?service=1$/)
  await openViews(other)
  await other.getByRole('button', { name: /^One service/ }).waitFor()
  assert.equal(await other.getByRole('button', { name: 'Remove One service' }).count(), 0)

  await goTo(page, '/reports')
  await page.getByRole('button', { name: 'Remove One service' }).click()
  await page.getByText('It is removed for everyone.').waitFor()
  await page.getByRole('button', { name: 'Remove the view' }).click()
  await panelOf(page).getByText('Filter a report and save it under a name').waitFor()
})

test('a view with filters that the page has no field for shows them, and they can be removed', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia')
  await call('POST', '/reportView', {
    name: 'Two of staff',
    reportId: 101,
    shared: true,
    filters: { professionalIdList: [1, 2], clientIdList: [1, 2, 3] },
  })
  const printed = page.waitForRequest(
    (request) =>
      request.url().includes('/report/print/file') && request.postData()!.includes('clientIdList'),
  )
  await goTo(page, '/reports')
  await page.getByRole('link', { name: 'Two of staff' }).click()
  const { filters } = (await printed).postDataJSON()
  assert.deepEqual(filters.professionalIdList, [1, 2])
  await page.getByRole('button', { name: /^Remove these filters: .+, .+ · 3 clients$/ }).click()
  await page.waitForURL((url) => url.search === '')
  assert.deepEqual(complaints, [])
})

test('the fault of a name is shown at its field', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'rita', '/reports/102')
  await page.getByRole('button', { name: 'PDF' }).waitFor()
  const errors = [{ pointer: '/name', detail: 'must not have control characters' }]
  await page.route(/\/reportView$/, (route) =>
    route.fulfill({ status: 422, json: { title: 'Invalid', errors } }),
  )
  await openViews(page)
  await page.getByLabel('Name of this view').fill('Mine')
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByText('must not have control characters').waitFor()
  // What was typed stays.
  assert.equal(await page.getByLabel('Name of this view').inputValue(), 'Mine')
})

test('views follow WCAG 2.2 AA, have a dark page, and fit a phone', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/reports/102')
  const desktop = page.viewportSize()!
  await call('POST', '/reportView', { name: 'Mine', reportId: 102, shared: true })
  await goTo(page, '/reports/102')
  await waitUntilLoaded(page)
  await openViews(page)
  await page.getByRole('button', { name: /^Mine/ }).waitFor()
  for (const scheme of SCHEMES) {
    await assertAccessible(page, [scheme])
    await keepScreenshot(page, `report-views-${scheme}`)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
  await keepScreenshot(page, 'report-views-390')
  await page.setViewportSize(desktop)
  await goTo(page, '/reports')
  await page.getByRole('button', { name: 'Change Mine' }).click()
  await page.getByRole('dialog').getByLabel('Share it with everybody').waitFor()
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

test('a file is shared by a link that needs no sign-in, until sharing it is ended', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/reports/102?period=thisMonth')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Format' }).click()
  await page.getByRole('option', { name: 'CSV' }).click()
  await keepScreenshot(page, 'report-share')
  await dialog.getByRole('button', { name: 'Create the link' }).click()
  const url = await dialog.getByTestId('link').innerText()
  const open = () => fetch(service.base + new URL(url).pathname)
  const opened = await open()
  assert.deepEqual(
    [opened.status, opened.headers.get('content-type')?.split(';')[0]],
    [200, 'text/csv'],
  )

  await goTo(page, '/reports')
  const panel = page.locator('section', {
    has: page.getByRole('heading', { name: 'Shared files' }),
  })
  await panel.getByText('Appointment summary').waitFor()
  await waitUntilLoaded(page)
  await assertAccessible(page, ['light'])
  await panel.getByRole('button', { name: /^End sharing/ }).click()
  await page.getByRole('button', { name: 'End sharing it' }).click()
  await panel.getByText('No file is shared.').waitFor()
  assert.equal((await open()).status, 410)
  assert.deepEqual(complaints, [])

  const { page: other } = await openAs(t, 'rita', '/reports/102')
  await other.getByRole('button', { name: 'PDF' }).waitFor()
  assert.equal(await other.getByRole('button', { name: 'Share', exact: true }).count(), 0)
})

test('a page that the role may not open says so, also if its address is typed', async (t) => {
  const { page, complaints } = await openAs(t, 'rita', '/reports')
  for (const path of ['/settings/people', '/automations/new', '/calendar', '/import']) {
    await goTo(page, path)
    await page.getByText('Your role may not open this page').waitFor()
  }
  await assertAccessible(page, ['light'])
  await page.getByRole('link', { name: 'Go to your first page' }).click()
  await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor()
  assert.deepEqual(complaints, [])
})
