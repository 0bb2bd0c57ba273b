import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatsFor } from '../../src/email/formats.ts'
import {
  addressFieldFault,
  compileTemplate,
  isForEachClient,
  mergeMail,
  type MailTemplate,
} from '../../src/email/merge.ts'
import { findTokenFaults } from '../../src/email/token-syntax.ts'
import { findToken, listTokens } from '../../src/email/tokens.ts'
import { fullContext, plainTemplate } from '../support/mail-context.ts'

const merge = (template: Partial<MailTemplate>, changes = {}) =>
  mergeMail(compileTemplate(plainTemplate(template)), fullContext(changes))

const bodyOf = (html: string) => /<body>\n(.*)\n<\/body>/s.exec(html)?.[1]

test('every token has a description, an example and its own value', () => {
  const names = listTokens().flatMap(({ tokens }) => tokens)
  assert.ok(names.length > 60)
  for (const { token, description, example } of names) {
    assert.ok(description && example, token)
    // Answers are told to staff only.
    const { text, emptyTokens } = token.startsWith('%ANSWER')
      ? mergeMail(compileTemplate(plainTemplate({ text: token })), fullContext(), 'staff')
      : merge({ text: token })
    assert.notEqual(text, token)
    assert.notEqual(text, '')
    assert.deepEqual(emptyTokens, [])
  }
})

test('the tokens that the interface uses exist', () => {
  for (const name of [
    'BUSINESS_NAME',
    'PROFESSIONAL_EMAIL',
    'CLIENT_EMAILADDRESS',
    'CLIENT_FULLNAME',
    'STAFF_FULLNAME',
    'LOCATION_NAME',
    'LOCATION_ADDRESS',
    'LOCATION_DIRECTIONS',
    'REASON',
    'APPT_START_TIME',
    'CHANGE_NOTE',
    'APPOINTMENT_NOTE',
    'CLIENT_FIRSTNAME',
  ])
    assert.ok(findToken(name), name)
})

test('an unknown token is found with its line and column', () => {
  assert.deepEqual(
    findTokenFaults('Dear %CLIENT_FULLNAME%,\nsee %NOBODY% and\r\n%NO_ONE% at 100% or %AB%'),
    [
      { line: 2, column: 5, detail: 'there is no token %NOBODY%' },
      { line: 3, column: 1, detail: 'there is no token %NO_ONE%' },
    ],
  )
})

test('a token inside a value is not replaced', () => {
  const client = { ...fullContext().client, firstName: '%BUSINESS_NAME%', lastName: '%%' }
  const mail = merge({ subject: '%CLIENT_FULLNAME%', text: '%CLIENT_FULLNAME%' }, { client })
  assert.equal(mail.subject, '%BUSINESS_NAME% %%')
  assert.equal(mail.text, '%BUSINESS_NAME% %%')
})

const escapes: { name: string; html: string; value: string; expected: string }[] = [
  {
    name: 'in text',
    html: '<p>%REASON%</p>',
    value: `<b>"&'`,
    expected: '<p>&lt;b&gt;&quot;&amp;&#39;</p>',
  },
  { name: 'lines', html: '<p>%REASON%</p>', value: 'a\r\nb', expected: '<p>a<br>\nb</p>' },
  {
    name: 'in an attribute',
    html: '<p title="%REASON%">',
    value: '" onx="\n',
    expected: '<p title="&quot; onx=&quot;">',
  },
  {
    name: 'a whole address',
    html: '<a href="%REASON%">',
    value: 'https://a.example/?b=1&c="',
    expected: '<a href="https://a.example/?b=1&amp;c=%22">',
  },
  {
    name: 'a script as an address',
    html: '<a href="%REASON%">',
    value: 'javascript:alert(1)',
    expected: '<a href="javascript%3Aalert(1)">',
  },
  {
    name: 'a script in part of an address',
    html: '<a href="java%REASON%">',
    value: 'script:alert(1)',
    expected: '<a href="javascript%3Aalert(1)">',
  },
  {
    name: 'part of a query',
    html: '<a href="https://a.example/?n=%REASON%">',
    value: 'a&b=c',
    expected: '<a href="https://a.example/?n=a%26b%3Dc">',
  },
  {
    name: 'a telephone',
    html: '<a href="tel:%REASON%">',
    value: '+44 (20) 7946',
    expected: '<a href="tel:+44207946">',
  },
  {
    name: 'a mail address',
    html: '<a href="mailto:%REASON%">',
    value: 'a@b.example?cc=x@y',
    expected: '<a href="mailto:a@b.example%3Fcc%3Dx@y">',
  },
  {
    name: 'right to left',
    html: '<p>%REASON%!</p>',
    value: 'שלום',
    expected: '<p><bdi>שלום</bdi>!</p>',
  },
  {
    name: 'direction override characters',
    html: '<p>%REASON%</p>',
    value: 'a\u202eb\u2067c',
    expected: '<p>abc</p>',
  },
  {
    name: 'half a surrogate pair',
    html: '<p>%REASON%</p>',
    value: 'a\ud83d',
    expected: '<p>a\ufffd</p>',
  },
]

for (const { name, html, value, expected } of escapes)
  test(`a value is escaped for its context: ${name}`, () => {
    const reason = {
      name: value,
      durationMinutes: null,
      price: null,
      currency: null,
      externalId: null,
    }
    assert.equal(bodyOf(merge({ html }, { reason }).html), expected)
  })

test('a header is one line whatever its values contain', () => {
  const reason = {
    name: 'a\r\nBcc: v@evil.example\u2028\0b',
    durationMinutes: null,
    price: null,
    currency: null,
  }
  assert.equal(merge({ subject: 'On %REASON%' }, { reason }).subject, 'On a Bcc: v@evil.example b')
})

const readers: {
  name: string
  client: object
  location?: null
  language?: string
  expected: string
}[] = [
  { name: 'the client’s zone first', client: {}, expected: 'Tuesday, 3 November 2026 at 09:30' },
  {
    name: 'else the location’s',
    client: { timeZone: null },
    expected: 'Tuesday, 3 November 2026 at 14:30',
  },
  {
    name: 'else the business’s',
    client: { timeZone: null },
    location: null,
    expected: 'Tuesday, 3 November 2026 at 14:30',
  },
  {
    name: 'the template’s language, whatever the client speaks',
    client: { language: 'de' },
    language: 'fr',
    expected: 'mardi 3 novembre 2026 à 09:30',
  },
  {
    name: 'else the language of the business',
    client: { language: 'de' },
    expected: 'Tuesday, 3 November 2026 at 09:30',
  },
  {
    name: 'with the region of the client',
    client: { language: 'en-GB' },
    language: 'en',
    expected: 'Tuesday, 3 November 2026 at 09:30',
  },
  {
    name: 'an unknown language is skipped',
    client: { language: 'English' },
    language: 'pt_BR',
    expected: 'terça-feira, 3 de novembro de 2026 às 09:30',
  },
  {
    name: 'an unknown time zone is skipped',
    client: { timeZone: 'Mars/Base' },
    expected: 'Tuesday, 3 November 2026 at 14:30',
  },
]

for (const { name, client, location, language, expected } of readers)
  test(`dates are written for the reader: ${name}`, () => {
    const context = fullContext()
    const mail = merge(
      { text: '%APPT_DATE_TIME%', language: language ?? null },
      {
        client: { ...context.client, ...client },
        location: location === null ? null : context.location,
      },
    )
    assert.equal(mail.text, expected)
  })

test('times are written to the minute, also in zones with offsets of seconds', () => {
  const { time } = formatsFor(['en'], ['Africa/Monrovia'])
  const written = (text: string) => time(Temporal.Instant.from(text))
  assert.equal(written('1971-12-31T23:59:20Z'), '11:14 PM')
  assert.equal(written('1971-12-31T23:59:40Z'), '11:15 PM')
  assert.equal(written('2026-03-02T09:00:00Z'), '9:00 AM')
  assert.equal(written('2026-03-02T09:00:59.999Z'), '9:00 AM')
  assert.equal(written('2026-03-02T09:01:00Z'), '9:01 AM')
  assert.equal(written('2026-03-02T09:00:59.999Z'), '9:00 AM')
})

test('French dates have no comma and the first of a month as in a sentence, also in Switzerland', () => {
  const written = (language: string, moment: string) =>
    formatsFor([language], ['Europe/Zurich']).date(Temporal.Instant.from(moment))
  for (const language of ['fr', 'fr-CH']) {
    assert.equal(written(language, '2026-12-01T09:00Z'), 'mardi 1er décembre 2026')
    assert.equal(written(language, '2026-12-11T09:00Z'), 'vendredi 11 décembre 2026')
  }
  const { dateTime } = formatsFor(['fr-CH'], ['Europe/Zurich'])
  assert.equal(
    dateTime(Temporal.Instant.from('2026-12-01T09:00Z')),
    'mardi 1er décembre 2026 à 10:00',
  )
  assert.equal(written('de-CH', '2026-12-01T09:00Z'), 'Dienstag, 1. Dezember 2026')
})

test('a range is written anew for another start, another length and another day', () => {
  const { timeRange } = formatsFor(['en'], ['Europe/Zurich'])
  const written = (start: string, end: string) =>
    timeRange(Temporal.Instant.from(start), Temporal.Instant.from(end))
  for (const _ of ['new', 'remembered']) {
    assert.equal(written('2026-03-02T09:00:10Z', '2026-03-02T09:30:50Z'), '10:00 – 10:30 AM')
    assert.equal(written('2026-03-02T09:00:00Z', '2026-03-02T09:45:00Z'), '10:00 – 10:45 AM')
    assert.equal(written('2026-03-02T09:30:00Z', '2026-03-02T09:45:00Z'), '10:30 – 10:45 AM')
    // Summer time.
    assert.equal(written('2026-07-02T09:00:00Z', '2026-07-02T09:30:00Z'), '11:00 – 11:30 AM')
    assert.match(written('2026-03-02T09:00:00Z', '2026-03-03T09:30:00Z'), /3\/2\/2026.*3\/3\/2026/)
    assert.equal(written('2026-03-02T09:30:00Z', '2026-03-02T09:00:00Z'), '10:30 AM')
  }
})

test('the staff’s own tokens are in the staff’s zone', () => {
  assert.equal(merge({ text: '%APPT_TIME% %APPT_TIME_STAFF%' }).text, '09:30 15:30')
})

test('tokens without a value are listed, each once', () => {
  const mail = merge(
    { subject: '%REASON%', html: '<p>%REASON% %STAFF_FULLNAME%</p>', text: '%CHANGE_NOTE%' },
    { reason: null, classSchedule: null, professional: null, calendar: null },
  )
  assert.deepEqual(mail.emptyTokens.toSorted(), ['CHANGE_NOTE', 'REASON', 'STAFF_FULLNAME'])
})

test('a class fills the tokens of an appointment', () => {
  const { text } = merge({ text: '%REASON% %APPT_START_TIME%' }, { calendar: null, reason: null })
  assert.equal(text, 'Prenatal yoga 13:00')
})

test('a document in a right-to-left language has dir=rtl', () => {
  assert.match(merge({ language: 'ar' }).html, /<html lang="ar" dir="rtl">/)
  assert.match(merge({}).html, /<html lang="en" dir="ltr">/)
})

test('the recipient comes from the action, else the template, else the client', () => {
  const template = compileTemplate(plainTemplate({ toAddress: '%LOCATION_EMAILADDRESS%' }))
  const bare = compileTemplate(plainTemplate())
  const to = (
    compiled: typeof bare,
    recipient: 'client' | 'staff' | 'business' | 'template' | null,
  ) => mergeMail(compiled, fullContext(), recipient).to?.address

  assert.equal(to(template, null), 'quayside@harbour.example')
  assert.equal(to(template, 'template'), 'quayside@harbour.example')
  assert.equal(to(template, 'client'), 'ada@example.org')
  assert.equal(to(bare, null), 'ada@example.org')
  assert.equal(to(bare, 'staff'), 'maya@harbour.example')
  assert.equal(to(bare, 'business'), 'hello@harbour.example')
  assert.equal(to(bare, 'template'), undefined)
  assert.equal(isForEachClient(template, null), false)
  assert.equal(isForEachClient(bare, null), true)
})

test('an invalid address never becomes a recipient', () => {
  const client = { ...fullContext().client, emailAddress: 'a@ok.example, v@evil.example' }
  const mail = merge({}, { client })
  assert.equal(mail.to, null)
  assert.deepEqual(mail.badAddresses, [
    { field: 'toAddress', text: 'a@ok.example, v@evil.example' },
  ])
})

test('an address field of a template must be able to become one address', () => {
  assert.equal(addressFieldFault('ada@example.org'), undefined)
  assert.equal(addressFieldFault('%CLIENT_EMAILADDRESS%'), undefined)
  assert.equal(addressFieldFault('desk+%APPT_ID%@example.org'), undefined)
  assert.match(addressFieldFault('%BUSINESS_NAME%') ?? '', /tokens/)
  assert.match(addressFieldFault('%CLIENT_EMAILADDRESS%,%STAFF_EMAIL%') ?? '', /tokens/)
  assert.match(addressFieldFault('ada@example.org, bob@example.org') ?? '', /one plain/)
})
