import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { FIRST_STATUS } from '../../console/statuses/uses.ts'
import { OBJECT_TYPES } from '../../src/contract/event-type.ts'
import { firstStatus } from '../../src/contract/status.ts'
import {
  assertAccessible,
  keepPictures,
  keepScreenshot,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, businessId, openAs, call } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'stella', role: 'LOCATION_SUPER_USER', locationIdList: [1] },
])

const DAY_MS = 86_400_000

const goTo = (page: Page, path: string) => page.goto(`${service.base}/console${path}`)

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

const menuOf = (page: Page) => page.getByRole('navigation', { name: 'Settings' })

const openMenu = async (page: Page, label: string, item: string) => {
  await page.getByRole('button', { name: `Actions for ${label}`, exact: true }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.getByRole('menu').waitFor({ state: 'detached' })
}

test('the menu of the settings has groups, and the lengths of the lists that are loaded', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/people')
  const { items: locations } = await call('GET', '/location')
  const locationsEntry = menuOf(page).getByRole('link', { name: `Locations ${locations.length}` })
  await locationsEntry.waitFor()
  await menuOf(page).getByRole('link', { name: 'People and roles 2' }).waitFor()
  const groups = await menuOf(page).locator('> div').all()
  const names = await Promise.all(
    groups.map(async (group) =>
      (await group.getByRole('link').allInnerTexts()).map((text) => text.split('\n')[0]),
    ),
  )
  assert.deepEqual(names, [
    ['Business', 'Locations', 'Staff', 'Services', 'Statuses', 'Tags', 'Campaigns', 'Forms'],
    ['People and roles', 'API keys', 'Mail', 'Suppressed addresses'],
    ['Audit', 'Import', 'Feeds', 'Export'],
    ['Your account'],
  ])
  await keepPictures(page, 'settings-menu')
  assert.deepEqual(complaints, [])
})

test('the menu of the settings requests nothing', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/settings/account')
  await heading(page, 'Your account')
  await waitUntilLoaded(page)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.reload()
  await heading(page, 'Your account')
  await waitUntilLoaded(page)
  const lists = ['/location', '/professional', '/reason', '/status', '/user', '/apiKey', '/audit']
  assert.deepEqual(
    asked.filter((path) => lists.includes(path)),
    [],
  )
})

test('on a phone the menu of the settings is one line that shows the current page', async (t) => {
  const { page } = await openAs(t, 'sofia')
  await page.setViewportSize({ width: 390, height: 844 })
  for (const path of ['/settings/business', '/settings/keys', '/settings/account']) {
    await goTo(page, path)
    const current = menuOf(page).locator('[aria-current=page]')
    await current.waitFor()
    const { x, width, height } = (await current.boundingBox())!
    assert.ok(x >= 0 && x + width <= 390, `${path}: ${x}, ${width}`)
    assert.ok(height >= 44, `${path}: ${height}`)
    assert.ok((await menuOf(page).boundingBox())!.height < 60, path)
  }
})

test('an owner adds a status, and its name for programs follows its name', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/statuses')
  await heading(page, 'Statuses')
  await page.getByRole('row', { name: /Completed COMPLETED took place only after/ }).waitFor()
  await page
    .getByRole('row', { name: /Open OPEN still open before and after new appointments/ })
    .waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-statuses')

  await page.getByRole('button', { name: 'Add a status' }).click()
  const dialog = page.getByRole('dialog')
  const code = dialog.getByLabel('Name for programs')
  const save = dialog.getByRole('button', { name: 'Save' })
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('No show')
  assert.equal(await code.inputValue(), 'NO_SHOW')
  await dialog.getByText('There is a status of this name already.').waitFor()
  assert.equal(await save.isDisabled(), true)
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Called, comes later')
  assert.equal(await code.inputValue(), 'CALLED_COMES_LATER')
  await code.fill('')
  await save.click()
  await dialog.getByText('must not be empty').waitFor()
  complaints.length = 0
  await code.fill('LATE')
  await dialog.getByRole('combobox', { name: 'Counted as' }).click()
  await page.getByRole('option', { name: 'took place' }).click()
  assert.equal(await dialog.getByRole('switch', { name: /before the appoint/ }).isChecked(), false)
  await assertAccessible(page)
  await keepPictures(page, 'settings-statuses-form')
  await save.click()
  await page.getByText('Called, comes later is saved.').waitFor()
  await page.getByRole('row', { name: /Called, comes later LATE took place only after/ }).waitFor()
  const saved = await call('GET', '/status/CALENDAR/LATE')
  assert.partialDeepStrictEqual(saved, {
    label: 'Called, comes later',
    outcome: 'KEPT',
    live: false,
    liveAfter: true,
    active: true,
  })
  assert.deepEqual(complaints, [])
})

test('only what the user changed is sent, and a change of another user is shown', async (t) => {
  if (skipInShortRun(t)) return
  const key = { objectType: 'CALENDAR', status: 'WAITING' }
  await call('POST', '/status', { ...key, label: 'Waiting' })
  const { page } = await openAs(t, 'sofia', '/settings/statuses')
  await page.getByRole('button', { name: 'Waiting', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('In the waiting room')
  await call('POST', '/status', { ...key, liveAfter: false })
  const request = page.waitForRequest((one) => one.method() === 'POST')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const sent = await request
  assert.deepEqual(sent.postDataJSON(), { label: 'In the waiting room', ...key })
  await dialog.getByText(/Saved before you by the key/).waitFor()
  await dialog.getByRole('button', { name: 'Keep both' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /In the waiting room WAITING .* only before/ }).waitFor()
})

test('a status behind the confirm link must keep its reminders, and the switch says so', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/business', { businessId, confirmStatus: 'CONFIRMED' })
  const { page } = await openAs(t, 'sofia', '/settings/statuses')
  await page.getByRole('row', { name: /CONFIRMED.*the confirm link in mails/ }).waitFor()
  await page.getByRole('button', { name: 'Confirmed', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const live = dialog.getByRole('switch', { name: /before the appointment/ })
  await live.click({ force: true })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Must stay on: the confirm link in mails sets this status.').waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-statuses-fault')
  assert.equal((await call('GET', '/status/CALENDAR/CONFIRMED')).live, true)
})

test('a status in use is not removed: the window says what uses it', async (t) => {
  if (skipInShortRun(t)) return
  for (const status of ['NAMED', 'HELD', 'FREE']) {
    const label = status[0] + status.slice(1).toLowerCase()
    await call('POST', '/status', { objectType: 'CALENDAR', status, label, live: false })
  }
  await call('POST', '/eventDefinition', {
    businessId,
    active: true,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 2 },
    newStatus: 'NAMED',
    triggerHours: 0,
    triggerMinutes: 0,
    description: 'Tell the desk',
  })
  const startTime = Math.floor(Date.now() / DAY_MS) * DAY_MS + 40 * DAY_MS
  const who = { clientId: 1, professionalId: 1, reasonId: 1, locationId: 1, status: 'HELD' }
  await call('POST', '/calendar', { ...who, startTime, endTime: startTime + 1_800_000 })

  const { page } = await openAs(t, 'sofia', '/settings/statuses')
  const dialog = page.getByRole('dialog')
  await page.getByRole('row', { name: /NAMED.*Tell the desk/ }).waitFor()
  await openMenu(page, 'Named', 'Remove')
  await dialog.getByText('Named cannot be removed yet').waitFor()
  await dialog.getByText('The automation Tell the desk refers to it.').waitFor()
  await dialog.getByRole('link', { name: 'Tell the desk' }).waitFor()
  assert.equal(await dialog.getByRole('button', { name: 'Remove the status' }).count(), 0)
  await assertAccessible(page)
  await keepScreenshot(page, 'settings-statuses-blocked')
  await page.keyboard.press('Escape')

  await openMenu(page, 'Held', 'Remove')
  await dialog.getByRole('button', { name: 'Remove the status' }).click()
  await dialog.getByText(/Not removed: it is in use. Give the appointments/).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-statuses-in-use')
  await page.keyboard.press('Escape')

  await openMenu(page, 'Free', 'Remove')
  await dialog.getByRole('button', { name: 'Remove the status' }).click()
  await page.getByText('Free is removed.').waitFor()
  await page.getByRole('row', { name: /FREE/ }).waitFor({ state: 'detached' })
  assert.equal((await call('GET', '/status/CALENDAR/FREE')).active, false)

  // Added again, it has the properties of the form and not those that it had.
  await page.getByRole('button', { name: 'Add a status' }).click()
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Free')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /Free FREE still open before and after/ }).waitFor()
})

test('the first status of each kind cannot be removed', async (t) => {
  if (skipInShortRun(t)) return
  assert.deepEqual(
    FIRST_STATUS,
    Object.fromEntries(OBJECT_TYPES.map((type) => [type, firstStatus(type)])),
  )
  const { page } = await openAs(t, 'sofia', '/settings/statuses')
  await page.getByRole('button', { name: 'Actions for Due' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).waitFor()
  assert.equal(await page.getByRole('menuitem', { name: 'Remove' }).count(), 0)
})

test('a location manager sees no statuses and no audit in the settings', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'stella', '/settings/statuses')
  await page.getByText('Your role may read this, not change it.').waitFor()
  await page.getByRole('row', { name: /NO_SHOW/ }).waitFor()
  assert.equal(await page.getByRole('button', { name: /Add|Actions/ }).count(), 0)
  assert.equal(
    await menuOf(page)
      .getByText(/Statuses|Audit/)
      .count(),
    0,
  )
  await goTo(page, '/settings/audit')
  await page.getByText('Your role may not open this page').waitFor()
})

const rowsOf = (page: Page) => page.getByRole('listitem').filter({ has: page.locator('b') })

test('the audit says who changed what, links to it and shows the values before and after', async (t) => {
  const { locationId } = await call('POST', '/location', { name: 'Seefeld <b>x</b>' })
  await call('POST', '/location', { locationId, name: 'Enge', timeZone: 'Europe/London' })
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  const onOff = page.getByRole('switch', { name: /^2 days before an appointment starts/ })
  await onOff.waitFor()
  await waitUntilLoaded(page)
  await onOff.click({ force: true })
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Switch off/ })
    .click()
  await page.getByText('switched off').waitFor()
  // Leaving the page ends the time in which the user can undo it.
  await goTo(page, '/settings/account')
  await until(async () => {
    const { items } = await call('GET', '/audit?user=sofia')
    return items.length > 0
  })
  await goTo(page, '/settings/audit')
  const off = rowsOf(page).filter({ hasText: 'sofia switched off the automation' }).first()
  assert.match((await off.getByRole('link').getAttribute('href'))!, /\/automations\/\d+$/)

  const row = rowsOf(page).filter({ hasText: 'the key test changed the location “Enge”' })
  await row.getByRole('button', { name: 'name, time zone' }).click()
  await row.getByText('Seefeld <b>x</b>').waitFor()
  assert.deepEqual(await row.locator('dd').allInnerTexts(), [
    'Seefeld <b>x</b>  Enge',
    '–  Europe/London',
  ])
  await assertAccessible(page)
  await keepPictures(page, 'settings-audit')
  await row.getByRole('link', { name: 'All changes of it' }).click()
  await page.waitForURL(/object=location&id=\d+$/)
  await page.getByRole('button', { name: 'Only the location “Enge”' }).waitFor()
  assert.equal(await rowsOf(page).count(), 2)
  await row.getByRole('link', { name: 'the location “Enge”' }).click()
  await heading(page, 'Locations')
  await call('POST', '/location', { locationId, active: false })
  assert.deepEqual(complaints, [])
})

test('the filters of the audit are kept in its address', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/status', { objectType: 'RECALL', status: 'ASKED', label: 'Asked' })
  const { page, complaints } = await openAs(t, 'sofia', '/settings/audit')
  await page.getByRole('combobox', { name: 'Changed by' }).click()
  await page.getByRole('option', { name: 'test', exact: true }).click()
  await page.waitForURL(/user=key/)
  await page.getByRole('combobox', { name: 'Kind of object' }).click()
  await page.getByRole('option', { name: 'Statuses' }).click()
  await page.waitForURL(/object=status/)
  await page.reload()
  await rowsOf(page).first().waitFor()
  const { items } = await call('GET', '/audit?object=status&user=key:test')
  assert.equal(await rowsOf(page).count(), items.length)
  for (const text of await rowsOf(page).allInnerTexts())
    assert.match(text, /the key test .* status/)

  await page.getByLabel('To').fill('2001-01-01')
  await page.waitForURL(/to=2001-01-01/)
  await page.getByText('No change with these filters').waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Remove all filters' }).click()
  await page.waitForURL(/\/audit$/)
  await rowsOf(page).first().waitFor()
  assert.equal(await page.getByRole('combobox', { name: 'Changed by' }).inputValue(), '')
  assert.equal(await page.getByLabel('To').inputValue(), '')
  assert.deepEqual(complaints, [])
})

test('the audit is loaded page by page, newest first', async (t) => {
  if (skipInShortRun(t)) return
  for (let i = 0; i < 60; i++) {
    await call('POST', '/client', { firstName: 'Aaron', lastName: `Aab ${100 + i}` })
  }
  const { page } = await openAs(t, 'sofia', '/settings/audit?object=client&user=key%3Atest')
  await rowsOf(page).nth(49).waitFor()
  assert.match(await rowsOf(page).first().innerText(), /created the client “Aaron Aab 159”/)
  assert.equal(await rowsOf(page).count(), 50)
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('link', { name: 'the client “Aaron Aab 100”' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await heading(page, 'Aaron Aab 159')
})
