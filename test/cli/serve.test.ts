import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { cloneDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'
import { assertWithin } from '../support/within.ts'
import { until } from '../support/until.ts'

const KEY = 'operator-key-of-this-test'

test('only the first successful start shows the operator’s key', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const taken = net.createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as net.AddressInfo
  const failed = await runCommand(['serve'], { DATA_DIR, PORT: String(port) })
  assert.match(failed.stderr, new RegExp(`^Port ${port} on 127.0.0.1 is in use[^\\n]*\\n$`))
  assert.equal(failed.code, 2)
  assert.doesNotMatch(failed.stdout + failed.stderr, /Operator's key/)
  assert.ok(!existsSync(path.join(DATA_DIR, 'postgres/postmaster.pid')), 'the database is stopped')

  const first = await startService(t, { DATA_DIR })
  const key = /Operator's key +(\S+)/.exec(first.output())?.[1]
  assert.ok(key)
  for (const place of ['/console/', '/docs', '/openapi.json']) {
    assert.ok(first.output().includes(first.base + place), place)
    assert.equal(await first.status(place), 200, place)
  }
  await until(async () => (await first.status('/readyz')) === 200)
  const asOperator = { headers: { authorization: `Bearer ${key}` } }
  assert.equal(await first.status('/business', asOperator), 200)
  assert.equal(await first.status('/metrics', asOperator), 200)
  assert.equal(await first.stop(), 0)
  const logged = first.stdout().trimEnd().split('\n')
  for (const line of logged) assert.ok(JSON.parse(line), 'stdout contains only log lines')
  assert.ok(!first.stdout().includes(key), 'the log contains no secret')

  const second = await startService(t, { DATA_DIR })
  assert.doesNotMatch(second.output(), /Operator's key/)
  assert.equal(await second.status('/business', asOperator), 200, 'the key is still valid')
})

test('after SIGTERM the service finishes running requests, refuses new ones and exits with 0', async (t) => {
  const { url } = await cloneDatabase(t)
  const service = await startService(t, { DATABASE_URL: url, ADMIN_API_KEY: KEY })
  const body = JSON.stringify({ name: 'Riverside', timeZone: 'Europe/Paris' })
  const slow = await openRequest(service.base, body.length)
  slow.socket.write(body.slice(0, 5))
  // A connection that is open but sends no request.
  const idle = await openRequest(service.base, body.length, { sendHeaders: false })

  process.kill(service.pid, 'SIGTERM')
  await untilRefused(service.base)
  assert.ok(service.isRunning(), 'it waits for the request in flight')
  slow.socket.write(body.slice(5))
  assert.match(await slow.answer, /^HTTP\/1\.1 201 /)
  await idle.answer
  assert.equal(await service.ended, 0)
})

test('after SIGTERM a request that never ends is aborted, and the service exits with 0', async (t) => {
  const { url } = await cloneDatabase(t)
  const service = await startService(t, { DATABASE_URL: url, ADMIN_API_KEY: KEY })
  const endless = await openRequest(service.base, 100)
  const signalledAt = performance.now()
  process.kill(service.pid, 'SIGTERM')
  await endless.answer
  assert.equal(await service.ended, 0)
  assertWithin(t, { what: 'exit', tookMs: performance.now() - signalledAt, limitMs: 10_000 })
})

test('a worker serves only health and metrics', async (t) => {
  const { url } = await cloneDatabase(t)
  const service = await startService(t, {
    DATABASE_URL: url,
    ADMIN_API_KEY: KEY,
    ROLE: 'worker',
  })
  const asOperator = { headers: { authorization: `Bearer ${KEY}` } }
  assert.equal(await service.status('/healthz'), 200)
  assert.equal(await service.status('/metrics', asOperator), 200)
  for (const place of ['/business', '/console/', '/docs', '/openapi.json']) {
    assert.equal(await service.status(place, asOperator), 404, place)
  }
})

const REFUSED: [string, string[], Record<string, string>, RegExp][] = [
  ['a bad setting', ['serve'], { PORT: 'x' }, /^PORT must be .*\n$/],
  ['two bad settings', ['serve'], { PORT: 'x', ROLE: 'x' }, /^PORT .*\nROLE .*\n$/],
  ['an unknown command', ['fly'], {}, /^There is no command 'fly'.*\n$/],
  ['an unknown option', ['serve', '--fast'], {}, /^error: unknown option '--fast'\n$/],
  ['a word too many', ['serve', 'now'], {}, /^error: too many arguments.*\n$/],
  [
    'a database that is not there',
    ['serve'],
    { DATABASE_URL: 'postgres://127.0.0.1:1/x' },
    /^[^\n]*127\.0\.0\.1[^\n]*\n$/,
  ],
]

for (const [name, words, settings, line] of REFUSED) {
  test(`${name} is one clear line and exit 2`, async () => {
    const { code, stderr } = await runCommand(words, settings)
    assert.match(stderr, line)
    assert.equal(code, 2)
  })
}

test('a database without the required TLS is one clear line and exit 2', async (t) => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end('N')) // no TLS here
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as net.AddressInfo
  const DATABASE_URL = `postgres://127.0.0.1:${port}/x?sslmode=require`
  const { code, stderr } = await runCommand(['migrate'], { DATABASE_URL })
  assert.match(stderr, /^The database at 127\.0\.0\.1:\d+ cannot be reached over TLS: [^\n]*\n$/)
  assert.equal(code, 2)
})

test('every command says what it does', async () => {
  const { code, stdout } = await runCommand(['--help'], {})
  assert.equal(code, 0)
  const commands = [...stdout.split('Commands:')[1]!.matchAll(/^ {2}(\S+) /gm)].map(
    ([, name]) => name!,
  )
  assert.ok(commands.includes('serve'))
  for (const name of commands) {
    const { code, stdout } = await runCommand([name, '--help'], {})
    assert.equal(code, 0, name)
    assert.match(stdout, new RegExp(`^Usage: bellwether ${name} `), name)
  }
})

/** Opens a connection and sends the headers of a request; the caller sends the body. */
async function openRequest(base: string, length: number, { sendHeaders = true } = {}) {
  const { hostname, port } = new URL(base)
  const socket = net.connect(Number(port), hostname)
  let text = ''
  socket.on('data', (more) => (text += more)).on('error', () => {})
  const answer = once(socket, 'close').then(() => text)
  await once(socket, 'connect')
  if (sendHeaders) {
    socket.write(
      `POST /business HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
    )
    // After 100 Continue the server is handling the request.
    while (!text.includes('100 Continue')) await once(socket, 'data')
    text = ''
  }
  return { socket, answer }
}

async function untilRefused(base: string) {
  const { hostname, port } = new URL(base)
  for (;;) {
    const socket = net.connect(Number(port), hostname)
    const refused = await Promise.race([
      once(socket, 'connect').then(() => false),
      once(socket, 'error').then(() => true),
    ]).catch(() => true)
    socket.destroy()
    if (refused) return
  }
}
