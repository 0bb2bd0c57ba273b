import assert from 'node:assert/strict'
import { test } from 'node:test'
import { previewAddress } from '../../console/api/automation.ts'
import { toCsv } from '../../console/messages/csv.ts'
import { meaningOf, resultOf } from '../../console/messages/meaning.ts'
import { enPages as en } from '../../console/texts/en-pages.ts'

const MEANINGS: [reply: string, meaning: string, result: string][] = [
  ['250 2.0.0 Ok: queued as 4FD34980', 'accepted', 'accepted'],
  ['450 4.2.0 <a@b.example>: Recipient address rejected: Greylisted', 'greylisted', 'later'],
  ['450 4.1.1 try again', 'unknownMailbox', 'later'],
  ['450 try again later', 'greylisted', 'later'],
  ['550 5.1.1 <a@b.example>: User unknown', 'unknownMailbox', 'refused'],
  [
    '550 5.1.2 <a@b.example>: Recipient address rejected: Domain not found',
    'unknownDomain',
    'refused',
  ],
  ['550-5.1.1 The email account does not exist', 'unknownMailbox', 'refused'],
  ['550 no such user here', 'unknownMailbox', 'refused'],
  ['552 5.2.2 <a@b.example>: Mailbox full, over quota', 'mailboxFull', 'refused'],
  ['452 4.2.2 The mailbox is full', 'mailboxFull', 'later'],
  ['550 5.2.1 Mailbox disabled', 'mailboxDisabled', 'refused'],
  ['552 5.3.4 Message size exceeds fixed limit', 'tooLarge', 'refused'],
  [
    '550 5.7.26 Unauthenticated email is not accepted due to DMARC policy',
    'notAuthenticated',
    'refused',
  ],
  ['554 5.7.1 <a@b.example>: Relay access denied', 'relayDenied', 'refused'],
  ['554 5.7.1 Service unavailable; Client host blocked', 'spam', 'refused'],
  ['535 5.7.8 Authentication credentials invalid', 'loginRefused', 'refused'],
  ['421 4.7.28 Our system has detected an unusual rate; too many', 'tooMany', 'later'],
  ['451 4.3.0 Temporary lookup failure', 'serverBusy', 'later'],
  ['connect ECONNREFUSED 127.0.0.1:25', 'noConnection', 'later'],
  ['the connection timed out', 'noAnswer', 'later'],
  ['not one plain address', 'badAddress', 'refused'],
  ['554 Transaction failed', 'refused', 'refused'],
  ['something nobody has said before', 'later', 'later'],
]

test('the answer of a mail server has a meaning and a next step in plain words', () => {
  for (const [reply, meaning, result] of MEANINGS) {
    const attempt = { phase: 'rcpt', reply }
    assert.equal(meaningOf(attempt), meaning, reply)
    assert.equal(resultOf(attempt), result, reply)
    assert.ok(en.attempt.meanings[meaningOf(attempt)].length > 20, meaning)
  }
})

test('a captured mail was not sent, and a lost answer after the message is unclear', () => {
  assert.equal(meaningOf({ phase: 'captured', reply: 'kept here, not sent' }), 'captured')
  assert.equal(resultOf({ phase: 'end', reply: 'captured: no mail server is set' }), 'captured')
  assert.equal(resultOf({ phase: 'end', reply: 'the connection was closed' }), 'unclear')
})

test('a CSV file quotes special characters, and no cell is a formula', () => {
  const rows = [
    ['Time', 'Client'],
    ['2026-11-17 10:00', 'O’Brien, "Al"'],
    [7, '=HYPERLINK("http://evil.example")'],
    [null, '@SUM(A1)\nnext'],
  ]
  assert.equal(
    toCsv(rows),
    '\uFEFFTime,Client\r\n' +
      '2026-11-17 10:00,"O’Brien, ""Al"""\r\n' +
      '7,"\'=HYPERLINK(""http://evil.example"")"\r\n' +
      ',"\'@SUM(A1)\nnext"\r\n',
  )
})

test('a preview is the version that the client gets, unless staff or the business get the mail', () => {
  const versionFor = (recipient?: 'client' | 'staff' | 'business' | 'template' | null) => {
    const address = previewAddress(3, { objectType: 'CALENDAR', objectId: 7 }, recipient)
    return new URLSearchParams(address.split('?')[1]).get('version')
  }
  for (const recipient of ['client', 'template', null, undefined] as const)
    assert.equal(versionFor(recipient), 'sent')
  for (const recipient of ['staff', 'business'] as const)
    assert.equal(versionFor(recipient), 'this')
})
