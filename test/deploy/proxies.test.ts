import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { cleanUpLater } from '../support/clean-up.ts'
import { temporaryFolder } from '../support/folder.ts'
import { needProgram, skipLoudly } from '../support/programs.ts'
import { testCertificate, testKey } from '../support/tls-certificate.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

const deploy = path.join(import.meta.dirname, '../../deploy')

test('nginx with the example passes bodies, events and addresses on', async (t) => {
  const program = needProgram(t, 'nginx')
  if (program) await assertPassesOn(t, (folder, ports) => nginx(program, folder, ports))
})

test('Caddy with the example passes bodies, events and addresses on', async (t) => {
  const program = needProgram(t, 'caddy')
  if (program) await assertPassesOn(t, (folder, ports) => caddy(program, folder, ports))
})

/** Nginx gives up after 60 s by default. */
const SILENCE_MS = 65_000

test('the examples wait for a report that takes minutes, and for events after a silence', async (t) => {
  if (process.env.CONSOLE_TESTS !== 'all') {
    return skipLoudly(t, 'it waits for 65 s; only CONSOLE_TESTS=all runs it')
  }
  const slow = http.createServer(async ({ url }, answer) => {
    if (url === '/changes') answer.write('first ')
    await sleep(SILENCE_MS)
    answer.end('last')
  })
  await once(slow.listen(0, '127.0.0.1'), 'listening')
  cleanUpLater(t, () => void slow.close())
  const { port: service } = slow.address() as net.AddressInfo
  const asked = [
    { name: 'nginx', proxy: nginx },
    { name: 'caddy', proxy: caddy },
  ].map(async ({ name, proxy }) => {
    const program = needProgram(t, name)
    if (!program) return
    const ports = { service, http: await freePort(), https: await freePort() }
    await startProxy(t, (folder, chosen) => proxy(program, folder, chosen), ports)
    const ask = asker(ports.https, '')
    const answers = await Promise.all([ask('POST', '/report/print/file'), ask('GET', '/changes')])
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body]),
      [
        [200, 'last'],
        [200, 'first last'],
      ],
      name,
    )
  })
  await Promise.all(asked)
})

type Ports = { service: number; http: number; https: number }

/** The arguments and the environment with which the proxy runs the example on other ports. */
type Proxy = (folder: string, ports: Ports) => [string, string[]]

async function assertPassesOn(t: TestContext, proxy: Proxy) {
  const { app, key, logged } = await startWorld(t, { TRUST_PROXY: 'loopback' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as net.AddressInfo
  const ports = { service: port, http: await freePort(), https: await freePort() }
  await startProxy(t, proxy, ports)
  const ask = asker(ports.https, key)

  const health = await ask('GET', '/healthz', { forged: '203.0.113.9' })
  assert.deepEqual([health.status, health.body], [200, '{"status":"ok"}'])
  await until(() => logged.some((line) => /"route":"\/healthz"/.test(line)))
  const line = logged.find((text) => /"route":"\/healthz"/.test(text))!
  assert.equal(JSON.parse(line).clientIp, '127.0.0.1', 'the caller cannot choose its address')

  // Every line is refused, so that nothing is written.
  const refused = `{"kind":"location","name":5,"phone":"${'n'.repeat(1_000)}"}\n`
  const imported = await ask('POST', '/import', {
    body: refused.repeat(2_000),
    type: 'application/x-ndjson',
  })
  assert.equal(imported.status, 200, 'an import of 2 MB')
  const body = JSON.stringify({ name: 'n'.repeat(1_200_000) })
  const tooLong = await ask('POST', '/location', { body, type: 'application/json' })
  assert.equal(tooLong.status, 413)
  assert.equal(JSON.parse(tooLong.body).status, 413, 'the service answers, not the proxy')

  const events = await openEvents(t, ports.https, key)
  const created = await ask('POST', '/location', {
    body: '{"name":"Harbour"}',
    type: 'application/json',
  })
  assert.equal(created.status, 201)
  await until(() => events.text().includes('"location"'))
}

async function startProxy(t: TestContext, proxy: Proxy, ports: Ports) {
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o755)
  writeFileSync(path.join(folder, 'certificate.pem'), testCertificate)
  writeFileSync(path.join(folder, 'key.pem'), testKey)
  const [program, args] = proxy(folder, ports)
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const ended = once(child, 'exit')
  cleanUpLater(t, async () => {
    child.kill('SIGTERM')
    await ended
  })
  await until(async () => {
    assert.equal(child.exitCode, null, output)
    return accepts(ports.https)
  })
}

function nginx(program: string, folder: string, ports: Ports): [string, string[]] {
  const site = readFileSync(path.join(deploy, 'nginx.conf'), 'utf8')
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${ports.http};`)
    .replace('listen 443', `listen 127.0.0.1:${ports.https}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.service}`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${folder}/certificate.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/key.pem;`)
  const config = path.join(folder, 'main.conf')
  mkdirSync(path.join(folder, 'tmp'))
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/tmp/${name};`)
    .join('\n')
  writeFileSync(
    config,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http { access_log off; ${places}
${site} }`,
  )
  return [program, ['-c', config, '-e', 'stderr']]
}

function caddy(program: string, folder: string, ports: Ports): [string, string[]] {
  const site = readFileSync(path.join(deploy, 'Caddyfile'), 'utf8')
    .replace(
      'bellwether.example {',
      `https://localhost:${ports.https} {\n\ttls ${folder}/certificate.pem ${folder}/key.pem`,
    )
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.service}`)
  const config = path.join(folder, 'Caddyfile')
  writeFileSync(
    config,
    `{\n\tadmin off\n\tgrace_period 1s\n\tauto_https off\n\thttp_port ${ports.http}\n}\n${site}`,
  )
  return [program, ['run', '--config', config, '--adapter', 'caddyfile']]
}

type Sent = { body?: string; type?: string; forged?: string }

const asker =
  (port: number, key: string) =>
  (method: string, place: string, { body, type, forged }: Sent = {}) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(type && { 'content-type': type }),
        ...(forged && { 'x-forwarded-for': forged }),
      }
      const options = { host: 'localhost', port, path: place, method, headers, ca: testCertificate }
      const request = https.request(options, async (answer) => {
        let text = ''
        for await (const chunk of answer.setEncoding('utf8')) text += chunk
        resolve({ status: answer.statusCode!, body: text })
      })
      request.on('error', reject)
      request.end(body)
    })

async function openEvents(t: TestContext, port: number, key: string) {
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
  const options = { host: 'localhost', port, path: '/changes', headers, ca: testCertificate }
  const request = https.get(options)
  cleanUpLater(t, () => void request.destroy())
  request.on('error', () => {})
  const [answer] = await once(request, 'response')
  let text = ''
  answer.setEncoding('utf8').on('data', (more: string) => (text += more))
  // The first event has the position from which changes follow.
  await until(() => text.includes('\n\n'))
  return { text: () => text }
}

async function freePort() {
  const server = net.createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  return port
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
