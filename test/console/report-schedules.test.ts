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
  { username: 'sofia', role: 'OWNER', emailAddress: 'sofia@praxis.example' },
  { username: 'treuhand', role: 'REPORTS_ONLY', emailAddress: 'books@treuhand.example' },
  { username: 'stella', role: 'USER', emailAddress: 'stella@praxis.example' },
  { username: 'rita', role: 'REPORTS_ONLY' },
])

const { items: users } = await call('GET', '/user')
const userIdOf = (name: string): number =>
  users.find(({ username }: { username: string }) => username === name).userId

const listSchedules = async () => (await call('GET', '/reportSchedule')).items

const dialogOf = (page: Page) => page.getByRole('dialog')

const choose = async (page: Page, field: string, option: string) => {
  await dialogOf(page).getByRole('combobox', { name: field }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const panelOf = (page: Page) =>
  page.locator('section', { has: page.getByRole('heading', { name: 'By mail, regularly' }) })

const save = (page: Page) => dialogOf(page).getByRole('button', { name: 'Save' }).click()

async function addPerson(page: Page, name: string) {
  await dialogOf(page).getByRole('combobox', { name: 'To', exact: true }).fill(name)
  await page.getByRole('option', { name: new RegExp(`^${name}`) }).click()
  await page.keyboard.press('Escape')
}

/** A schedule of the appointment summary, as other tests need one. */
const addSchedule = (more: object = {}) =>
  call('POST', '/reportSchedule', {
    reportId: 102,
    frequency: 'DAILY',
    range: 'YESTERDAY',
    userIdList: [userIdOf('sofia')],
    ...more,
  })

const deleteAll = async (page: Page) => {
  for (const { reportScheduleId } of await listSchedules()) {
    await page.context().request.delete(`${service.base}/reportSchedule/${reportScheduleId}`)
  }
}

test('an owner has a report mailed every week, with the filters of its page, changes it and ends it', async (t) => {
  const { page, complaints } = await openAs(
    t,
    'sofia',
    '/reports/102?period=lastMonth&location=1&status=NO_SHOW&groupBy=staff&compare=NONE',
  )
  await page.getByRole('button', { name: 'Mail regularly' }).click()
  const dialog = dialogOf(page)
  await dialog.getByText(/^Zürich.* · No-show · By staff · No comparison$/).waitFor()
  await dialog.getByText(/^Time zone of Zürich.*: Zürich\.$/).waitFor()
  await choose(page, 'Weekday', 'Friday')
  await dialog.getByLabel('Time').fill('17:30')
  await choose(page, 'Format', 'Excel')
  await addPerson(page, 'treuhand')
  await dialog.getByLabel('Subject').fill('No-shows by staff')
  await assertAccessible(page)
  await keepScreenshot(page, 'report-schedule-window')
  await save(page)
  await page.getByText(/^“No-shows by staff” is mailed every Friday at 17:30\. Next: /).waitFor()
  assert.partialDeepStrictEqual(await listSchedules(), [
    {
      name: 'No-shows by staff',
      reportId: 102,
      format: 'xlsx',
      filters: { statusList: ['NO_SHOW'] },
      groupBy: ['staff'],
      compareWith: 'NONE',
      locationId: 1,
      frequency: 'WEEKLY',
      weekday: 'FRIDAY',
      timeOfDay: '17:30',
      range: 'LAST_MONTH',
      userIdList: [userIdOf('sofia'), userIdOf('treuhand')],
    },
  ])

  await page.getByRole('link', { name: 'Reports' }).first().click()
  const line = panelOf(page).getByRole('listitem')
  await line.getByText('Appointment summary, every Friday at 17:30, Excel').waitFor()
  await line.getByText('to sofia, treuhand').waitFor()
  await line.getByText(/^next .*17:30 · set up by sofia$/).waitFor()
  await line.getByRole('button', { name: 'Actions for No-shows by staff' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await choose(page, 'How often', 'Every month')
  await save(page)
  await line.getByText(/on day 1 of each month at 17:30/).waitFor()

  await line.getByRole('button', { name: 'Actions for No-shows by staff' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Stop mailing it' }).click()
  await panelOf(page).getByText('No report is mailed regularly.').waitFor()
  assert.deepEqual(await listSchedules(), [])
  assert.deepEqual(complaints, [])
})

test('a schedule also goes to an address, skips empty reports, and is paused', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/reports/102')
  await page.getByRole('button', { name: 'Mail regularly' }).click()
  const dialog = dialogOf(page)
  await dialog.getByLabel('Also to addresses without a login').fill('books@accountant.example')
  await page.keyboard.press('Enter')
  await dialog.getByLabel('No mail if nothing happened').check()
  await dialog.getByLabel('Paused').check()
  await assertAccessible(page)
  await save(page)
  await page.getByText(/^“Appointment summary” is mailed every Monday/).waitFor()
  assert.partialDeepStrictEqual(await listSchedules(), [
    {
      addressList: ['books@accountant.example'],
      skipIfEmpty: true,
      paused: true,
      linkUserId: userIdOf('sofia'),
    },
  ])
  await page.getByRole('link', { name: 'Reports' }).first().click()
  const line = panelOf(page).getByRole('listitem')
  await line.getByText('to sofia, books@accountant.example').waitFor()
  await line.getByText('Paused').waitFor()
  await deleteAll(page)
  assert.deepEqual(complaints, [])
})

test('the faults of a schedule are shown at its fields', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/reports/102')
  await page.getByRole('button', { name: 'Mail regularly' }).click()
  const dialog = dialogOf(page)
  // People without an address are not offered.
  await dialog.getByRole('combobox', { name: 'To', exact: true }).fill('rita')
  await page.getByText('No person with an email address has this name.').waitFor()
  await dialog.getByRole('combobox', { name: 'To', exact: true }).fill('')
  await addPerson(page, 'stella')
  await save(page)
  await dialog.getByText(/stella may not see this report/).waitFor()
  await dialog.getByRole('combobox', { name: 'To', exact: true }).press('Backspace')
  await dialog.getByRole('combobox', { name: 'To', exact: true }).press('Backspace')
  await page.keyboard.press('Escape')
  await save(page)
  await dialog.getByText('is required').waitFor()
  await dialog.getByLabel('Time').fill('')
  await save(page)
  await dialog.getByText('must be a time from 00:00 to 23:59', { exact: true }).waitFor()
  assert.deepEqual(await listSchedules(), [])
})

test('a person who may not schedule reports sees neither the button nor the list', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'rita', '/reports/102')
  await page.getByRole('button', { name: 'PDF' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Mail regularly' }).count(), 0)
  await page.getByRole('link', { name: 'Reports' }).first().click()
  await page.getByRole('link', { name: 'Appointment list' }).waitFor()
  assert.equal(await panelOf(page).count(), 0)
})

test('a mail that did not reach everybody is marked in the list', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia')
  const stored = await addSchedule({ name: 'Figures' })
  const run = {
    reportScheduleRunId: 1,
    scheduledTime: Date.now(),
    startDate: null,
    endDate: null,
    endedTime: Date.now(),
    recipients: [],
  }
  const failed = { ...run, status: 'FAILED', statusReason: 'sofia has no email address' }
  const recipients = [
    { userId: 1, username: 'sofia', emailId: 1, emailStatus: 'FAILED', reason: null },
  ]
  const refused = { ...run, status: 'COMPLETED', statusReason: null, recipients }
  const retried = { ...stored.delivery, attempts: 2, lastError: 'statement timeout' }
  const items = [
    { ...stored, delivery: { ...stored.delivery, runs: [failed] } },
    { ...stored, reportScheduleId: 91, delivery: { ...stored.delivery, runs: [refused] } },
    { ...stored, reportScheduleId: 92, delivery: retried },
  ]
  await page.route(/\/reportSchedule\?/, (route) =>
    route.fulfill({ json: { items, nextCursor: null } }),
  )
  await page.goto(`${service.base}/console/reports`)
  await page.getByText('It was not sent the last time: sofia has no email address').waitFor()
  await page.getByText('The last mail did not reach sofia.').waitFor()
  await page.getByText('The last mail failed and is tried again: statement timeout').waitFor()
  await page.unroute(/\/reportSchedule\?/)
  await deleteAll(page)
})

test('a list of schedules that cannot be loaded says so, and is tried again', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia')
  await page.route(/\/reportSchedule\?/, (route) => route.fulfill({ status: 500, json: {} }))
  await page.goto(`${service.base}/console/reports`)
  await panelOf(page).getByText('This list could not be loaded').waitFor()
  await page.unroute(/\/reportSchedule\?/)
  await panelOf(page).getByRole('button', { name: 'Try again' }).click()
  await panelOf(page).getByText('No report is mailed regularly.').waitFor()
})

test('the schedules follow WCAG 2.2 AA, have a dark page, and fit a phone', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia')
  const desktop = page.viewportSize()!
  await addSchedule({ name: 'Figures', filters: { professionalIdList: [1, 2] } })
  await addSchedule({ frequency: 'MONTHLY', dayOfMonth: 31, userIdList: [userIdOf('treuhand')] })
  await page.goto(`${service.base}/console/reports`)
  await panelOf(page).getByRole('listitem').nth(1).waitFor()
  await waitUntilLoaded(page)
  for (const scheme of SCHEMES) {
    await assertAccessible(page, [scheme])
    await keepScreenshot(page, `report-schedules-${scheme}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await panelOf(page).getByRole('button', { name: 'Actions for Figures' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await dialogOf(page).getByLabel('Subject').waitFor()
  for (const width of [390, 360]) {
    await page.setViewportSize({ width, height: 844 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    await keepScreenshot(page, `report-schedule-window-${width}`)
  }
  await page.keyboard.press('Escape')
  await panelOf(page).scrollIntoViewIfNeeded()
  await keepScreenshot(page, 'report-schedules-390')
  await page.setViewportSize(desktop)

  // Filters that have no field are shown, and can be removed.
  await panelOf(page).getByRole('link', { name: 'Figures' }).click()
  await page.getByRole('button', { name: /^Remove these filters: .+, .+/ }).click()
  await page.waitForURL((url) => !url.search.includes('more'))
  assert.deepEqual(complaints, [])
  await deleteAll(page)
})
