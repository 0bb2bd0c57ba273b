import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcileAll } from '../../src/automation/reconcile.ts'
import { saveLastReconciliation } from '../../src/store/reconciliation.ts'
import { assertAccessible, startConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { service, businessId, openAs, call, database } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'stella', role: 'USER' },
])

const DAY_MS = 86_400_000

/** Fires so many pending messages with one call, which must wait for approval. */
async function fireTooMany(count: number): Promise<number> {
  let items: { eventTriggerId: number }[] = []
  await until(async () => {
    items = (await call('GET', `/eventTriggers?status=SCHEDULED&limit=${count}`)).items
    return items.length === count
  })
  const ids = items.map(({ eventTriggerId }) => eventTriggerId)
  return (await call('POST', '/eventTriggers/fire', { ids })).approvalId
}

const statusOf = async (approvalId: number) =>
  (await call('GET', `/approval/${approvalId}`)).status as string

test('Today shows mails that wait for approval, and an owner sends or cancels them', async (t) => {
  await call('POST', '/business', { businessId, bulkLimit: 1 })
  const first = await fireTooMany(3)

  const { page: stellas } = await openAs(t, 'stella')
  await stellas.getByText('3 mails wait for approval').waitFor()
  await stellas.getByText('An owner or administrator decides.').waitFor()
  assert.equal(await stellas.getByRole('button', { name: 'Send 3 mails' }).count(), 0)

  const { page, complaints } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/`)
  await page.getByText('3 mails wait for approval').waitFor()
  await page.getByText('the key test sent them before their time.').waitFor()
  for (const scheme of ['light', 'dark'] as const) await assertAccessible(page, scheme)
  await page.getByRole('button', { name: 'Send 3 mails' }).click()
  await page.getByText('Sending 3 mails').waitFor()
  assert.equal(await statusOf(first), 'WAITING')
  await page.clock.fastForward(6_500)
  await page.getByText('3 mails are being sent').waitFor()
  await page.getByText('3 mails wait for approval').waitFor({ state: 'detached' })
  assert.equal(await statusOf(first), 'RELEASED')

  const second = await fireTooMany(2)
  await page.reload()
  await page.getByText('2 mails wait for approval').waitFor()
  await page.getByRole('button', { name: 'Cancel them' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('2 mails wait for approval').waitFor({ state: 'detached' })
  assert.equal(await statusOf(second), 'CANCELLED')
  assert.deepEqual(complaints, [])
})

test('messages sent in bulk above the limit say that they wait for approval', async (t) => {
  await call('POST', '/business', { businessId, bulkLimit: 1 })
  const { page } = await openAs(t, 'sofia')
  await page.clock.install()
  await page.goto(`${service.base}/console/activity?outcome=waiting`)
  await page.getByRole('rowgroup').getByRole('row').nth(1).waitFor()
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Send 2 now' }).click()
  await page.getByRole('button', { name: 'Send 2 now' }).click()
  await page.clock.fastForward(6_500)
  await page.getByText('They are more than may be sent at once').waitFor()
  const { items } = await call('GET', '/approval?status=WAITING')
  assert.deepEqual(
    items.map(({ mails, createdUser }: { mails: number; createdUser: string }) => [
      mails,
      createdUser,
    ]),
    [[2, 'sofia']],
  )
})

test('mail is paused in the settings, Today shows why, and it is resumed there', async (t) => {
  const { page, complaints } = await openAs(t, 'sofia', '/settings/business')
  await page.getByLabel('Why (optional)').fill('wrong prices in the template')
  await page.getByRole('button', { name: 'Pause all mail' }).click()
  await page.getByRole('heading', { name: 'Mail is paused' }).waitFor()
  const { mailPaused, mailPausedReason } = await call('GET', `/business/${businessId}`)
  assert.deepEqual([mailPaused, mailPausedReason], [true, 'wrong prices in the template'])

  const { page: stellas } = await openAs(t, 'stella')
  await stellas.getByText('Mail is paused').waitFor()
  assert.equal(await stellas.getByRole('button', { name: 'Resume mail' }).count(), 0)

  await page.goto(`${service.base}/console/`)
  await page.getByText('wrong prices in the template').first().waitFor()
  await page.getByRole('button', { name: 'Resume mail' }).click()
  await page.getByText('Mail is paused').waitFor({ state: 'detached' })
  assert.equal((await call('GET', `/business/${businessId}`)).mailPaused, false)
  assert.deepEqual(complaints, [])
})

/** Books appointments at one location. */
async function bookMany(count: number, locationId: number, inDays: number) {
  const start = Math.floor(Date.now() / 60_000) * 60_000 + inDays * DAY_MS
  const who = { clientId: 1, professionalId: 1, reasonId: 1, locationId }
  await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const startTime = start + i * 1_800_000
      return call('POST', '/calendar', { ...who, startTime, endTime: startTime + 1_800_000 })
    }),
  )
}

test('an automation that stopped matching is marked in its list and on Today', async (t) => {
  const definition = {
    businessId,
    active: true,
    objectType: 'CALENDAR',
    eventType: { eventTypeId: 1 },
    triggerHours: 0,
    triggerMinutes: 0,
    description: 'Tell the first location',
    locationIdList: [1],
  }
  const { eventDefnId } = await call('POST', '/eventDefinition', definition)
  await bookMany(60, 1, 30)
  // Later bookings are at another location.
  await call('POST', '/eventDefinition', { eventDefnId, description: 'Tell the first' })
  await bookMany(20, 2, 60)
  const now = () => Temporal.Now.instant()
  const findings = await reconcileAll(database.engine, now)
  assert.ok(findings.stoppedDefinitionIds.includes(eventDefnId))
  await saveLastReconciliation(database.engine, { endedAt: now(), findings })

  const { page, complaints } = await openAs(t, 'sofia')
  const item = page.getByRole('listitem').filter({ hasText: '“Tell the first” stopped matching' })
  await item.getByText('the key test changed it today').waitFor()
  await page.goto(`${service.base}/console/automations`)
  await page.getByText('It stopped matching').first().waitFor()
  await page.goto(`${service.base}/console/`)
  await item.getByRole('button', { name: 'This is intended' }).click()
  await item.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Needs you' }).waitFor()
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
  assert.equal(await item.count(), 0)
  assert.deepEqual(complaints, [])
})
