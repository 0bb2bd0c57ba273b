import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  keepPictures,
  skipInShortRun,
  startEmptyConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, openAs, call } = await startEmptyConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'stella', role: 'LOCATION_SUPER_USER' },
])

const goTo = (page: Page, path: string) => page.goto(`${service.base}/console${path}`)

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

const save = (page: Page) =>
  page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()

/** Each fills in its form and leaves the dialog open. */
async function fillInLocation(page: Page) {
  await page.getByRole('link', { name: 'Add a location' }).click()
  await heading(page, 'Locations')
  await page.getByRole('button', { name: 'Add a location' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Seefeld')
  await dialog.getByLabel('Address', { exact: true }).fill('Seestrasse 5\n8008 Zürich')
  await dialog.getByLabel('Phone').fill('+41 44 555 01 20')
}

async function fillInStaff(page: Page) {
  await page.getByRole('navigation', { name: 'Settings' }).getByText('Staff').click()
  await heading(page, 'Staff')
  await page.getByRole('button', { name: 'Add a member of staff' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('First name').fill('Elena')
  await dialog.getByLabel('Last name').fill('García')
  await dialog.getByLabel('Email address').fill('elena@praxis.example')
  await dialog.getByRole('button', { name: 'Add hours' }).click()
  await dialog.getByRole('button', { name: 'Add hours' }).click()
  await dialog.getByLabel('Saturday to').fill('12:30')
}

async function fillInService(page: Page) {
  await page.getByRole('navigation', { name: 'Settings' }).getByText('Services').click()
  await heading(page, 'Services')
  await page.getByRole('button', { name: 'Add a service' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Physiotherapy')
  await dialog.getByLabel('Duration').fill('45')
  // The point stays when the last digit is replaced.
  await dialog.getByLabel('Price').fill('92.8')
  await dialog.getByLabel('Price').press('Backspace')
  await dialog.getByLabel('Price').press('5')
  await dialog.getByRole('combobox', { name: 'Currency' }).fill('CHF')
  await page.getByRole('option', { name: 'CHF' }).click()
}

const { items: clients } = await call('GET', '/client')
assert.equal(clients.length, 0)

test('an owner adds a location, a member of staff and a service by hand and books an appointment', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia')
  await page.getByRole('heading', { name: 'Add by hand' }).waitFor()
  await keepPictures(page, 'first-visit')
  await goTo(page, '/calendar?book=true')
  const panel = page.getByRole('region', { name: 'Book' })
  await panel.getByRole('link', { name: 'Add a client' }).waitFor()
  assert.deepEqual(await panel.getByRole('status').getByRole('link').allInnerTexts(), [
    'Add a location',
    'Add a member of staff',
    'Add a service',
    'Add a client',
  ])
  await assertAccessible(page)
  await keepPictures(page, 'booking-missing')

  await goTo(page, '/')
  await fillInLocation(page)
  await assertAccessible(page)
  await save(page)
  await page.getByText('Seefeld is saved.').waitFor()
  await page
    .getByRole('row', { name: /Seefeld.*Seestrasse 5, 8008 Zürich.*as the business/ })
    .waitFor()

  await fillInStaff(page)
  await assertAccessible(page)
  await keepPictures(page, 'settings-staff-form')
  await save(page)
  await page.getByRole('row', { name: /Elena García.*Seefeld.*Mon, Tue/ }).waitFor()

  await fillInService(page)
  await assertAccessible(page)
  await save(page)
  await page.getByRole('row', { name: /Physiotherapy.*45 min.*CHF\s92\.50/ }).waitFor()

  await call('POST', '/client', { firstName: 'Anna', lastName: 'Müller' })
  await goTo(page, '/')
  await page.getByRole('link', { name: 'Book an appointment' }).click()
  await panel.getByRole('combobox', { name: 'Client' }).fill('anna')
  await page.getByRole('option', { name: 'Anna Müller' }).click()
  await panel.getByLabel('Service').click()
  await page.getByRole('option', { name: 'Physiotherapy' }).click()
  await panel.getByLabel('With').click()
  await page.getByRole('option', { name: 'Elena García, Seefeld' }).click()
  assert.equal(await panel.getByText('Nothing can be booked yet:').count(), 0)
  await panel.getByRole('button', { name: 'Book', exact: true }).click()
  await page.getByRole('region', { name: 'Anna Müller' }).waitFor()
  const { items } = await call('GET', '/calendar?expand=names')
  assert.partialDeepStrictEqual(items, [
    {
      professionalName: 'Elena García',
      reasonName: 'Physiotherapy',
      locationName: 'Seefeld',
      price: 92.5,
      currency: 'CHF',
    },
  ])
  assert.equal(items[0].endTime - items[0].startTime, 45 * 60_000)
  const { items: staff } = await call('GET', '/professional')
  assert.deepEqual(staff[0].workingHours, [
    ...['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'].map((weekday) => ({
      weekday,
      from: '09:00',
      to: '17:00',
    })),
    { weekday: 'SATURDAY', from: '09:00', to: '12:30' },
  ])
  assert.deepEqual(complaints, [])
})

test('a fault is shown at its field, and only changed properties are sent', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/professional', { firstName: 'Tom', lastName: 'Becker' })
  const { page } = await openAs(t, 'sofia', '/settings/staff')
  await page.getByRole('button', { name: 'Tom Becker', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const address = dialog.getByLabel('Email address')
  await address.fill('tom at praxis')
  await dialog.getByLabel('Last name').fill('')
  await dialog.getByRole('button', { name: 'Add hours' }).click()
  await dialog.getByLabel('Mon–Fri to').fill('08:00')
  await save(page)
  await dialog.getByText('must be one plain address, local@domain').waitFor()
  await dialog.getByText('must be after the start').waitFor()
  assert.equal(await address.getAttribute('aria-invalid'), 'true')
  assert.equal(await dialog.getByLabel('Last name').getAttribute('aria-invalid'), 'true')
  assert.equal(await dialog.getByLabel('Mon–Fri to').getAttribute('aria-invalid'), 'true')
  assert.equal(await dialog.getByLabel('First name').getAttribute('aria-invalid'), null)
  await assertAccessible(page)
  await keepPictures(page, 'settings-staff-faults')

  await address.fill(' tom@praxis.example ')
  await dialog.getByText('must be one plain address').waitFor({ state: 'detached' })
  await dialog.getByLabel('Last name').fill('Becker')
  await dialog.getByRole('button', { name: 'Remove the hours on Mon–Fri' }).click()
  const request = page.waitForRequest((one) => one.method() === 'POST')
  await save(page)
  const sent = await request
  assert.deepEqual(Object.keys(sent.postDataJSON()), ['emailAddress', 'professionalId'])
  assert.equal(sent.postDataJSON().emailAddress, 'tom@praxis.example')
  assert.ok(sent.headers()['if-match'])
  await page.getByText('Tom Becker is saved.').waitFor()
})

test('hours at a location that was removed say so at their field', async (t) => {
  if (skipInShortRun(t)) return
  const stay = await call('POST', '/location', { name: 'Wiedikon' })
  const left = await call('POST', '/location', { name: 'Oerlikon' })
  await call('POST', '/professional', {
    firstName: 'Noor',
    lastName: 'Haddad',
    locationIdList: [stay.locationId, left.locationId],
    workingHours: [{ weekday: 'MONDAY', from: '08:00', to: '12:00', locationId: left.locationId }],
  })
  const { page } = await openAs(t, 'sofia', '/settings/staff')
  await page.getByRole('button', { name: 'Noor Haddad', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const locations = dialog.getByRole('combobox', { name: 'Locations' })
  await locations.press('Backspace')
  await save(page)
  await dialog.getByText('must be one of locationIdList').waitFor()
  const place = dialog.getByRole('combobox', { name: /Monday/ })
  assert.equal(await place.inputValue(), 'Oerlikon')
  for (const { locationId } of [stay, left]) {
    await call('POST', '/location', { locationId, active: false })
  }
})

test('a change that another user made meanwhile is kept, and one of the same field is shown', async (t) => {
  if (skipInShortRun(t)) return
  const { locationId } = await call('POST', '/location', { name: 'Altstadt', phone: '1' })
  const { page } = await openAs(t, 'sofia', '/settings/locations')
  await page.getByRole('button', { name: 'Altstadt', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Zürich Altstadt')
  await call('POST', '/location', { locationId, phone: '+41 44 555 01 10' })
  await save(page)
  await page.getByRole('row', { name: /Zürich Altstadt.*\+41 44 555 01 10/ }).waitFor()

  await page.getByRole('button', { name: 'Zürich Altstadt', exact: true }).click()
  await dialog.getByLabel('Name').fill('Old town')
  await call('POST', '/location', { locationId, name: 'Niederdorf' })
  await save(page)
  await dialog.getByText(/Saved before you by the key “?test/).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-locations-conflict')
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await save(page)
  await page.getByRole('row', { name: /Old town/ }).waitFor()
  await call('POST', '/location', { locationId, active: false })
})

test('a deactivated service is not offered for booking until it is activated again', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/reason', { name: 'Massage', durationMinutes: 30 })
  const { page, complaints } = await openAs(t, 'sofia', '/settings/services')
  const servicesOffered = async () => {
    await goTo(page, '/calendar?book=true')
    const field = page.getByRole('region', { name: 'Book' }).getByLabel('Service')
    const option = page.getByRole('option').first()
    // The list closes if the form is drawn again when its data arrives.
    await until(async () => {
      await field.click()
      return option.waitFor({ timeout: 3_000 }).then(
        () => true,
        () => false,
      )
    })
    return page.getByRole('option').allInnerTexts()
  }
  await page.getByRole('button', { name: 'Actions for Massage' }).click()
  await page.getByRole('menuitem', { name: 'Deactivate' }).click()
  await page.getByText('Massage is no longer offered for booking.').waitFor()
  assert.equal(await page.getByRole('row', { name: /Massage/ }).count(), 0)
  assert.ok(!(await servicesOffered()).includes('Massage'))

  await goTo(page, '/settings/services')
  await page.getByRole('switch', { name: /Show 1 inactive one/ }).check({ force: true })
  await page.getByRole('row', { name: /Massage inactive/ }).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-services-inactive')
  await page.getByRole('button', { name: 'Actions for Massage' }).click()
  await page.getByRole('menuitem', { name: 'Activate' }).click()
  await page.getByText('Massage is offered for booking again.').waitFor()
  assert.ok((await servicesOffered()).includes('Massage'))
  assert.deepEqual(complaints, [])
})

test('a location manager sees no settings of the setup, and may not change them', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'stella', '/settings/business')
  const settings = page.getByRole('navigation', { name: 'Settings' })
  await settings.getByText('Your account').waitFor()
  assert.equal(await settings.getByText('Locations').count(), 0)
  await goTo(page, '/settings/locations')
  await page.getByText('Your role may read this, not change it.').waitFor()
  await waitUntilLoaded(page)
  assert.equal(await page.getByRole('button', { name: /Add|Actions/ }).count(), 0)
})
