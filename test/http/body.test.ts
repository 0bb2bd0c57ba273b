import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { after, test, type TestContext } from 'node:test'
import { MAX_BODY_BYTES, readChunks } from '../../src/http/server/body.ts'
import { startProbeProcess } from '../support/probe-process.ts'
import { startProbe } from '../support/probe.ts'
import { assertWithin } from '../support/within.ts'

const { app } = await startProbe({ after })

const JSON_TYPE = { 'content-type': 'application/json' }

const REFUSED: [string, number, Record<string, string>, string | Buffer][] = [
  ['a body that is not JSON', 400, JSON_TYPE, '{ "name": '],
  ['two values', 400, JSON_TYPE, '{} {}'],
  ['a body that is not UTF-8', 400, JSON_TYPE, Buffer.from([0x22, 0xff, 0x22])],
  ['an empty body', 400, JSON_TYPE, ''],
  ['no body at all', 400, {}, ''],
  ['a form', 415, { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1'],
  ['plain text', 415, { 'content-type': 'text/plain' }, '{}'],
  ['no content type', 415, {}, '{}'],
  ['a malformed content type', 415, { 'content-type': ';;;' }, '{}'],
  ['another charset', 415, { 'content-type': 'application/json; charset=utf-16' }, '{}'],
  ['a compressed body', 415, { ...JSON_TYPE, 'content-encoding': 'gzip' }, '{}'],
  ['more than 64 levels', 422, JSON_TYPE, '['.repeat(65) + ']'.repeat(65)],
  ['more than 10,000 properties', 422, JSON_TYPE, objectOf(10_001)],
  ['more than 50,000 values', 422, JSON_TYPE, `[${'1,'.repeat(50_001)}1]`],
  ['more than 1 MiB', 413, JSON_TYPE, JSON.stringify('x'.repeat(1_048_576))],
]

for (const [name, status, headers, body] of REFUSED) {
  test(`${name} is ${status}`, async () => {
    const answer = await app.inject({ method: 'POST', url: '/probe', headers, body })
    assert.equal(answer.statusCode, status, answer.body.slice(0, 300))
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
  })
}

test('a charset and other parameters after application/json are accepted', async () => {
  for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
    const headers = { 'content-type': type }
    const body = '{ "name": "é", "count": 1 }'
    const answer = await app.inject({ method: 'POST', url: '/probe', headers, body })
    assert.equal(answer.statusCode, 200, type)
  }
})

test('a route without a body schema accepts an empty body', async () => {
  for (const headers of [{}, JSON_TYPE]) {
    const answer = await app.inject({ method: 'POST', url: '/probe/anything', headers, body: '' })
    assert.deepEqual([answer.statusCode, answer.json()], [200, { body: null }])
  }
})

test('the content type of an empty body does not matter', async () => {
  for (const type of ['application/x-www-form-urlencoded', 'text/plain;charset=UTF-8']) {
    for (const length of [{}, { 'content-length': '0' }]) {
      const headers = { 'content-type': type, ...length }
      const post = (url: string) => app.inject({ method: 'POST', url, headers, body: '' })
      assert.deepEqual((await post('/probe/anything')).json(), { body: null })
      const missing = await post('/probe')
      assert.deepEqual([missing.statusCode, missing.json().code], [400, 'bad-request'])
    }
  }
})

test('keys that would change the prototype are 422', async () => {
  const body = `{ "a": { "__proto__": { "polluted": 1 }, "constructor": { "prototype": { "polluted": 1 } } },
    "\\u005f_proto__": { "polluted": 1 }, "tags": { "constructor": ["kept"] } }`
  const answer = await app.inject({
    method: 'POST',
    url: '/probe/anything',
    headers: JSON_TYPE,
    body,
  })
  assert.deepEqual(answer.json().errors, [
    { pointer: '/a/__proto__', detail: 'unknown property' },
    { pointer: '/a/constructor', detail: 'unknown property' },
    { pointer: '/__proto__', detail: 'unknown property' },
  ])
  assert.equal(({} as { polluted?: number }).polluted, undefined)
})

const BROKEN: [string, number, number][] = [
  ['{ "name": ', 1, 11],
  ['{"a": x}', 1, 7],
  ['{\n  "a": 1,\n}', 3, 1],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
  ["{'a': 1}", 1, 2],
  ['[1, 2', 1, 6],
  ['{"a": "b', 1, 7],
  ['{"a": 01}', 1, 8],
  ['{} {}', 1, 4],
  ['[tru]', 1, 2],
  ['{"ä": "😀" "b"}', 1, 12],
]
for (const [body, line, column] of BROKEN) {
  test(`${JSON.stringify(body)} is refused at line ${line}, column ${column}`, async () => {
    assert.throws(() => JSON.parse(body))
    const answer = await app.inject({ method: 'POST', url: '/probe', headers: JSON_TYPE, body })
    const { code, detail } = answer.json()
    assert.deepEqual(
      [answer.statusCode, code, detail],
      [400, 'invalid-json', `The body is not JSON: line ${line}, column ${column}.`],
    )
  })
}

test('NUL characters and lone surrogates are 422 with their pointer', async () => {
  const body = String.raw`{ "a": ["fine\u00e9", "\u0000"], "b/c": "\ud800", "d": "\ud83d\ude00" }`
  const answer = await app.inject({
    method: 'POST',
    url: '/probe/anything',
    headers: JSON_TYPE,
    body,
  })
  assert.deepEqual(answer.json().errors, [
    { pointer: '/a/1', detail: 'holds a NUL character' },
    { pointer: '/b~1c', detail: 'holds half a character' },
  ])
})

test('a client that sends its body too slowly is answered 408 and disconnected', async (t) => {
  const { port } = await listen(t, { bodySeconds: 0.2 })
  const socket = connect(port)
  socket.write(
    'POST /probe HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{',
  )
  const drip = setInterval(() => socket.write(' '), 50)
  t.after(() => clearInterval(drip))
  let answer = ''
  socket.on('data', (text) => (answer += text)).on('error', () => {})
  await once(socket, 'close')
  assert.match(answer, /^HTTP\/1\.1 408 [^]*application\/problem\+json/)
})

test('a streamed body may take any time, but a pause above the limit is 408', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const payload = new PassThrough()
  const pieces = readChunks(payload, 20)
  for (const piece of ['a', 'b', 'c']) {
    const next = pieces.next()
    t.mock.timers.tick(19_000)
    payload.write(piece)
    assert.equal(String((await next).value), piece)
    t.mock.timers.tick(60_000) // processing time does not count
  }
  const late = pieces.next()
  t.mock.timers.tick(20_000)
  await assert.rejects(late, { status: 408 })
  assert.equal(payload.destroyed, false, 'the answer can still be sent')
})

test('a slow request without a body is not answered with 408', async (t) => {
  const { port } = await listen(t, { bodySeconds: 0.1 })
  const answers = await Promise.all(
    ['POST', 'GET'].map((method) => fetch(`http://127.0.0.1:${port}/probe/slow`, { method })),
  )
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200],
  )
})

test('a body that is too large is refused in answer to Expect: 100-continue', async (t) => {
  const { port } = await listen(t)
  const headers = { ...JSON_TYPE, expect: '100-continue', 'content-length': 5_000_000 }
  const asking = request({ port, path: '/probe', method: 'POST', headers })
  asking.on('continue', () => assert.fail('the server sent 100 Continue'))
  asking.flushHeaders()
  const [answer] = await once(asking, 'response')
  assert.equal(answer.statusCode, 413)
  asking.destroy()
})

const OVERSIZED: [string, string, () => Buffer, number][] = [
  ['100 MB', '/probe', () => Buffer.alloc(100_000_000, 'x'), 413],
  ['100 MB without a credential', '/location', () => Buffer.alloc(100_000_000, 'x'), 401],
  ['100 MB to an unknown path', '/nowhere', () => Buffer.alloc(100_000_000, 'x'), 404],
  ['a depth of 1,000,000', '/probe', () => Buffer.from('['.repeat(1_000_000)), 422],
  ['a million keys', '/probe', () => Buffer.from(objectOf(1_000_000)), 413],
  ['as many keys as fit', '/probe', () => Buffer.from(objectOf(80_000)), 422],
  ['a million escapes', '/probe', () => Buffer.from(`"${'\\\\'.repeat(500_000)}"`), 422],
  ['40,000 NULs', '/probe', () => Buffer.from(JSON.stringify(Array(40_000).fill('\0'))), 422],
]

for (const [name, path, make, status] of OVERSIZED.filter(([, , , status]) => status !== 422)) {
  test(`${name} is answered ${status} before all of it has arrived`, async (t) => {
    const { port } = await listen(t)
    const body = make()
    const asking = request({ port, path, method: 'POST', headers: headersFor(body) })
    asking.write(body.subarray(0, 65_536))
    const [answer] = await once(asking, 'response')
    assert.equal(answer.statusCode, status)
    assert.equal(answer.headers.connection, 'close')
    asking.on('error', () => {}).destroy()
  })
}

test('oversized or deeply nested JSON costs little more CPU than a valid body, and other requests are served', async (t) => {
  const server = await startProbeProcess(t)
  /** Sends the whole body. The server may close the connection while the client is still sending. */
  const post = (path: string, body: Buffer) =>
    new Promise<number | undefined>((resolve, reject) => {
      const to = { port: server.port, path, method: 'POST', headers: headersFor(body) }
      const asking = request(to, (answer) => resolve(answer.resume().statusCode))
      asking.on('error', (error: NodeJS.ErrnoException) =>
        /^(EPIPE|ECONNRESET)$/.test(error.code ?? '') ? resolve(undefined) : reject(error),
      )
      asking.end(body)
    })

  // Other processes can only add to the CPU time (cold caches), so the minimum is the real cost.
  const leastCost = async (path: string, body: Buffer, status: number, name: string) => {
    const costs: number[] = []
    for (let i = 0; i < 5; i += 1) {
      const before = await server.cpuMs()
      const health = fetch(`http://127.0.0.1:${server.port}/healthz`)
      const answered = await post(path, body)
      if (answered !== undefined || body.length <= MAX_BODY_BYTES)
        assert.equal(answered, status, name)
      assert.equal((await health).status, 200)
      costs.push((await server.cpuMs()) - before)
    }
    return Math.min(...costs)
  }
  const longest = Buffer.from(JSON.stringify('x'.repeat(MAX_BODY_BYTES - 2)))
  const baseline = await leastCost('/probe', longest, 422, 'the longest body that is parsed')
  for (const [name, path, make, status] of OVERSIZED) {
    const tookMs = await leastCost(path, make(), status, name)
    assert.ok(tookMs < 20 * baseline, `${name}: ${tookMs} ms, a valid body ${baseline} ms`)
    assertWithin(t, { what: name, tookMs, limitMs: 50 })
  }
})

const headersFor = (body: Buffer) => ({ ...JSON_TYPE, 'content-length': body.length })

async function listen(t: TestContext, given = {}) {
  const { app } = await startProbe(t, given)
  await app.listen({ port: 0 })
  return { port: (app.server.address() as AddressInfo).port }
}

function objectOf(keys: number) {
  return `{${Array.from({ length: keys }, (_, i) => `"k${i}":1`).join(',')}}`
}
