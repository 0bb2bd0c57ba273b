import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addressFieldFault,
  compileTemplate,
  mergeMail,
  type MailTemplate,
} from '../../src/email/merge.ts'
import { HTML_TASKS } from '../../src/email/read-html.ts'
import { findTokenFaults } from '../../src/email/token-syntax.ts'
import { htmlAttacks } from '../support/html-attacks.ts'
import { fullContext, plainTemplate } from '../support/mail-context.ts'

const full = fullContext()
const bare = fullContext({
  client: { ...full.client!, firstName: '', phone: null },
  location: { ...full.location!, address: null, directions: null },
})

const merge = (template: Partial<MailTemplate>, context = full) =>
  mergeMail(compileTemplate(plainTemplate(template)), context)

const mergeHtml = (html: string, context = full) => {
  const { rendered, faults } = HTML_TASKS.check(html)
  assert.deepEqual(faults, [])
  return /<body>\n(.*)\n<\/body>/s.exec(merge({ html: rendered.html }, context).html)![1]
}

test('a fallback replaces an empty value, and only an empty one', () => {
  const text = 'Hi %CLIENT_FIRSTNAME|there & co%,'
  assert.equal(merge({ text }).text, 'Hi Ada,')
  assert.equal(merge({ text }, bare).text, 'Hi there & co,')
  assert.equal(merge({ subject: text }, bare).subject, 'Hi there & co,')
  assert.equal(mergeHtml(`<p>${text}</p>`, bare), '<p>Hi there &amp; co,</p>')
})

test('a fallback is escaped for its place like a value', () => {
  const html = '<a href="%CLIENT_PHONE|javascript:alert(1)%">%CLIENT_PHONE|a &lt;b&gt; "c"%</a>'
  assert.equal(
    mergeHtml(html, bare),
    '<a href="javascript%3Aalert(1)">a &lt;b&gt; &quot;c&quot;</a>',
  )
})

test('a token with a fallback or in a condition is not reported as empty', () => {
  const text = '%CLIENT_PHONE|none% %IF:LOCATION_ADDRESS%x%END:IF% %LOCATION_DIRECTIONS%'
  assert.deepEqual(merge({ text }, bare).emptyTokens, ['LOCATION_DIRECTIONS'])
})

test('a condition shows its content only if the token has a value', () => {
  const text = 'See you%IF:LOCATION_ADDRESS% at %LOCATION_ADDRESS%%END:IF%.'
  assert.equal(merge({ text }).text, 'See you at 4 Quay Street\nBristol.')
  assert.equal(merge({ text }, bare).text, 'See you.')
  assert.equal(merge({ subject: text }, bare).subject, 'See you.')
  assert.equal(mergeHtml(`<p>${text}</p>`), '<p>See you at 4 Quay Street<br>\nBristol.</p>')
  assert.equal(mergeHtml(`<p>${text}</p>`, bare), '<p>See you.</p>')
})

test('a condition can span lines and elements, and its own lines disappear', () => {
  const text =
    'Hello\n\n%IF:LOCATION_DIRECTIONS%\nDirections:\n\n%LOCATION_DIRECTIONS%\n%END:IF%\n\nBye'
  assert.equal(merge({ text }).text, 'Hello\n\nDirections:\n\nSecond floor.\n\nBye')
  assert.equal(merge({ text }, bare).text, 'Hello\n\nBye')
  const html =
    '<p>Hello</p><p>%IF:LOCATION_DIRECTIONS%</p><h2>Directions</h2><p>%LOCATION_DIRECTIONS%</p><p><span>%END:IF%</span></p><p>Bye</p>'
  assert.equal(mergeHtml(html), '<p>Hello</p><h2>Directions</h2><p>Second floor.</p><p>Bye</p>')
  assert.equal(mergeHtml(html, bare), '<p>Hello</p><p>Bye</p>')
})

test('lines and elements that contain only empty tokens disappear', () => {
  const text =
    'Hello\n\n  %LOCATION_DIRECTIONS% %CLIENT_PHONE%\n\n%LOCATION_ADDRESS%\nBye\n\n\nEnd\n%CLIENT_PHONE%'
  assert.equal(merge({ text }, bare).text, 'Hello\n\nBye\n\n\nEnd')
  assert.equal(
    mergeHtml(
      '<p>Hello</p><p class="x"><b>%LOCATION_DIRECTIONS%</b>&nbsp;</p><p>Quay<br>%LOCATION_ADDRESS%<br>%CLIENT_PHONE%<br>Bristol</p><ul><li>%CLIENT_PHONE%</li><li>x</li></ul>',
      bare,
    ),
    '<p>Hello</p><p>Quay<br />Bristol</p><ul><li>x</li></ul>',
  )
  // Elements that the author left empty stay, and so does one with an image.
  assert.equal(
    mergeHtml('<p></p><p>%CLIENT_PHONE%<img src="https://a.example/x.png" alt="" /></p>', bare),
    '<p></p><p><img src="https://a.example/x.png" alt="" /></p>',
  )
})

const faults: { text: string; column: number; detail: RegExp }[] = [
  { text: 'a %IF:NOBODY%x%END:IF%', column: 3, detail: /no token %NOBODY%/ },
  { text: 'a %NOBODY|x%', column: 3, detail: /no token %NOBODY%/ },
  { text: '%IF:REASON%x', column: 1, detail: /%IF:REASON% has no %END:IF%/ },
  { text: 'x%END:IF%', column: 2, detail: /ends no condition/ },
  {
    text: '%IF:REASON%%IF:CLIENT_PHONE%x%END:IF%%END:IF%',
    column: 12,
    detail: /inside %IF:REASON%/,
  },
  { text: 'x %IF:reason% y', column: 3, detail: /must be written %IF:TOKEN%/ },
  { text: 'Hi %REASON|<b>x</b>%', column: 4, detail: /needs a fallback/ },
  { text: 'Hi %REASON|x', column: 4, detail: /needs a fallback/ },
]

for (const { text, column, detail } of faults)
  test(`a fault of a condition or fallback is reported with its column: ${text}`, () => {
    const [fault] = findTokenFaults(text)
    assert.equal(fault?.column, column)
    assert.match(fault?.detail ?? '', detail)
  })

const refusedHtml: { html: string; detail: RegExp }[] = [
  { html: '<p>%IF:REASON%x</p><p>y%END:IF%</p>', detail: /same element/ },
  { html: '<p>a%IF:REASON%<b>x%END:IF%</b></p>', detail: /same element/ },
  { html: '<p title="%IF:REASON%x%END:IF%">x</p>', detail: /cannot stand in a tag/ },
  { html: '<p>&#37;IF:REASON%x</p>', detail: /has no %END:IF%/ },
]

for (const { html, detail } of refusedHtml)
  test(`a condition that would break the HTML is refused: ${html}`, () => {
    assert.match(HTML_TASKS.check(html).faults[0]?.detail ?? '', detail)
  })

test('an address field cannot contain a condition, and its fallback must be an address', () => {
  assert.match(addressFieldFault('%IF:CLIENT_EMAIL%a@b.example%END:IF%') ?? '', /condition/)
  assert.match(addressFieldFault('%CLIENT_EMAIL|the desk%') ?? '', /plain address/)
  assert.equal(addressFieldFault('%CLIENT_EMAIL|desk@example.org%'), undefined)
  const to = (text: string) => merge({ toAddress: text }, bare).to?.address
  assert.equal(to('%CLIENT_PHONE|desk@example.org%'), 'desk@example.org')
})

test('tags and ids of other systems are tokens', () => {
  const text =
    '%CLIENT_TAGS% | %CLIENT_TAG_LEVEL% | %CLIENT_TAG_FIRST_VISIT% | %CLIENT_TAG_NONE|-% | %APPT_TAG_ROOM% | %CLIENT_EXTERNALID% | %APPT_EXTERNALID% | %STAFF_EXTERNALID% | %LOCATION_EXTERNALID% | %SERVICE_EXTERNALID%'
  assert.equal(
    merge({ text }).text,
    'gold, yes | gold | yes | - | 4 | client-4821 | visit-90210 | staff-12 | loc-7 | service-3',
  )
})

test('an attack in a value with conditions and fallbacks never becomes markup', () => {
  const { rendered } = HTML_TASKS.check(
    '<div>%IF:REASON%<p>%REASON%</p>%END:IF%<p>%REASON|x%<br />%REASON%</p></div>',
  )
  const template = compileTemplate(plainTemplate({ html: rendered.html }))
  for (const name of htmlAttacks) {
    const { html } = mergeMail(template, fullContext({ reason: { ...full.reason!, name } }))
    const tags = [...html.slice(html.indexOf('<body>')).matchAll(/<(\/?\w+)/g)].map(
      ([, tag]) => tag,
    )
    assert.deepEqual(
      tags.filter((tag) => !/br|bdi/.test(tag!)),
      ['body', 'div', 'p', '/p', 'p', '/p', '/div', '/body', '/html'],
      name,
    )
  }
})
