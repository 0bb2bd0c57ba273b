import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { test, type TestContext } from 'node:test'
import { holdByHand } from '../../src/automation/restored.ts'
import { serverOfUrl } from '../../src/email/smtp.ts'
import { findMailServer, saveMailOutage } from '../../src/store/mail-servers.ts'
import { saveBackupTime } from '../../src/store/installation.ts'
import { noteNode, noteNodeStop } from '../../src/store/nodes.ts'
import { saveOperatorProblem } from '../../src/store/operator-problems.ts'
import { VERSION } from '../../src/version.ts'
import { openPage } from '../support/browser.ts'
import {
  assertAccessible,
  keepPictures,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'
import { until } from '../support/until.ts'

// Nothing listens there: the mail server is out of order for as long as the service runs.
const SMTP_URL = 'smtp://127.0.0.1:9'
const { service, asOperator, openAs, database, businessId } = await startConsole(
  [{ username: 'sofia', role: 'OWNER' }],
  { SMTP_URL },
)
const server = serverOfUrl(SMTP_URL)!
const now = async () =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(await database.readTime()))

/** Without a session, and with a username that is taken. */
const withoutExpected = (complaints: string[]) =>
  complaints.filter((one) => !/^401: .*\/session$|^409: .*\/user$/.test(one))

async function openAsOperator(t: TestContext, width = 1280) {
  const opened = await openPage(t)
  const { page } = opened
  await page.setViewportSize({ width, height: 900 })
  await page.goto(`${service.base}/console/sign-in`)
  await page.getByRole('link', { name: 'For the operator of the service' }).click()
  await page.locator('input[name=key]').fill('operator-key-of-this-test')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Businesses' }).waitFor()
  await waitUntilLoaded(page)
  return opened
}

test('the operator sees versions, nodes, queue and mail, and has the mail server tried again', async (t) => {
  const run = { role: 'all', version: '0.1.9' } as const
  const lost = { ...run, nodeId: randomUUID(), host: 'lost-machine' }
  await noteNode(database.operator, lost, (await now()).subtract({ hours: 3 }))
  const ended = { ...run, nodeId: randomUUID(), host: 'old-machine' }
  await noteNode(database.operator, ended, (await now()).subtract({ hours: 2 }))
  await noteNodeStop(database.operator, ended, (await now()).subtract({ hours: 1 }))
  await saveBackupTime(database.operator, await now())
  const since = (await now()).subtract({ minutes: 30 })
  const outage = { since, phase: 'connect', reply: 'ECONNREFUSED' }
  await saveMailOutage(database.engine, server, outage, since)
  const { page, complaints } = await openAsOperator(t)
  await page.getByText(VERSION, { exact: true }).waitFor()
  const nodeOf = (host: string) => page.getByRole('listitem').filter({ hasText: host })
  await nodeOf('lost-machine')
    .getByText(/^started .* not heard of since /)
    .waitFor()
  await nodeOf('old-machine')
    .getByText(/^ran from /)
    .waitFor()
  // The service of this test.
  await nodeOf(hostname())
    .getByText(/^runs since /)
    .waitFor()
  assert.equal(await page.getByText('None with the command “backup”').count(), 0)
  await page.getByText('Pending triggers', { exact: true }).waitFor()
  await page.getByText(/^It has taken no mail since .*: it fails at the connection\.$/).waitFor()
  await page.getByRole('button', { name: 'Try now' }).click()
  await until(
    async () => (await findMailServer(database.engine, server))?.retryRequestedTime != null,
  )
  await assertAccessible(page)
  await keepPictures(page, 'operator')
  assert.deepEqual(withoutExpected(complaints), [])
})

test('a failure that only the operator can fix is told with its business', async (t) => {
  if (skipInShortRun(t)) return
  const detail = 'The DKIM key of example.org cannot sign.'
  await saveOperatorProblem(database.engine, { problem: 'dkim', businessId, detail }, await now())
  const { page } = await openAsOperator(t)
  const { name } = await asOperator('GET', `/business/${businessId}`)
  await page.getByRole('listitem').filter({ hasText: detail }).getByText(name).waitFor()
  const lede = page.getByText(/things? needs? you\.$|^Everything works/)
  await lede.waitFor()
  await page.clock.install()
  await page.reload()
  await page.locator('input[name=key]').fill('operator-key-of-this-test')
  await page.keyboard.press('Enter')
  await lede.waitFor()
  await page.route('**/business/health', (route) => route.fulfill({ status: 500, body: '' }))
  await page.clock.fastForward(16_000)
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
  assert.equal(await lede.count(), 0, 'what is not known is not called healthy')
})

test('the operator creates a business with its owner, finds it, and sees paused mail', async (t) => {
  const { page, complaints } = await openAsOperator(t)
  await page.getByRole('button', { name: 'Create a business' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name of the business').fill('Praxis am See')
  await form.getByLabel('Username of the owner').fill('sofia')
  await form.getByLabel('Password', { exact: true }).fill('a-good-long-password')
  await form.getByRole('button', { name: 'Create a business' }).click()
  // The name is taken: the second try must not create the business again.
  await form.getByText('The username is taken. Choose another one.').waitFor()
  await assertAccessible(page)
  await form.getByLabel('Username of the owner').fill('nora')
  await form.getByLabel('Name of the business').fill('Praxis am See Nord')
  await form.getByRole('button', { name: 'Create a business' }).click()
  await form.waitFor({ state: 'detached' })
  const { items } = await asOperator('GET', '/business?limit=500')
  const made = items.filter(({ name }: { name: string }) => name.startsWith('Praxis am See'))
  assert.deepEqual(
    made.map(({ name }: { name: string }) => name),
    ['Praxis am See Nord'],
  )

  const rows = page.getByRole('table').last().locator('tbody tr')
  await page.getByRole('searchbox').fill('am see')
  await until(async () => (await rows.count()) === 1)
  await page.getByRole('searchbox').fill('')
  await asOperator('POST', '/business', {
    businessId: made[0].businessId,
    mailPaused: true,
    mailPausedReason: 'moving house',
  })
  await page.reload()
  assert.equal(await page.getByRole('table').count(), 0, 'the key is not kept')
  await page.locator('input[name=key]').fill('operator-key-of-this-test')
  await page.keyboard.press('Enter')
  await page.getByLabel('Only with paused mail').check()
  await until(async () => (await rows.count()) === 1)
  await rows.getByText('paused: moving house').waitFor()
  assert.deepEqual(withoutExpected(complaints), [])
})

test('the operator releases a restored database on the page', async (t) => {
  if (skipInShortRun(t)) return
  await holdByHand(database.operator, await now())
  const { page } = await openAsOperator(t)
  await page.getByRole('heading', { name: 'Restored database' }).waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Release, do not send what was due before' }).click()
  await page.getByRole('heading', { name: 'Restored database' }).waitFor({ state: 'detached' })
  assert.equal((await asOperator('GET', '/restore')).held, false)
})

test('a page of the operator fits a phone, and asks anybody else for the key', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAsOperator(t, 390)
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  assert.ok(width <= 390, `${width}`)
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Forget the key' }).click()
  await page.locator('input[name=key]').waitFor()

  const owner = await openAs(t, 'sofia')
  await owner.page.goto(`${service.base}/console/operator`)
  await owner.page.locator('input[name=key]').fill('not-the-key')
  await owner.page.keyboard.press('Enter')
  await owner.page.getByText('This is not the operator’s key').waitFor()
  const answer = await owner.page.request.get(`${service.base}/business/health`)
  assert.equal(answer.status(), 403)
})
