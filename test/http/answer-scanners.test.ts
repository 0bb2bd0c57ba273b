import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { InjectOptions } from 'fastify'
import { formTokenIn, startAsking } from '../support/answer-mails.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const CROSS = 'https://attacker.example'

type Behaviour = [name: string, request: Partial<InjectOptions> & { add?: string }]

/** What mail scanners, link previews, prefetchers, robots and pages of other sites do with a link. */
const behaviours = (token: string, otherToken: string, link: string): Behaviour[] => {
  const form = `formToken=${token}`
  const get = (headers: Record<string, string>) => ({ method: 'GET' as const, headers })
  const post = (headers: Record<string, string>, payload: InjectOptions['payload'] = form) => ({
    method: 'POST' as const,
    headers: { ...FORM, ...headers },
    ...(payload === undefined ? {} : { payload }),
  })
  const multipart = `--x\r\nContent-Disposition: form-data; name="formToken"\r\n\r\n${token}\r\n--x--\r\n`
  return [
    ['opens the link', get({})],
    ['asks for the headers', { method: 'HEAD' }],
    ['asks for the options', { method: 'OPTIONS' }],
    ['asks whether it may post', { method: 'OPTIONS', headers: PREFLIGHT }],
    ['is Safe Links', get({ 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) SafeLinks' })],
    ['is Barracuda', get({ 'user-agent': 'BarracudaCentral/1.0', accept: '*/*' })],
    ['is Proofpoint', get({ 'user-agent': 'Mozilla/4.0 (compatible; MSIE 8.0; Proofpoint)' })],
    ['is Googlebot', get({ 'user-agent': 'Googlebot/2.1', from: 'googlebot(at)googlebot.com' })],
    [
      'is a link preview',
      get({ 'user-agent': 'Slackbot-LinkExpanding 1.0', range: 'bytes=0-32768' }),
    ],
    ['is curl', get({ 'user-agent': 'curl/8.5.0' })],
    ['prefetches', get({ 'sec-purpose': 'prefetch' })],
    ['prerenders', get({ 'sec-purpose': 'prefetch;prerender' })],
    ['prefetches as old Chrome', get({ purpose: 'prefetch' })],
    ['prefetches as Firefox', get({ 'x-moz': 'prefetch' })],
    ['reads the first byte', get({ range: 'bytes=0-0' })],
    ['reads a part twice', get({ range: 'bytes=0-9,5-20' })],
    ['revalidates', get({ 'if-none-match': '*', 'cache-control': 'max-age=0' })],
    ['asks if it was modified', get({ 'if-modified-since': 'Mon, 01 Jan 2029 00:00:00 GMT' })],
    ['loads it as an image', get({ accept: 'image/avif,image/*', 'sec-fetch-dest': 'image' })],
    ['loads it in a frame', get({ 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' })],
    ['fetches it from another site', get({ origin: CROSS, 'sec-fetch-site': 'cross-site' })],
    ['adds tracking parameters', { method: 'GET', add: '?utm_source=mail&fbclid=1' }],
    ['puts the token into the query', { method: 'GET', add: `?${form}` }],
    ['puts a method into the query', { method: 'GET', add: `?_method=POST&${form}` }],
    ['overrides the method', get({ 'x-http-method-override': 'POST' })],
    [
      'overrides the method with another header',
      get({ 'x-method-override': 'POST', 'x-http-method': 'POST' }),
    ],
    ['adds a slash', { method: 'GET', add: '/' }],
    ['adds a path', { method: 'GET', add: '/confirm' }],
    ['adds a dot', { method: 'GET', add: '.' }],
    ['cuts the link', { method: 'GET', url: link.slice(0, -3) }],
    ['writes it in capitals', { method: 'GET', url: link.toUpperCase() }],
    ['encodes it', { method: 'GET', url: link.replaceAll('.', '%2E') }],
    ['encodes it twice', { method: 'GET', url: link.replaceAll('.', '%252E') }],
    ['sends a body with GET', { method: 'GET', headers: FORM, payload: form }],
    ['posts nothing', { method: 'POST' }],
    ['posts an empty form', post({}, '')],
    ['posts one click', post({}, 'List-Unsubscribe=One-Click')],
    ['posts a wrong token', post({}, `formToken=${'x'.repeat(token.length)}`)],
    ['posts a part of the token', post({}, form.slice(0, -1))],
    ['posts more than the token', post({}, `${form}x`)],
    ['posts a wrong token before the right one', post({}, `formToken=x&${form}`)],
    ['posts the token of the other link', post({}, `formToken=${otherToken}`)],
    ['posts the token as another field', post({}, `token=${token}`)],
    ['posts the token in the query', { ...post({}, ''), add: `?${form}` }],
    ['posts the token in a header', post({ 'x-csrf-token': token }, '')],
    [
      'posts JSON',
      post({ 'content-type': 'application/json' }, JSON.stringify({ formToken: token })),
    ],
    ['posts plain text', post({ 'content-type': 'text/plain' })],
    ['posts multipart', post({ 'content-type': 'multipart/form-data; boundary=x' }, multipart)],
    ['posts from another site', post({ 'sec-fetch-site': 'cross-site', origin: CROSS })],
    ['posts from another host of the site', post({ 'sec-fetch-site': 'same-site' })],
    ['posts with the origin of another site', post({ origin: CROSS })],
    ['posts without an origin', post({ origin: 'null' })],
    ['posts a compressed form', post({ 'content-encoding': 'gzip' }, gzipSync(form))],
    ['posts a form in UTF-16', post({ 'content-type': `${FORM['content-type']}; charset=utf-16` })],
    ['posts a long form', post({}, `${form}&x=${'x'.repeat(5_000)}`)],
    ['posts to a link of another time', { ...post({}), url: withOtherStart(link) }],
    ['puts', { method: 'PUT', headers: FORM, payload: form }],
    ['patches', { method: 'PATCH', headers: FORM, payload: form }],
    ['deletes', { method: 'DELETE' }],
  ]
}

const PREFLIGHT = { origin: CROSS, 'access-control-request-method': 'POST' }

/** Changes the start time, which is the fourth part of the link, by an hour. */
const withOtherStart = (link: string) =>
  link
    .split('.')
    .map((part, i) => (i === 3 ? (Number.parseInt(part, 36) + 3_600_000).toString(36) : part))
    .join('.')

test('nothing that scanners and prefetchers do with a link changes an appointment', async (t) => {
  const world = await startAsking(t)
  const { answer, app, ask, call, open, statusOf } = world
  const { calendarId, confirm, cancel } = await ask()
  const token = formTokenIn((await open(confirm)).body)!
  const otherToken = formTokenIn((await open(cancel)).body)!
  const { version } = (await call('GET', `/calendar/${calendarId}`)).body
  const isUnchanged = async (name: string) => {
    const now = (await call('GET', `/calendar/${calendarId}`)).body
    assert.deepEqual([now.status, now.version], ['OPEN', version], `one that ${name}`)
  }

  const all = behaviours(token, otherToken, confirm)
  assert.ok(all.length >= 50)
  for (const [name, { add = '', ...request }] of all) {
    const { statusCode } = await app.inject({ url: `${confirm}${add}`, ...request })
    assert.ok(statusCode < 500, `${name}: ${statusCode}`)
    await isUnchanged(name)
  }
  await Promise.all(Array.from({ length: 20 }, () => open(confirm)))
  await isUnchanged('opens it twenty times at once')

  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const lines = [
    `POST ${confirm} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${FORM['content-type']}`,
  ]
  const whole = `${lines.join('\r\n')}\r\nContent-Length: ${token.length + 10}\r\n\r\nformToken=${token}`
  for (const sent of [whole.slice(0, 20), whole.slice(0, -30), whole.slice(0, -1)]) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    await new Promise<void>((resolve) => socket.write(sent, () => resolve()))
    socket.destroy()
    await isUnchanged('closes the connection before the end of its request')
  }

  // The same link still works for a person.
  assert.equal((await answer(confirm)).statusCode, 200)
  assert.equal(await statusOf(calendarId), 'CONFIRMED')
})
