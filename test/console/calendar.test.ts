import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  dragByAnHour,
  keepScreenshot,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'

const { service, openAs, call } = await startConsole([{ username: 'sofia', role: 'OWNER' }])

const DAY_MS = 86_400_000
const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** The first of these weekdays that is at least `days` ahead; the demo business works from Monday. */
function workday(days: number, weekdays = [1, 2, 3, 4, 5]) {
  for (let ahead = days; ; ahead += 1) {
    const day = dayIn(ahead)
    if (weekdays.includes(new Date(`${day}T00:00:00Z`).getUTCDay())) return day
  }
}

/** Calls the API as the signed-in user of the page. */
const ask = <T>(page: Page, path: string, body?: object): Promise<T> =>
  page.evaluate(
    async ([address, sent]) => {
      const answer = await fetch(address!, {
        ...(sent && {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: sent,
        }),
      })
      if (!answer.ok) throw new Error(`${address}: ${answer.status}`)
      return answer.json()
    },
    [path, body && JSON.stringify(body)],
  ) as Promise<T>

type Appointment = Ids & {
  calendarId: number
  startTime: number
  endTime: number
  status: string
}
type Triggers = { status: string; scheduledTime: number }[]
type Ids = { clientId: number; professionalId: number; reasonId: number; locationId: number }

let clients = 0

/** A new client with an appointment at 10:00 in Zurich and scheduled messages. */
async function book(page: Page, day: string) {
  const lastName = `Tester${'abcdefghijklmnopqrstuvwxyz'[(clients += 1)]}`
  const { clientId } = await ask<Ids>(page, '/client', {
    firstName: 'Ágnes',
    lastName,
    emailAddress: `${lastName}@example.org`,
  })
  const first = async (path: string) =>
    (await ask<{ items: (Ids & { locationIdList: number[] })[] }>(page, path)).items[0]!
  const { professionalId, locationIdList } = await first('/professional')
  const { reasonId } = await first('/reason')
  const offset = await page.evaluate((day) => {
    const noon = new Date(`${day}T12:00:00Z`)
    const shown = noon.toLocaleTimeString('en-GB', { timeZone: 'Europe/Zurich', hour: '2-digit' })
    return Number(shown) - 12
  }, day)
  const startTime = Date.parse(`${day}T10:00:00Z`) - offset * 3_600_000
  const appointment = await ask<Appointment>(page, '/calendar', {
    clientId,
    professionalId,
    reasonId,
    locationId: locationIdList[0],
    startTime,
    endTime: startTime + 3_600_000,
  })
  return { ...appointment, clientId, name: `Ágnes ${lastName}` }
}

/** Times of future reminders only, because immediate messages may still be pending on a busy machine. */
const pendingTimes = async (page: Page, calendarId: number) =>
  (await ask<Triggers>(page, `/eventTriggers/CALENDAR/${calendarId}`))
    .filter(({ status, scheduledTime }) => status === 'SCHEDULED' && scheduledTime > Date.now())
    .map(({ scheduledTime }) => scheduledTime)

const find = (page: Page, calendarId: number) => ask<Appointment>(page, `/calendar/${calendarId}`)

const openDay = (page: Page, search: string) =>
  page.goto(`${service.base}/console/calendar?${search}`)

test('the booking form shows which messages follow before it saves the appointment', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', `/calendar?day=${workday(20)}`)
  const { name } = await book(page, workday(40))
  await page.getByRole('region', { name: 'Appointments of the day by staff' }).waitFor()
  await page.keyboard.press('b')
  const panel = page.getByRole('region', { name: 'Book' })
  const who = panel.getByRole('combobox', { name: 'Client' })
  await page.locator('input:focus').and(who).waitFor()
  await who.fill(name.replace('Á', 'a'))
  await page.getByRole('option', { name }).click()
  await panel.getByLabel('Service').click()
  await page.getByRole('option').first().click()
  await panel.getByLabel('With').click()
  await page.getByRole('option').first().click()
  await panel.getByLabel('Start').fill('11:15')
  await panel.locator('[data-plan]').filter({ hasText: 'scheduled' }).waitFor()
  await panel.getByRole('button', { name: 'Book' }).click()
  await page.getByRole('region', { name }).waitFor()
  const visit = page.getByRole('button', { name: new RegExp(`^11:15.*${name}`) })
  await visit.waitFor()
  await visit.getByText(/messages? scheduled/).waitFor()
  await page.getByRole('region', { name }).getByRole('link', { name: 'How was it?' }).click()
  await page.getByRole('heading', { level: 1, name: `${name} will get How was it?` }).waitFor()
  assert.deepEqual(complaints, [])
})

test('the booking form warns of other appointments and of times outside working hours', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const elenasDay = [1, 2, 4]
  const day = workday(30, elenasDay)
  const { professionalId, locationId, clientId, name } = await book(page, day)
  const { firstName, lastName } = await ask<{ firstName: string; lastName: string }>(
    page,
    `/professional/${professionalId}`,
  )
  const staff = `${firstName} ${lastName}`
  await openDay(page, `day=${day}&book=true&client=${clientId}`)
  const panel = page.getByRole('region', { name: 'Book' })
  await panel.getByLabel('With').click()
  await page.getByRole('option', { name: staff }).first().click()
  await panel.getByLabel('Start').fill('10:15')
  const warnings = panel.locator('[data-warnings]')
  await warnings.getByText(`${staff} already has an appointment: 10:00–11:00, ${name}.`).waitFor()
  await panel.getByLabel('With').click()
  await page.getByRole('option', { name: 'Tobias Wyss' }).first().click()
  await warnings
    .getByText(`${name} already has an appointment: 10:00–11:00 with ${staff}.`)
    .waitFor()
  await panel.getByLabel('With').click()
  await page.getByRole('option', { name: staff }).first().click()
  await panel.getByLabel('Start').fill('23:00')
  await warnings.getByText(`Outside the working hours of ${staff}: 08:00–17:00.`).waitFor()
  assert.equal(await warnings.getByText('already has an appointment').count(), 0)

  await page
    .locator(`[data-column="${professionalId}:${locationId}"]`)
    .click({ position: { x: 2, y: 30 } })
  await page.locator('[data-ghost]').waitFor()
  assert.notEqual(await panel.getByLabel('Start').inputValue(), '23:00')
  const client = await panel.getByRole('combobox', { name: 'Client' }).inputValue()
  assert.ok(client.startsWith(name), 'a click on another time keeps the client')
  assert.deepEqual(complaints, [])
})

test('a calendar that stays open suggests times after the present one', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const at = (time: string) => Date.parse(`${new Date().toISOString().slice(0, 10)}T${time}Z`)
  await page.clock.install({ time: at('08:10') })
  await openDay(page, '')
  const panel = page.getByRole('region', { name: 'Book' })
  const suggested = async () => {
    await page.keyboard.press('b')
    const start = await panel.getByLabel('Start').inputValue()
    await panel.getByRole('button', { name: 'Close' }).click()
    await panel.waitFor({ state: 'detached' })
    return start
  }
  await page.getByRole('region', { name: 'Appointments of the day by staff' }).waitFor()
  const earlier = await suggested()
  await page.clock.setFixedTime(at('10:10'))
  const hours = Number((await suggested()).slice(0, 2)) - Number(earlier.slice(0, 2))
  assert.equal(hours, 2)
  assert.deepEqual(complaints, [])
})

test('moving an appointment in the form shows the plan, and saving does the same', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const day = workday(21)
  const { calendarId, name, startTime } = await book(page, day)
  const before = await pendingTimes(page, calendarId)
  assert.ok(before.length > 0)
  await openDay(page, `day=${day}&appointment=${calendarId}`)
  const panel = page.getByRole('region', { name })
  await panel.getByLabel('Start').fill('12:00')
  await panel.locator('[data-plan]').filter({ hasText: 'goes out at once' }).waitFor()
  assert.equal(await panel.locator('[data-warnings]').getByText('Outside').count(), 0)
  await panel.getByLabel('Start').fill('22:00')
  await panel.locator('[data-warnings]').waitFor()
  await panel.getByLabel('Start').fill('12:00')
  await page.locator('[data-ghost]').filter({ hasText: '12:00–13:00' }).waitFor()
  assert.equal((await find(page, calendarId)).startTime, startTime, 'nothing is saved yet')

  await panel.getByRole('button', { name: 'Move to 12:00' }).click()
  await page.getByRole('button', { name: new RegExp(`^12:00–13:00 ${name}`) }).waitFor()
  assert.equal((await find(page, calendarId)).startTime, startTime + 7_200_000)
  assert.deepEqual(
    await pendingTimes(page, calendarId),
    before.map((time) => time + 7_200_000),
  )
  assert.deepEqual(complaints, [])
})

test('a drag shows the plan; discarding it changes nothing, saving moves the appointment', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const day = workday(22)
  const { calendarId, name, startTime } = await book(page, day)
  await openDay(page, `day=${day}`)
  const drag = async () => {
    await dragByAnHour(page, calendarId)
    await page.locator('[data-ghost]').filter({ hasText: '11:00–12:00' }).waitFor()
    await page.locator('[data-plan]').waitFor()
  }
  await drag()
  const panel = page.getByRole('region', { name })
  await panel.getByRole('button', { name: 'Discard' }).click()
  await page.locator('[data-ghost]').waitFor({ state: 'detached' })
  assert.equal((await find(page, calendarId)).startTime, startTime)

  await drag()
  await panel.getByRole('button', { name: 'Move to 11:00' }).click()
  await page.locator('[data-ghost]').waitFor({ state: 'detached' })
  assert.equal((await find(page, calendarId)).startTime, startTime + 3_600_000)
  assert.deepEqual(complaints, [])
})

test('a drag that ends before it has been drawn moves the appointment to where it ended', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const day = workday(60)
  const { calendarId } = await book(page, day)
  await openDay(page, `day=${day}`)
  const visit = page.locator(`[data-visit="${calendarId}"]`)
  // The pointer has been on the page, as Chromium only captures pointers that it knows.
  await visit.hover({ position: { x: 12, y: 6 } })
  await page.evaluate(`{
    const visit = document.querySelector('[data-visit="${calendarId}"]')
    const { left, top, height } = visit.getBoundingClientRect()
    for (const [type, down] of [
      ['pointerdown', 0],
      ['pointermove', height / 2],
      ['pointermove', height],
      ['pointerup', height],
    ]) {
      const at = { clientX: left + 12, clientY: top + 6 + down }
      visit.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1, ...at }))
    }
  }`)
  await page.locator('[data-ghost]').filter({ hasText: '11:00–12:00' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('an appointment is cancelled after the panel showed which messages it cancels', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const day = workday(23)
  const { calendarId, name } = await book(page, day)
  await openDay(page, `day=${day}&appointment=${calendarId}`)
  const panel = page.getByRole('region', { name })
  const alternative = panel.getByRole('button', { name: /^Cancel it.*cancelled/ })
  await alternative.click()
  await panel.locator('[data-plan]').filter({ hasText: 'cancelled' }).waitFor()
  assert.equal((await find(page, calendarId)).status, 'OPEN')
  await panel.getByRole('button', { name: 'Cancel it' }).click()
  await panel.locator('.chip').filter({ hasText: 'Cancelled' }).waitFor()
  assert.equal((await find(page, calendarId)).status, 'CANCELLED')
  assert.deepEqual(await pendingTimes(page, calendarId), [])
  const cancelled = panel.getByRole('listitem').filter({ hasText: /\d\d:\d\d cancelled$/ })
  await cancelled.first().waitFor()
  assert.equal(await panel.getByText('No automation writes about this appointment').count(), 0)

  await panel.getByRole('tab', { name: 'History' }).click()
  await panel.getByText('sofia').first().waitFor()
  await panel.getByText('Open → Cancelled').waitFor()
  await panel.getByRole('tab', { name: 'Why and why not' }).click()
  await panel
    .getByText(/^Not sent: its status became “Cancelled” on .*\d\d:\d\d\.$/)
    .first()
    .waitFor()
  assert.equal(await panel.getByText(/definition|CANCELLED/).count(), 0, 'in the owner’s words')
  assert.deepEqual(complaints, [])
})

test('status and note are changed in the panel', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const day = workday(24)
  const { calendarId, name } = await book(page, day)
  await openDay(page, `view=list&day=${day}&appointment=${calendarId}`)
  const panel = page.getByRole('region', { name })
  await panel.getByRole('tab', { name: 'Edit' }).click()
  await panel.getByLabel('Status').click()
  await page.getByRole('option', { name: 'Confirmed' }).click()
  await panel.getByLabel('Note for the client').fill('Bring the X-ray.')
  await panel.locator('[data-plan]').waitFor()
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('“Bring the X-ray.”').waitFor()
  assert.equal((await find(page, calendarId)).status, 'CONFIRMED')
  assert.deepEqual(complaints, [])
})

test('keys open the previous day, the next day and today', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', `/calendar?day=${dayIn(10)}`)
  const days = page.getByRole('navigation', { name: 'Days of the week' })
  await days.locator('[aria-current]').waitFor()
  await page.keyboard.press('[')
  await page.waitForURL(new RegExp(dayIn(9)))
  await page.keyboard.press(']')
  await page.waitForURL(new RegExp(dayIn(10)))
  await page.keyboard.press('t')
  await page.waitForURL((url) => !url.searchParams.has('day'))
  // `G T` opens the page Today; its T must not trigger the calendar's key T.
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page.waitForURL(/\/console\/?$/)
})

test('a time that cannot be saved is refused at its field, and the button is disabled', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/calendar')
  const day = workday(25)
  const { calendarId, name } = await book(page, day)
  await openDay(page, `day=${day}&appointment=${calendarId}`)
  const panel = page.getByRole('region', { name })
  await panel.getByLabel('Day').fill('2201-01-01')
  await panel.getByRole('alert').waitFor()
  assert.equal(await panel.getByRole('button', { name: /^Move to/ }).isDisabled(), true)
})

test('a plan that could not be computed can be requested again', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', `/calendar?day=${workday(22)}`)
  const { calendarId, name } = await book(page, workday(22))
  await page.goto(`${service.base}/console/calendar?day=${workday(22)}&appointment=${calendarId}`)
  const panel = page.getByRole('region', { name })
  await panel.getByLabel('Start').first().waitFor()
  const plans = '**/calendar/plan*'
  await page.route(plans, (route) => route.fulfill({ status: 500, body: '{}' }))
  await panel.getByLabel('Start').first().fill('11:30')
  await panel.getByText('What this does to messages could not be computed').waitFor()
  assert.equal(await panel.getByRole('button', { name: 'Move to 11:30' }).isDisabled(), true)
  await page.unroute(plans)
  await panel.getByRole('button', { name: 'Try again' }).click()
  await panel.locator('[data-plan]').waitFor()
  assert.equal(await panel.getByRole('button', { name: 'Move to 11:30' }).isEnabled(), true)
})

test('appointments of staff who were deactivated stay in the day', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia')
  const { professionalId } = await ask<Ids>(page, '/professional', {
    firstName: 'Former',
    lastName: 'Colleague',
    locationIdList: [1],
  })
  const { clientId, name, locationId, reasonId, startTime } = await book(page, workday(24))
  await ask(page, '/calendar', {
    clientId,
    reasonId,
    locationId,
    professionalId,
    startTime: startTime + 2 * 3_600_000,
    endTime: startTime + 3 * 3_600_000,
  })
  await ask(page, '/professional', { professionalId, active: false })
  await page.goto(`${service.base}/console/calendar?day=${workday(24)}`)
  const visits = page.getByRole('button', { name: new RegExp(name) })
  await visits.nth(1).waitFor()
  await page.getByTitle('Former Colleague').waitFor()
})

test('a client page begins with the next appointment and has all of them', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia')
  const { clientId, startTime, ...first } = await book(page, workday(30))
  const bodies = Array.from({ length: 600 }, (_, i) => ({
    clientId,
    professionalId: first.professionalId,
    reasonId: first.reasonId,
    locationId: first.locationId,
    startTime: startTime - (i + 60) * DAY_MS,
    endTime: startTime - (i + 60) * DAY_MS + 3_600_000,
  }))
  const lines = bodies.map((body) => JSON.stringify({ kind: 'calendar', ...body })).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const data = Buffer.from(lines)
  const imported = await page.request.post(`${service.base}/import`, { data, headers })
  assert.deepEqual((await imported.json()).accepted, { calendar: 600 })
  await page.goto(`${service.base}/console/clients/${clientId}`)
  await page.getByText('601 appointments').waitFor()
  const card = page.locator('section', {
    has: page.getByRole('heading', { name: 'Appointments', exact: true }),
  })
  const rows = card.getByRole('link')
  assert.match((await rows.first().getAttribute('href'))!, new RegExp(workday(30)))
  await card.getByRole('button', { name: 'Show more' }).click()
  assert.equal(await rows.count(), 1 + 200)
})

test('clients are found while typing, regardless of accents; errors are shown at their fields', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/clients')
  const { name, clientId } = await book(page, workday(26))
  await page.getByLabel('Find a client').fill('zzzz')
  await page.getByText('No client found').waitFor()
  await page.getByRole('button', { name: 'All clients' }).click()
  await page.getByText('No client found').waitFor({ state: 'detached' })
  await page.getByLabel('Find a client').fill(name.replace('Á', 'a').toLowerCase())
  const rows = page.getByRole('rowgroup').nth(1).getByRole('row')
  await page.waitForURL(/text=/)
  await rows.nth(1).waitFor({ state: 'detached' })
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  await page.getByText('Mails to').waitFor()
  await page.getByRole('link', { name: 'Reminder two days before Waiting' }).waitFor()

  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('First name').fill('')
  await page.getByLabel('Mail address').fill('not an address')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('is required').waitFor()
  assert.equal(await page.getByLabel('Mail address').getAttribute('aria-invalid'), 'true')
  assert.match(complaints.join(), /422/)
  complaints.length = 0
  await page.getByLabel('First name').fill('Ágnes Mária')
  await page.getByLabel('Mail address').fill('agnes@example.org')
  const tags = page.getByRole('group', { name: 'Tags' })
  await tags.getByLabel('Tag', { exact: true }).fill('level')
  for (const value of ['gold', 'vip, since 2019']) {
    await tags.getByLabel('Values').fill(value)
    await tags.getByLabel('Values').press('Enter')
  }
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: /Ágnes Mária/, level: 1 }).waitFor()
  const saved = await ask<{ tags: object }>(page, `/client/${clientId}`)
  assert.deepEqual(saved.tags, { level: ['gold', 'vip, since 2019'] })
  assert.deepEqual(complaints, [])
})

test('two windows that edit a client keep the changes of both, and ask about the same field', async (t) => {
  const { page } = await openAs(t, 'sofia', '/clients')
  const person = { firstName: 'Ágnes', lastName: 'Twice' }
  const { clientId } = await call('POST', '/client', person)
  const phoneAndLanguage = async () => {
    const { phone, language } = await ask<Record<string, string>>(page, `/client/${clientId}`)
    return [phone, language]
  }
  const open = async () => {
    await page.goto(new URL(`/console/clients/${clientId}`, page.url()).href)
    await page.getByRole('button', { name: 'Edit' }).click()
  }
  await open()
  await page.getByLabel('Phone').fill('+41 44 222 22 22')
  await call('POST', '/client', { clientId, language: 'fr' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Edit' }).waitFor()
  assert.deepEqual(await phoneAndLanguage(), ['+41 44 222 22 22', 'fr'])

  await open()
  await page.getByLabel('Phone').fill('+41 44 333 33 33')
  await call('POST', '/client', { clientId, phone: '+41 44 444 44 44', language: 'it' })
  await page.getByRole('button', { name: 'Save' }).click()
  const conflict = page.getByRole('alert').filter({ hasText: 'Saved before you by the key test' })
  await conflict.getByText(/Keeping yours replaces “Phone”\.$/).waitFor()
  await assertAccessible(page)
  await keepScreenshot(page, 'client-conflict')
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Edit' }).waitFor()
  assert.deepEqual(await phoneAndLanguage(), ['+41 44 333 33 33', 'it'])
})

test('a suppressed address is shown with its reason and can be cleared', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/clients')
  const { clientId, name } = await book(page, workday(27))
  const emailAddress = `${name.split(' ')[1]!}@example.org`
  const line = { kind: 'suppression', emailAddress, reason: 'BOUNCED', detail: '550 no such user' }
  const imported = await page.evaluate(async (body) => {
    const answer = await fetch('/import', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body,
    })
    return answer.status
  }, JSON.stringify(line))
  assert.equal(imported, 200)
  await page.goto(`${service.base}/console/clients/${clientId}`)
  await page.getByText('550 no such user').waitFor()
  await page.getByRole('button', { name: 'Send to this address again' }).click()
  await page.getByText('Mails to').waitFor()
  assert.deepEqual(complaints, [])
})

test('on a phone the day is a list, and an appointment opens over it', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/calendar')
  const day = workday(28)
  const { calendarId, name } = await book(page, day)
  await page.setViewportSize({ width: 360, height: 740 })
  await openDay(page, `day=${day}`)
  await page.getByRole('button', { name: new RegExp(`^\\d+:00–.*${name}`) }).click()
  const panel = page.getByRole('dialog').getByRole('region', { name })
  await panel.getByLabel('Start').fill('12:00')
  await panel.getByRole('button', { name: 'Move to 12:00' }).click()
  await page.getByRole('button', { name: new RegExp(`12:00–13:00.*${name}`) }).waitFor()
  assert.equal(new Date((await find(page, calendarId)).startTime).getUTCMinutes(), 0)
  const overflows = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  assert.equal(overflows, false)
  await page.keyboard.press('Escape')
  const sunday = Temporal.PlainDate.from(day).add({
    days: 7 - Temporal.PlainDate.from(day).dayOfWeek,
  })
  await openDay(page, `day=${sunday}`)
  await waitUntilLoaded(page)
  const week = page.getByRole('navigation', { name: 'Days of the week' })
  const chosen = await week.locator('[aria-current]').boundingBox()
  assert.ok(chosen!.x > 0 && chosen!.x + chosen!.width < 360, 'the chosen day is not in sight')
  assert.deepEqual(complaints, [])
})

test('every view and panel of the calendar follows WCAG 2.2 AA', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/calendar')
  const day = workday(100)
  const { calendarId, clientId, name } = await book(page, day)
  const views = [
    `/calendar?day=${day}&appointment=${calendarId}`,
    `/calendar?day=${day}&view=week&book=true`,
    `/clients/${clientId}`,
  ]
  for (const view of views) {
    await page.goto(`${service.base}/console${view}`)
    await page.getByText(name).first().waitFor()
    await waitUntilLoaded(page)
    await assertAccessible(page)
  }
})
