import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startBounceListener, type BounceListening } from '../../src/email/bounce-listener.ts'
import { readReport } from '../../src/email/mail-reports.ts'
import { readBounceAddress } from '../../src/email/verp.ts'
import { isFull } from '../proofs/random.ts'
import { findSlowRuns, HOSTILE_UNITS } from '../support/hostile-text.ts'
import { until } from '../support/until.ts'

type Mail = { businessId: number }
type Given = Partial<BounceListening<Mail>>

const MAILS = new Map([
  ['bounce+1@b.example', { businessId: 1 }],
  ['bounce+2@b.example', { businessId: 2 }],
])

/** A listener that knows two bounce addresses and records what it receives. */
async function startListener(t: TestContext, given: Given = {}) {
  const received: [string, Mail | undefined][] = []
  const errors: unknown[] = []
  const { port, close } = await startBounceListener<Mail>({
    protocol: 'smtp',
    host: '127.0.0.1',
    port: 0,
    domain: 'b.example',
    findMail: async (address) => MAILS.get(address),
    peerOf: (ip) => ip,
    isAllowed: () => true,
    isCommandAllowed: () => true,
    receive: async (raw, mail) => {
      received.push([raw, mail])
      return true
    },
    onError: (error) => void errors.push(error),
    ...given,
  })
  t.after(close)
  return { port, received, errors }
}

/** Sends each line after the reply to the previous one; returns the reply codes. */
async function talk(port: number, lines: string[], localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setMaxListeners(0)
  socket.setEncoding('utf8')
  const codes: string[] = []
  let buffered = ''
  const reply = async () => {
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*(\d{3}) .*\r\n/.exec(buffered)
      if (whole) {
        buffered = buffered.slice(whole[0].length)
        return codes.push(whole[1]!)
      }
      if (socket.destroyed) return codes.push('closed')
      buffered += String((await Promise.race([once(socket, 'data'), once(socket, 'close')]))[0])
    }
  }
  socket.on('error', () => {})
  await reply()
  for (const line of lines) {
    socket.write(`${line}\r\n`)
    await reply()
  }
  socket.destroy()
  return codes.join(' ')
}

const mailTo = (address: string, message = 'Subject: x\r\n\r\nhello') => [
  'EHLO me.example',
  'MAIL FROM:<>',
  `RCPT TO:<${address}>`,
  'DATA',
  `${message}\r\n.`,
]

test('a message for a known bounce address is accepted over SMTP and LMTP', async (t) => {
  for (const protocol of ['smtp', 'lmtp'] as const) {
    const { port, received } = await startListener(t, { protocol })
    const lines = mailTo('bounce+1@b.example')
    if (protocol === 'lmtp') lines[0] = 'LHLO me.example'
    assert.equal(await talk(port, lines), '220 250 250 250 354 250')
    assert.deepEqual(received, [['Subject: x\r\n\r\nhello\r\n', { businessId: 1 }]])
  }
})

test('every other recipient is refused: the listener relays nothing and accepts no credentials', async (t) => {
  const { port, received } = await startListener(t)
  for (const address of [
    'bounce+3@b.example',
    'someone@elsewhere.example',
    'postmaster@b.example',
    'feedback@elsewhere.example',
  ]) {
    assert.equal(await talk(port, mailTo(address)), '220 250 250 550 503 500')
  }
  assert.equal(await talk(port, ['EHLO x', 'AUTH PLAIN AGEAYg==', 'STARTTLS']), '220 250 500 500')
  assert.deepEqual(received, [])
})

test('a message has one recipient, and the feedback address names no mail', async (t) => {
  const { port, received } = await startListener(t)
  const [hello, from, to, data, text] = mailTo('feedback@B.example')
  const second = 'RCPT TO:<bounce+1@b.example>'
  const codes = await talk(port, [hello!, from!, to!, second, data!, text!])
  assert.equal(codes, '220 250 250 250 452 354 250')
  assert.deepEqual(
    received.map(([, mail]) => mail),
    [undefined],
  )
})

test('if a message cannot be recorded now, the sender is told to try again', async (t) => {
  const early = await startListener(t, { receive: async () => false })
  assert.equal(await talk(early.port, mailTo('bounce+1@b.example')), '220 250 250 250 354 451')
  const failing = async () => {
    throw new Error('the database is away')
  }
  const unsaved = await startListener(t, { receive: failing })
  assert.equal(await talk(unsaved.port, mailTo('bounce+1@b.example')), '220 250 250 250 354 451')
  const unknown = await startListener(t, { findMail: failing })
  assert.equal(
    await talk(unknown.port, mailTo('bounce+1@b.example').slice(0, 3)),
    '220 250 250 451',
  )
  assert.equal(unsaved.errors.length + unknown.errors.length, 2)
})

test('large messages are truncated or refused', async (t) => {
  const limits = { messageBytes: 5_000, keptBytes: 100 }
  const { port, received } = await startListener(t, { limits })
  const message = (size: number) =>
    `Subject: x\r\n\r\n${`${'a'.repeat(98)}\r\n`.repeat(size / 100)}`
  const to = 'bounce+1@b.example'
  assert.equal(await talk(port, mailTo(to, message(4_000))), '220 250 250 250 354 250')
  assert.equal(received[0]![0].length, 100)
  assert.equal(await talk(port, mailTo(to, message(9_000))), '220 250 250 250 354 552')
})

test('messages count for the business of their mail, others for the peer, and nobody else waits', async (t) => {
  const counts = new Map<string, number>()
  const isAllowed = (name: string) => {
    counts.set(name, (counts.get(name) ?? 0) + 1)
    return counts.get(name)! <= 1
  }
  const { port } = await startListener(t, { isAllowed })
  const ask = (address: string, from?: string) =>
    talk(port, mailTo(address).slice(0, 3), from).then((codes) => codes.slice(-3))
  assert.equal(await ask('feedback@b.example'), '250')
  assert.equal(await ask('feedback@b.example'), '451')
  assert.equal(await ask('forged@b.example'), '451')
  assert.equal(await ask('feedback@b.example', '127.0.0.2'), '250')
  assert.equal(await ask('bounce+1@b.example'), '250')
  assert.equal(await ask('bounce+1@b.example', '127.0.0.3'), '451')
  assert.equal(await ask('bounce+2@b.example'), '250')
})

test('the connections of a peer are limited, and others still connect', async (t) => {
  const { port } = await startListener(t, { limits: { connectionsPerPeer: 1 } })
  const first = connect(port, '127.0.0.1')
  await once(first, 'data')
  assert.equal(await talk(port, []), '421')
  assert.equal(await talk(port, ['EHLO me.example'], '127.0.0.2'), '220 250')
  first.destroy()
  await until(async () => (await talk(port, ['EHLO me.example'])) === '220 250')
})

test('if all connections are taken, the peer with the most loses its oldest', async (t) => {
  const { port } = await startListener(t, { limits: { connections: 3 } })
  const [oldest, second] = [1, 2].map(() => connect(port, '127.0.0.1').on('error', () => {}))
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  await Promise.all([oldest!, second!, other].map((socket) => once(socket, 'data')))
  const closed = once(oldest!.resume(), 'close')
  assert.equal(await talk(port, ['EHLO me.example'], '127.0.0.3'), '220 250')
  await closed
  assert.deepEqual([second!.closed, other.closed], [false, false])
  for (const socket of [second!, other]) socket.destroy()
})

test('each command counts, and one too many closes the connection', async (t) => {
  let left = 0
  const { port, received } = await startListener(t, { isCommandAllowed: () => left-- > 0 })
  const message = mailTo('feedback@b.example').slice(1)
  const allowed = async (commands: number, lines: string[]) => {
    left = commands
    return await talk(port, lines)
  }
  const conversation = ['EHLO x', ...message, ...message, 'RSET', 'NOOP', 'FOO', 'HELP']
  const codes = '220 250 250 250 354 250 250 250 354 250 250 250 500'
  assert.equal(await allowed(11, conversation), `${codes} 214`)
  assert.equal(await allowed(10, [...conversation, 'NOOP']), `${codes} 421 closed`)
  assert.equal(received.length, 4)
  for (const line of ['RSET', 'NOOP', 'EHLO x', 'HELP', 'MAIL', 'RCPT', 'VRFY x', ''])
    assert.match(await allowed(2, [line, line, line, 'NOOP']), /421 closed$/, line)
})

test('a message arrives without doubled dots, however it is divided', async (t) => {
  const { port, received } = await startListener(t)
  const head = 'EHLO me.example\r\nMAIL FROM:<>\r\nRCPT TO:<feedback@b.example>\r\nDATA\r\n'
  const sent = ['..', 'Subject: x', '', '..', '...two', 'a..', '..\n..'].join('\r\n')
  const data = `${sent}\r\n.\r\nQUIT\r\n`
  for (const size of [1, 2, 3, 4, 5, 7, 1_000]) {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'data')
    socket.write(head)
    for (const part of data.match(new RegExp(`[^]{1,${size}}`, 'g'))!) {
      socket.write(part)
      await nextTurn()
    }
    await once(socket.resume(), 'close')
  }
  const expected = ['.', 'Subject: x', '', '.', '..two', 'a..', '.\n.', ''].join('\r\n')
  assert.deepEqual(
    received.map(([raw]) => raw),
    Array(7).fill(expected),
  )
})

test('a message of dots costs little time', async (t) => {
  const { port } = await startListener(t)
  const before = process.cpuUsage()
  const message = `Subject: x\r\n${'..\r\n'.repeat(500_000)}`
  assert.match(await talk(port, mailTo('feedback@b.example', message)), /250$/)
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 1_500_000, `${user + system} µs`)
})

const RUNS_OF_EACH = isFull ? HOSTILE_UNITS.length : 30

test('no command or message takes more than linear time for a long run of any character', async (t) => {
  const { port, errors } = await startListener(t, {
    findMail: async (address) => {
      readBounceAddress(address, 'b.example')
      return undefined
    },
    receive: async (raw) => Boolean(await readReport({}, raw)),
  })
  let next = 0
  const takeRuns = () =>
    Array.from({ length: RUNS_OF_EACH }, () => HOSTILE_UNITS[next++ % HOSTILE_UNITS.length]!)
  const [hello, from, , data] = mailTo('')
  for (const linesOf of [
    (text: string) => [text],
    (text: string) => [`EHLO ${text}`],
    (text: string) => [hello!, `MAIL FROM:<${text}>`],
    (text: string) => [hello!, from!, `RCPT TO:<${text}>`],
    (text: string) => [hello!, from!, 'RCPT TO:<feedback@b.example>', data!, `${text}\r\n.`],
  ]) {
    const send = (text: string) => talk(port, linesOf(text))
    assert.deepEqual(await findSlowRuns(send, () => 16_384, takeRuns()), [], linesOf('…').join(' '))
  }
  assert.deepEqual(errors, [])
})

test('connections are limited in time', async (t) => {
  const { port } = await startListener(t, { limits: { sessionMs: 50 } })
  const idle = connect(port, '127.0.0.1')
    .on('error', () => {})
    .resume()
  await once(idle, 'close')
})
