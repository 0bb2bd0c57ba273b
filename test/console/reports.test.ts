import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
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
import { until } from '../support/until.ts'

const { service, openAs, call } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'stella', role: 'USER' },
  { username: 'rita', role: 'REPORTS_ONLY' },
])

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

const SUMMARY = '/reports/102'

/** The printed page, in its frame. */
const frameOf = (page: Page, title: string) => page.frameLocator(`iframe[title="${title}"]`)

const appointmentsIn = (page: Page) =>
  frameOf(page, 'Appointment summary').locator('.kpi', { hasText: 'Appointments' }).first()

/** The number of appointments as the service prints it. */
async function countAppointments(from: string, to: string, more: object = {}): Promise<number> {
  const path = `/report/print/file?startDate=${from}&endDate=${to}&format=json`
  const { kpis } = await call('POST', path, { reportId: 102, ...more })
  return kpis.find(({ name }: { name: string }) => name === 'appointments').value
}

/** Waits until the tile shows this number of appointments. */
const showsAppointments = (page: Page, count: number) =>
  appointmentsIn(page)
    .locator('strong', { hasText: new RegExp(`^${count.toLocaleString('en')}$`) })
    .waitFor()

const daysOn = async (page: Page) =>
  [await page.getByLabel('From').inputValue(), await page.getByLabel('To').inputValue()] as const

test('a person with the role Reports only starts with the reports, and finds them by topic', async (t) => {
  const { page, complaints } = await openAs(t, 'rita')
  await heading(page, 'Reports')
  assert.match(page.url(), /\/console\/reports$/)
  await page.getByText('34 reports for any days').waitFor()
  await page.getByRole('button', { name: 'No-shows', exact: true }).click()
  await page.getByRole('link', { name: 'Appointment list' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Repeat no-shows' }).waitFor()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await page.getByRole('link', { name: 'Appointment list' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('peak')
  await page.getByRole('link', { name: 'Appointment list' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Peak times' }).click()
  await heading(page, 'Peak times')
  await frameOf(page, 'Peak times').getByRole('img').first().waitFor()
  // Filters are offered to people who may not list staff and locations elsewhere.
  await page.getByRole('combobox', { name: 'Location' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('the reports are those that the role may print, and another one says so', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'stella', '/reports')
  await page.getByRole('link', { name: 'Appointment list' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Appointment summary' }).count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Clients', exact: true }).count(), 1)
  await page.goto(`${service.base}/console${SUMMARY}`)
  await page.getByText('Your role may not see this.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'PDF' }).count(), 0)
})

test('a report shows the figures of its period, which is kept in the address', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', SUMMARY)
  await heading(page, 'Appointment summary')
  const last30Days = await daysOn(page)
  await showsAppointments(page, await countAppointments(...last30Days))

  await page.getByRole('combobox', { name: 'Period' }).click()
  await page.getByRole('option', { name: 'Last month' }).click()
  await page.waitForURL(/period=lastMonth/)
  const lastMonth = await daysOn(page)
  assert.notDeepEqual(lastMonth, last30Days)
  assert.match(lastMonth[0], /-01$/)
  const count = await countAppointments(...lastMonth)
  assert.ok(count > 0)
  await showsAppointments(page, count)
  await page.reload()
  await showsAppointments(page, count)
  assert.deepEqual(complaints, [])
})

test('a report is narrowed and grouped by what it offers', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', SUMMARY)
  await page.getByRole('combobox', { name: 'Location' }).click()
  await page.getByRole('option').first().click()
  await page.waitForURL(/location=\d/)
  const locationId = Number(/location=(\d+)/.exec(page.url())![1])
  const filters = { locationIdList: [locationId] }
  await showsAppointments(page, await countAppointments(...(await daysOn(page)), { filters }))
  await page.getByRole('combobox', { name: 'Group by' }).click()
  await page.getByRole('option', { name: 'By staff' }).click()
  await page.getByRole('combobox', { name: 'Then by' }).waitFor()
  await page.waitForURL(/groupBy=staff/)
  const table = frameOf(page, 'Appointment summary').getByRole('table')
  await table.getByRole('columnheader', { name: 'Staff' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('the figures are compared with another period, or with none', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', `${SUMMARY}?period=lastMonth`)
  const change = appointmentsIn(page).locator('small')
  await change.waitFor()
  const before = await change.innerText()
  const choose = async (name: string) => {
    await page.getByRole('combobox', { name: 'Compared with' }).click()
    await page.getByRole('option', { name }).click()
  }
  await choose('vs. the same period last year')
  await page.waitForURL(/compare=LAST_YEAR/)
  const [from] = await daysOn(page)
  const year = String(Number(from.slice(0, 4)) - 1)
  // The demo has no appointments of last year, so that no change is shown.
  await until(async () => (await change.innerText()) !== before)
  const facts = frameOf(page, 'Appointment summary').locator('dd')
  await facts
    .filter({ hasText: /no change is shown|\b20\d\d\b/ })
    .first()
    .waitFor()
  const path = `/report/print/file?startDate=${from}&endDate=${(await daysOn(page))[1]}&format=json`
  const printed = await call('POST', `${path}&compareWith=LAST_YEAR`, { reportId: 102 })
  assert.ok(printed.comparison.startDate.startsWith(year))

  await choose('No comparison')
  await until(async () => (await change.innerText()) === '')
  await page.reload()
  await appointmentsIn(page).waitFor()
  assert.equal(await change.innerText(), '')
  assert.deepEqual(complaints, [])
})

type Frame = { contentWindow: { print: () => void; document: { title: string } } }
type Styled = { computedStyleMap(): { get(name: string): unknown } }

test('a report is printed on paper with its head and all rows, by button and by Ctrl P', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/reports/101?period=thisYear')
  const frame = frameOf(page, 'Appointment list')
  await frame.locator('tbody tr').nth(600).waitFor({ state: 'attached' })
  const printed = await page.locator('iframe').evaluateHandle(({ contentWindow }: Frame) => {
    const calls: string[] = []
    contentWindow.print = () => void calls.push(contentWindow.document.title)
    return calls
  })
  await page.getByRole('button', { name: 'Print', exact: true }).click()
  await page.keyboard.press('Control+p')
  await frame.locator('thead').click()
  await page.keyboard.press('Control+p')
  const titles = await printed.jsonValue()
  assert.equal(titles.length, 3)
  assert.match(titles[0]!, /^Appointment list/)

  const title = frame.getByRole('heading', { level: 1 })
  const late = frame.locator('tbody tr').nth(600)
  assert.equal(await title.isVisible(), false)
  assert.equal(await late.isVisible(), false)
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await title.waitFor()
  assert.equal(await late.isVisible(), true)
  const color = await title.evaluate((it: Styled) => String(it.computedStyleMap().get('color')))
  assert.equal(color, 'rgb(27, 40, 36)')
  assert.equal(await page.getByRole('navigation', { name: 'Main' }).count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Print', exact: true }).count(), 0)
  assert.deepEqual(complaints, [])
})

test('a last day before the first is a fault of its field', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', `${SUMMARY}?from=2026-03-10&to=2026-03-01`)
  await page.getByText('The last day is before the first.').waitFor()
  assert.equal(await page.getByLabel('To').getAttribute('aria-invalid'), 'true')
  assert.equal(await page.getByRole('button', { name: 'PDF' }).isDisabled(), true)
  await page.getByLabel('To').fill('2026-03-31')
  await page.waitForURL(/to=2026-03-31/)
  await appointmentsIn(page).waitFor()
})

test('a report that is too long for a page can still be saved as CSV', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia')
  const errors = [{ pointer: '?format', detail: 'html can hold at most 50,000 rows' }]
  await page.route(/print\/file\?.*format=html/, (route) =>
    route.fulfill({ status: 422, json: { title: 'Invalid', errors } }),
  )
  await page.goto(`${service.base}/console${SUMMARY}`)
  await page.getByText('The report is too long for a page').waitFor()
  assert.equal(await page.getByRole('button', { name: 'CSV' }).isEnabled(), true)
})

type Body = { rows: Iterable<{ offsetHeight: number }> }

test('an empty report says so, and offers more days', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(
    t,
    'sofia',
    '/reports/101?from=2001-01-01&to=2001-01-02',
  )
  await page.getByText('Nothing in this period').waitFor()
  await page.getByRole('button', { name: 'This year' }).click()
  await page.waitForURL(/period=thisYear/)
  await page.getByText('Nothing in this period').waitFor({ state: 'detached' })
  // Long lists are cut until all rows are asked for.
  const table = frameOf(page, 'Appointment list').locator('tbody')
  const countShown = () =>
    table.evaluate(
      (body: unknown) => [...(body as Body).rows].filter((row) => row.offsetHeight > 0).length,
    )
  await page.getByRole('button', { name: 'Show all rows' }).waitFor()
  assert.equal(await countShown(), 500)
  await page.getByRole('button', { name: 'Show all rows' }).click()
  await until(async () => (await countShown()) > 500)
  assert.deepEqual(complaints, [])
})

for (const { label, begin, name } of [
  { label: 'PDF', begin: '%PDF-', name: /^appointment-summary_.*\.pdf$/ },
  { label: 'Excel', begin: 'PK', name: /^appointment-summary_.*\.xlsx$/ },
  { label: 'CSV', begin: 'Date,', name: /^appointment-summary_.*\.csv$/ },
]) {
  test(`the button ${label} saves the report as a file, also after leaving its page`, async (t) => {
    if (label !== 'PDF' && skipInShortRun(t)) return
    const { page, complaints } = await openAs(t, 'sofia', SUMMARY)
    const saved = page.waitForEvent('download')
    const left = Promise.withResolvers<void>()
    const isFile = ({ pathname, searchParams }: URL) =>
      pathname === '/report/print/file' && searchParams.get('format') !== 'html'
    await page.route(isFile, (route) => left.promise.then(() => route.continue()))
    await page.getByRole('button', { name: label }).click()
    await page.getByText(/^Printing “Appointment summary”/).waitFor()
    await page.getByRole('link', { name: 'Templates' }).click()
    await heading(page, 'Templates')
    left.resolve()
    const download = await saved
    assert.match(download.suggestedFilename(), name)
    const file = await readFile(await download.path())
    assert.ok(
      file.toString('utf8').replace('\uFEFF', '').startsWith(begin),
      file.toString('utf8', 0, 20),
    )
    await page.getByText(/ is saved$/).waitFor()
    assert.deepEqual(complaints, [])
  })
}

test('a long print shows its progress, and a failed one its reason', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', SUMMARY)
  const run = { runId: 1, reportId: 102, format: 'csv', file: null, createdDate: 0 }
  let answer: object = {
    ...run,
    status: 'RUNNING',
    statusReason: null,
    rowsDone: 30,
    rowsTotal: 120,
  }
  await page.route(/\/report\/run\/\d+$/, (route) => route.fulfill({ json: answer }))
  await page.getByRole('button', { name: 'CSV' }).click()
  const progress = page.getByRole('progressbar')
  await until(async () => (await progress.getAttribute('value')) === '0.25')
  await keepScreenshot(page, 'reports-progress')
  answer = { ...answer, status: 'FAILED', statusReason: 'The node was stopped.' }
  await page
    .getByText('“Appointment summary” could not be printed: The node was stopped.')
    .waitFor()
  assert.equal(await page.getByRole('button', { name: 'CSV' }).isEnabled(), true)
})

test('keys and the palette open reports, also from inside of one', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/templates')
  await heading(page, 'Templates')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await heading(page, 'Reports')
  await page.getByRole('link', { name: 'Appointment list' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const second = await page.locator('a:focus').innerText()
  await page.keyboard.press('Enter')
  await heading(page, second)
  await page.keyboard.press('Control+k')
  await page.getByLabel('Go to or do …').fill('peak t')
  await page.getByText('Peak times').first().waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Peak times')
  await frameOf(page, 'Peak times').locator('.kpi').first().click()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await heading(page, 'Reports')
  assert.deepEqual(complaints, [])
})

test('on a phone a long and wide table scrolls in place, and its head and first column stay', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${service.base}/console/reports/101?period=thisYear`)
  const frame = frameOf(page, 'Appointment list')
  await frame.locator('tbody tr').nth(200).waitFor({ state: 'attached' })
  const printed = await (await page.locator('iframe').elementHandle())!.contentFrame()
  await until(() => page.evaluate('document.documentElement.scrollHeight < 4000'))
  const before = await frame.locator('thead th').first().boundingBox()
  const rows = "document.querySelector('.rows')"
  await printed!.evaluate(`${rows}.scrollTo(300, 5000)`)
  const scrolled = await printed!.evaluate(`[${rows}.scrollLeft > 0, ${rows}.scrollTop > 1000]`)
  assert.deepEqual(scrolled, [true, true])
  const after = await frame.locator('thead th').first().boundingBox()
  assert.deepEqual([after!.x, after!.y], [before!.x, before!.y])
  await keepScreenshot(page, 'report-rows-390')
})

test('reports follow WCAG 2.2 AA, have a dark page, and fit a phone', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia')
  const desktop = page.viewportSize()!
  for (const path of ['/reports', SUMMARY, '/reports/105']) {
    await page.setViewportSize(desktop)
    await page.goto(`${service.base}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await waitUntilLoaded(page)
    const name = path.slice(1).replace('/', '-')
    for (const scheme of SCHEMES) {
      await assertAccessible(page, [scheme])
      await keepScreenshot(page, `${name}-${scheme}`)
      if (path === '/reports') continue
      const report = page.frames().find((frame) => frame.url() === 'about:srcdoc')!
      const font = await report.evaluate('getComputedStyle(document.body).fontFamily')
      assert.match(String(font), /^"Inter Variable"/, `the font of ${path} in ${scheme}`)
    }
    for (const width of [390, 360]) {
      await page.setViewportSize({ width, height: 844 })
      const overflows = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
      assert.equal(overflows, false, `${path} ${width}`)
      await keepScreenshot(page, `${name}-${width}`)
    }
    await page.emulateMedia({ colorScheme: 'light' })
  }
  assert.deepEqual(complaints, [])
})
