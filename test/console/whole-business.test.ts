import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { assertAccessible, keepPictures, startEmptyConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { call, businessId, openAs } = await startEmptyConsole([{ username: 'sofia', role: 'OWNER' }])

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
  await page.getByText(/When it is .* in Zurich, it is .* in London/).waitFor()
  await page.getByText('No message is scheduled.').waitFor()
  await keepPictures(page, 'settings-zone')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/in Zurich, it is/).waitFor({ state: 'detached' })
  assert.equal((await call('GET', `/business/${businessId}`)).timeZone, 'Europe/London')
  assert.deepEqual(complaints, [])
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
