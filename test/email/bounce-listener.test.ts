import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { startBounceListener, type BounceListening } from '../../src/email/bounce-listener.ts'
import { until } from '../support/until.ts'

type Given = Partial<BounceListening<string>>

/** A listener that knows one bounce address and records what it receives. */
async function startListener(t: TestContext, given: Given = {}) {
  const received: [string, string | undefined][] = []
  const errors: unknown[] = []
  const { port, close } = await startBounceListener<string>({
    protocol: 'smtp',
    host: '127.0.0.1',
    port: 0,
    domain: 'b.example',
    findMail: async (address) => (address === 'bounce+1@b.example' ? 'mail 1' : undefined),
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
async function talk(port: number, lines: string[]) {
  const socket = connect(port, '127.0.0.1')
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
    assert.deepEqual(received, [['Subject: x\r\n\r\nhello\r\n', 'mail 1']])
  }
})

test('every other recipient is refused: the listener relays nothing and accepts no credentials', async (t) => {
  const { port, received } = await startListener(t)
  for (const address of [
    'bounce+2@b.example',
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

test('large messages are truncated or refused, and too many are deferred', async (t) => {
  const limits = { messageBytes: 5_000, keptBytes: 100, recipientsPerSecond: 0, recipientBurst: 2 }
  const { port, received } = await startListener(t, { limits })
  const message = (size: number) =>
    `Subject: x\r\n\r\n${`${'a'.repeat(98)}\r\n`.repeat(size / 100)}`
  const to = 'bounce+1@b.example'
  assert.equal(await talk(port, mailTo(to, message(4_000))), '220 250 250 250 354 250')
  assert.equal(received[0]![0].length, 100)
  assert.equal(await talk(port, mailTo(to, message(9_000))), '220 250 250 250 354 552')
  assert.equal(await talk(port, mailTo(to).slice(0, 3)), '220 250 250 451')
})

test('connections are limited in number', async (t) => {
  const { port } = await startListener(t, { limits: { connections: 1, sessionMs: 600_000 } })
  const first = connect(port, '127.0.0.1')
  await once(first, 'data')
  assert.equal(await talk(port, []), '421')
  first.destroy()
  await until(async () => (await talk(port, ['EHLO me.example'])) === '220 250')
})

test('connections are limited in time', async (t) => {
  const { port } = await startListener(t, { limits: { connections: 1, sessionMs: 50 } })
  const idle = connect(port, '127.0.0.1')
    .on('error', () => {})
    .resume()
  await once(idle, 'close')
})
