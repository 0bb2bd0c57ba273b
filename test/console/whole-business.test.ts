import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { assertAccessible, keepPictures, startEmptyConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { call, businessId, openAs, service } = await startEmptyConsole([
  { username: 'sofia', role: 'OWNER' },
])

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('days off and special hours are entered for a member of staff', async (t) => {
  await call('POST', '/professional', { firstName: 'Elena', lastName: 'García' })
  const { page, complaints } = await openAs(t, 'sofia', '/settings/staff')
  await page.getByRole('heading', { level: 1, name: 'Staff' }).waitFor()
  await page.getByRole('button', { name: 'Elena García', exact: true }).click()
  const window = page.getByRole('dialog', { name: 'Elena García' })
  await window.getByRole('button', { name: 'Add a day' }).click()
  const [first, second] = [0, 1].map((place) =>
    window.getByRole('group', { name: 'Days off or special hours' }).nth(place),
  )
  await first!.getByLabel('First day').fill('2026-12-24')
  await first!.getByLabel('Last day').fill('2026-12-26')
  await window.getByRole('button', { name: 'Add a day' }).click()
  await second!.getByLabel('First day').fill('2026-12-31')
  await second!.getByLabel('From').fill('09:00')
  await second!.getByLabel('Until').fill('12:00')
  await assertAccessible(page)
  await keepPictures(page, 'days-off')
  await window.getByRole('button', { name: 'Save' }).click()
  await window.waitFor({ state: 'detached' })
  const { items } = await call('GET', '/professional')
  const [holidays, morning] = items[0].workingExceptions
  assert.deepEqual([holidays.startDate, holidays.endDate], ['2026-12-24', '2026-12-26'])
  assert.deepEqual([morning.startDate, morning.from, morning.to], ['2026-12-31', '09:00', '12:00'])
  assert.deepEqual(complaints, [])
})

test('a logo is uploaded in the settings of the business', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/business')
  await page.getByText('at the top of every mail').waitFor()
  await page.getByLabel('File of the logo').setInputFiles({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: Buffer.from(PNG, 'base64'),
  })
  await page.getByRole('img', { name: 'Logo' }).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await until(async () => (await call('GET', `/business/${businessId}`)).logo !== null)
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

test('a client is erased after their name is typed', async (t) => {
  const person = { firstName: 'Ada', lastName: 'Adler', emailAddress: 'ada@example.org' }
  const { clientId } = await call('POST', '/client', person)
  const { page, complaints } = await openAs(t, 'sofia', `/clients/${clientId}`)
  await page.getByRole('heading', { level: 1, name: 'Ada Adler' }).waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download all data' }).click()
  assert.equal((await download).suggestedFilename(), `client-${clientId}.json`)
  await page.getByRole('button', { name: 'Erase this client' }).click()
  const window = page.getByRole('dialog', { name: 'Erase this client' })
  const erase = window.getByRole('button', { name: 'Erase for good' })
  await window.getByLabel('to confirm').fill('Ada Adle')
  assert.equal(await erase.isDisabled(), true)
  await assertAccessible(page)
  await window.getByLabel('to confirm').fill('Ada Adler')
  await erase.click()
  await page.getByText('The personal data is erased.').waitFor()
  assert.notEqual((await call('GET', `/client/${clientId}`)).emailAddress, person.emailAddress)
  assert.deepEqual(complaints, [])
})

test('the effect of another time zone is shown before it is saved', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/business')
  const zone = page.getByRole('combobox', { name: 'Time zone' })
  await zone.fill('London')
  await page.getByRole('option', { name: 'Europe/London' }).click()
  await page.getByText(/When it is .* in Zürich, it is .* in London/).waitFor()
  await page.getByText('No message changes, and nothing is sent now.').waitFor()
  await keepPictures(page, 'settings-zone')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/in Zürich, it is/).waitFor({ state: 'detached' })
  assert.equal((await call('GET', `/business/${businessId}`)).timeZone, 'Europe/London')
  assert.deepEqual(complaints, [])
})

const DAY_MS = 86_400_000

test('what settings would do to messages is shown, and saving waits for it', async (t) => {
  const [{ locationId }, { professionalId }, { reasonId }, { clientId }, { emailTemplateId }] =
    await Promise.all([
      call('POST', '/location', { name: 'Seefeld' }),
      call('POST', '/professional', { firstName: 'Marc', lastName: 'Roth' }),
      call('POST', '/reason', { name: 'Check-up' }),
      call('POST', '/client', { firstName: 'Eva', lastName: 'Ems' }),
      call('POST', '/emailTemplate', {
        templateName: 'Reminder',
        subject: 'Soon',
        emailBody: '<p>Soon</p>',
      }),
    ])
  const reminder = {
    active: true,
    businessId,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 3 },
    triggerHours: -24,
    triggerMinutes: 0,
  }
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await call('POST', '/eventDefinition', { ...reminder, eventActions: [action] })
  const filterTagMapJson = '{"level":["gold"]}'
  await call('POST', '/eventDefinition', { ...reminder, triggerHours: -48, filterTagMapJson })
  const startTime = Math.floor(Date.now() / DAY_MS) * DAY_MS + 40.5 * DAY_MS
  const visit = { clientId, professionalId, reasonId, locationId, endTime: startTime + 1_800_000 }
  await call('POST', '/calendar', { ...visit, startTime })
  await call('POST', '/calendar', { ...visit, startTime, status: 'NO_SHOW' })

  const { page, complaints } = await openAs(t, 'sofia', '/settings/business')
  const save = page.getByRole('button', { name: 'Save' })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/business/plan', async (route) => {
    await released
    await route.continue()
  })
  await page.getByLabel('Send nothing from').fill('00:00')
  await page.getByLabel('until', { exact: true }).fill('23:00')
  await page.waitForRequest('**/business/plan')
  assert.equal(await save.isDisabled(), true)
  release()
  await page.getByText('1 message moves').waitFor()
  await assertAccessible(page)
  await save.click()
  await until(async () => (await call('GET', `/business/${businessId}`)).quietHours !== null)
  await page.getByRole('status').getByText('Saved').waitFor()

  await page.getByRole('navigation', { name: 'Settings' }).getByText('Statuses').click()
  await page.getByRole('button', { name: 'No-show', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('switch', { name: /before the appointment/ }).click({ force: true })
  await dialog.getByText('1 message is scheduled').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('No-show is saved.').waitFor()

  await page.goto(new URL(`/console/clients/${clientId}`, page.url()).href)
  await page.getByRole('button', { name: 'Edit' }).click()
  const tags = page.getByRole('group', { name: 'Tags' })
  await tags.getByRole('textbox', { name: 'Tag', exact: true }).fill('level')
  await tags.getByRole('combobox').fill('gold')
  await tags.getByRole('combobox').press('Enter')
  await page.getByText('2 messages are scheduled').waitFor()
  await keepPictures(page, 'client-tags')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('2 messages are scheduled').waitFor({ state: 'detached' })

  await page.goto(new URL(`/console/templates/${emailTemplateId}`, page.url()).href)
  await page.getByRole('button', { name: 'Actions for Reminder' }).click()
  await page.getByRole('menuitem', { name: 'Deactivate …' }).click()
  await page.getByText('2 scheduled messages are not sent.').waitFor()
  assert.deepEqual(complaints, [])
})

test('a pause that fails says why, in the language of the person', async (t) => {
  const { page } = await openAs(t, 'sofia', '/settings/business')
  const refused = { status: 409, code: 'conflict', title: 'Conflict', detail: 'It is exported.' }
  await page.route(`${service.base}/business`, (route) =>
    route.fulfill({ status: 409, contentType: 'application/problem+json', json: refused }),
  )
  const pause = async (name: string) => {
    await page.getByRole('button', { name }).click()
    await page.getByRole('dialog').getByRole('button', { name }).click()
  }
  await pause('Pause all mail')
  await page.getByRole('alert').getByText('It is exported.', { exact: true }).waitFor()
  const { mailPaused } = await call('GET', `/business/${businessId}`)
  assert.equal(mailPaused, false)

  const speak = (language: string) =>
    page.request.post(`${service.base}/user/language`, { data: { language } })
  await speak('de')
  await page.reload()
  await pause('Versand anhalten')
  await page.getByText('In diesem Zustand ist das nicht möglich: It is exported.').waitFor()
  await speak('en')
})

test('the whole business is exported as a file', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/export')
  await page.getByRole('heading', { level: 1, name: 'Export' }).waitFor()
  await assertAccessible(page)
  await keepPictures(page, 'settings-export')
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export everything' }).click()
  const file = await download
  assert.match(file.suggestedFilename(), /^bellwether-.*\.ndjson$/)
  const [first] = readFileSync(await file.path(), 'utf8').split('\n')
  assert.equal(JSON.parse(first!).kind, 'business')
  assert.deepEqual(complaints, [])
})
