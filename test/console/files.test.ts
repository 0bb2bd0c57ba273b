import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { CONSOLE_FOLDER } from '../../src/http/routes/console.ts'
import { openPage } from '../support/browser.ts'
import { skipInShortRun } from '../support/console.ts'
import { cloneDatabase } from '../support/database.ts'
import { startService } from '../support/service.ts'

const lifetime = { after } as Pick<TestContext, 'after'>
const service = await startService(lifetime, {
  DATABASE_URL: (await cloneDatabase(lifetime)).url,
  ADMIN_API_KEY: 'operator-key-of-this-test',
})

test('the root URL redirects to the sign-in of the console', async (t) => {
  const { page } = await openPage(t)
  await page.goto(service.base)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/console/sign-in')
  await page.getByText('Service ready').waitFor()
  await page.getByRole('link', { name: 'API description' }).waitFor()
})

test('an unknown URL asks to sign in first', async (t) => {
  const { page } = await openPage(t)
  await page.goto(`${service.base}/console/some/page`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('the console can be installed as an app, with its icons', async () => {
  const index = await (await fetch(`${service.base}/console/`)).text()
  const path = /rel="manifest" href="([^"]+)"/.exec(index)?.[1]
  assert.ok(path)
  const url = new URL(path, service.base)
  const answer = await fetch(url)
  assert.match(answer.headers.get('content-type')!, /^application\/manifest\+json/)
  const manifest = (await answer.json()) as { start_url: string; icons: Record<string, string>[] }
  assert.equal(manifest.start_url, '/console/')
  for (const { src, type } of manifest.icons) {
    const icon = await fetch(new URL(src!, url))
    assert.deepEqual([icon.status, icon.headers.get('content-type')?.split(';')[0]], [200, type])
  }
})

test('the API description works offline, under the service’s own content security policy', async (t) => {
  if (skipInShortRun(t)) return
  const { page, complaints } = await openPage(t)
  await page.goto(`${service.base}/docs`)
  await page.locator('#outline').waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Bellwether' }).waitFor()
  await page.getByText('Appointment', { exact: true }).first().waitFor()
  assert.deepEqual(complaints, [])
})

test('the API description can be read before its script has run', async () => {
  const page = await (await fetch(`${service.base}/docs`)).text()
  assert.match(page, /<h1>Bellwether<\/h1>/)
  assert.match(page, /POST \/calendar<\/code><\/dt>\s*<dd>Create or change an appointment/)
})

test('pages run only their own scripts and cannot be framed', async () => {
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

test('assets are cached for ever, the page that refers to them is not', async () => {
  const page = await fetch(`${service.base}/console/`)
  assert.equal(page.headers.get('cache-control'), 'no-cache')
  const asset = /\/console\/assets\/[^"]+\.js/.exec(await page.text())![0]
  const { headers } = await fetch(service.base + asset)
  assert.match(headers.get('cache-control')!, /immutable/)
})

test('files are sent compressed, unless the browser does not accept it', async () => {
  const page = await (await fetch(`${service.base}/console/`)).text()
  const [script] = /\/console\/assets\/[^"]+\.js/.exec(page)!
  const [style] = /\/console\/assets\/[^"]+\.css/.exec(page)!
  for (const place of ['/console/', script, style]) {
    const [compressed, plain] = await Promise.all(
      ['br, gzip', 'identity'].map((encoding) =>
        fetch(service.base + place, { headers: { 'accept-encoding': encoding } }),
      ),
    )
    assert.equal(compressed!.headers.get('content-encoding'), 'gzip', place)
    assert.equal(plain!.headers.get('content-encoding'), null, place)
    for (const name of ['cache-control', 'content-type', 'vary']) {
      assert.equal(compressed!.headers.get(name), plain!.headers.get(name), `${place}: ${name}`)
    }
    assert.match(plain!.headers.get('vary')!, /accept-encoding/)
    assert.equal(await compressed!.text(), await plain!.text(), place)
  }
})

test('a console file that does not exist is 404 as a problem, also for HEAD', async () => {
  for (const place of ['assets/nothing.js', 'nothing.png', 'some/page/nothing.js']) {
    const address = `${service.base}/console/${place}`
    const answer = await fetch(address)
    assert.equal(answer.status, 404, place)
    assert.match(answer.headers.get('content-type')!, /^application\/problem\+json/, place)
    assert.equal(((await answer.json()) as { status: number }).status, 404, place)
    assert.equal((await fetch(address, { method: 'HEAD' })).status, 404, place)
  }
})

test('no file outside the console is served', async () => {
  const outside = '../../package.json'
  assert.ok(
    readFileSync(path.join(CONSOLE_FOLDER, 'dist', outside), 'utf8').includes('"bellwether"'),
  )
  for (const place of [
    '/console/..%2f..%2fpackage.json',
    '/console/assets/..%2f..%2f..%2fpackage.json',
    '/console/%2e%2e/%2e%2e/package.json',
    '/console/../../package.json',
    '/console/..\\..\\package.json',
  ]) {
    // Sent without fetch, which would resolve the dots.
    const { status, text } = await getRaw(place)
    assert.ok([400, 403, 404].includes(status), `${place}: ${status}`)
    assert.doesNotMatch(text, /"dependencies"/, place)
  }
})

async function getRaw(place: string) {
  const { hostname, port } = new URL(service.base)
  const asking = request({ hostname, port, path: place }).end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  return { status: answer.statusCode!, text }
}
