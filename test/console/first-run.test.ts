import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/until.ts'
import { openPage } from '../support/browser.ts'
import { assertAccessible, isCompleteRun, skipInShortRun } from '../support/console.ts'
import { cloneDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'

const KEY = 'operator-key-of-this-test'

test('an empty installation gets a business, an owner and the first planned reminder', async (t) => {
  const service = await startService(t, {
    ...(isCompleteRun
      ? { DATA_DIR: temporaryFolder(t) }
      : { DATABASE_URL: (await cloneDatabase(t)).url }),
    ADMIN_API_KEY: KEY,
    RATE_LIMIT: '100000/s,100000',
  })
  const { page, complaints } = await openPage(t)
  await page.goto(`${service.base}/console/`)
  await page.getByRole('link', { name: 'Create your business with it' }).click()

  const key = page.getByLabel('Operator’s key').first()
  await key.fill('not the key')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('This is not the operator’s key.').waitFor()
  await assertAccessible(page, ['light'])
  complaints.length = 0
  await key.fill(KEY)
  await page.keyboard.press('Enter')

  await page.getByLabel('Name of the business').fill('Praxis am See')
  const timeZone = page.getByRole('combobox', { name: 'Time zone' })
  assert.match(await timeZone.inputValue(), /^\w+/)
  await timeZone.fill('Zurich')
  await page.getByRole('option', { name: 'Europe/Zurich' }).click()
  await page.getByRole('button', { name: 'Create the business' }).click()

  await page.getByText('The owner of Praxis am See.').waitFor()
  await page.reload()
  await page.getByLabel('Operator’s key').first().fill(KEY)
  await page.keyboard.press('Enter')
  await page.getByText('The owner of Praxis am See.').waitFor()
  await page.getByLabel('Username').fill('sofia')
  await page.getByLabel('Password').first().fill('short')
  await page.getByRole('button', { name: 'Create the owner and sign in' }).click()
  await page.getByText('must be 8 to 256 characters').waitFor()
  complaints.length = 0
  await page.getByLabel('Password').first().fill('ring-the-bell-2026')
  await page.getByRole('button', { name: 'Create the owner and sign in' }).click()

  await page.getByRole('heading', { name: 'Welcome, sofia' }).waitFor()
  await page.getByText('Praxis am See · Zürich · you are its owner').waitFor()
  await assertAccessible(page)
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
  assert.doesNotMatch(String(stored), new RegExp(KEY))

  await page.getByRole('button', { name: 'Load it' }).click()
  await page.getByRole('heading', { name: 'Next' }).waitFor()
  await page.getByRole('heading', { name: /^Welcome/ }).waitFor({ state: 'detached' })
  // The engine plans the reminders after the demo is loaded.
  await until(async () => {
    const overview = await page.evaluate("fetch('/overview').then((answer) => answer.json())")
    return (overview as { triggersWaiting: number }).triggersWaiting > 0
  })
  const business = await page.evaluate("fetch('/business/1').then((answer) => answer.json())")
  assert.equal((business as { postalAddressRequired: boolean }).postalAddressRequired, true)
  assert.deepEqual(complaints, [])
})

test('without the demo the five steps stay until they are skipped, and show what is missing', async (t) => {
  if (skipInShortRun(t)) return
  const service = await startService(t, {
    DATABASE_URL: (await cloneDatabase(t)).url,
    ADMIN_API_KEY: KEY,
  })
  const post = async (path: string, body: object) => {
    const answer = await fetch(service.base + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.ok(answer.ok, `POST ${path}: ${answer.status}`)
  }
  await post('/business', { name: 'Praxis am See', timeZone: 'Europe/Zurich' })
  await post('/business/1/user', {
    username: 'sofia',
    password: 'ring-the-bell-2026',
    role: 'OWNER',
  })
  const { page } = await openPage(t)
  await page.goto(`${service.base}/console/`)
  await page.getByLabel('Username').fill('sofia')
  await page.getByLabel('Password').first().fill('ring-the-bell-2026')
  await page.keyboard.press('Enter')

  await page.getByRole('heading', { name: 'Welcome, sofia' }).waitFor()
  const steps = page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 2 }) })
  assert.deepEqual(await steps.getByRole('heading', { level: 2 }).allInnerTexts(), [
    'Your business',
    'Bring your appointments',
    'Say what should happen',
    'Check your mail server',
    'See the first reminder planned',
  ])
  assert.equal(await page.getByRole('img', { name: 'Done' }).count(), 1)
  // This browser does not have the operator's key, so the page asks for it.
  await page.getByLabel('Operator’s key').first().waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
  await page.getByRole('button', { name: 'Skip these steps' }).click()
  await page.getByRole('heading', { name: 'Next' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Next' }).waitFor()
})
