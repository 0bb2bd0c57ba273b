import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMailReport } from '../../src/email/bounce.ts'
import { readReport } from '../../src/email/mail-reports.ts'
import { assertNeverBlocks } from '../support/event-loop.ts'

const readBounces = async (raw: string) => (await readMailReport(raw)).bounces

const report = (status: string, changes: { encoding?: string; original?: string } = {}) =>
  [
    'From: MAILER-DAEMON@mx.example',
    'Content-Type: multipart/report; report-type=delivery-status;',
    ' boundary="=_b"',
    '',
    '--=_b',
    'Content-Type: text/plain',
    '',
    'Sorry. Status: 5.9.9',
    '--=_b',
    'Content-Type: message/delivery-status',
    ...(changes.encoding ? [`Content-Transfer-Encoding: ${changes.encoding}`] : []),
    '',
    changes.encoding === 'base64' ? Buffer.from(status).toString('base64') : status,
    '--=_b',
    `Content-Type: ${changes.original ?? 'message/rfc822'}`,
    '',
    'From: hello@harbour.example',
    'Message-ID: <42.1@mail.harbour.example>',
    'Subject: Your appointment',
    '',
    'See you.',
    '--=_b--',
    '',
  ].join('\r\n')

const failed =
  'Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; ada@example.org\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1\r\n no such user'

const bounce = {
  recipient: 'ada@example.org',
  permanent: true,
  isNoSuchMailbox: true,
  isSoft: false,
  status: '5.1.1',
  words: '550 5.1.1 no such user',
}

test('a bounce contains the mail, the recipient and the reply of the server', async () => {
  const { bounces, messageId } = await readMailReport(report(failed))
  assert.deepEqual(bounces, [bounce])
  assert.equal(messageId, '<42.1@mail.harbour.example>')
})

test('bounces in other formats are read too', async () => {
  assert.deepEqual(await readBounces(report(failed, { encoding: 'base64' })), [bounce])
  assert.deepEqual(await readBounces(report(failed, { encoding: 'quoted-printable' })), [bounce])
  assert.deepEqual(await readBounces(report(failed, { original: 'text/rfc822-headers' })), [bounce])
  assert.deepEqual(await readBounces(report(failed).replaceAll('\r\n', '\n')), [bounce])
})

test('each recipient of a bounce report is returned separately', async () => {
  const two = `${failed}\r\n\r\nOriginal-Recipient: rfc822;<bob@example.org>\r\nFinal-Recipient: rfc822; other@example.org\r\nAction: delayed\r\nStatus: 4.4.1`
  assert.deepEqual(
    (await readBounces(report(two))).map(({ recipient, permanent }) => [recipient, permanent]),
    [
      ['ada@example.org', true],
      ['bob@example.org', false],
    ],
  )
})

const deliveryStatus = (status: string, words = '') =>
  `Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; ada@example.org\r\nAction: failed\r\nStatus: ${status}\r\nDiagnostic-Code: smtp; ${words}`

const MAILBOXES: [string, string, boolean][] = [
  ['5.1.1', '550 5.1.1 no such user', true],
  ['5.1.2', '', true],
  ['5.1.10', '556 5.1.10 null MX', true],
  ['5.0.0', '550 5.1.1 no such user', true],
  ['', '550-5.1.1 no such user', true],
  ['5.7.1', '550 5.7.1 on a block list', false],
  ['5.0.0', '550 5.7.1 on a block list', false],
  ['5.1.7', '550 5.1.7 bad sender', false],
  ['5.1.8', '', false],
  ['5.2.2', '552 5.2.2 mailbox full', false],
  ['5.0.0', '550 refused', false],
  ['', '', false],
]

for (const [status, words, isNoSuchMailbox] of MAILBOXES) {
  test(`status "${status}" with "${words}" ${isNoSuchMailbox ? 'means' : 'does not mean'} that the mailbox does not exist`, async () => {
    const [read] = await readBounces(report(deliveryStatus(status, words)))
    assert.deepEqual([read?.permanent, read?.isNoSuchMailbox], [true, isNoSuchMailbox])
  })
}

test('a NUL in a bounce report is removed, however it is encoded', async () => {
  const withNul = failed.replace('no such user', 'no\0 such user')
  for (const encoding of ['7bit', 'base64']) {
    assert.deepEqual(await readBounces(report(withNul, { encoding })), [bounce], encoding)
  }
  const quoted = failed.replace('no such user', 'no=00 such user')
  assert.deepEqual(await readBounces(report(quoted, { encoding: 'quoted-printable' })), [bounce])
})

const harmless = [
  '',
  'Subject: hello\r\n\r\nStatus: 5.1.1',
  'Content-Type: multipart/report; report-type=delivery-status\r\n\r\nno boundary',
  'Content-Type: multipart/report; boundary=x\r\n\r\n--x\r\nContent-Type: message/delivery-status\r\n\r\nx: y\r\n\r\nFinal-Recipient: rfc822; a@b.example, c@d.example\r\nAction: failed',
  `Content-Type: multipart/mixed; boundary="=_b"\r\n\r\n${failed}`,
  '\r\n'.repeat(1000),
]

for (const [i, raw] of harmless.entries())
  test(`a mail that is not a bounce report is ignored: ${i}`, async () => {
    assert.deepEqual(await readBounces(raw), [])
  })

test('a bounce report of OpenSMTPD is read, which has the reply in its human-readable part', async () => {
  const raw = [
    'Subject: Delivery status notification: failed',
    'From: Mailer Daemon <MAILER-DAEMON@vm>',
    'To: bounce+1-1-aaaaaaaaaaaaaaaaaaaa@bounces.example',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed;boundary="13916245215939956452/vm"',
    '',
    'This is a MIME-encapsulated message.',
    '',
    '--13916245215939956452/vm',
    'Content-Description: Notification',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    '    An error has occurred while attempting to deliver a message for',
    '    the following list of recipients:',
    '',
    'ada@example.org: 550 5.1.1 no such user',
    '',
    '--13916245215939956452/vm',
    'Content-Description: Delivery Report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; vm',
    '',
    'Final-Recipient: rfc822; ada@example.org',
    'Action: failed',
    'Status: 5.0.0',
    '',
    '--13916245215939956452/vm',
    'Content-Description: Message headers',
    'Content-Type: text/rfc822-headers',
    '',
    'From: hello@harbour.example',
    'Message-ID: <42.1@mail.harbour.example>',
    '',
    '--13916245215939956452/vm--',
    '',
  ].join('\r\n')
  const { bounces, envelopeSenders } = await readMailReport(raw)
  assert.deepEqual(bounces, [bounce])
  assert.deepEqual(envelopeSenders, ['bounce+1-1-aaaaaaaaaaaaaaaaaaaa@bounces.example'])
})

/** The text of a bounce, and the reason that is read from it. */
const TEXT_BOUNCES: [string, string[], string][] = [
  [
    'qmail',
    [
      'Hi. This is the qmail-send program at mx.example.',
      "I'm afraid I wasn't able to deliver your message to the following addresses.",
      "This is a permanent error; I've given up. Sorry it didn't work out.",
      '',
      '<ada@example.org>:',
      'Sorry, no mailbox here by that name. (#5.1.1)',
      '',
      '--- Below this line is a copy of the message.',
    ],
    'Sorry, no mailbox here by that name. (#5.1.1)',
  ],
  [
    'Exim',
    [
      'This message was created automatically by mail delivery software.',
      '',
      'A message that you sent could not be delivered to one or more of its',
      'recipients. This is a permanent error. The following address(es) failed:',
      '',
      '  ada@example.org',
      '    host mx.example [192.5.1.1]: 550 5.1.1 no such user',
      '',
      '------ This is a copy of the message, including all the headers. ------',
    ],
    'host mx.example [192.5.1.1]: 550 5.1.1 no such user',
  ],
  [
    'Sendmail',
    [
      '   ----- The following addresses had permanent fatal errors -----',
      '<ada@example.org>',
      '    (reason: 550 5.1.1 no such user)',
      '',
      '   ----- Original message follows -----',
    ],
    '(reason: 550 5.1.1 no such user)',
  ],
]

const textBounce = (lines: string[], from = 'MAILER-DAEMON@mx.example') =>
  [
    `From: ${from}`,
    'To: bounce+1-1-aaaaaaaaaaaaaaaaaaaa@bounces.example',
    'Subject: failure notice',
    '',
    ...lines,
    '',
    'Return-Path: <bounce+2@bounces.example>',
    'Message-ID: <42.1@mail.harbour.example>',
    '',
    'carol@example.org',
  ].join('\r\n')

for (const [server, lines, words] of TEXT_BOUNCES) {
  test(`a bounce that is plain text is read: ${server}`, async () => {
    assert.deepEqual(await readMailReport(textBounce(lines)), {
      bounces: [{ ...bounce, words }],
      complaint: undefined,
      complainant: undefined,
      messageId: '<42.1@mail.harbour.example>',
      envelopeSenders: [
        'bounce+1-1-aaaaaaaaaaaaaaaaaaaa@bounces.example',
        'bounce+2@bounces.example',
      ],
    })
  })
}

test('a plain text that is a delay, or from a person, is not a bounce', async () => {
  const [, lines] = TEXT_BOUNCES[0]!
  assert.deepEqual(await readBounces(textBounce(lines, 'ada@example.org')), [])
  const delay = lines.filter((line) => !line.includes('permanent error'))
  assert.deepEqual(await readBounces(textBounce(delay)), [])
})

const SOFT: [string, boolean][] = [
  ['5.2.2', true],
  ['5.2.1', true],
  ['4.4.7', true],
  ['4.2.2', true],
  ['5.4.4', true],
  ['5.1.1', false],
  ['5.2.3', false],
  ['5.7.1', false],
  ['4.7.1', false],
  ['5.0.0', false],
  ['', false],
]

for (const [status, isSoft] of SOFT) {
  test(`status "${status}" ${isSoft ? 'is' : 'is not'} a soft bounce`, async () => {
    const [read] = await readBounces(report(deliveryStatus(status)))
    assert.deepEqual([read?.permanent, read?.isSoft], [true, isSoft])
    const [delayed] = await readBounces(report(deliveryStatus(status).replace('failed', 'delayed')))
    assert.equal(delayed?.isSoft, false)
  })
}

const feedback = (type: string, fields: string[] = []) =>
  [
    'To: feedback@bounces.example',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: SomeGenerator/1.0',
    'Version: 1',
    ...fields,
    '',
    '--b',
    'Content-Type: message/rfc822',
    'Content-Disposition: inline',
    '',
    'Return-Path: <bounce+2@bounces.example>',
    'Message-ID: <42.1@mail.harbour.example>',
    'Subject: Earn money',
    '',
    'Spam spam spam',
    '--b--',
    '',
  ].join('\r\n')

test('a complaint names the mail and the envelope sender', async () => {
  const fields = [
    'Original-Mail-From: <bounce+1@bounces.example>',
    'Original-Rcpt-To: <ada@example.org>',
    'Arrival-Date: Thu, 8 Mar 2005 14:00:00 EDT',
  ]
  assert.deepEqual(await readMailReport(feedback('abuse', fields)), {
    bounces: [],
    complaint: 'abuse',
    complainant: 'ada@example.org',
    messageId: '<42.1@mail.harbour.example>',
    envelopeSenders: [
      'feedback@bounces.example',
      'bounce+1@bounces.example',
      'bounce+2@bounces.example',
    ],
  })
  assert.equal((await readMailReport(feedback('opt-out'))).complaint, 'opt-out')
})

for (const type of ['not-spam', 'auth-failure', 'fraud', 'virus', 'other', '']) {
  test(`feedback of type "${type}" is not a complaint of the recipient`, async () => {
    assert.equal((await readMailReport(feedback(type))).complaint, undefined)
  })
}

test('a report of a hundred thousand lines blocks nobody, and the report before them is read', async (t) => {
  const hostile = report(failed).replace('See you.', '\r\n'.repeat(60_000))
  const { bounces } = await assertNeverBlocks(t, 'a bounce of empty lines', () =>
    readReport({ businessId: 1 }, hostile),
  )
  assert.deepEqual(bounces, [bounce])
})

test('reports of other businesses are read between those of a business that sends many', async () => {
  const hostile = report(failed).replace('See you.', '\r\n'.repeat(60_000))
  const order: string[] = []
  const many = Array.from({ length: 4 }, () =>
    readReport({ businessId: 1 }, hostile).then(() => order.push('many')),
  )
  const one = readReport({ businessId: 2 }, report(failed)).then(() => order.push('one'))
  await Promise.all([...many, one])
  assert.ok(order.indexOf('one') <= 2, order.join())
})
