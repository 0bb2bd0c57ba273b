import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { test, type TestContext } from 'node:test'
import PostalMime from 'postal-mime'
import { CaptureMailer } from '../../src/email/capture.ts'
import type { Outcome, Phase } from '../../src/email/mailer.ts'
import { buildMessage, makeMessageId, type Message } from '../../src/email/message.ts'
import {
  parseSmtpUrl,
  SmtpMailer,
  type SmtpOptions,
  type SmtpServer,
} from '../../src/email/smtp.ts'
import { startMailServer, type Act, type Behaviour, type Point } from '../support/mail-server.ts'
import { testCertificate } from '../support/tls-certificate.ts'
import { until } from '../support/until.ts'

const message = (emailId = 1, text = 'See you.\n'): Message =>
  buildMessage({
    messageId: makeMessageId(1, emailId, 'mail.harbour.example'),
    date: Temporal.Instant.from('2026-11-03T09:05:07Z'),
    from: { name: 'Harbour Clinic', address: 'hello@harbour.example' },
    to: { name: 'Ada Okafor', address: 'ada@example.org' },
    cc: null,
    replyTo: null,
    subject: 'Your appointment',
    text,
    html: '<p>See you.</p>',
    calendar: null,
    unsubscribeLink: null,
  })

const LONG_MS = 300_000
const PATIENT = {
  connect: LONG_MS,
  greeting: LONG_MS,
  command: LONG_MS,
  body: LONG_MS,
  end: LONG_MS,
}

/** Short only in the phase that is never answered, so that a busy machine does not time out elsewhere. */
const impatient = (phase: Phase) => ({ ...PATIENT, [phase]: 150 })

function openMailer(
  t: TestContext,
  server: { host: string; port: number },
  changes: Partial<SmtpOptions & SmtpServer> = {},
) {
  const { secure = false, requireTls = false, user = null, password = null, ...options } = changes
  const mailer = new SmtpMailer(
    { host: server.host, port: server.port, secure, requireTls, user, password },
    { timeouts: PATIENT, tls: { ca: testCertificate, servername: 'localhost' }, ...options },
  )
  t.after(() => mailer.close())
  return mailer
}

const send = (
  mailer: SmtpMailer,
  beforeMessageEnd = async () => {},
  to = 'ada@example.org',
  mail = message(),
  businessId = 1,
) => mailer.send({ businessId, from: 'hello@harbour.example', to, message: mail, beforeMessageEnd })

/** Large enough to be sent in several chunks. */
const largeMessage = message(1, 'See you, and here is much more to read.\n'.repeat(2000))

type Case = Behaviour & {
  name: string
  kind: Outcome['kind']
  phase: Phase
  reply?: RegExp
  options?: Partial<SmtpOptions & SmtpServer>
}

const tls = { requireTls: true }
const signIn = { user: 'bell', password: 'wether' }

/** Every misbehaviour at one point, with the expected outcome. */
function at(point: Point, phase: Phase, more: Partial<Case> = {}): Case[] {
  const isBeforeMail = ['greeting', 'ehlo', 'starttls', 'auth'].includes(phase)
  const lost = isBeforeMail ? 'unavailable' : phase === 'end' ? 'uncertain' : 'retry'
  const later = isBeforeMail ? 'unavailable' : 'retry'
  const never = isBeforeMail ? 'unavailable' : 'failed'
  const act = (name: string, kind: Outcome['kind'], act: Act, rest: Partial<Case> = {}): Case => ({
    name: `${point}: ${name}`,
    at: point,
    act,
    kind,
    phase,
    ...more,
    ...rest,
  })
  return [
    act('4xx', later, { reply: '451 4.3.0 later\r\n' }, { reply: /^451 4\.3\.0 later$/ }),
    act(
      '4xx over two lines',
      later,
      { reply: '450-not\r\n450 now\r\n' },
      { reply: /^450-not 450 now$/ },
    ),
    act(
      '421 and close',
      later,
      { reply: '421 4.3.2 closing\r\n', next: 'close' },
      { reply: /^421/ },
    ),
    act('5xx', never, { reply: '554 5.7.1 never\r\n' }, { reply: /^554 5\.7\.1 never$/ }),
    act('5xx and close', never, { reply: '550 no\r\n', next: 'close' }, { reply: /^550 no$/ }),
    act(
      'silence',
      lost,
      { next: 'hang' },
      {
        reply: /no answer within 0\.15 s/,
        options: { ...more.options, timeouts: impatient(phase) },
      },
    ),
    act(
      'a line without end',
      lost,
      { next: 'mumble' },
      {
        reply: /no answer within 0\.15 s/,
        options: { ...more.options, timeouts: impatient(phase) },
      },
    ),
    act('closed', lost, { next: 'close' }),
    act('reset', lost, { next: 'reset' }),
    act('half an answer, then closed', lost, { reply: '25', next: 'close' }),
    act('an unfinished answer of several lines', lost, { reply: '250-go\r\n', next: 'close' }),
    act('not SMTP', lost, { reply: 'HTTP/1.1 400 Bad Request\r\n', next: 'close' }),
  ]
}

const cases: Case[] = [
  {
    name: 'connect: closed',
    at: 'connect',
    act: { next: 'close' },
    kind: 'unavailable',
    phase: 'greeting',
  },
  {
    name: 'connect: reset',
    at: 'connect',
    act: { next: 'reset' },
    kind: 'unavailable',
    phase: 'greeting',
  },
  ...at('greeting', 'greeting'),
  // If EHLO fails the client tries HELO, which must fail too.
  ...at('ehlo', 'ehlo', { times: 2 }),
  {
    name: 'ehlo: unknown, but HELO is known',
    at: 'ehlo',
    act: { reply: '502 what?\r\n' },
    kind: 'sent',
    phase: 'end',
  },
  ...at('starttls', 'starttls', { starttls: true, options: tls }),
  {
    name: 'starttls: stripped from the offer',
    kind: 'sent',
    phase: 'end',
    starttls: false,
    options: tls,
  },
  {
    name: 'starttls: stripped and refused',
    at: 'starttls',
    act: { reply: '500 what?\r\n' },
    kind: 'unavailable',
    phase: 'starttls',
    options: tls,
  },
  ...['250 fine\r\n', '250-evil\r\n250 SIZE 1\r\n', '250-ev'].map((injected): Case => ({
    name: `starttls: ${JSON.stringify(injected)} injected before the handshake`,
    injected,
    kind: 'sent',
    phase: 'end',
    starttls: true,
    options: tls,
  })),
  {
    name: 'handshake: closed',
    at: 'handshake',
    act: { next: 'close' },
    kind: 'unavailable',
    phase: 'starttls',
    starttls: true,
    options: tls,
  },
  {
    name: 'handshake: reset',
    at: 'handshake',
    act: { next: 'reset' },
    kind: 'unavailable',
    phase: 'starttls',
    starttls: true,
    options: tls,
  },
  {
    name: 'handshake: no TLS',
    at: 'handshake',
    act: { reply: '250 no need\r\n' },
    kind: 'unavailable',
    phase: 'starttls',
    starttls: true,
    options: { ...tls, timeouts: impatient('starttls') },
  },
  {
    name: 'handshake: silence',
    at: 'handshake',
    act: { next: 'hang' },
    kind: 'unavailable',
    phase: 'starttls',
    starttls: true,
    options: { ...tls, timeouts: impatient('starttls') },
  },
  {
    name: 'handshake: an untrusted certificate',
    kind: 'unavailable',
    phase: 'starttls',
    starttls: true,
    options: { ...tls, tls: {} },
  },
  {
    name: 'handshake: a certificate of another name',
    kind: 'unavailable',
    phase: 'starttls',
    starttls: true,
    options: { ...tls, tls: { ca: testCertificate, servername: 'evil.example' } },
  },
  ...at('auth', 'auth', { auth: true, options: signIn }),
  {
    name: 'auth: not offered',
    kind: 'unavailable',
    phase: 'auth',
    options: signIn,
    reply: /no way to sign in/,
  },
  ...at('mail', 'mail'),
  ...at('mail', 'mail', { pipelining: false }),
  ...at('rcpt', 'rcpt'),
  ...at('rcpt', 'rcpt', { pipelining: false }),
  ...at('data', 'data'),
  ...at('data', 'data', { pipelining: false }),
  ...at('body', 'body'),
  {
    name: 'body: accepted before the end of the message',
    at: 'body',
    act: { reply: '250 fine\r\n' },
    kind: 'retry',
    phase: 'body',
  },
  ...at('end', 'end'),
  {
    name: 'end: accepted, then silence',
    at: 'end',
    act: { takes: true, next: 'hang' },
    kind: 'uncertain',
    phase: 'end',
    options: { timeouts: impatient('end') },
  },
  {
    name: 'end: accepted, then closed',
    at: 'end',
    act: { takes: true, next: 'close' },
    kind: 'uncertain',
    phase: 'end',
  },
  {
    name: 'end: accepted, then reset',
    at: 'end',
    act: { takes: true, next: 'reset' },
    kind: 'uncertain',
    phase: 'end',
  },
  {
    name: 'end: accepted, half an answer',
    at: 'end',
    act: { takes: true, reply: '250 2.0', next: 'close' },
    kind: 'uncertain',
    phase: 'end',
  },
  {
    name: 'end: accepted with another code',
    at: 'end',
    act: { takes: true, reply: '252 well\r\n' },
    kind: 'sent',
    phase: 'end',
  },
  { name: 'after: closed', at: 'after', act: { next: 'close' }, kind: 'sent', phase: 'end' },
  { name: 'after: reset', at: 'after', act: { next: 'reset' }, kind: 'sent', phase: 'end' },
  {
    name: 'after: 421',
    at: 'after',
    act: { reply: '421 enough\r\n', next: 'close' },
    kind: 'sent',
    phase: 'end',
  },
  {
    name: 'after: silence',
    at: 'after',
    act: { next: 'hang' },
    kind: 'sent',
    phase: 'end',
  },
  { name: 'quit: silence', at: 'quit', act: { next: 'hang' }, kind: 'sent', phase: 'end' },
  { name: 'quit: closed', at: 'quit', act: { next: 'close' }, kind: 'sent', phase: 'end' },
  { name: 'quit: 5xx', at: 'quit', act: { reply: '500 stay\r\n' }, kind: 'sent', phase: 'end' },
  {
    name: 'TLS from the first byte',
    secure: true,
    kind: 'sent',
    phase: 'end',
    options: { secure: true },
  },
  {
    name: 'TLS from the first byte, AUTH',
    secure: true,
    auth: true,
    kind: 'sent',
    phase: 'end',
    options: { secure: true, ...signIn },
  },
  {
    name: 'TLS from the first byte, an untrusted certificate',
    secure: true,
    kind: 'unavailable',
    phase: 'connect',
    options: { secure: true, tls: {} },
  },
  {
    name: 'TLS expected, but the server has none: silence',
    kind: 'unavailable',
    phase: 'connect',
    options: { secure: true, timeouts: impatient('connect') },
  },
  { name: 'a slow server', delay: 30, kind: 'sent', phase: 'end' },
  { name: 'answers byte by byte', trickle: true, kind: 'sent', phase: 'end' },
  { name: 'without pipelining', pipelining: false, kind: 'sent', phase: 'end' },
  { name: 'with STARTTLS', starttls: true, kind: 'sent', phase: 'end', options: tls },
  {
    name: 'with STARTTLS and AUTH',
    starttls: true,
    auth: true,
    kind: 'sent',
    phase: 'end',
    options: { ...tls, ...signIn },
  },
  {
    name: 'a message larger than the server accepts',
    size: 100,
    kind: 'failed',
    phase: 'mail',
    reply: /larger/,
  },
]

test('the list contains many misbehaviours', () => {
  assert.ok(cases.length >= 60, String(cases.length))
})

for (const { name, kind, phase, reply, options, ...behaviour } of cases) {
  const title = behaviour.pipelining === false ? `${name} (no pipelining)` : name
  test(`${title}: ${kind}, and never twice outside the ambiguous window`, async (t) => {
    const server = await startMailServer(t, behaviour)
    const mailer = openMailer(t, server, options)
    let commits = 0
    // If the server misbehaves during the body, delay the commit until it has done so.
    const settled = Promise.withResolvers<void>()
    const commit = async () => {
      commits++
      if (behaviour.at === 'body' && commits === 1) await settled.promise
    }

    const mail = behaviour.at === 'body' ? largeMessage : message()
    const first = await send(mailer, commit, undefined, mail)
    settled.resolve()
    server.behave()
    assert.equal(first.kind, kind, JSON.stringify(first))
    assert.ok(possiblePhases(phase, first).includes(first.phase), JSON.stringify(first))
    if (reply) assert.match(first.reply, reply)
    assert.ok(first.reply.length > 0)
    if (['sent', 'uncertain'].includes(kind)) assert.equal(commits, 1)
    if (phase !== 'body' && phase !== 'end') assert.equal(commits, 0)
    const afterFirst = server.taken.length
    assert.equal(afterFirst, kind === 'sent' || behaviour.act?.takes ? 1 : 0)

    if (kind === 'retry' || kind === 'uncertain' || kind === 'unavailable') {
      // The server behaves again: the mail is sent, twice only if the first answer was lost.
      const patient = openMailer(t, server, { ...options, ...timeoutsAfter(name) })
      const second = await send(patient, commit, undefined, mail)
      if (behaviour.at) assert.equal(second.kind, 'sent')
      assert.ok(server.taken.length <= (kind === 'uncertain' ? 2 : 1))
      assert.equal(new Set(server.taken.map(({ bytes }) => bytes)).size <= 1, true)
    }
    for (const mail of server.taken) {
      assert.equal(mail.secure, Boolean(options?.requireTls || options?.secure))
      assert.deepEqual([mail.from, mail.to], ['hello@harbour.example', ['ada@example.org']])
    }
  })
}

/** Without a reply, it is unknown which of the pipelined commands failed. */
const possiblePhases = (phase: Phase, { reply }: Outcome): Phase[] => {
  if (/^[45]\d\d/.test(reply)) return [phase]
  if (phase === 'greeting') return ['connect', 'greeting']
  return ['mail', 'rcpt', 'data'].includes(phase) ? ['mail', 'rcpt', 'data'] : [phase]
}

const timeoutsAfter = (name: string) =>
  /silence|without end|no TLS/.test(name) ? { timeouts: PATIENT } : {}

test('without a mail server a mail is captured', async () => {
  const mailer = new CaptureMailer()
  let commits = 0
  const mail = {
    businessId: 1,
    from: 'hello@harbour.example',
    message: message(),
    beforeMessageEnd: async () => void commits++,
  }
  assert.equal((await mailer.send({ ...mail, to: 'ada@example.org' })).kind, 'captured')
  assert.equal((await mailer.send({ ...mail, to: 'ada@example.org, x' })).kind, 'failed')
  assert.equal(commits, 1)
})

test('an unreachable server is unavailable, which does not count as an attempt', async (t) => {
  const server = await startMailServer(t)
  const unreachable = new SmtpMailer(
    { host: '127.0.0.1', port: 1, secure: false, requireTls: false, user: null, password: null },
    { timeouts: PATIENT },
  )
  const outcome = await send(unreachable)
  assert.deepEqual([outcome.kind, outcome.phase], ['unavailable', 'connect'])
  assert.deepEqual(await unreachable.check(), outcome)
  assert.match(outcome.reply, /ECONNREFUSED/)
  assert.equal(server.connections(), 0)
})

test('the end of the message is sent only after its commit', async (t) => {
  const server = await startMailServer(t)
  const mailer = openMailer(t, server)
  let takenBefore = -1
  await send(mailer, async () => {
    takenBefore = server.taken.length
  })
  assert.equal(takenBefore, 0)
  assert.equal(server.taken.length, 1)
})

test('if the commit fails, the end of the message is never sent', async (t) => {
  const server = await startMailServer(t)
  const outcome = await send(openMailer(t, server), async () => {
    throw new Error('the lease went to another')
  })
  assert.deepEqual(outcome, { kind: 'retry', phase: 'body', reply: 'the lease went to another' })
  assert.equal(server.taken.length, 0)
})

test('a connection that breaks during the commit is a retry, not uncertain', async (t) => {
  const server = await startMailServer(t)
  const settled = Promise.withResolvers<void>()
  const pending = send(openMailer(t, server), async () => {
    server.dropAll()
    await settled.promise
  })
  const outcome = await pending
  settled.resolve()
  assert.deepEqual([outcome.kind, outcome.phase], ['retry', 'body'])
  assert.equal(server.taken.length, 0)
})

test('a connection that was closed while idle costs no attempt', async (t) => {
  const server = await startMailServer(t)
  const mailer = openMailer(t, server)
  assert.equal((await send(mailer)).kind, 'sent')
  server.dropAll()
  assert.equal((await send(mailer)).kind, 'sent')
  assert.equal(server.taken.length, 2)
})

test('after a refused recipient the next mail uses the same connection', async (t) => {
  const server = await startMailServer(t, { at: 'rcpt', act: { reply: '550 nobody here\r\n' } })
  const mailer = openMailer(t, server)
  assert.equal((await send(mailer)).kind, 'failed')
  assert.equal((await send(mailer)).kind, 'sent')
  assert.equal(server.connections(), 1)
  assert.deepEqual(server.taken[0]?.to, ['ada@example.org'])
})

/** What the server does at the end of one mail after the envelope of the next was pipelined. */
const ends: { name: string; act: Act; kind: Outcome['kind']; connections: number }[] = [
  {
    name: 'is accepted',
    act: { reply: '250 fine\r\n', takes: true },
    kind: 'sent',
    connections: 1,
  },
  { name: 'is deferred', act: { reply: '451 later\r\n' }, kind: 'retry', connections: 1 },
  { name: 'is refused', act: { reply: '554 never\r\n' }, kind: 'failed', connections: 1 },
  {
    name: 'is answered by nonsense',
    act: { reply: 'what?\r\n' },
    kind: 'uncertain',
    connections: 2,
  },
  {
    name: 'is answered by nonsense and more',
    act: { reply: 'what?\r\n250 well\r\n', next: 'hang' },
    kind: 'uncertain',
    connections: 2,
  },
  {
    name: 'is answered by 421',
    act: { reply: '421 enough\r\n', next: 'close' },
    kind: 'retry',
    connections: 2,
  },
  {
    name: 'is not answered before the connection closes',
    act: { next: 'close' },
    kind: 'uncertain',
    connections: 2,
  },
  {
    name: 'is not answered before a reset',
    act: { next: 'reset' },
    kind: 'uncertain',
    connections: 2,
  },
]

for (const { name, act, kind, connections } of ends) {
  test(`a mail that follows one that ${name} is sent once`, async (t) => {
    const server = await startMailServer(t, { at: 'end', act })
    const mailer = openMailer(t, server, { connections: 1, followingMs: LONG_MS })
    const ends: number[] = []
    const outcomes = await Promise.all(
      [1, 2, 3].map((id) =>
        send(mailer, async () => void ends.push(id), `ada${id}@example.org`, message(id)),
      ),
    )
    assert.deepEqual(
      outcomes.map((outcome) => outcome.kind),
      [kind, 'sent', 'sent'],
    )
    assert.deepEqual(ends, [1, 2, 3])
    assert.deepEqual(
      server.taken.map(({ to, bytes }) => `${to} ${/^Message-ID: <(\d+)/m.exec(bytes)?.[1]}`),
      [...(kind === 'sent' ? [1] : []), 2, 3].map((id) => `ada${id}@example.org ${id}`),
    )
    assert.equal(server.connections(), connections)
  })
}

test('a mail whose envelope is refused while another mail is pending gets its own answer', async (t) => {
  const server = await startMailServer(t, { at: 'rcpt', act: { reply: '550 nobody\r\n' } })
  const mailer = openMailer(t, server, { connections: 1, followingMs: LONG_MS })
  const refused = send(mailer, undefined, 'nobody@example.org')
  const outcomes = await Promise.all([refused, send(mailer), send(mailer)])
  assert.deepEqual(
    outcomes.map(({ kind, phase }) => `${kind} ${phase}`),
    ['failed rcpt', 'sent end', 'sent end'],
  )
  assert.equal(server.connections(), 1)
})

test('a server that is slow with one mail does not delay the next one', async (t) => {
  const server = await startMailServer(t, { at: 'end', act: { next: 'hang' } })
  const mailer = openMailer(t, server, { connections: 2 })
  const [first, ...others] = [1, 2, 3].map((id) => send(mailer, undefined, undefined, message(id)))
  const kinds = (await Promise.all(others)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['sent', 'sent'])
  // The first connection ends now.
  server.dropAll()
  assert.equal((await first)?.kind, 'uncertain')
  assert.equal(server.taken.length, 2)
})

/** A server that never answers the end of a message to `hang@…`, and mails for it. */
async function startHanging(t: TestContext) {
  const server = await startMailServer(t, { hangsWith: (to) => to.startsWith('hang@') })
  const mailer = openMailer(t, server, { connections: 2, hangingMs: 50 })
  let id = 0
  const sendTo = (name: string, businessId = 1) =>
    send(mailer, undefined, `${name}@example.org`, message((id += 1)), businessId)
  return { server, mailer, sendTo }
}

test('mails that get no answer do not take the place of others', async (t) => {
  const { server, mailer, sendTo } = await startHanging(t)
  const hanging = Array.from({ length: 4 }, () => sendTo('hang'))
  const others = await Promise.all(Array.from({ length: 36 }, () => sendTo('ada')))
  assert.deepEqual(new Set(others.map(({ kind }) => kind)), new Set(['sent']))
  await until(() => mailer.room() === 4)
  server.dropAll()
  const kinds = (await Promise.all(hanging)).map(({ kind }) => kind)
  assert.deepEqual(new Set(kinds), new Set(['uncertain']))
})

test('a business whose mails all hang leaves a place for the others', async (t) => {
  const { server, mailer, sendTo } = await startHanging(t)
  const hanging = Array.from({ length: 30 }, () => sendTo('hang'))
  await until(() => mailer.isFull(1))
  assert.equal((await sendTo('ada', 2)).kind, 'sent')
  assert.ok(!mailer.isFull(2))
  assert.equal(server.connections(), 6, 'five of ten places hang')
  const dropping = setInterval(() => server.dropAll(), 20)
  await Promise.all(hanging)
  clearInterval(dropping)
})

test('a mail that a DKIM key cannot sign is not attempted', async (t) => {
  const server = await startMailServer(t)
  const { publicKey: key } = generateKeyPairSync('ed25519')
  const signer = { domain: 'harbour.example', selector: 'one', key }
  const mailer = openMailer(t, server, { dkim: [signer] })
  const { kind, reply } = await send(mailer)
  assert.equal(kind, 'postponed')
  assert.match(reply, /^the DKIM key cannot sign: /)
  assert.equal(server.connections(), 0)
})

test('connections to a server that is slow with every mail are kept', async (t) => {
  const server = await startMailServer(t, { pondering: 600 })
  const mailer = openMailer(t, server, { connections: 2 })
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => send(mailer)))
  assert.ok(outcomes.every(({ kind }) => kind === 'sent'))
  assert.equal(server.taken.length, 8)
  // Connections on which the slowness was detected are closed.
  assert.ok(server.connections() <= 4, String(server.connections()))
})

test('connections are reused, limited in number, and replaced after a number of mails', async (t) => {
  const server = await startMailServer(t, { delay: 2 })
  const mailer = openMailer(t, server, { connections: 3, maxMailsPerConnection: 5 })
  const outcomes = await Promise.all(Array.from({ length: 30 }, () => send(mailer)))
  assert.ok(outcomes.every(({ kind }) => kind === 'sent'))
  assert.equal(server.taken.length, 30)
  assert.ok(server.connections() >= 6 && server.connections() <= 9, String(server.connections()))
})

test('a provider at its limit does not delay another', async (t) => {
  const server = await startMailServer(t)
  const mailer = openMailer(t, server, {
    connections: 4,
    providerLimits: { 'slow.example': { concurrent: 1, perSecond: Number.POSITIVE_INFINITY } },
  })
  const gate = Promise.withResolvers<void>()
  let concurrent = 0
  let maxConcurrent = 0
  const slow = Array.from({ length: 3 }, () =>
    send(
      mailer,
      async () => {
        maxConcurrent = Math.max(maxConcurrent, ++concurrent)
        await gate.promise
        concurrent--
      },
      'ada@slow.example',
    ),
  )
  const others = await Promise.all(Array.from({ length: 5 }, () => send(mailer)))
  assert.ok(others.every(({ kind }) => kind === 'sent'))
  gate.resolve()
  assert.ok((await Promise.all(slow)).every(({ kind }) => kind === 'sent'))
  assert.equal(maxConcurrent, 1)
})

test('fewer mails are sent while the server throttles, and more afterwards', async (t) => {
  const server = await startMailServer(t, {
    at: 'mail',
    act: { reply: '421 slow down\r\n', next: 'close' },
    times: 1,
  })
  const mailer = openMailer(t, server, { connections: 8 })
  assert.equal(mailer.room(), 16)
  assert.equal((await send(mailer)).kind, 'retry')
  assert.equal(mailer.room(), 8)
  // At least ten accepted mails per connection; on a busy machine delays require more.
  let sent = 0
  for (; mailer.room() < 16 && sent < 1_000; sent++) await send(mailer)
  assert.equal(mailer.room(), 16)
  assert.ok(sent >= 40, String(sent))
})

test('a server that defers mails before it knows their recipients pauses no domain', async (t) => {
  const server = await startMailServer(t, {
    at: 'mail',
    act: { reply: '421 4.3.2 out of service\r\n', next: 'close' },
    times: 6,
  })
  const mailer = openMailer(t, server)
  for (let i = 0; i < 6; i += 1) assert.equal((await send(mailer)).kind, 'retry')
  assert.equal((await send(mailer)).kind, 'sent')
})

test('a mail waits for another connection if the server refuses a further one', async (t) => {
  const server = await startMailServer(t, { maxConnections: 1 })
  const mailer = openMailer(t, server, { connections: 3 })
  const sent = await Promise.all(Array.from({ length: 12 }, () => send(mailer)))
  assert.deepEqual(new Set(sent.map(({ kind }) => kind)), new Set(['sent']))
  assert.equal(server.taken.length, 12)
})

test('a mailer closes if its last mail is postponed after a refused connection', async (t) => {
  const to = 'ada@busy.example'
  const server = await startMailServer(t, { refuses: { [to]: '450 4.7.1 slow down' } })
  const second = Promise.withResolvers<Socket>()
  let connections = 0
  const proxy = createServer((socket) => {
    connections += 1
    if (connections === 2) return second.resolve(socket)
    const upstream = connect(server.port, server.host)
    pipeline(socket, upstream, socket, () => {})
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.after(() => proxy.close())
  const { port } = proxy.address() as AddressInfo
  const mailer = openMailer(
    t,
    { host: '127.0.0.1', port },
    { providerLimits: { '*': { concurrent: 100, perSecond: Number.POSITIVE_INFINITY } } },
  )
  const sendOne = () => send(mailer, undefined, to)
  for (let i = 0; i < 4; i += 1) assert.equal((await sendOne()).kind, 'retry')
  // The fifth deferral pauses the domain. Meanwhile the last mail opens a connection of its own.
  const [fifth, last] = [sendOne(), sendOne()]
  const refused = await second.promise
  assert.equal((await fifth).kind, 'retry')
  const closed = mailer.close()
  refused.destroy()
  assert.equal((await last).kind, 'postponed')
  await closed
})

test('if the server is unavailable, waiting mails fail together and not one after the other', async (t) => {
  const server = await startMailServer(t, {
    at: 'greeting',
    act: { reply: '554 no service here\r\n', next: 'close' },
    times: 100,
  })
  const mailer = openMailer(t, server, { connections: 2 })
  const sent = await Promise.all(Array.from({ length: 40 }, () => send(mailer)))
  assert.deepEqual(new Set(sent.map(({ kind }) => kind)), new Set(['unavailable']))
  assert.ok(server.connections() <= 2, String(server.connections()))
})

const REFUSALS_AT_MAIL: [string, Outcome['kind']][] = [
  ['530 5.7.0 authentication required', 'unavailable'],
  ['550 5.7.60 client does not have permissions to send as this sender', 'unavailable'],
  ['553 5.7.1 sender address not owned by user', 'unavailable'],
  ['550 5.1.8 domain of sender address does not exist', 'unavailable'],
  ['550 no', 'failed'],
  ['552 message size exceeds fixed limit', 'failed'],
  ['554 5.3.4 message too big for system', 'failed'],
  ['451 4.3.0 try again later', 'retry'],
]

for (const [reply, expected] of REFUSALS_AT_MAIL) {
  test(`a server that answers ${reply} to MAIL: ${expected}`, async (t) => {
    const server = await startMailServer(t, { at: 'mail', act: { reply: `${reply}\r\n` } })
    const { kind, phase } = await send(openMailer(t, server))
    assert.deepEqual([kind, phase], [expected, 'mail'])
  })
}

const REFUSALS_AT_RCPT: [string, Outcome['kind']][] = [
  ['530 5.7.0 authentication required', 'unavailable'],
  ['553 5.7.1 <a@b.example>: Sender address rejected: not owned by user bw', 'unavailable'],
  ['550 5.1.1 no such user', 'failed'],
  ['554 5.7.1 relay access denied', 'failed'],
  [
    '550 5.1.1 <c@d.example>: Recipient address rejected: mx said: 550 Sender address rejected',
    'failed',
  ],
]

for (const [reply, expected] of REFUSALS_AT_RCPT) {
  test(`a server that answers ${reply} to RCPT: ${expected}`, async (t) => {
    const server = await startMailServer(t, { at: 'rcpt', act: { reply: `${reply}\r\n` } })
    const { kind, phase } = await send(openMailer(t, server))
    assert.deepEqual([kind, phase], [expected, 'rcpt'])
  })
}

test('a check opens a connection, which the next mail uses', async (t) => {
  const server = await startMailServer(t)
  const mailer = openMailer(t, server)
  assert.equal(await mailer.check(), undefined)
  assert.equal((await send(mailer)).kind, 'sent')
  assert.equal(server.connections(), 1)
})

test('a check of a server that is silent ends before the timeouts of mails', async (t) => {
  const server = await startMailServer(t, { at: 'greeting', act: { next: 'hang' } })
  const mailer = openMailer(t, server, { checkMs: 100 })
  const trouble = await mailer.check()
  assert.equal(trouble?.reply, 'no answer within 0.1 s (greeting)')
})

test('after refused connections and a check that succeeds, mails use all connections again', async (t) => {
  const refuses = { reply: '421 4.3.2 later\r\n', next: 'close' } as const
  const server = await startMailServer(t, { at: 'greeting', act: refuses, times: 8 })
  const mailer = openMailer(t, server, { connections: 8, idleMs: LONG_MS })
  await Promise.all(Array.from({ length: 8 }, () => send(mailer)))
  assert.equal(mailer.room(), 2, 'one, and one that waits')
  server.behave()
  assert.equal(await mailer.check(), undefined)
  assert.equal(mailer.room(), 16)
})

test('an invalid address is never sent to the server', async (t) => {
  const server = await startMailServer(t)
  const mailer = openMailer(t, server)
  for (const to of [
    'a@b.example, c@d.example',
    'a@b.example>\r\nRCPT TO:<c@d.example',
    '',
    'a b@c.example',
  ]) {
    const outcome = await send(mailer, undefined, to)
    assert.deepEqual([outcome.kind, outcome.phase], ['failed', 'rcpt'])
  }
  assert.equal(server.connections(), 0)
})

test('a message inside a message is escaped before it is sent', async (t) => {
  const server = await startMailServer(t)
  const mailer = openMailer(t, server)
  const smuggled = 'MAIL FROM:<v@evil.example>\r\nRCPT TO:<v@evil.example>\r\nDATA\r\nx'
  const ends = [
    '\n.\n',
    '\r.\r',
    '\r\n.\r\n',
    '\n.\r\n',
    '\r\n.\n',
    '\r.\r\n',
    '\r\n.\r',
    '\n\n.\n\n',
    '.\r\n',
    '\0\r\n.\r\n',
    '\u2028.\u2028',
    '\r\r\n.\r\r\n',
  ]
  for (const [i, end] of ends.entries()) {
    const text = `before${end}${smuggled}${end}after`
    const outcome = await mailer.send({
      businessId: 1,
      from: 'hello@harbour.example',
      to: 'ada@example.org',
      message: message(i, text),
      beforeMessageEnd: async () => {},
    })
    assert.equal(outcome.kind, 'sent')
    const mail = server.taken[i]
    assert.doesNotMatch(mail?.bytes ?? '', /\r(?!\n)|(?<!\r)\n/)
    const read = await PostalMime.parse(mail?.bytes ?? '')
    assert.match(read.text ?? '', /before[^]*after/)
  }
  assert.equal(server.taken.length, ends.length)
  assert.ok(server.taken.every(({ to }) => to.length === 1 && to[0] === 'ada@example.org'))
  assert.ok(!server.commands.some((line) => line.includes('evil')))
})

const urls: [string, Partial<SmtpServer>][] = [
  [
    'smtp://mail.example',
    { host: 'mail.example', port: 587, secure: false, requireTls: true, user: null },
  ],
  ['smtp://a%40b:p%3Aw@mail.example:2525', { port: 2525, user: 'a@b', password: 'p:w' }],
  ['smtps://mail.example', { port: 465, secure: true, requireTls: false }],
  ['smtp://127.0.0.1:1025', { host: '127.0.0.1', requireTls: false }],
  ['smtp://localhost', { requireTls: false }],
  ['smtp://[::1]:25', { host: '::1', requireTls: false }],
  ['smtp://mail.example?tls=never', { requireTls: false }],
]

for (const [url, expected] of urls)
  test(`${url} configures the connection`, () => {
    assert.partialDeepStrictEqual(parseSmtpUrl(url), expected)
  })

test('an invalid SMTP_URL is refused with one line', () => {
  for (const url of [
    'mail.example',
    'http://mail.example',
    'smtp://',
    'smtp://a?tls=maybe',
    'smtp://a?pool=1',
  ])
    assert.throws(() => parseSmtpUrl(url), /must be|supports only/)
})
