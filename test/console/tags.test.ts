import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertAccessible,
  keepPictures,
  skipInShortRun,
  startConsole,
  waitUntilLoaded,
} from '../support/console.ts'

const { openAs, call } = await startConsole([
  { username: 'sofia', role: 'OWNER' },
  { username: 'stella', role: 'USER' },
])

test('an owner renames a value of a tag after seeing what it does, and deletes it', async (t) => {
  const { items } = await call('GET', '/client?limit=2')
  for (const { clientId } of items) {
    await call('POST', '/client', { clientId, tags: { shoe: ['size 42', 'wide'] } })
  }
  const { page, complaints } = await openAs(t, 'sofia', '/settings/tags')
  const row = page.getByRole('row', { name: /size 42/ })
  await row.getByRole('cell', { name: '2', exact: true }).waitFor()
  await waitUntilLoaded(page)
  await assertAccessible(page)
  await keepPictures(page, 'tags')

  await row.getByRole('button', { name: 'Rename “shoe: size 42”' }).press('Enter')
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name: 'Rename', exact: true })
  assert.equal(await button.isDisabled(), true)
  await dialog.getByLabel('New value of “shoe”').fill('size 43')
  await dialog.getByText('2 records change. No message is cancelled. None is added.').waitFor()
  await assertAccessible(page)
  const merges = dialog.getByText('“wide” exists already: both become one value')
  assert.equal(await merges.count(), 0)
  await dialog.getByLabel('New value of “shoe”').fill('wide')
  await merges.waitFor()
  await page.route('**/tag/plan*', (route) => route.fulfill({ status: 500, body: '' }))
  await dialog.getByLabel('New value of “shoe”').fill('size 44')
  await dialog.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
  assert.equal(await button.isDisabled(), true)
  await page.unroute('**/tag/plan*')
  await dialog.getByLabel('New value of “shoe”').fill('size 43')
  await dialog.getByText('2 records change. No message is cancelled. None is added.').waitFor()
  await button.click()
  await page.getByText('2 records were changed.').waitFor()
  const { tags } = await call('GET', `/client/${items[0].clientId}`)
  assert.deepEqual(tags, { shoe: ['size 43', 'wide'] })

  await page.getByRole('button', { name: 'Delete “shoe: size 43”' }).click()
  await dialog.getByText('2 records change.').waitFor()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('row', { name: /size 43/ }).waitFor({ state: 'detached' })
  const left = await call('GET', `/client/${items[1].clientId}`)
  assert.deepEqual(left.tags, { shoe: ['wide'] })
  const isFaked = (complaint: string) => /^500: .*\/tag\/plan$/.test(complaint)
  assert.deepEqual(
    complaints.filter((one) => !isFaked(one)),
    [],
  )
})

test('the tags are not offered to a role that may not set up the business', async (t) => {
  if (skipInShortRun(t)) return
  const { page } = await openAs(t, 'stella', '/settings/tags')
  await page.getByText('Your role may not open this page').waitFor()
  assert.equal(await page.getByRole('link', { name: 'Tags', exact: true }).count(), 0)
})
