import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { PROBLEMS } from '../../src/contract/problem-codes.ts'
import type { App } from '../../src/http/server/app.ts'
import { startProbe } from '../support/probe.ts'

const { app, logged } = await startProbe({ after })

const JSON_TYPE = { 'content-type': 'application/json' }

test('an unknown path is 404, whatever its body', async () => {
  for (const url of ['/nowhere', '/probe/thing/else', '//', '/probe/thing//']) {
    assertProblem(await app.inject(url), 404)
  }
  assertProblem(
    await app.inject({ method: 'POST', url: '/nowhere', headers: JSON_TYPE, body: '{' }),
    404,
  )
  assertProblem(
    await app.inject({
      method: 'POST',
      url: '/nowhere',
      headers: { 'content-type': 'x/y' },
      body: 'x',
    }),
    404,
  )
})

test('a trailing slash in the path is ignored', async () => {
  for (const url of ['/probe/thing/', '/probe/thing/?', '/probe/list/5/?limit=3']) {
    assert.equal((await app.inject(url)).statusCode, 200, url)
  }
})

test('an id that is not a number is 404, and the answer says so', async () => {
  const answer = await app.inject('/probe/list/five')
  assertProblem(answer, 404)
  assert.match(answer.json().detail, /probeId is not a whole number above 0/)
})

test('every problem has a stable code, and its type is the address of a page', async () => {
  const errors = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  for (const [code, { title, status }] of Object.entries(PROBLEMS)) {
    const page = await app.inject(`/problems/${code}`)
    assert.equal(page.statusCode, 200, code)
    assert.match(String(page.headers['content-type']), /^text\/html/)
    assert.ok(page.body.includes(title), code)
    assert.ok(errors.includes(`| \`${code}\` | ${status} |`), `${code} is in docs/errors.md`)
  }
  assert.ok((await app.inject('/problems')).body.includes('/problems/unknown-property'))
  assertProblem(await app.inject('/problems/none-such'), 404)
})

test('pages of other origins may not call the API unless CORS_ORIGINS names them', async (t) => {
  const origin = 'https://app.example'
  const preflight = {
    method: 'OPTIONS' as const,
    url: '/probe',
    headers: { origin, 'access-control-request-method': 'POST' },
  }
  const closed = await app.inject(preflight)
  assert.equal(closed.statusCode, 405)
  assert.equal(closed.headers['access-control-allow-origin'], undefined)

  const { app: open } = await startProbe(t, {}, { CORS_ORIGINS: origin })
  const allowed = await open.inject(preflight)
  assert.equal(allowed.statusCode, 204)
  assert.equal(allowed.headers['access-control-allow-origin'], origin)
  assert.match(String(allowed.headers['access-control-allow-headers']), /Authorization/)
  assert.match(String(allowed.headers['access-control-allow-methods']), /POST/)
  const answers = [
    await open.inject({ url: '/probe/thing', headers: { origin } }),
    await open.inject({ url: '/location', headers: { origin } }),
  ]
  for (const { headers } of answers) {
    assert.equal(headers['access-control-allow-origin'], origin)
    assert.equal(headers['access-control-allow-credentials'], undefined, 'keys only')
    assert.match(String(headers.vary), /Origin/)
    assert.match(String(headers['access-control-expose-headers']), /ETag.*RateLimit, /)
  }
  const other = await open.inject({ url: '/probe/thing', headers: { origin: 'https://x.example' } })
  assert.equal(other.headers['access-control-allow-origin'], undefined)
})

test('HSTS is sent only if the service is reached over TLS', async (t) => {
  const plain = await app.inject('/probe/thing')
  assert.equal(plain.headers['strict-transport-security'], undefined)
  const tls = await startProbe(t, {}, { PUBLIC_URL: 'https://book.example' })
  const { headers } = await tls.app.inject('/probe/thing')
  assert.equal(headers['strict-transport-security'], 'max-age=31536000')
})

test('HSTS covers other hosts of the domain only if the operator asks for it', async (t) => {
  const settings = { PUBLIC_URL: 'https://book.example', HSTS_SUBDOMAINS: 'true' }
  const { app } = await startProbe(t, {}, settings)
  const { headers } = await app.inject('/probe/thing')
  const expected = 'max-age=31536000; includeSubDomains'
  assert.equal(headers['strict-transport-security'], expected)
})

test('an instance is the path without its query', async () => {
  const { instance } = (await app.inject('/nowhere?name=Ada')).json()
  assert.equal(instance, '/nowhere')
})

test('a method that a path does not support is 405 with the supported ones', async () => {
  const answer = await app.inject({ method: 'DELETE', url: '/probe/thing' })
  assertProblem(answer, 405)
  assert.equal(answer.headers.allow, 'GET, HEAD')
  assert.equal(answer.json().detail, 'DELETE is not allowed here. Use GET.')
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'GET'] as const) {
    const { statusCode, headers } = await app.inject({ method, url: '/probe' })
    assert.deepEqual([method, statusCode, headers.allow], [method, 405, 'POST'])
  }
  assertProblem(await app.inject({ method: 'DELETE', url: '/probe/list/5' }), 405)
})

test('a route that needs a credential is 401 without one, before its body is read', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/location',
    headers: JSON_TYPE,
    body: '{',
  })
  assertProblem(answer, 401)
  assert.equal(answer.headers['www-authenticate'], 'Bearer')
})

test('a malformed path is 400', async () => {
  assertProblem(await app.inject('/%zz'), 400)
  assertProblem(await app.inject('/probe/list/%ff'), 400)
})

test('a bug is 500 without details; the log has the stack', async () => {
  const answer = await app.inject('/probe/bug')
  assertProblem(answer, 500)
  assert.doesNotMatch(answer.body, /function|probe\.ts|secret/)
  const line = logged.map((text) => JSON.parse(text)).find(({ level }) => level === 'error')
  assert.ok(answer.json().detail.includes(line.reqId))
  assert.equal(line.err.type, 'TypeError')
  assert.match(line.err.stack, /probe\.ts/)
  assert.doesNotMatch(logged.join(''), /ada@secret/)
})

test('without a database connection answers are 503 with Retry-After', async () => {
  const answer = await app.inject('/probe/away')
  assertProblem(answer, 503)
  assert.equal(answer.headers['retry-after'], '1')
})

test('a full disk of the database is named in the answer', async () => {
  const answer = await app.inject('/probe/full')
  assertProblem(answer, 503)
  assert.match(answer.json().detail, /^The disk of the database is full\./)
})

test('in tests an answer that violates its schema is an error', async () => {
  assertProblem(await app.inject('/probe/lie'), 500)
})

const NOT_HTTP: [string, string, number][] = [
  ['a request that is not HTTP', 'HELLO\r\n\r\n', 400],
  ['a request without a host', 'GET /probe/thing HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  [
    'an unsupported Expect header',
    'GET /probe/thing HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
    417,
  ],
  ['a header too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  [
    'two Content-Length headers',
    'POST /probe HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
  ],
  [
    'Content-Length with chunked encoding',
    'POST /probe HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
]

for (const [name, bytes, status] of NOT_HTTP) {
  test(`${name} is ${status}, and the connection ends`, async () => {
    const answer = await converse(bytes)
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(answer, /application\/problem\+json/)
  })
}

test('a client that sends its headers too slowly is answered 408 and disconnected', async (t) => {
  const slow = await startProbe(t)
  slow.app.server.headersTimeout = 100
  await slow.app.listen({ port: 0 })
  const answer = await converse('GET / HTTP/1.1\r\nHost: ', slow.app)
  assert.match(answer, /^HTTP\/1\.1 408 [^]*application\/problem\+json/)
})

async function converse(bytes: string, to = app) {
  if (!to.server.listening) await to.listen({ port: 0 })
  const socket = connect((to.server.address() as AddressInfo).port)
  socket.write(bytes)
  let answer = ''
  socket.on('data', (text) => (answer += text))
  await once(socket, 'close')
  return answer
}

type Injected = Awaited<ReturnType<App['inject']>>

function assertProblem(answer: Injected, status: number) {
  assert.equal(answer.statusCode, status, answer.body)
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
  const problem = answer.json()
  assert.equal(problem.status, status)
  for (const name of ['title', 'detail', 'instance']) {
    assert.equal(typeof problem[name], 'string', name)
  }
  assert.equal(problem.type, `/problems/${problem.code}`)
  assert.ok(Object.hasOwn(PROBLEMS, problem.code), problem.code)
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/)
}
