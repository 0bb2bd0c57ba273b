import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { htmlAttacks } from '../support/html-attacks.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'

const MAX_NAME = 100
const DAY_MS = 86_400_000

/** Attacks that can be a name or a reply: one short line. */
const LINES = htmlAttacks.filter((text) => /^[\x20-\x7e]+$/.test(text) && text.length <= MAX_NAME)
/** One of each kind is enough where every one is a request. */
const SOME = LINES.filter((_, i) => i % Math.ceil(LINES.length / 12) === 0)

const addressOf = (i: number) => `hostile${i}@example.org`
const lifetime = { after } as Pick<TestContext, 'after'>
const mailServer = await startMailServer(lifetime, {
  refuses: Object.fromEntries(
    SOME.map((attack, i) => [addressOf(i), `550 5.1.1 ${attack} User unknown\r\n`]),
  ),
})
const { service, businessId, openAs, call } = await startConsole(
  [{ username: 'sofia', role: 'OWNER' }],
  { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` },
)

/** Shows the page, and fails if it opened a dialog or sent a request to another machine. */
async function visit(page: Page, path: string) {
  await page.goto(`${service.base}/console${path}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
}

async function openWatched(t: TestContext) {
  const { page, complaints } = await openAs(t, 'sofia')
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return { page, complaints }
}

test('names and server replies that contain HTML are shown as text', async (t) => {
  const countFailed = async () => (await call('GET', '/eventTriggers/counts')).FAILED ?? 0
  const failedBefore = await countFailed()
  const start = Math.floor(Date.now() / 60_000) * 60_000 + 3 * DAY_MS
  for (const [i, lastName] of SOME.entries()) {
    const client = { firstName: 'Zoe', lastName, emailAddress: addressOf(i) }
    const { clientId } = await call('POST', '/client', client)
    const startTime = start + i * 1_800_000
    const who = { clientId, professionalId: 1, reasonId: 1, locationId: 1 }
    await call('POST', '/calendar', { ...who, startTime, endTime: startTime + 1_800_000 })
  }
  for (const [i, name] of SOME.entries()) {
    await call('POST', '/reason', { businessId, name, price: i })
  }
  await until(async () => (await countFailed()) === failedBefore + SOME.length)

  const { page, complaints } = await openWatched(t)
  await visit(page, '/')
  await page.getByText(SOME.at(-1)!).first().waitFor()
  await visit(page, '/activity?outcome=failed')
  for (const attack of SOME) {
    await page.getByText(`550 5.1.1 ${attack} User unknown`).first().waitFor()
  }
  const { items } = await call('GET', '/eventTriggers?status=FAILED&limit=2')
  for (const { eventTriggerId } of items) await visit(page, `/activity/${eventTriggerId}`)
  await visit(page, '/clients?text=Zoe')
  await visit(page, '/calendar?view=list')
  assert.deepEqual(complaints, [])
})

type Stored = { emailTemplateId: number; attacks: number }

/** Stores attacks in as few templates as possible; those that the service refuses are left out. */
async function storeTemplates(attacks: string[]): Promise<Stored[]> {
  const template = { templateName: 'Hostile', subject: 'Hello', emailBody: attacks.join('<hr>') }
  try {
    const { emailTemplateId } = await call('POST', '/emailTemplate', template)
    return [{ emailTemplateId, attacks: attacks.length }]
  } catch {
    if (attacks.length === 1) return []
    const half = Math.ceil(attacks.length / 2)
    return [
      ...(await storeTemplates(attacks.slice(0, half))),
      ...(await storeTemplates(attacks.slice(half))),
    ]
  }
}

test('templates that contain attacks run nothing in the editor and in the preview', async (t) => {
  const stored = (await storeTemplates(htmlAttacks)).toSorted((a, b) => b.attacks - a.attacks)
  const largest = stored.slice(0, 4)
  t.diagnostic(`${largest.reduce((sum, { attacks }) => sum + attacks, 0)} attacks`)
  assert.ok(largest.reduce((sum, { attacks }) => sum + attacks, 0) >= 50)
  const { page, complaints } = await openWatched(t)
  for (const { emailTemplateId } of largest) {
    await visit(page, `/templates/${emailTemplateId}`)
    const frame = page.locator('iframe').first()
    await frame.waitFor()
    assert.equal(await frame.getAttribute('sandbox'), '')
  }
  assert.deepEqual(complaints, [])
})
