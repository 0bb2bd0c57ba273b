import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, skipInShortRun, startConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, openAs } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'lea', role: 'LOCATION_SUPER_USER', locationIdList: [1] },
])

/** "Remind two days before" of the demo. */
const REMINDER = '/automations/3'

/** Calls the API as the signed-in user of the page. */
async function call(page: Page, method: 'GET' | 'POST' | 'DELETE', path: string, data?: object) {
  const answer = await page.request.fetch(service.base + path, {
    method,
    headers: { origin: service.base },
    ...(data ? { data } : {}),
  })
  assert.ok(answer.ok(), `${method} ${path}: ${answer.status()}`)
  return answer.json()
}

const word = (page: Page, name: string | RegExp) =>
  page.getByRole('group', { name: /mail the/ }).getByRole('button', { name })

test('a recipe creates a mail and an automation, which is switched on by saving it', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  await page.getByRole('button', { name: 'New automation' }).click()
  await page.getByRole('menuitem', { name: 'Remind 2 hours before' }).click()
  await page.getByRole('heading', { name: 'Remind 2 hours before', level: 1 }).waitFor()
  await word(page, 'Reminder 2 hours before').waitFor()
  await page.getByText('1 unsaved change').waitFor()
  const eventDefnId = Number(new URL(page.url()).pathname.split('/').at(-1))
  const scheduledPath = `/eventTriggers/counts?eventDefnId=${eventDefnId}&status=SCHEDULED`
  assert.deepEqual(await call(page, 'GET', scheduledPath), {}, 'it is paused until it is saved')

  const save = page.getByRole('button', { name: /^Save: schedule \d+/ })
  await save.waitFor()
  const planned = Number(/schedule (\d+)/.exec((await save.textContent()) ?? '')?.[1])
  await save.click()
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  assert.deepEqual(await call(page, 'GET', scheduledPath), { SCHEDULED: planned })
  assert.deepEqual(complaints, [])
})

test('a recipe that is discarded leaves no automation and no mail behind', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  const count = async () => {
    const [automations, templates] = await Promise.all([
      call(page, 'GET', '/eventDefinition?active=all&limit=500'),
      call(page, 'GET', '/emailTemplate?limit=500'),
    ])
    return [automations.items.length, templates.items.length]
  }
  const before = await count()
  await page.getByRole('button', { name: 'New automation' }).click()
  await page.getByRole('menuitem', { name: 'Confirm a booking' }).click()
  await page.getByRole('heading', { name: 'Confirm a booking', level: 1 }).waitFor()
  await page.getByText('1 unsaved change').waitFor()
  assert.notDeepEqual(await count(), before)
  await page.getByRole('link', { name: 'Activity' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
  await dialog.getByRole('button', { name: 'Leave without saving' }).click()
  await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor()
  await until(async () => String(await count()) === String(before))
  assert.deepEqual(complaints, [])
})

test('the timing is changed and saved by keyboard alone', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', REMINDER)
  await word(page, '2 days before').focus()
  await page.keyboard.press('Enter')
  const amount = page.getByLabel('How many')
  await page.locator('input:focus').and(amount).waitFor()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('3')
  await page.keyboard.press('Escape')
  await amount.waitFor({ state: 'detached' })
  await page.locator(':focus').and(word(page, '3 days before')).waitFor()
  await page.getByText('2 days before → 3 days before').waitFor()
  await page.getByRole('button', { name: /^Save: (move|cancel) \d+/ }).waitFor()
  await page.keyboard.press('Control+S')
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  await page.reload()
  await word(page, '3 days before').waitFor()
  assert.deepEqual(complaints, [])
})

test('a plan that could not be computed does not let the next change be saved before its own', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', REMINDER)
  await page.route('**/eventDefinition/plan', (route) => route.fulfill({ status: 500, json: {} }))
  await page.getByRole('button', { name: /^Booked after/ }).click()
  await page.getByRole('radio', { name: /^Send at once/ }).click()
  await page.getByText('This could not be loaded').waitFor()
  await until(() => page.getByRole('button', { name: /^Save/ }).last().isEnabled())
  const isEnabled = await page.evaluate(`{
    const save = [...document.querySelectorAll('button')].find((one) => one.innerText.startsWith('Save'))
    const before = !save.disabled
    document.querySelector('input[role=switch]').click();
    [before, !save.disabled]
  }`)
  await page.getByText('2 unsaved changes').waitFor()
  assert.deepEqual(isEnabled, [true, false])
})

test('an automation is switched off and on by keyboard, and the focus stays', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  const onOff = page.getByRole('switch').nth(1)
  await onOff.focus()
  const press = async (name: RegExp) => {
    await page.keyboard.press('Space')
    const button = page.getByRole('dialog').getByRole('button', { name })
    await until(() => button.isEnabled())
    await button.focus()
    await page.keyboard.press('Enter')
  }
  await press(/^Switch off/)
  await page.getByText('switched off').waitFor()
  await page.locator('input:focus').and(onOff).waitFor()
  await press(/^Switch on/)
  await page.getByText('switched off').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('a switch of the list changes nothing if the automation was saved meanwhile', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/')
  await page.route('**/eventDefinition?*', async (route) => {
    const response = await route.fetch()
    const { items, ...rest } = await response.json()
    const older = items.map((item: { version: number }) => ({ ...item, version: item.version - 1 }))
    await route.fulfill({ response, json: { ...rest, items: older } })
  })
  await page.goto(`${service.base}/console/automations`)
  const onOff = page.getByRole('switch').nth(1)
  await onOff.click({ force: true })
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Switch off/ })
    .click()
  await page.getByText(/^Somebody has changed it meanwhile\./).waitFor()
  await page.keyboard.press('Escape')
  assert.equal(await onOff.isChecked(), true)
})

test('the sentence says which changes an automation waits for', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  const sentence = 'an appointment changes its staff, mail the client Another therapist'
  await page.getByRole('link', { name: sentence }).click()
  await word(page, 'staff')
    .and(page.getByText('staff', { exact: true }))
    .click()
  await page.getByLabel('What changes').first().press('ArrowDown')
  await page.getByRole('option', { name: 'time' }).click()
  await word(page, 'staff or time').waitFor()
  await page.getByText('1 unsaved change').waitFor()
  assert.deepEqual(complaints, [])
})

test('all messages that saving schedules are shown page by page', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/automations/new')
  await page.getByRole('button', { name: /^See all \d+$/ }).click()
  const lines = page.locator('#plan li')
  await lines.nth(50).waitFor()
  const first = await lines.count()
  await page.getByRole('button', { name: 'Show more' }).click()
  await lines.nth(first).waitFor()
  assert.deepEqual(complaints, [])
})

test('the mail is shown for a real appointment, in a frame in which nothing runs', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/automations/1')
  const frame = page.locator('iframe[title="The mail as the reader sees it"]')
  await frame.waitFor()
  assert.equal(await frame.getAttribute('sandbox'), '')
  // In the language of the client whose appointment is shown.
  const thanks =
    /thank you for booking with us\.|Vielen Dank für Ihre Buchung\.|Merci de votre réservation\./i
  await frame.contentFrame().getByText(thanks).first().waitFor()
  await page.getByText(/^Lindenhof Physiotherapy <\S+@\S+> to \S+@\S+$/).waitFor()
  await page.getByText('calendar file', { exact: true }).waitFor()
  await page.getByText(/^It would have sent \d+ mails? to/).waitFor()
  assert.deepEqual(complaints, [])
})

test('leaving the page with unsaved changes asks first', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', REMINDER)
  await word(page, /days before$/)
    .first()
    .click()
  await page.getByRole('button', { name: '1 week before' }).click()
  await page.getByRole('link', { name: 'Activity' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
  await dialog.getByText('1 change is not saved.').waitFor()
  await dialog.getByRole('button', { name: 'Stay here' }).click()
  await word(page, '1 week before').waitFor()
  await page.getByRole('link', { name: 'Activity' }).first().click()
  await dialog.getByRole('button', { name: 'Leave without saving' }).click()
  await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor()
})

test('a concurrent change by another user is shown side by side, and either version can be kept', async (t) => {
  const { page } = await openAs(t, 'sofia', '/automations/4')
  await word(page, '2 hours before').click()
  await page.getByLabel('How many').fill('5')
  await word(page, '5 hours before').waitFor()
  const stored = await call(page, 'GET', '/eventDefinition/4')
  const { eventActions: _actions, ...definition } = stored
  await call(page, 'POST', '/eventDefinition', { ...definition, description: 'Their name' })

  await page.keyboard.press('Escape')
  // The other version cannot be loaded; saving again retries.
  const failing = { status: 500, body: '{}' }
  await page.route('**/eventDefinition/4?*', (route) => route.fulfill(failing), { times: 1 })
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByText('that version could not be loaded').waitFor()
  await page.getByRole('button', { name: /^Save/ }).click()
  const conflict = page.getByRole('alert').filter({ hasText: 'You saved this in another window' })
  await conflict
    .getByText('The other version changes “Name”, yours changes “When”. Both can be kept.')
    .waitFor()
  assert.equal(await conflict.getByRole('cell').count(), 0)
  await conflict.getByRole('button', { name: 'Compare the two' }).click()
  await conflict.getByRole('cell', { name: 'Their name' }).waitFor()
  await conflict.getByRole('cell', { name: '2 hours before' }).waitFor()
  await conflict.getByRole('cell', { name: '5 hours before' }).waitFor()
  await conflict.getByRole('button', { name: 'Keep both' }).click()
  await page.getByRole('heading', { name: 'Their name', level: 1 }).waitFor()
  await page.getByRole('button', { name: /^Save: / }).click()
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  const saved = await call(page, 'GET', '/eventDefinition/4')
  assert.equal(saved.triggerHours, -5)
  assert.equal(saved.description, 'Their name')
})

test('deleting an automation first shows how many messages it cancels', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/automations')
  const menu = page.getByRole('button', { name: /^Actions for: 3 days before an invitation/ })
  await menu.click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete this automation?' })
  await dialog.getByRole('button', { name: /^Delete(: cancel \d+)?$/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await menu.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('users who may only read see the sentence without buttons', async (t) => {
  const { page } = await openAs(t, 'lea', REMINDER)
  await page.getByText('Your role may read this, not change it.').waitFor()
  assert.equal(await word(page, /before/).count(), 0)
  assert.equal(await page.getByRole('button', { name: /^Save/ }).count(), 0)
})

test('the drawers follow WCAG 2.2 AA, light and dark', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/automations/6')
  for (const name of ['As soon as', 'an appointment', 'No-show', 'any location', 'We missed you']) {
    await word(page, name).click()
    await assertAccessible(page)
  }
})

test('saving an automation that another user deleted restores it', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/automations/5')
  await page.getByRole('button', { name: /^Name/ }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Still wanted')
  await call(page, 'DELETE', '/eventDefinition/5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Another user deleted this.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  assert.equal((await call(page, 'GET', '/eventDefinition/5')).description, 'Still wanted')
})
