import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { openPage } from '../support/browser.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'

const lifetime = { after } as Pick<TestContext, 'after'>
const service = await startService(lifetime, {
  DATA_DIR: temporaryFolder(lifetime),
  ADMIN_API_KEY: 'operator-key-of-this-test',
})

test('the first address leads to the console, which says what is here', async (t) => {
  const { page, complaints } = await openPage(t)
  await page.goto(service.base)
  assert.equal(new URL(page.url()).pathname, '/console/')
  await page.getByRole('heading', { name: 'Bellwether' }).waitFor()
  await page.getByRole('status').getByText('ready', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'API description' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('any address of the console is a page that can be loaded again', async (t) => {
  const { page, complaints } = await openPage(t)
  await page.goto(`${service.base}/console/some/page`)
  await page.getByRole('heading', { name: 'Bellwether' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('the console can be read on a phone', async (t) => {
  const { page } = await openPage(t)
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${service.base}/console/`)
  await page.getByRole('heading', { name: 'Bellwether' }).waitFor()
  const overflows = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  assert.equal(overflows, false)
})

test('the API description works offline, under our own policy', async (t) => {
  const { page, complaints } = await openPage(t)
  await page.goto(`${service.base}/docs`)
  await page.getByRole('heading', { name: 'Bellwether' }).waitFor()
  await page.getByText('appointment', { exact: true }).first().waitFor()
  assert.deepEqual(complaints, [])
})

test('pages run their own scripts only, and nobody may frame them', async () => {
  for (const place of ['/console/', '/docs']) {
    const { headers } = await fetch(service.base + place)
    const policy = headers.get('content-security-policy')!
    assert.match(policy, /default-src 'self'/)
    assert.doesNotMatch(policy, /script-src[^;]*unsafe|unsafe-eval|\*/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
  }
})

test('assets may be kept for ever, the page that names them may not', async () => {
  const page = await fetch(`${service.base}/console/`)
  assert.equal(page.headers.get('cache-control'), 'no-cache')
  const asset = /\/console\/assets\/[^"]+\.js/.exec(await page.text())![0]
  const { headers } = await fetch(service.base + asset)
  assert.match(headers.get('cache-control')!, /immutable/)
})

test('a file that is not there is 404, and none outside the console is served', async () => {
  for (const place of [
    'assets/nothing.js',
    'nothing.png',
    '..%2f..%2fpackage.json',
    'assets/..%2f..%2f..%2fpackage.json',
    '%2e%2e/%2e%2e/package.json',
  ]) {
    const answer = await fetch(`${service.base}/console/${place}`)
    const text = await answer.text()
    assert.doesNotMatch(text, /"dependencies"/, place)
    assert.notEqual(answer.status, 500, place)
  }
})
