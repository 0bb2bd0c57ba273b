import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createTransport } from 'nodemailer'
import { receiveReport } from '../../src/automation/bounces.ts'
import { bounceAddressesOf, receiveBounces } from '../../src/cli/receive-bounces.ts'
import { readConfig } from '../../src/config.ts'
import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { SmtpMailer } from '../../src/email/smtp.ts'
import { openLog } from '../../src/log.ts'
import { startMailServer } from '../support/mail-server.ts'
import { reminder, shareWorld, startEngine } from '../support/world.ts'

const ENV = { MAIL_FROM: 'Operator <mail@operator.example>', BOUNCE_DOMAIN: 'bounces.example' }

const enterWorld = shareWorld(ENV)

/** A world that has sent one mail to Anna, with a listener for its bounces. */
async function startWithBounces(t: TestContext, refuses: Record<string, string> = {}) {
  const world = await enterWorld(t)
  const { businessId, clock, save, call, database } = world
  const server = await startMailServer(t, { refuses })
  const { host, port } = server
  const mailer = new SmtpMailer({
    host,
    port,
    secure: false,
    requireTls: false,
    user: null,
    password: null,
  })
  t.after(() => mailer.close())
  const config = {
    ...readConfig(ENV),
    bounceListen: { protocol: 'lmtp' as const, host: '127.0.0.1', port: 0 },
  }
  const { runEngine } = startEngine(world, {
    mailer,
    captures: false,
    mailFrom: config.mailFrom,
    ...bounceAddressesOf(config, 'test'),
  })
  const log = openLog('silent')
  const listener = (await receiveBounces({ config, database, clock, log, linkSeal: 'test' }))!
  t.after(listener.close)

  const { emailTemplateId } = await save('/emailTemplate', {
    templateName: 'Reminder',
    subject: 'See you',
    emailBody: '<p>Tomorrow</p>',
  })
  const action = { actionType: 'SEND_EMAIL', active: true, businessId, emailTemplateId }
  await save('/eventDefinition', reminder(businessId, -24, { eventActions: [action] }))
  await world.book(clock.in({ hours: 48 }))
  clock.advance({ hours: 24 })
  await runEngine()
  const [first] = (await call('GET', '/emails')).body.items

  /** Sends the mail again; returns the new one and its envelope sender. */
  const sendAgain = async () => {
    const { status, body } = await call('POST', `/emails/${first.emailId}/resend`)
    assert.equal(status, 201, JSON.stringify(body))
    await runEngine()
    return { emailId: body.emailId as number, envelope: server.taken.at(-1)!.from }
  }
  /** Delivers a message to the listener over LMTP; returns the reply code. */
  const deliverBounce = async (to: string, raw: string, localAddress = '127.0.0.1') => {
    const { port } = listener
    const route = { host: '127.0.0.1', port, localAddress, lmtp: true, ignoreTLS: true }
    const lmtp = createTransport(route)
    try {
      const { rejectedErrors } = await lmtp.sendMail({ envelope: { from: '', to }, raw })
      return rejectedErrors?.[0]?.responseCode ?? 250
    } catch (error) {
      return (error as { responseCode: number }).responseCode
    }
  }
  const suppressions = async () =>
    (await call('GET', '/suppression')).body.items.map(
      (one: { emailAddress: string; reason: string }) => `${one.emailAddress} ${one.reason}`,
    )
  const reasonOf = async (emailId: number) =>
    (await call('GET', `/emails/${emailId}`)).body.statusReason
  const envelope = server.taken.at(-1)?.from ?? ''
  return {
    ...world,
    server,
    port: listener.port,
    first,
    envelope,
    sendAgain,
    deliverBounce,
    suppressions,
    reasonOf,
    runEngine,
  }
}

/** Sends lines without waiting for replies; returns how many of them were answered. */
async function flood(port: number, line: string, localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
  await once(socket, 'data')
  let replies = 0
  socket.on('data', (text) => (replies += text.toString().match(/^[23]\d\d /gm)?.length ?? 0))
  socket.write(`LHLO me.example\r\n${`${line}\r\n`.repeat(3_000)}QUIT\r\n`)
  await once(socket, 'close')
  return replies
}

test('a flood of commands ends after 2,000 of them, and other mail servers deliver meanwhile', async (t) => {
  const { clock, port, envelope, deliverBounce } = await startWithBounces(t)
  for (const line of ['NOOP', 'RSET', 'LHLO x', 'MAIL FROM:<>\r\nRSET']) {
    clock.advance({ seconds: 2 })
    const replies = await Promise.all([1, 2, 3, 4].map(() => flood(port, line)))
    const answered = replies.reduce((sum, one) => sum + one)
    assert.ok(answered > 0 && answered <= 2_000, `${line}: ${answered} replies`)
    const bounce = notification('4.2.2', 'mailbox full')
    assert.equal(await deliverBounce(envelope, bounce), 421)
    assert.equal(await deliverBounce(envelope, bounce, '127.0.0.2'), 250)
  }
})

test('if two networks use up the commands of all, others still deliver some messages', async (t) => {
  const { port, envelope, deliverBounce } = await startWithBounces(t)
  const floods = ['127.0.0.1', '127.0.0.2'].flatMap((from) => [
    flood(port, 'NOOP', from),
    flood(port, 'NOOP', from),
  ])
  await Promise.all(floods)
  const bounce = notification('4.2.2', 'mailbox full')
  for (let i = 0; i < 10; i += 1)
    assert.equal(await deliverBounce(envelope, bounce, '127.0.0.3'), 250)
})

test('complaints of other mail servers are read between those of one that sends many', async (t) => {
  const { database, clock } = await enterWorld(t)
  const parts = {
    database,
    seal: { domain: 'bounces.example', secret: 'test' },
    now: () => clock.now(),
  }
  const order: string[] = []
  const receive = async (raw: string, peer: string) => {
    await receiveReport(parts, { raw, named: undefined, peer })
    order.push(peer)
  }
  const long = complaint('').replace(/$/, '\r\n'.repeat(60_000))
  const many = Array.from({ length: 4 }, () => receive(long, 'many'))
  await Promise.all([...many, receive(complaint(''), 'one')])
  assert.ok(order.indexOf('one') <= 2, order.join())
})

const notification = (status: string, words: string, recipient = 'anna@example.org') =>
  [
    'From: MAILER-DAEMON@mx.example',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${words}`,
    '',
    '--b--',
    '',
  ].join('\r\n')

/** A complaint as providers send it: without the recipient. */
const complaint = (headers: string, fields = '', type = 'abuse') =>
  [
    'From: feedback@provider.example',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is an abuse report.',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: Provider/1.0',
    'Version: 1',
    ...(fields ? [fields] : []),
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    headers,
    '',
    '--b--',
    '',
  ].join('\r\n')

test('a bounce finds its mail by the envelope sender, also if the mail is not quoted', async (t) => {
  const { first, envelope, deliverBounce, suppressions, reasonOf } = await startWithBounces(t)
  assert.match(envelope, /^bounce\+[0-9a-z]+-[0-9a-z]+-[0-9a-f]{20}@bounces\.example$/)
  const gone = notification('5.1.1', '550 5.1.1 no such user', 'Anna@Example.org')

  const forged = envelope.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'))
  assert.equal(await deliverBounce(forged, gone), 550)
  assert.equal(await deliverBounce('anna@example.org', gone), 550)
  assert.equal(await deliverBounce(envelope, 'Subject: I am on holiday\r\n\r\nBack soon'), 250)
  assert.equal(await deliverBounce(envelope, gone.replace('failed', 'delayed')), 250)
  assert.deepEqual(await suppressions(), [])
  assert.equal(await reasonOf(first.emailId), null)

  assert.equal(await deliverBounce(envelope.toUpperCase(), gone), 250)
  assert.deepEqual(await suppressions(), ['anna@example.org BOUNCED'])
  assert.equal(await reasonOf(first.emailId), 'bounced: 5.1.1 550 5.1.1 no such user')
})

test('a bounce of the address to which a mail was forwarded counts as a soft bounce', async (t) => {
  const { first, envelope, deliverBounce, sendAgain, suppressions, reasonOf } =
    await startWithBounces(t)
  const gone = notification('5.1.1', '550 5.1.1 no such user', 'anna@old.example')
  const original = 'Original-Recipient: rfc822; anna@example.org\r\nFinal-Recipient'
  assert.equal(await deliverBounce(envelope, gone), 250)
  assert.equal(await deliverBounce(envelope, gone.replace('Final-Recipient', original)), 250)
  assert.deepEqual(await suppressions(), [], 'the original mailbox may have kept a copy')
  assert.equal(await reasonOf(first.emailId), 'bounced: 5.1.1 550 5.1.1 no such user')
  for (let count = 2; count <= 5; count += 1) {
    assert.deepEqual(await suppressions(), [])
    await deliverBounce((await sendAgain()).envelope, gone.replace('Final-Recipient', original))
  }
  assert.deepEqual(await suppressions(), ['anna@example.org BOUNCED'])
})

test('five soft bounces within 30 days suppress an address, and each mail counts once', async (t) => {
  const world = await startWithBounces(t)
  const { call, clock, envelope, deliverBounce, sendAgain, suppressions } = world
  const full = notification('5.2.2', '552 5.2.2 mailbox full')
  assert.equal(await deliverBounce(envelope, full), 250)
  clock.advance({ hours: 31 * 24 })
  for (let sent = 0; sent < 4; sent += 1) {
    const again = await sendAgain()
    assert.equal(await deliverBounce(again.envelope, full), 250)
    assert.equal(await deliverBounce(again.envelope, full), 250)
    const policy = await sendAgain()
    await deliverBounce(policy.envelope, notification('5.7.1', '550 5.7.1 on a block list'))
  }
  assert.deepEqual(await suppressions(), [], 'four within 30 days')
  const expired = notification('4.4.7', '450 4.4.7 delivery time expired')
  assert.equal(await deliverBounce((await sendAgain()).envelope, expired), 250)
  assert.deepEqual(await suppressions(), ['anna@example.org BOUNCED'])

  assert.equal((await call('DELETE', '/suppression/anna@example.org')).status, 200)
  const envelopes: string[] = []
  for (let sent = 0; sent < 5; sent += 1) envelopes.push((await sendAgain()).envelope)
  assert.equal(await deliverBounce(envelopes.pop()!, full), 250)
  assert.deepEqual(await suppressions(), [], 'the count starts again')
  await Promise.all(envelopes.map((one) => deliverBounce(one, full)))
  assert.deepEqual(await suppressions(), ['anna@example.org BOUNCED'], 'concurrent bounces count')
})

test('a mailbox that is full when the mail is sent counts as a soft bounce', async (t) => {
  const refuses = { 'anna@example.org': '552 5.2.2 mailbox full' }
  const { call, first, runEngine, suppressions } = await startWithBounces(t, refuses)
  assert.equal(first.status, 'FAILED')
  for (let sent = 0; sent < 4; sent += 1) {
    assert.deepEqual(await suppressions(), [])
    await call('POST', `/emails/${first.emailId}/resend`)
    await runEngine()
  }
  assert.deepEqual(await suppressions(), ['anna@example.org BOUNCED'])
})

test('a complaint suppresses the address for all mail if it names a mail that the service sent', async (t) => {
  const world = await startWithBounces(t)
  const { call, envelope, first, deliverBounce, reasonOf, suppressions } = world
  const feedback = 'feedback@bounces.example'
  const named = `Message-ID: ${first.messageId}`
  const guessed = `Message-ID: ${first.messageId.replace(/[0-9a-f]{24}/, '0'.repeat(24))}`
  assert.equal(await deliverBounce(feedback, complaint(guessed)), 250)
  assert.equal(await deliverBounce(feedback, complaint(named, '', 'auth-failure')), 250)
  assert.equal(await deliverBounce(feedback, complaint(named, '', 'not-spam')), 250)
  const forwarded = complaint(named, 'Original-Rcpt-To: <olga@praxis.example>')
  assert.equal(await deliverBounce(feedback, forwarded), 250)
  assert.deepEqual(await suppressions(), [], 'it was forwarded to somebody else')

  assert.equal(await deliverBounce(feedback, complaint(named)), 250)
  assert.deepEqual(await suppressions(), ['anna@example.org COMPLAINED'])
  assert.equal(await reasonOf(first.emailId), 'the recipient reported a mail as spam (abuse)')
  const resent = await call('POST', `/emails/${first.emailId}/resend`)
  assert.equal(resent.status, 409)
  assert.match(resent.body.detail, /reported an earlier mail as spam/)

  await call('DELETE', '/suppression/anna@example.org')
  const byEnvelope = complaint('Subject: x', `Original-Mail-From: <${envelope}>`)
  assert.equal(await deliverBounce(feedback, byEnvelope), 250)
  assert.deepEqual(await suppressions(), ['anna@example.org COMPLAINED'])

  await call('DELETE', '/suppression/anna@example.org')
  const posted = await call('POST', '/emails/bounce', { message: complaint(named) })
  assert.deepEqual(posted.body, { suppressed: ['anna@example.org'] })
  await call('DELETE', '/suppression/anna@example.org')
  const gone = notification('5.1.1', '550 gone')
  const message = `Delivered-To: ${envelope}\r\n${gone}`
  const bounced = await call('POST', '/emails/bounce', { message })
  assert.deepEqual(bounced.body, { suppressed: ['anna@example.org'] })
})

test('a bounce that arrives before its mail is recorded as sent is accepted at a later attempt', async (t) => {
  const { db, first, envelope, deliverBounce, suppressions } = await startWithBounces(t)
  const gone = notification('5.1.1', '550 5.1.1 no such user')
  await markAsPending(db, first.emailId, true)
  assert.equal(await deliverBounce(envelope, gone), 451)
  assert.deepEqual(await suppressions(), [])
  await markAsPending(db, first.emailId, false)
  assert.equal(await deliverBounce(envelope, gone), 250)
  assert.deepEqual(await suppressions(), ['anna@example.org BOUNCED'])
})

/** Makes the mail look as if its worker had not recorded the server's reply yet. */
const markAsPending = (db: Db, emailId: number, isPending: boolean) =>
  db.query(sql`
    update email set status = ${isPending ? 'QUEUED' : 'SENT'},
      next_attempt_time = ${isPending ? Temporal.Instant.fromEpochMilliseconds(0) : null}::timestamptz
    where email_id = ${emailId}`)
