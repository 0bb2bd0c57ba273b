import assert from 'node:assert/strict'
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  verify,
  type KeyObject,
} from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { calendarFile, calendarUid, type CalendarEntry } from '../../src/email/calendar-file.ts'
import { dkimSigner, signMessage } from '../../src/email/dkim.ts'
import {
  buildMessage,
  contentOf,
  messageText,
  readMessage,
  type Message,
  type MessageParts,
} from '../../src/email/message.ts'
import { quotedPrintable } from '../../src/email/quoted-printable.ts'
import { proofSeed } from '../proofs/random.ts'

const parts = (changes: Partial<MessageParts> = {}): MessageParts => ({
  messageId: '<42.1.0123456789abcdef01234567@mail.harbour.example>',
  date: Temporal.Instant.from('2026-11-03T09:05:07Z'),
  from: { name: 'Harbour Clinic', address: 'hello@harbour.example' },
  to: { name: 'Ada Okafor', address: 'ada@example.org' },
  cc: null,
  replyTo: null,
  subject: 'Your appointment',
  text: 'See you.\n',
  html: '<p>See you.</p>\n',
  calendar: null,
  unsubscribeLink: null,
  ...changes,
})

const entry = (changes: Partial<CalendarEntry> = {}): CalendarEntry => ({
  uid: calendarUid(
    {
      objectType: 'CALENDAR',
      objectId: 5,
      businessId: 1,
      createdDate: Temporal.Instant.fromEpochMilliseconds(1_789_000_000_000),
    },
    'mail.harbour.example',
  ),
  sequence: 2,
  cancelled: false,
  startTime: Temporal.Instant.from('2026-11-03T14:30:00Z'),
  endTime: Temporal.Instant.from('2026-11-03T15:15:00Z'),
  summary: 'First consultation',
  description: null,
  location: 'Quayside',
  url: 'https://harbour.example',
  organizer: { name: 'Harbour Clinic', address: 'hello@harbour.example' },
  attendee: { name: 'Ada Okafor', address: 'ada@example.org' },
  changedTime: Temporal.Instant.from('2026-11-01T08:00:00Z'),
  ...changes,
})

const read = (changes: Partial<MessageParts> = {}) =>
  PostalMime.parse(messageText(buildMessage(parts(changes))))

const allLines = (message: Message) => messageText(message).split('\r\n')

test('an independent parser reads a mail as it was written', async () => {
  const mail = await read({
    cc: { name: '', address: 'desk@harbour.example' },
    replyTo: { name: 'Maya, Dr. "M"', address: 'maya@harbour.example' },
    text: 'Hello\nÄrger\n.\nFrom here',
    html: '<p>Hello — 你好</p>',
  })
  assert.deepEqual(mail.from, { name: 'Harbour Clinic', address: 'hello@harbour.example' })
  assert.deepEqual(mail.to, [{ name: 'Ada Okafor', address: 'ada@example.org' }])
  assert.deepEqual(mail.cc, [{ name: '', address: 'desk@harbour.example' }])
  assert.deepEqual(mail.replyTo, [{ name: 'Maya, Dr. "M"', address: 'maya@harbour.example' }])
  assert.equal(mail.subject, 'Your appointment')
  assert.equal(mail.date, '2026-11-03T09:05:07.000Z')
  assert.equal(mail.messageId, parts().messageId)
  assert.equal(mail.text?.trimEnd(), 'Hello\nÄrger\n.\nFrom here')
  assert.equal(mail.html?.trimEnd(), '<p>Hello — 你好</p>')
})

test('the same input gives the same bytes', () => {
  const input = parts({ calendar: calendarFile(entry()), text: '你好 😀' })
  assert.equal(messageText(buildMessage(input)), messageText(buildMessage(input)))
})

test('a stored message is read back unchanged', () => {
  const message = buildMessage(parts({ calendar: calendarFile(entry()) }))
  assert.deepEqual(readMessage(messageText(message)), message)
})

const TEXTS = [
  '',
  'Hello',
  'Hello \n\n.\nFrom here\t\n',
  'a=b, =3D, =_1, --=_1.1mail.harbour.example--\n--=_42',
  'Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\nSGk=\n--=_x',
  `long ${'words and Ärger — '.repeat(200)}`,
  '你好 😀\n'.repeat(100),
]

test('the content of a message is read back unchanged', () => {
  for (const text of TEXTS) {
    for (const html of TEXTS) {
      for (const calendar of [null, calendarFile(entry({ description: html }))]) {
        const message = buildMessage(parts({ text, html, calendar }))
        assert.deepEqual(contentOf(messageText(message)), { text, html })
      }
    }
  }
})

test('no line is too long, has a bare line break or non-ASCII characters', () => {
  const message = buildMessage(
    parts({
      subject: 'x'.repeat(5000),
      to: { name: 'ö'.repeat(300), address: `${'a'.repeat(64)}@${'b'.repeat(60)}.example` },
      text: `a\rb\n\n.\r\n..\r${'long '.repeat(1000)}`,
      html: `<p>${'你'.repeat(5000)}</p>`,
      calendar: calendarFile(entry({ description: 'z'.repeat(3000) })),
      unsubscribeLink: 'https://bellwether.example/unsubscribe/7d1f',
    }),
  )
  const bytes = messageText(message)
  assert.match(bytes, /^[\x20-\x7e\r\n]+$/)
  assert.doesNotMatch(bytes, /\r(?!\n)|(?<!\r)\n/)
  assert.ok(allLines(message).every((line) => line.length <= 200 && !line.startsWith('.')))
})

test('a mail that readers can unsubscribe from has one-click headers', async () => {
  const { headers } = await read({ unsubscribeLink: 'https://bellwether.example/unsubscribe/7d1f' })
  const value = (key: string) => headers.find((header) => header.key === key)?.value
  assert.equal(value('list-unsubscribe'), '<https://bellwether.example/unsubscribe/7d1f>')
  assert.equal(value('list-unsubscribe-post'), 'List-Unsubscribe=One-Click')
  const listed = await read({
    unsubscribeLink: 'https://bellwether.example/unsubscribe/7d1f',
    list: { name: 'Harbour Clinic', id: 'category-3.business-1.mail.harbour.example' },
    feedbackId: 'template-5:business-1:bellwether',
    language: 'de',
  })
  const told = new Map(listed.headers.map((one) => [one.key, one.value]))
  assert.match(told.get('list-id')!, /<category-3\.business-1\.mail\.harbour\.example>$/)
  assert.equal(told.get('feedback-id'), 'template-5:business-1:bellwether')
  assert.equal(told.get('content-language'), 'de')
  const without = await read()
  assert.equal(
    without.headers.find(({ key }) => key.startsWith('list-')),
    undefined,
  )
})

test('the attached calendar file has the same UID if it is published and if it is cancelled', async () => {
  for (const cancelled of [false, true]) {
    const mail = await read({ calendar: calendarFile(entry({ cancelled })) })
    const [file] = mail.attachments
    assert.equal(file?.mimeType, 'text/calendar')
    assert.equal(file?.disposition, 'attachment')
    const text =
      typeof file?.content === 'string'
        ? file.content
        : Buffer.from(file?.content as ArrayBuffer).toString()
    const lines = text.replace(/\r?\n /g, '').split(/\r?\n/)
    assert.ok(lines.includes(cancelled ? 'METHOD:CANCEL' : 'METHOD:PUBLISH'))
    assert.ok(lines.includes(cancelled ? 'STATUS:CANCELLED' : 'STATUS:CONFIRMED'))
    assert.ok(lines.includes('UID:calendar-1-5-mtuseqkg@mail.harbour.example'))
    assert.ok(lines.includes('SEQUENCE:2'))
    assert.ok(lines.includes('URL:https://harbour.example/'))
    assert.ok(lines.includes('TRANSP:OPAQUE'))
    assert.equal(lines.includes('TRIGGER:-PT2H'), !cancelled, 'a reminder two hours before')
    assert.ok(lines.includes('DTSTART:20261103T143000Z'))
    assert.ok(lines.includes('DTEND:20261103T151500Z'))
    const attendees = lines.filter((line) => line.startsWith('ATTENDEE'))
    // RFC 5546: a published entry has no attendee, a cancellation names its attendee.
    assert.equal(attendees.length, cancelled ? 1 : 0)
    if (cancelled) assert.match(attendees[0]!, /ada@example\.org$/)
    assert.equal(lines.filter((line) => line.startsWith('ORGANIZER')).length, 1)
    assert.equal(mail.text?.trim(), 'See you.')
    assert.equal(mail.html?.trim(), '<p>See you.</p>')
  }
})

test('a value in a calendar entry cannot start a new line', () => {
  const attack = 'x\r\nEND:VEVENT\nATTENDEE:mailto:v@evil.example\u2028";CN=y:z\rBEGIN:VALARM'
  const { content } = calendarFile(
    entry({
      cancelled: true,
      summary: attack,
      description: attack,
      location: attack,
      organizer: { name: attack, address: 'hello@harbour.example' },
      attendee: { name: attack, address: 'ada@example.org' },
    }),
  )
  const lines = content.replace(/\r\n /g, '').split(/\r\n|\r|\n/)
  assert.equal(lines.filter((line) => /^(?:ATTENDEE|END:VEVENT|BEGIN:VALARM)/.test(line)).length, 2)
})

test('decoding quoted-printable by RFC 2045 restores the text', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      const encoded = quotedPrintable(text)
      assert.ok(
        encoded.split('\r\n').every((line) => line.length <= 76 && !/[ \t]$|^\.|^From /.test(line)),
      )
      const decoded = encoded
        .replace(/=\r\n/g, '')
        .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        )
      assert.equal(
        Buffer.from(decoded, 'latin1').toString().replaceAll('\r\n', '\n'),
        text.toWellFormed().replace(/\r\n?/g, '\n'),
      )
    }),
    { numRuns: 300, seed: proofSeed(t) },
  )
})

test('a thousand names in any script are decoded unchanged', async (t) => {
  const names = fc.sample(
    fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
      fc.constantFrom(
        'علي بن محمد',
        'דוד לוי',
        '山田 太郎',
        '김철수',
        '👩‍👩‍👧‍👦 Łukasz',
        'O’Brien',
        '=?utf-8?b?eA==?=',
        '"\\',
      ),
    ),
    { numRuns: 1000, seed: proofSeed(t) },
  )
  for (const name of names) {
    const mail = await read({
      to: { name, address: 'ada@example.org' },
      subject: name,
      text: name,
      html: name,
    })
    const line = shown(name)
    assert.equal(mail.subject ?? '', line, JSON.stringify(name))
    assert.deepEqual(mail.to, [{ name: line, address: 'ada@example.org' }], JSON.stringify(name))
  }
})

/** A name as a header may show it: one line without control or direction characters. */
const shown = (name: string) =>
  name
    .toWellFormed()
    .replace(/[\s\u0085]+/g, ' ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\ufeff]/gu, '')
    .replace(/ +/g, ' ')
    .trim()

test('an invalid address is refused when the message is built', () => {
  for (const address of ['a@b.example, c@d.example', 'a@b.example>\r\nBcc: <c@d.example', '"x"@y'])
    assert.throws(() => buildMessage(parts({ to: { name: '', address } })), /plain address/)
})

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ed25519: generateKeyPairSync('ed25519'),
}
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string
const signers = [
  dkimSigner('harbour.example', 'one', pem(keys.rsa.privateKey)),
  dkimSigner('harbour.example', 'two', pem(keys.ed25519.privateKey)),
]

test('the signatures are valid by RFC 6376, and signing twice gives the same bytes', async () => {
  const message = buildMessage(
    parts({
      subject: 'Ä   b',
      text: 'a  b \t c\n\n\n',
      calendar: calendarFile(entry()),
      unsubscribeLink: 'https://b.example/u',
    }),
  )
  const signed = await signMessage(message, signers)
  assert.deepEqual(verifyDkim(signed), { one: true, two: true })
  assert.equal(messageText(signed), messageText(await signMessage(message, signers)))
})

test('a signature is invalid after a change of the body or subject, or with a second From', async () => {
  const signed = await signMessage(buildMessage(parts()), signers)
  const changed: Message[] = [
    { ...signed, body: signed.body.replace('See', 'Sea') },
    { ...signed, headers: signed.headers.replace('Your', 'Her') },
    { ...signed, headers: `${signed.headers}From: <v@evil.example>\r\n` },
    { ...signed, headers: `From: <v@evil.example>\r\n${signed.headers}` },
  ]
  for (const message of changed) assert.deepEqual(verifyDkim(message), { one: false, two: false })
})

test('a key that cannot sign mail is refused', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  assert.throws(() => dkimSigner('harbour.example', 'one', pem(privateKey)), /RSA or Ed25519/)
})

const relaxed = (field: string) => {
  const [name, ...rest] = field.split(':')
  const value = rest
    .join(':')
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
  return `${name?.trim().toLowerCase()}:${value.trim()}`
}

/** A verifier written from the RFC, independent of the signer. */
function verifyDkim({ headers, body }: Message) {
  const fields = headers.split(/\r\n(?![ \t])/).filter(Boolean)
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  const bodyHash = createHash('sha256')
    .update(lines.map((line) => `${line}\r\n`).join(''))
    .digest('base64')

  return Object.fromEntries(
    fields
      .filter((field) => /^dkim-signature:/i.test(field))
      .map((field) => {
        const tags = Object.fromEntries(
          field
            .slice(field.indexOf(':') + 1)
            .split(';')
            .map((tag) => [
              tag.slice(0, tag.indexOf('=')).trim(),
              tag.slice(tag.indexOf('=') + 1).replace(/\s/g, ''),
            ]),
        ) as Record<string, string>
        const left = fields.filter((other) => !/^dkim-signature:/i.test(other))
        const chosen = (tags['h'] ?? '').split(':').flatMap((name) => {
          const index = left.findLastIndex((other) => other.toLowerCase().startsWith(`${name}:`))
          return index < 0 ? [] : left.splice(index, 1)
        })
        const data = Buffer.from(
          chosen.map((other) => `${relaxed(other)}\r\n`).join('') +
            relaxed(field.replace(/b=[^=;]*={0,2}$/, 'b=')),
          'latin1',
        )
        const signature = Buffer.from(tags['b'] ?? '', 'base64')
        const holds =
          tags['a'] === 'rsa-sha256'
            ? verify('sha256', data, createPublicKey(keys.rsa.privateKey), signature)
            : verify(
                null,
                createHash('sha256').update(data).digest(),
                createPublicKey(keys.ed25519.privateKey),
                signature,
              )
        return [tags['s'], holds && tags['bh'] === bodyHash]
      }),
  )
}
