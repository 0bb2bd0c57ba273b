import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime, { type Email } from 'postal-mime'
import type { MailContext } from '../../src/contract/mail-context.ts'
import { compileTemplate, mergeMail, type MergedMail } from '../../src/email/merge.ts'
import { buildMessage, makeMessageId, messageText } from '../../src/email/message.ts'
import { listTokens } from '../../src/email/tokens.ts'
import { fullContext, plainTemplate } from '../support/mail-context.ts'

/** Text that tries to escape from its header, part or address. */
const attacks = [
  'x\r\nBcc: v@evil.example',
  'x\nBcc: v@evil.example\n\nbody',
  'x\rBcc: v@evil.example',
  'x\r\n\r\n<script>alert(1)</script>',
  'x\u2028Bcc: v@evil.example\u2029To: v@evil.example',
  'x\u0085Bcc: v@evil.example\vCc: v@evil.example\f',
  'x\0\r\0\nBcc: v@evil.example',
  '"x" <v@evil.example>, y',
  'x <v@evil.example>',
  'x, v@evil.example;',
  'x>\r\nRCPT TO:<v@evil.example>',
  '=?utf-8?Q?x=0D=0ABcc:_v@evil.example?=',
  '=?utf-8?B?DQpCY2M6IHZAZXZpbC5leGFtcGxl?=',
  'x\r\n.\r\nMAIL FROM:<v@evil.example>',
  '--=_bw_00000000000000000000000000000000\r\nContent-Type: text/html\r\n\r\n<b>x</b>',
  'x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGI+',
  '\\" <v@evil.example>\\',
  '(comment) v@evil.example',
  'undisclosed: v@evil.example;',
  '%CLIENT_EMAILADDRESS%\r\nBcc: %BUSINESS_EMAIL%',
]

/** A context with the attack as every text, except time zones and languages. */
function contextOf(attack: string): MailContext {
  const replace = (value: unknown, key = ''): unknown => {
    if (value instanceof Temporal.Instant || key === 'timeZone' || key === 'language') return value
    if (typeof value === 'string') return attack
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, replace(part, name)]),
    )
  }
  return replace(fullContext()) as MailContext
}

const read = (mail: MergedMail) =>
  PostalMime.parse(
    messageText(
      buildMessage({
        messageId: makeMessageId(1, 7, 'mail.harbour.example'),
        date: Temporal.Instant.from('2026-11-03T09:05:07Z'),
        from: mail.from ?? { name: mail.fromName, address: 'no-reply@harbour.example' },
        to: mail.to ?? { name: 'Ada', address: 'ada@example.org' },
        cc: mail.cc,
        replyTo: mail.replyTo,
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        calendar: null,
        unsubscribeLink: null,
      }),
    ),
  )

const HEADERS = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
]

function assertIntact(mail: Email, why: string) {
  assert.deepEqual(mail.headers.map(({ key }) => key).toSorted(), HEADERS, why)
  assert.equal(mail.from?.address, 'no-reply@harbour.example', why)
  assert.deepEqual(
    mail.to?.map(({ address }) => address),
    ['ada@example.org'],
    why,
  )
  assert.equal(mail.cc, undefined, why)
  assert.equal(mail.bcc, undefined, why)
  assert.deepEqual(mail.attachments, [], why)
  assert.match(mail.html ?? '', /^<!doctype html>[^]*<\/html>\s*$/, why)
  assert.match(mail.text ?? '', /^begin [^]* end\s*$/, why)
}

test('no value of any token escapes from its header or body part', async () => {
  const names = listTokens().flatMap(({ tokens }) => tokens.map(({ token }) => token))
  assert.ok(names.length * attacks.length >= 1000)
  for (const token of names) {
    const template = compileTemplate(
      plainTemplate({
        subject: `About ${token}`,
        html: `<p>${token}</p><a href="${token}" title="${token}">x</a>`,
        text: `begin ${token} end`,
        fromName: token,
        toName: token,
        toAddress: 'ada@example.org',
      }),
    )
    for (const attack of attacks) {
      const mail = mergeMail(template, contextOf(attack), 'template')
      assertIntact(await read(mail), `${token} ${JSON.stringify(attack)}`)
    }
  }
})

test('no value of any token in an address field becomes a recipient', () => {
  const fields = ['fromAddress', 'toAddress', 'ccAddress', 'bccAddress', 'replyToAddress'] as const
  const names = listTokens().flatMap(({ tokens }) => tokens.map(({ token }) => token))
  for (const field of fields)
    for (const token of names)
      for (const attack of attacks) {
        const mail = mergeMail(
          compileTemplate(plainTemplate({ [field]: token })),
          contextOf(attack),
          'template',
        )
        for (const mailbox of [mail.from, mail.to, mail.cc, mail.bcc, mail.replyTo])
          assert.equal(mailbox, null, `${field} ${token} ${JSON.stringify(attack)}`)
      }
})

test('an address with an attack appended is refused', () => {
  for (const attack of attacks)
    for (const emailAddress of [`ada@example.org${attack}`, `${attack}ada@example.org`]) {
      const client = { ...fullContext().client, emailAddress } as MailContext['client']
      const mail = mergeMail(compileTemplate(plainTemplate()), fullContext({ client }))
      assert.equal(mail.to, null, JSON.stringify(emailAddress))
      assert.deepEqual(mail.badAddresses, [{ field: 'toAddress', text: emailAddress }])
    }
})

test('the display name next to an address never adds a recipient', async () => {
  for (const attack of attacks) {
    const client = {
      ...fullContext().client,
      firstName: attack,
      lastName: '',
    } as MailContext['client']
    const mail = mergeMail(compileTemplate(plainTemplate()), fullContext({ client }))
    const { to } = await read(mail)
    assert.equal(to?.length, 1)
    assert.equal(to?.[0]?.address, 'ada@example.org')
    assert.equal(to?.[0]?.name, mail.to?.name)
  }
})
