import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertAccessible,
  keepPictures,
  startEmptyConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { until } from '../support/until.ts'

/** Exists in the page. */
declare const getComputedStyle: (element: unknown) => { zIndex: string }

const HOUR_MS = 3_600_000
const { call, asOperator, businessId, openAs } = await startEmptyConsole([
  { username: 'sofia', role: 'OWNER' },
])

// In the zone where it is about noon, so that "in an hour" and "an hour ago" are always today.
const offset = 12 - new Date().getUTCHours()
const zone = `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`
await asOperator('POST', '/business', { businessId, timeZone: zone })
const dayIn = (days: number) =>
  Temporal.Now.zonedDateTimeISO(zone).toPlainDate().add({ days }).toString()

const { locationId } = await call('POST', '/location', { name: 'Altstadt' })
const isOff = { startDate: dayIn(5), endDate: dayIn(6) }
const [elena, noor] = await Promise.all(
  ['Elena García', 'Noor Haddad'].map(async (name) => {
    const [firstName, lastName] = name.split(' ')
    const locationIdList = [locationId]
    const body = { firstName, lastName, locationIdList, workingExceptions: [isOff] }
    return (await call('POST', '/professional', body)).professionalId as number
  }),
)
const service = { name: 'Massage', durationMinutes: 45, price: 92, currency: 'CHF' }
const { reasonId } = await call('POST', '/reason', service)

async function book(lastName: string, startTime: number, professionalId = elena) {
  const { clientId } = await call('POST', '/client', { firstName: 'Ada', lastName })
  const body = { clientId, professionalId, reasonId, locationId, startTime }
  const endTime = startTime + HOUR_MS / 2
  return (await call('POST', '/calendar', { ...body, endTime })).calendarId as number
}
const statusOf = async (calendarId: number) =>
  (await call('GET', `/calendar/${calendarId}`)).status as string

test('the desk records what happens with one click or key on Today, the list and the day', async (t) => {
  const now = Date.now()
  const coming = await book('Coming', now + HOUR_MS)
  const missing = await book('Missing', now - HOUR_MS / 2)
  const late = await book('Late', now - HOUR_MS / 4, noor)
  const undone = await book('Undone', now + 2 * HOUR_MS, noor)
  const { page, complaints } = await openAs(t, 'sofia', '/')
  await page.getByRole('button', { name: 'Skip these steps' }).click()
  await page.getByRole('heading', { name: 'Expected today' }).waitFor()
  await page.getByRole('button', { name: 'Arrived: Ada Coming' }).click()
  await page.getByText('Ada Coming: Arrived – no message changes').waitFor()
  await page.getByRole('button', { name: 'Arrived: Ada Coming' }).waitFor({ state: 'detached' })
  await assertAccessible(page)
  await keepPictures(page, 'desk-today')

  await page.getByRole('link', { name: 'The whole day' }).click()
  await page.getByRole('region', { name: 'Appointments of the day by staff' }).waitFor()
  await page.locator(`[data-visit="${missing}"]`).focus()
  await page.keyboard.press('m')
  await page.getByText('Ada Missing: No-show – no message changes').waitFor()
  await page.locator(`[data-visit="${late}"]`).hover()
  await page.getByRole('button', { name: 'Arrived: Ada Late' }).click()
  await page.getByText('Ada Late: Arrived – no message changes').waitFor()

  await page.getByText('List', { exact: true }).click()
  await page.getByRole('button', { name: 'Confirmed: Ada Undone' }).click()
  await page.getByText('Ada Undone: Confirmed – no message changes').waitFor()
  await page.keyboard.press('z')
  await page.getByRole('button', { name: 'Confirmed: Ada Undone' }).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'desk-list')

  await until(async () => (await statusOf(coming)) === 'CHECKED_IN')
  await until(async () => (await statusOf(missing)) === 'NO_SHOW')
  await until(async () => (await statusOf(late)) === 'CHECKED_IN')
  assert.equal(await statusOf(undone), 'OPEN')
  assert.deepEqual(complaints, [])
})

test('an action is carried out when the page is left, and before its person is signed out', async (t) => {
  const left = await book('Left', Date.now() + 3 * HOUR_MS)
  const running = await book('Running', Date.now() + 4 * HOUR_MS)
  const { page } = await openAs(t, 'sofia', '/')
  const arrive = async (name: string) => {
    await page.getByRole('button', { name: `Arrived: ${name}` }).click()
    await page.getByText(`${name}: Arrived – no message changes`).waitFor()
  }
  await page.getByRole('button', { name: 'Skip these steps' }).click()
  await arrive('Ada Left')
  await page.goto('about:blank')
  await until(async () => (await statusOf(left)) === 'CHECKED_IN')

  await page.goBack()
  const order: string[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/calendar', async (route) => {
    await released
    await route.continue()
    order.push('saved')
  })
  await page.route('**/session', async (route) => {
    if (route.request().method() === 'DELETE') order.push('signed out')
    await route.continue()
  })
  const saving = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().endsWith('/calendar'),
  )
  await arrive('Ada Running')
  await saving
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to or do …' }).fill('sign out')
  await page.locator('[data-action]', { hasText: 'Sign out' }).click()
  release()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.deepEqual(order, ['saved', 'signed out'])
  assert.equal(await statusOf(running), 'CHECKED_IN')
})

test('a new client is added while booking, with duration and price; a past start warns', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/calendar?book=true')
  const panel = page.getByRole('region', { name: 'Book' })
  await panel.getByRole('heading', { name: 'Book', exact: true }).waitFor()
  const who = panel.getByRole('combobox', { name: 'Client' })
  await who.fill('Nina van Neu')
  await panel.getByRole('button', { name: 'New client' }).click()
  const window = page.getByRole('dialog', { name: 'New client' })
  await window.getByLabel('First name').waitFor()
  assert.equal(await window.getByLabel('First name').inputValue(), 'Nina')
  assert.equal(await window.getByLabel('Last name').inputValue(), 'van Neu')
  await assertAccessible(page)
  await window.getByRole('button', { name: 'Save' }).click()
  await window.waitFor({ state: 'detached' })
  await until(async () => (await who.inputValue()).startsWith('Nina van Neu'))

  await panel.getByLabel('Service').click()
  await page.getByRole('option', { name: 'Massage' }).click()
  assert.equal(await panel.getByLabel('Minutes').inputValue(), '45')
  assert.equal(await panel.getByLabel('Price in CHF').inputValue(), '92')
  await panel.getByLabel('Minutes').fill('60')
  await panel.getByLabel('Price in CHF').fill('80')
  await panel.getByLabel('With').click()
  await page.getByRole('option', { name: /^Elena/ }).click()
  await panel.getByLabel('Start').fill('08:00')
  await panel.getByText('This start is in the past.').waitFor()
  await panel.getByLabel('Day').fill(dayIn(2))
  await panel.getByText('This start is in the past.').waitFor({ state: 'detached' })
  await keepPictures(page, 'desk-booking')
  await panel.getByRole('button', { name: 'Book' }).click()
  await page.getByRole('region', { name: 'Nina van Neu' }).waitFor()

  const { items } = await call('GET', `/calendar?from=${Date.now() + 24 * HOUR_MS}`)
  const [{ startTime, endTime, price, currency }] = items
  assert.deepEqual([endTime - startTime, price, currency], [HOUR_MS, 80, 'CHF'])
  assert.deepEqual(complaints, [])
})

test('the calendar shows one person, any date, the week as a grid, and a day on which nobody works', async (t) => {
  await book('Now', Date.now(), noor)
  const { page, complaints } = await openAs(t, 'sofia', '/calendar?view=week')
  const week = page.getByRole('region', { name: 'Appointments of the week' })
  await week.getByRole('button', { name: /Ada Now/ }).waitFor()
  await waitUntilLoaded(page)
  assert.equal(await week.locator('[data-column]').count(), 7)
  const today = week.locator(`[data-column="${dayIn(0)}"]`)
  assert.equal(await week.locator('[data-now]').count(), 1)
  const layer = (selector: string) =>
    today
      .locator(selector)
      .first()
      .evaluate((element) => Number(getComputedStyle(element).zIndex) || 0)
  assert.ok((await layer('[data-visit]')) > (await layer('[data-now]')), 'names cover the line')
  await assertAccessible(page)
  await keepPictures(page, 'desk-week')

  await page.getByRole('combobox', { name: 'Staff' }).click()
  await page.getByRole('option', { name: 'Elena García' }).click()
  await week.getByRole('button', { name: /Ada Now/ }).waitFor({ state: 'detached' })
  await page.waitForURL(new RegExp(`staff=${elena}`))

  await page.getByText('Day', { exact: true }).click()
  const day = page.getByRole('region', { name: 'Appointments of the day by staff' })
  await day.waitFor()
  assert.equal(await day.locator('[data-column]').count(), 1)
  await page.goto(new URL('/console/calendar', page.url()).href)
  await day.waitFor()
  await page.getByLabel('Go to a date').fill(dayIn(5))
  await page.waitForURL(new RegExp(`day=${dayIn(5)}`))
  await day.locator('[data-column]').nth(1).waitFor()
  assert.equal(await day.locator('[data-column]').count(), 2, 'nobody works: the grid stays whole')
  await page.getByRole('button', { name: 'Today', exact: true }).click()
  await page.waitForURL((url) => !url.searchParams.has('day'))
  assert.deepEqual(complaints, [])
})
