import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { cleanUpLater } from '../support/clean-up.ts'
import { runCommand } from '../support/command.ts'
import { cloneDatabase } from '../support/database.ts'
import { insertDueReminders } from '../support/due-reminders.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startMailServer } from '../support/mail-server.ts'
import { runStatement } from '../support/server.ts'
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

test('after SIGTERM no more mails are sent, even while a request still runs', async (t) => {
  const { url } = await cloneDatabase(t)
  const dueFrom = () => Temporal.Now.instant().subtract({ seconds: 60 })
  const burst = { businesses: 1, appointments: () => 100, dueFrom, spreadMs: 0 }
  await insertDueReminders(url, burst)
  const mailServer = await startMailServer(t, { pondering: 300 })
  const service = await startService(t, {
    DATABASE_URL: url,
    ADMIN_API_KEY: KEY,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}?tls=never`,
    SMTP_CONNECTIONS: '2',
  })
  const endless = await openRequest(service.base, 100)
  await until(() => mailServer.taken.length > 0)
  process.kill(service.pid, 'SIGTERM')

  const client = new pg.Client({ connectionString: url })
  await client.connect()
  cleanUpLater(t, () => client.end())
  const countClaimed = async () => {
    const { rows } = await client.query(
      'select count(worker)::int as claimed, count(*)::int as queued from email_queue',
    )
    return rows[0] as { claimed: number; queued: number }
  }
  await until(async () => (await countClaimed()).claimed === 0)
  assert.ok((await countClaimed()).queued > 50, 'the others are left to other nodes')
  assert.ok(service.isRunning(), 'it still waits for the request')
  endless.socket.destroy()
  assert.equal(await service.ended, 0)
  const { rows } = await client.query(`select status, count(*)::int from email group by status`)
  const statuses = rows.map(({ status }) => status as string)
  assert.deepEqual(statuses.toSorted(), ['QUEUED', 'SENT'], 'none is UNCERTAIN')
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
    'a database that is not there, for a command,',
    ['migrate'],
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

test('a start without its database waits, says so once, and goes on when the database answers', async (t) => {
  const { url } = await cloneDatabase(t)
  const address = await openClosedAddress(t, url)
  const starting = startService(t, { DATABASE_URL: address.url, ADMIN_API_KEY: KEY })
  await until(() => address.tries() >= 3)
  address.open()
  const service = await starting
  const logged = service.stdout()
  assert.equal(logged.match(/does not answer.* The start waits for it\./g)?.length, 1, logged)
  assert.match(logged, /the database answers: the start continues/)
  assert.equal(await service.status('/healthz'), 200)
  assert.match(service.output(), new RegExp(`Database +${new URL(address.url).host}\n`))
  assert.match(service.output(), /Version +\d+\.\d+\.\d+\n/)
})

test('SIGTERM ends a service that waits for its database, with 0', async (t) => {
  const { url } = await cloneDatabase(t)
  const address = await openClosedAddress(t, url)
  const main = path.join(import.meta.dirname, '../../src/main.ts')
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: address.url }
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: 'ignore' })
  const exit = once(child, 'exit')
  await until(() => address.tries() >= 1)
  child.kill('SIGTERM')
  const [code] = await exit
  assert.equal(code, 0)
})

test('a database that refuses the service ends the start with one clear line and exit 2', async (t) => {
  const { url } = await cloneDatabase(t)
  const unknown = new URL(url)
  unknown.pathname = '/there_is_none'
  const { code, stderr } = await runCommand(['serve'], { DATABASE_URL: unknown.href })
  assert.match(stderr, /^The database at [^\n]* refuses the connection: [^\n]*\n$/)
  assert.equal(code, 2)
})

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { code, stdout } = await runCommand(['--version'], {})
  assert.deepEqual([code, stdout], [0, `${version}\n`])
})

test('a login that may open too few connections is one clear line and exit 2', async (t) => {
  const { url } = await cloneDatabase(t)
  const login = `few_${randomBytes(6).toString('hex')}`
  const server = { folder: '', url }
  await runStatement(server, `create role ${login} login connection limit 12`)
  cleanUpLater(t, () => runStatement(server, `drop role ${login}`))
  const roles = `${new URL(url).username}, bellwether_app, bellwether_engine, bellwether_operator`
  await runStatement(server, `grant ${roles} to ${login}`)
  const limited = new URL(url)
  limited.username = login
  const settings = { DATABASE_URL: limited.href, ADMIN_API_KEY: KEY }
  const refused = await runCommand(['serve'], settings)
  assert.match(
    refused.stderr,
    /^Too few connections: the database allows 12 \(the limit of the role few_\w+\), [^\n]* raise [^\n]*\n$/,
  )
  assert.equal(refused.code, 2)
  const doctor = await runCommand(['doctor'], settings)
  assert.match(doctor.stdout, /^bad +Connections +the database allows 12 /m)

  await runStatement(server, `alter role ${login} connection limit 20`)
  const warned = await startService(t, settings)
  assert.match(warned.stdout(), /the database allows 20 .*up to 35 under load/)
  const second = await runCommand(['serve'], settings)
  assert.match(second.stderr, /^Too few connections: the database allows 20 .*, \d+ are open; /)
  assert.equal(second.code, 2, 'the first node holds them')
})

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
  const helps = await readHelps(commands)
  assert.equal(helps.length, commands.length)
  for (const [i, name] of commands.entries()) {
    assert.match(helps[i]!, new RegExp(`^Usage: bellwether ${name} `), name)
    assert.match(helps[i]!, /\nexit code 0\n$/, name)
  }
})

/** The help of each command with its exit code. One process: each of its own would load the service again. */
async function readHelps(commands: string[]) {
  const main = new URL('../../src/main.ts', import.meta.url).href
  const script = `for (const name of ${JSON.stringify(commands)}) {
    process.argv.splice(1, Infinity, 'bellwether', name, '--help')
    await import('${main}?' + name)
    console.log('exit code', process.exitCode)
    process.exitCode = undefined
    process.stdout.write('\\f')
  }`
  const words = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  return stdout.split('\f').slice(0, -1)
}

/** An address of the server that resets every connection until it is opened. */
async function openClosedAddress(t: TestContext, url: string) {
  const target = new URL(url)
  const folder = target.searchParams.get('host')
  const connect = () =>
    folder
      ? net.connect(path.join(folder, '.s.PGSQL.5432'))
      : net.connect(Number(target.port || 5432), target.hostname)
  let tries = 0
  let isOpen = false
  const sockets = new Set<net.Socket>()
  const listener = net.createServer((near) => {
    tries += 1
    near.on('error', () => {})
    if (!isOpen) return void near.resetAndDestroy()
    const far = connect().on('error', () => near.destroy())
    for (const socket of [near, far]) sockets.add(socket)
    near.on('close', () => far.destroy()).pipe(far)
    far.on('close', () => near.destroy()).pipe(near)
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  cleanUpLater(t, () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  const { port } = listener.address() as net.AddressInfo
  target.search = ''
  target.host = `127.0.0.1:${port}`
  return { url: target.href, tries: () => tries, open: () => void (isOpen = true) }
}

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
