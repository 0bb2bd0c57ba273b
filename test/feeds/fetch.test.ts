import assert from 'node:assert/strict'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import {
  faultOfUrl,
  Fetcher,
  OtherHost,
  unusableStatus,
  type FetchSettings,
  type Resolve,
} from '../../src/feeds/fetch.ts'
import { SourceError } from '../../src/feeds/source.ts'

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void

async function startServer(t: TestContext, answer: Answer) {
  const seen: http.IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    seen.push(request)
    answer(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => void (server.close(), server.closeAllConnections()))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, port, seen }
}

function fetcherFor(t: TestContext, settings: Partial<FetchSettings> & { url: string }) {
  const { signal } = new AbortController()
  const fetcher = new Fetcher({ hosts: [], privateHosts: ['127.0.0.0/8'], signal, ...settings })
  t.after(() => fetcher.close())
  return fetcher
}

const failing = (kind: SourceError['kind'], message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof SourceError, String(error))
  assert.equal(error.kind, kind)
  assert.match(error.message, message)
  return true
}

const PRIVATE = `
  127.0.0.1 127.1 127.0.0.1. 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127。0。0。1
  ①②⑦.⓪.⓪.① %31%32%37.0.0.1 localhost LOCALHOST. 0 0.0.0.0 [::] [::1] [0:0:0:0:0:0:0:1]
  [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1]
  [2002:7f00:1::1] 10.0.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 198.18.0.1
  224.0.0.1 255.255.255.255 [fe80::1] [fd00::1] [ff02::1] two-faced.example`
  .trim()
  .split(/\s+/)

/** A listener that must not be reached. */
async function startTrap(t: TestContext) {
  let connections = 0
  const listener = net.createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done))
  t.after(() => void listener.close())
  return { port: (listener.address() as AddressInfo).port, count: () => connections }
}

const resolve: Resolve = (name, _options, callback) => {
  const addresses = name.startsWith('two-faced') ? ['93.184.215.14', '127.0.0.1'] : ['127.0.0.1']
  callback(
    null,
    addresses.map((address) => ({ address, family: 4 })),
  )
}

test('no spelling of a private address, and no name of one, is connected to', async (t) => {
  assert.ok(PRIVATE.length >= 30)
  const trap = await startTrap(t)
  for (const host of PRIVATE) {
    const url = `https://${host}:${trap.port}/`
    const fetcher = fetcherFor(t, { url, privateHosts: [], resolve })
    await assert.rejects(fetcher.fetch({ url }), failing('ANSWER', /is not public/), host)
  }
  assert.equal(trap.count(), 0)
})

test('a redirect to a private address, to plain HTTP or without end is refused', async (t) => {
  const trap = await startTrap(t)
  const places = [
    [`https://[::1]:${trap.port}/`, /is not public/],
    [`https://inside.example:${trap.port}/`, /is not public/],
    [`http://localhost:${trap.port}/`, /must begin with https/],
    [`file:///etc/passwd`, /must begin with https/],
    [`https://user:x@example.com/`, /must not contain a username/],
    ['/again', /redirects more than 3 times/],
  ] as const
  for (const [place, message] of places) {
    const { url } = await startServer(t, (_request, response) =>
      response.writeHead(302, { location: place }).end(),
    )
    const fetcher = fetcherFor(t, { url, privateHosts: ['127.0.0.1'], resolve: resolveLocal })
    await assert.rejects(fetcher.fetch({ url }), failing('ANSWER', message), place)
  }
  assert.equal(trap.count(), 0)
})

const resolveLocal: Resolve = (_name, _options, callback) =>
  callback(null, [{ address: '127.0.0.2', family: 4 }])

test('addresses that a feed may have are told from those that it may not have', () => {
  const hosts = ['calendar.lan', '192.168.1.0/24', 'fd00::/8']
  const good = `https://cloud.example/dav https://8.8.8.8/ https://[2606:4700::1]/
    http://calendar.lan:5232/ http://192.168.1.7/ https://[fd00::1]/`
  for (const url of good.split(/\s+/)) {
    assert.equal(faultOfUrl(url, hosts), undefined, url)
  }
  for (const url of ['http://cloud.example/', 'https://192.168.2.7/', 'ftp://calendar.lan/', 'x']) {
    assert.notEqual(faultOfUrl(url, hosts), undefined, url)
  }
})

test('a name is resolved once for a connection, and the checked address is connected to', async (t) => {
  const { port } = await startServer(t, (_request, response) => response.end('here'))
  const asked: string[] = []
  const fetcher = fetcherFor(t, {
    url: `http://calendar.lan:${port}/`,
    privateHosts: ['calendar.lan'],
    resolve: (name, _options, callback) => {
      asked.push(name)
      callback(null, [{ address: asked.length === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }])
    },
  })
  const { body } = await fetcher.fetch({ url: `http://calendar.lan:${port}/` })
  assert.equal(String(body), 'here')
  assert.deepEqual(asked, ['calendar.lan'])
})

test('the credential goes to the host of the account and to confirmed hosts only', async (t) => {
  const other = await startServer(t, (_request, response) => response.end('other'))
  const own = await startServer(t, ({ url }, response) =>
    response.writeHead(url === '/' ? 307 : 200, { location: `${other.url}home` }).end(),
  )
  const account = { url: own.url, authorization: 'Basic eA==' }
  const host = new URL(other.url).host
  await assert.rejects(fetcherFor(t, account).fetch(own), (error) => {
    assert.ok(error instanceof OtherHost)
    assert.equal(error.host, host)
    return true
  })
  assert.equal(other.seen.length, 0)

  const confirmed = fetcherFor(t, { ...account, hosts: [host] })
  const answer = await confirmed.fetch({ ...own, method: 'PROPFIND', body: '<a/>' })
  assert.deepEqual([answer.status, answer.url], [200, `${other.url}home`])
  assert.equal(other.seen[0]!.method, 'PROPFIND')
  assert.equal(other.seen[0]!.headers.authorization, 'Basic eA==')
  assert.equal(other.seen[0]!.headers['accept-encoding'], 'identity')
})

test('an answer that is compressed, too long, cut or silent is refused', async (t) => {
  const limits = { bytes: 2 * 1_048_576, silenceSeconds: 0.05, firstByteSeconds: 0.2 }
  const cases: [Answer, SourceError['kind'], RegExp][] = [
    [
      (_q, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      'ANSWER',
      /encoding gzip/,
    ],
    [(_q, r) => r.end(Buffer.alloc(3 * 1_048_576)), 'LIMIT', /more than 2 MiB/],
    [
      (_q, r) => r.writeHead(200, { 'content-length': 9 }).write('x', () => r.destroy()),
      'UNREACHABLE',
      /closed the connection in the middle/,
    ],
    [(_q, r) => r.writeHead(200).write('x'), 'UNREACHABLE', /stopped in the middle of its answer/],
    [() => {}, 'UNREACHABLE', /did not answer within/],
  ]
  for (const [answer, kind, message] of cases) {
    const { url } = await startServer(t, answer)
    const fetcher = fetcherFor(t, { url, limits })
    await assert.rejects(fetcher.fetch({ url }), failing(kind, message), String(message))
  }
})

test('the requests of one pull share its pace, whichever part of it sends them', async (t) => {
  const { url, seen } = await startServer(t, (_request, response) => response.end())
  const stopping = new AbortController()
  const settings = { url, signal: stopping.signal, requestsPerMinute: 3 }
  const [one, two] = [fetcherFor(t, settings), fetcherFor(t, settings)]
  for (let sent = 0; sent < 3; sent += 1) await one.fetch({ url })
  const late = assert.rejects(two.fetch({ url }), { name: 'AbortError' })
  await fetcherFor(t, { url }).fetch({ url })
  assert.equal(seen.length, 4, 'that of another pull')
  stopping.abort()
  await late
})

test('Retry-After counts as seconds and as a date by the clock of the source', () => {
  const secondsOf = (after: string) =>
    unusableStatus({
      status: 503,
      headers: { date: 'Sat, 01 Jan 2000 10:00:00 GMT', 'retry-after': after },
      body: Buffer.alloc(0),
      url: 'https://cloud.example/',
    }).retryAfterSeconds
  assert.deepEqual(
    ['90', 'Sat, 01 Jan 2000 12:00:00 GMT', 'Sat, 01 Jan 2000 09:00:00 GMT', 'soon'].map(secondsOf),
    [90, 7_200, undefined, undefined],
  )
})

test('a host that is closed or unknown is named, and an abort ends a request', async (t) => {
  const { url, seen } = await startServer(t, () => {})
  const trap = await startTrap(t)
  await assert.rejects(
    fetcherFor(t, { url }).fetch({ url: `http://127.0.0.1:${trap.port}/` }),
    failing('UNREACHABLE', new RegExp(`^127.0.0.1:${trap.port} `)),
  )
  const unknown = fetcherFor(t, {
    url: 'https://cloud.example/',
    resolve: (_name, _options, callback) =>
      callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []),
  })
  await assert.rejects(
    unknown.fetch({ url: 'https://cloud.example/' }),
    failing('UNREACHABLE', /^cloud.example is not a name/),
  )
  const stopping = new AbortController()
  const reason = new Error('stopped')
  const request = fetcherFor(t, { url, signal: stopping.signal }).fetch({ url })
  const ended = assert.rejects(request, reason)
  while (seen.length === 0) await new Promise((done) => setImmediate(done))
  stopping.abort(reason)
  await ended
})
