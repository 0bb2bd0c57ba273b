import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skipInShortRun, startConsole } from '../support/console.ts'

const { openAs, service } = await startConsole([{ username: 'sofia', role: 'OWNER' }])

/** Less than the time after which a typed day counts. */
const SHORT_MS = 50

test('a period that is chosen while a day is being typed replaces the typed day', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openAs(t, 'sofia')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.clock.install()
  await page.goto(`${service.base}/console/reports/102`)
  const from = page.getByLabel('From')
  await from.waitFor()
  // The clock of the page stands still unless the test moves it.
  await page.clock.pauseAt(Date.now() + 60_000)
  await from.fill('2020-02-03')
  assert.equal(await from.inputValue(), '2020-02-03')
  await page.getByRole('combobox', { name: 'Period' }).click()
  await page.clock.runFor(SHORT_MS)
  await page.getByRole('option', { name: 'Last month' }).click()
  await page.clock.runFor(SHORT_MS)
  await page.waitForURL(/period=lastMonth/)
  await page.clock.runFor(2_000)
  assert.match(page.url(), /period=lastMonth/)
  assert.doesNotMatch(page.url(), /from=/)
  assert.match(await from.inputValue(), /-01$/)
  assert.notEqual(await from.inputValue(), '2020-02-03')
  assert.deepEqual(complaints, [])
})
