import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdByHand } from '../../src/automation/restored.ts'
import { assertAccessible, skipInShortRun, startConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { openAs, asOperator, database, businessId } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
])

test('an owner sees that the database was restored, and the operator releases it there', async (t) => {
  if (skipInShortRun(t)) return
  const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(await database.readTime()))
  await holdByHand(database.operator, now)
  const { page } = await openAs(t, 'sofia')
  await page.getByText('The database was restored from a backup.').waitFor()
  await until(async () => (await page.locator('.notice').count()) === 1)
  await page.getByRole('link', { name: 'See what waits' }).click()
  await page.getByRole('heading', { name: 'Restored database' }).waitFor()
  await page.getByText(/^Not known of that time: .* Mails may go to clients/).waitFor()
  await assertAccessible(page)

  const release = page.getByRole('button', { name: 'Release, do not send what was due before' })
  assert.equal(await release.count(), 0, 'only the operator can release')
  const { key } = await asOperator('POST', `/business/${businessId}/apiKey`, { name: 'other' })
  await page.locator('input[name=key]').fill(key)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('This is not the operator’s key').waitFor()
  await page.locator('input[name=key]').fill('operator-key-of-this-test')
  await page.getByRole('button', { name: 'Continue' }).click()
  await release.click()
  await page.getByText('The database is not held. Mails are sent.').waitFor()
  assert.equal((await asOperator('GET', '/restore')).held, false)

  await page.getByRole('button', { name: /sofia/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).first().click()
  await page.getByRole('link', { name: 'For the operator of the service' }).click()
  await page.locator('input[name=key]').waitFor()
})
