import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openPage } from '../support/browser.ts'
import { assertAccessible, keepPictures, skipInShortRun, startConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, businessId, call, openAs, password } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'marc', role: 'ADMINISTRATOR' },
])

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

/** Calls the API as the owner. */
async function signedInOwner() {
  const answer = await fetch(`${service.base}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'sofia', password }),
  })
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
  return async (path: string) => (await fetch(service.base + path, { headers: { cookie } })).json()
}

/** The link in the newest mail to an address, as captured by the service. */
async function linkMailedTo(address: string) {
  const get = await signedInOwner()
  let mail: { emailId: number } | undefined
  await until(async () => {
    const { items } = (await get('/emails?status=CAPTURED&limit=50')) as {
      items: { emailId: number; to: string }[]
    }
    mail = items.find(({ to }) => to === address)
    return mail !== undefined
  })
  const { text } = (await get(`/emails/${mail!.emailId}`)) as { text: string }
  return /http\S+\/console\/set-password\S+/.exec(text)![0].replace(/^http:\/\/[^/]+/, service.base)
}

test('an invited colleague chooses a password with the mailed link and signs in', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/people')
  await heading(page, 'People and roles')
  await page.getByRole('button', { name: 'Add a person' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Username').fill('marc')
  await dialog.getByLabel('Email address').fill('elena@lindenhof.example')
  await dialog.getByRole('button', { name: 'Send the invitation' }).click()
  await dialog.getByText('The username is taken.').waitFor()
  await assertAccessible(page, ['light'])
  complaints.length = 0
  await dialog.getByLabel('Username').fill('elena')
  await dialog.getByRole('combobox', { name: 'Role' }).click()
  await page.getByRole('option', { name: 'Administrator' }).click()
  await dialog.getByRole('button', { name: 'Send the invitation' }).click()
  await page
    .getByText('Captured: no mail server is set, so elena@lindenhof.example gets no link.')
    .waitFor()
  await page.getByRole('cell', { name: /elena/ }).first().waitFor()
  assert.deepEqual(complaints, [])

  const link = await linkMailedTo('elena@lindenhof.example')
  await page.getByRole('link', { name: 'Captured mail' }).click()
  await heading(page, 'Captured mail')
  const row = page.getByRole('row', { name: /elena@lindenhof\.example/ })
  await row.getByRole('link').click()
  const captured = page.getByRole('dialog')
  await captured.getByText('elena@lindenhof.example').first().waitFor()
  const links = captured.getByRole('region', { name: 'Links in this mail' }).getByRole('link')
  await links.first().waitFor()
  const hrefs = (await links.all()).map((one) => one.getAttribute('href'))
  const addresses = await Promise.all(hrefs)
  const ending = link.slice(link.indexOf('/console/'))
  assert.ok(addresses.some((address) => address?.endsWith(ending)))
  await assertAccessible(page, ['light'])
  await page.keyboard.press('Escape')
  await captured.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  const elena = await openPage(t)
  await elena.page.goto(link)
  await heading(elena.page, 'Choose a password')
  await elena.page.getByText('Your username is elena.').waitFor()
  await assertAccessible(elena.page)
  await elena.page.getByLabel('New password').first().fill('a long one of mine')
  await elena.page.getByRole('button', { name: 'Set it and sign in' }).click()
  await elena.page.getByRole('button', { name: /elena.*Administrator/ }).waitFor()

  const again = await openPage(t)
  await again.page.goto(link)
  await again.page.getByText('This link has expired or was used before.').waitFor()
})

test('a forgotten password is reset by a mailed link; an unknown address gets the same answer', async (t) => {
  if (skipInShortRun(t)) return
  const owner = await openAs(t, 'sofia', '/settings/people')
  await owner.page.getByRole('button', { name: 'Actions for sofia' }).click()
  await owner.page.getByRole('menuitem', { name: 'Change' }).click()
  const dialog = owner.page.getByRole('dialog')
  await dialog.getByLabel('Email address').fill('sofia@lindenhof.example')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await owner.page.getByText('sofia is saved.').waitFor()

  const { page, complaints } = await openPage(t)
  await page.goto(`${service.base}/console/sign-in`)
  await page.getByRole('link', { name: 'Forgotten your password?' }).click()
  await heading(page, 'Forgotten password')
  await assertAccessible(page, ['light'])
  complaints.length = 0
  for (const address of ['nobody@lindenhof.example', 'sofia@lindenhof.example']) {
    await page.getByLabel('Email address').fill(address)
    const answered = page.waitForResponse(/\/user\/password\/forgotten$/)
    await page.getByRole('button', { name: 'Send the link' }).click()
    assert.equal((await answered).status(), 202)
    await page.getByText('If a user has this address, a link is on its way.').waitFor()
  }
  assert.deepEqual(complaints, [])
  await page.goto(await linkMailedTo('sofia@lindenhof.example'))
  await page.getByText('A new password for sofia at Lindenhof Physiotherapy.').waitFor()
  // The same password as before, so that the other tests can sign in.
  await page.getByLabel('New password').first().fill(password)
  await page.getByRole('button', { name: 'Set it and sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
  // Changing the password ended her other session.
  await owner.page.reload()
  await heading(owner.page, 'Sign in')
})

test('a key is shown once, can be copied and is revoked', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/settings/keys')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await heading(page, 'API keys')
  await page.getByRole('button', { name: 'Create a key' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('waiting room screen')
  await dialog.getByLabel('change schedule').uncheck()
  await dialog.getByRole('button', { name: 'Create a key' }).click()
  await page.getByText('“waiting room screen” was created').waitFor()
  const key = await page.getByTestId('key').innerText()
  assert.match(key, /^bw_[\w-]{43}$/)
  await page.getByRole('button', { name: 'Copy the key' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), key)
  await assertAccessible(page)
  const headers = { authorization: `Bearer ${key}` }
  assert.equal(await service.status('/calendar?limit=1', { headers }), 200)
  assert.equal(await service.status('/emails?limit=1', { headers }), 403)

  await page.reload()
  const row = page.getByRole('row', { name: /waiting room screen/ })
  await row.waitFor()
  assert.match(await row.innerText(), /read schedule/)
  assert.equal(await page.getByText(key).count(), 0)
  await page.getByRole('button', { name: 'Revoke waiting room screen' }).click()
  await page.getByRole('button', { name: 'Revoke the key' }).click()
  await row.waitFor({ state: 'detached' })
  assert.equal(await service.status('/calendar?limit=1', { headers }), 401)
  assert.deepEqual(complaints, [])
})

test('people change their own password and keep this session', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'marc', '/settings/account')
  await heading(page, 'Your account')
  await page.getByLabel('Current password').first().fill('a guess')
  await page.getByLabel('New password').first().fill(password)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('is not your password').waitFor()
  complaints.length = 0
  await page.getByLabel('Current password').first().fill(password)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('Your password is changed.').waitFor()
  await page.reload()
  await heading(page, 'Your account')
  assert.deepEqual(complaints, [])
})

test('an administrator cannot change an owner, and a deactivated user is no longer listed', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'marc', '/settings/people')
  await page.getByRole('cell', { name: /sofia/ }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Actions for sofia' }).count(), 0)
  await page.getByRole('button', { name: 'Add a person' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Username').fill('grace')
  await dialog.getByLabel('Password').first().fill('given by another')
  await dialog.getByRole('button', { name: 'Add the person' }).click()
  await page.getByText('grace is saved.').waitFor()
  await page.getByRole('button', { name: 'Actions for grace' }).click()
  await page.getByRole('menuitem', { name: 'Deactivate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('grace can no longer sign in.').waitFor()
  assert.equal(await page.getByRole('cell', { name: /grace/ }).count(), 0)
})

test('an owner renames the business, and the navigation shows the new name', async (t) => {
  if (skipInShortRun(t)) return
  const administrator = await openAs(t, 'marc', '/settings/business')
  await administrator.page.getByLabel('Name').waitFor()
  assert.equal(await administrator.page.getByRole('button', { name: 'Save' }).count(), 0)
  const { page } = await openAs(t, 'sofia', '/settings/business')
  await page.getByLabel('Name').fill('')
  await page.getByLabel('Name').fill('Lindenhof Physiotherapy and Sport')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByText('and Sport').waitFor()
  await page.getByLabel('Name').fill('Lindenhof Physiotherapy')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('and Sport').waitFor({ state: 'detached' })
})

test('an owner sets quiet hours, where replies go, and until when clients cancel', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'sofia', '/settings/business')
  await page.getByLabel('Replies go to').fill('desk@lindenhof.example')
  await page.getByLabel('Send nothing from').fill('21:00')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('[aria-invalid=true]').first().waitFor()
  await page.getByLabel('until', { exact: true }).fill('07:30')
  await page.getByLabel('Cancel by link until').fill('24')
  await assertAccessible(page)
  await keepPictures(page, 'settings-business')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  const { replyTo, quietHours, cancelUntilHours } = await call('GET', `/business/${businessId}`)
  assert.deepEqual([replyTo, cancelUntilHours], ['desk@lindenhof.example', 24])
  assert.deepEqual(quietHours, { from: '21:00', to: '07:30' })
  const none = { businessId, replyTo: null, quietHours: null, cancelUntilHours: null }
  await call('POST', '/business', none)
})

const CLIENTS = `Nr;Vorname;Surname;E-Mail;Colour
9001;Zoë;Testperson;zoe@example.com;red
9002;Bad;Address;no address;blue
9003;Ida;Testperson;ida@example.com;
`

test('a CSV file is mapped, tried and imported, and its bad line is reported', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/import')
  await heading(page, 'Import a file')
  await page.getByRole('combobox', { name: 'What are the rows?' }).click()
  await page.getByRole('option', { name: 'Clients' }).click()
  const file = { name: 'clients.csv', mimeType: 'text/csv', buffer: Buffer.from(CLIENTS) }
  await page.locator('input[type=file]').setInputFiles(file)
  const fieldOf = (column: string) =>
    page.getByRole('combobox', { name: `Field for the column ${column}` })
  await fieldOf('Nr').waitFor()
  assert.deepEqual(
    await Promise.all(
      ['Nr', 'Vorname', 'Surname', 'E-Mail', 'Colour'].map((column) =>
        fieldOf(column).inputValue(),
      ),
    ),
    ['Number in the other program', 'First name', 'Last name', 'Email address', 'not imported'],
  )
  await page.getByText('2 rows would be imported, 1 would be refused.').waitFor()
  await page.getByRole('cell', { name: 'E-Mail: must be one plain address' }).last().waitFor()
  await assertAccessible(page)
  assert.equal(await countTestPeople(page), 0)

  await page.getByRole('button', { name: 'Import 2 rows' }).click()
  await page.getByText('2 rows were imported, 1 refused.').waitFor()
  assert.equal(await page.getByRole('cell', { name: '3', exact: true }).count(), 1)
  assert.equal(await countTestPeople(page), 2)
  assert.deepEqual(complaints, [])
})

const APPOINTMENTS = [1, 2].map(
  (day) => `v${day},1,1,1,1,2199-05-0${day} 10:00,2199-05-0${day} 10:30`,
)

test('an import says before that it sends mails, and after it how many wait for approval', async (t) => {
  if (skipInShortRun(t)) return
  await call('POST', '/business', { businessId, bulkLimit: 1 })
  const { page, complaints } = await openAs(t, 'sofia', '/import')
  await page.getByLabel('These rows are history').uncheck()
  await page.getByText('Importing sends mails').waitFor()
  const header = 'externalId,clientId,professionalId,reasonId,locationId,startTime,endTime'
  const buffer = Buffer.from([header, ...APPOINTMENTS].join('\n'))
  const file = { name: 'visits.csv', mimeType: 'text/csv', buffer }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('button', { name: 'Import 2 rows' }).click()
  await page.getByText('2 rows were imported, 0 refused.').waitFor()
  await page.getByText(/^\d+ mails about these rows wait for approval/).waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Decide on Today' }).click()
  await page.getByText(/^\d+ mails wait for approval$/).waitFor()
  assert.deepEqual(complaints, [])
})

test('a client without an address is looked up by name in the dry run of a file', async (t) => {
  if (skipInShortRun(t)) return
  const known = { firstName: 'Leonie', lastName: 'Lookup', emailAddress: 'leonie@example.com' }
  await call('POST', '/client', { businessId, ...known })
  const { page, complaints } = await openAs(t, 'sofia', '/import')
  const text = 'Datum;Zeit;Dauer;Kunde;Leistung\n23.04.2199;09:30;45;Leo L.;Neue Leistung\n'
  const file = { name: 'export.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.locator('input[type=file]').setInputFiles(file)
  const client = page.getByRole('combobox', { name: 'Which client is “Leo L.”?' })
  await client.fill('Lookup')
  await page.getByRole('option', { name: 'Leonie Lookup · leonie@example.com' }).click()
  await page.getByText('1 clients can get mail, 0 have no address.').waitFor()
  assert.equal(await client.inputValue(), 'Leonie Lookup · leonie@example.com')
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

const EXPORT = `Datum;Zeit;Dauer;Kunde;Leistung;Status
03/04/2199;09:30;45;"Import, Ida <ida.import@example.com>";Neue Leistung;Blau
`

test('an export is corrected in place, imported and undone', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia', '/import')
  const file = { name: 'export.csv', mimeType: 'text/csv', buffer: Buffer.from(EXPORT) }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('radio', { name: 'The day comes first' }).check()
  await page.getByLabel('Create 1 client who does not exist yet').check()
  await page.getByLabel('Create 1 service that does not exist yet').check()
  await page.getByRole('combobox', { name: /“Blau” means/ }).click()
  await page.getByRole('option', { name: 'Confirmed' }).click()
  // A new name is as good as one of the list, and can be corrected.
  const staff = page.getByRole('combobox', { name: 'The member of staff of 1 row' })
  for (const name of ['Nora Nue', 'Nora Neu']) {
    await staff.fill(name)
    await page.keyboard.press('Tab')
    await page.getByText(name, { exact: true }).waitFor()
  }
  await page.getByLabel('Create 1 member of staff who does not exist yet').check()
  const location = page.getByRole('combobox', { name: 'The location of 1 row' })
  if ((await location.count()) > 0) {
    await location.click()
    await page.getByRole('option').first().click()
  }
  await page.getByText('1 row would be imported, 0 would be refused.').waitFor()
  await page.getByText('1 clients can get mail, 0 have no address.').waitFor()
  await page.getByRole('cell', { name: '2199-04-03 09:30' }).waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Import 1 row' }).click()
  await page.getByText('1 row was imported, 0 refused.').waitFor()
  await page.getByRole('button', { name: 'Undo this import' }).click()
  await page.getByText('Undone: 4. Kept, because they were changed or used since: 0.').waitFor()
  assert.deepEqual(complaints, [])
})

const countTestPeople = (page: Page) =>
  page.evaluate(
    "fetch('/client?search=Testperson').then((answer) => answer.json()).then(({ items }) => items.length)",
  )
