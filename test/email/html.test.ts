import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFragment, type DefaultTreeAdapterMap } from 'parse5'
import { templateFaults } from '../../src/email/check-template.ts'
import { prepareHtml, removedParts, storedHtml, textOfHtml } from '../../src/email/html.ts'
import { markupFaults } from '../../src/email/markup.ts'
import { compileTemplate, mergeMail } from '../../src/email/merge.ts'
import { HTML_TASKS } from '../../src/email/read-html.ts'
import { fullContext, plainTemplate } from '../support/mail-context.ts'
import { htmlAttacks } from '../support/html-attacks.ts'

type Node = DefaultTreeAdapterMap['node']

/** Parses HTML as browsers do; returns everything that could run, load or cover something. */
function dangers(html: string): string[] {
  const found: string[] = []
  const visit = (node: Node) => {
    if ('tagName' in node) {
      if (DANGEROUS_TAGS.test(node.tagName)) found.push(`<${node.tagName}>`)
      if (node.namespaceURI !== 'http://www.w3.org/1999/xhtml') found.push(node.namespaceURI)
      for (const { name, value } of node.attrs) {
        if (
          /^on|^(?:srcdoc|formaction|action|ping|srcset|imagesrcset|lowsrc|dynsrc|data|poster|manifest|cite|background|style-src|id|class|hidden|autofocus|contenteditable)$/i.test(
            name,
          )
        ) {
          found.push(`${name}=${value}`)
        }
        const address = value.replace(/[\s\p{Cc}]/gu, '')
        if (
          /^(?:href|src|background|cite|xlink:href)$/i.test(name) &&
          UNSAFE_ADDRESS.test(address)
        ) {
          found.push(`${name}=${value}`)
        }
        if (name === 'style' && UNSAFE_STYLE.test(value)) found.push(`style=${value}`)
      }
    }
    if (node.nodeName === '#comment') found.push('comment')
    if ('childNodes' in node) node.childNodes.forEach(visit)
  }
  visit(parseFragment(html))
  return found
}

const DANGEROUS_TAGS =
  /^(?:script|style|iframe|frame|frameset|object|embed|applet|link|meta|base|form|input|button|select|textarea|svg|math|video|audio|source|track|template|slot|portal|noscript|xmp|plaintext|title|isindex|marquee|bgsound|layer|keygen|dialog|details|canvas|param)$/
const UNSAFE_ADDRESS = /^(?!https?:|mailto:|tel:|data:image\/|cid:)[a-z][a-z0-9+.-]*:|^\/\/|^\\\\/i
const UNSAFE_STYLE = /url|expression|javascript|behaviou?r|-moz-binding|position|@import|\\/i

test('the list contains many attacks that are dangerous without sanitising', () => {
  assert.ok(htmlAttacks.length >= 300, String(htmlAttacks.length))
  assert.ok(htmlAttacks.filter((html) => dangers(html).length > 0).length > 200)
})

test('saving a template removes every attack', () => {
  for (const attack of htmlAttacks) {
    const safe = prepareHtml(`<p>before ${attack} after</p>`)
    assert.deepEqual(dangers(safe), [], `${attack} became ${safe}`)
    assert.equal(prepareHtml(safe), safe, attack)
  }
})

test('a browser finds no attack in a stored template', () => {
  for (const attack of [...htmlAttacks, ...addressAttacks]) {
    for (const html of [attack, `<p>before ${attack} after</p>`, `<!--><p>${attack}</p>-->`]) {
      const stored = storedHtml(html, prepareHtml(html))
      const found = dangers(stored).filter((danger) => danger !== 'comment')
      assert.deepEqual(found, [], `${html} is stored as ${stored}`)
    }
  }
})

/** Every attribute that makes a mail reader load or open a URL. */
const addressAttacks = [
  '<img srcset="https://evil.example/x.png 2x">',
  '<img src="a.png" srcset="javascript:alert(1) 1x, data:text/html,x 2x">',
  '<img srcset="">',
  '<img srcset="a.png 1x">',
  '<link rel=preload as=image imagesrcset="https://evil.example/x.png 2x">',
  '<p imagesrcset="https://evil.example/x.png 2x">x</p>',
  '<table background="https://evil.example/x.png"><tr><td>x</table>',
  '<table background="x.png"><tr><td background="javascript:alert(1)">x</table>',
  '<a href="https://a.example" ping="https://evil.example">x</a>',
  '<p formaction="https://evil.example">x</p>',
  '<p style="background: url(https://evil.example/x)">x</p>',
  "<p style='background-image:u\\72l(https://evil.example/x)'>x</p>",
  '<p style="list-style: image-set(\'https://evil.example/x\' 1x)">x</p>',
  '<p style="background:url(">x</p>',
  '<p style="/*">x</p><p style="*/background:url(https://evil.example/x)">x</p>',
  '<img lowsrc="https://evil.example/x"><img dynsrc="https://evil.example/x">',
  '<blockquote cite="https://evil.example">x</blockquote>',
  '<p data="https://evil.example" poster="https://evil.example" manifest="x">x</p>',
  '<p "onclick="alert(1)">x</p>',
  '<p/onclick=alert(1)>x</p>',
  '<p hidden autofocus contenteditable>x</p>',
]

test('an attack in a value never becomes markup, wherever its token is', () => {
  const template = compileTemplate(
    plainTemplate({
      html: prepareHtml(
        '<p title="%REASON%">%REASON%</p><a href="%REASON%">x</a><a href="https://a.example/%REASON%?q=%REASON%">y</a><img alt="%REASON%" src="%REASON%">',
      ),
    }),
  )
  for (const attack of htmlAttacks) {
    const reason = {
      name: attack,
      durationMinutes: null,
      price: null,
      currency: null,
      externalId: null,
    }
    const { html } = mergeMail(template, fullContext({ reason }))
    const body = /<body>(.*)<\/body>/s.exec(html)?.[1] ?? ''
    assert.deepEqual(dangers(body), [], `${attack} became ${body}`)
    const tags = [...body.matchAll(/<(\w+)/g)]
      .map(([, name]) => name)
      .filter((name) => name !== 'br')
    assert.deepEqual(
      tags.filter((name) => name !== 'bdi'),
      ['p', 'a', 'a', 'img'],
      attack,
    )
    assert.equal(html.split('<title>').length, 2)
  }
})

test('style sheets are inlined into the elements and removed', () => {
  const html = prepareHtml(
    '<style>p { color: red } .big { font-size: 20px } a:hover { color: blue } @media print { p { color: black } }</style><p class="big">Hello</p>',
  )
  assert.equal(html, '<p style="color:red;font-size:20px">Hello</p>')
})

const links: { name: string; html: string; value: string; expected: string }[] = [
  {
    name: 'a part of it',
    html: '<a href="https://x.example/?n=%REASON%&m=1">l</a>',
    value: 'a&b=c#d "q" <i>',
    expected: 'l <https://x.example/?n=a%26b%3Dc%23d%20%22q%22%20%3Ci%3E&m=1>',
  },
  {
    name: 'the whole of it',
    html: '<a href="%REASON%">l</a>',
    value: 'https://x.example/a b>?c="d"&e',
    expected: 'l <https://x.example/a%20b%3E?c=%22d%22&e>',
  },
  {
    name: 'a script',
    html: '<a href="%REASON%">l</a>',
    value: 'javascript:alert(1)',
    expected: 'l <javascript%3Aalert(1)>',
  },
  {
    name: 'a mail address with brackets',
    html: '<a href="%REASON%">l</a>',
    value: 'mailto:a@b.example?subject=x> <y',
    expected: 'l <mailto:a@b.example?subject=x%3E%20%3Cy>',
  },
  {
    name: 'the text of the link is its address',
    html: '<a href="https://x.example/%REASON%"><b>https://x.example/%REASON%</b></a>',
    value: 'a b',
    expected: 'https://x.example/a%20b',
  },
  {
    name: 'a picture without a text',
    html: '<a href="https://x.example/%REASON%"><img src="x.png"></a>',
    value: 'a b',
    expected: 'https://x.example/a%20b',
  },
  {
    name: 'a fallback',
    html: '<a href="https://x.example/%REASON|a &amp; b%">l</a>',
    value: '',
    expected: 'l <https://x.example/a%20%26%20b>',
  },
  { name: 'empty', html: '<a href="%REASON%">go </a> now', value: '', expected: 'go now' },
  { name: 'a line', html: 'a<p><a href="%REASON%">%REASON%</a></p>', value: '', expected: 'a' },
  {
    name: 'control characters of the author',
    html: '<a href="https://x.example/&#2;%REASON%&#3;">&#2;l&#3;</a>',
    value: 'a b',
    expected: 'l <https://x.example/a%20b>',
  },
]

for (const { name, html, value, expected } of links)
  test(`a value in the address of a link is escaped in the generated text: ${name}`, () => {
    const { rendered, faults } = HTML_TASKS.check(html)
    assert.deepEqual(faults, [])
    const reason = { ...fullContext().reason!, name: value }
    const { text } = mergeMail(compileTemplate(plainTemplate(rendered)), fullContext({ reason }))
    assert.equal(text, expected)
  })

test('a value in a text part of the author stays as it is, also within brackets', () => {
  const reason = { ...fullContext().reason!, name: 'a & b' }
  const template = compileTemplate(plainTemplate({ text: 'x <https://x.example/%REASON%>' }))
  assert.equal(mergeMail(template, fullContext({ reason })).text, 'x <https://x.example/a & b>')
})

test('the text part is derived from the HTML, its tokens untouched and its links marked', () => {
  const text = textOfHtml(
    prepareHtml(
      '<h1>Hello %CLIENT_FIRSTNAME%</h1><p>Your <b>%REASON%</b><br>on %APPT_DATE%.</p><ul><li>one<li>two</ul><a href="%INVITATION_LINK%">Book</a> <img src="https://a.example/x.png" alt="Logo"><table><tr><td>When</td><td>%APPT_TIME%</td></tr></table>',
    ),
  )
  assert.equal(
    text,
    'Hello %CLIENT_FIRSTNAME%\n\nYour %REASON%\non %APPT_DATE%.\n\n * one\n * two\n\nBook \u0002<%INVITATION_LINK%>\u0003 Logo\nWhen %APPT_TIME%',
  )
})

test('an address within the mail is left out of the text part', () => {
  assert.equal(textOfHtml(prepareHtml('<p><a href="#top">Top</a></p>')), 'Top')
})

const broken: { html: string; line: number; column: number; detail: RegExp }[] = [
  { html: '<p>Hello\n<b', line: 2, column: 1, detail: /tag is never closed/ },
  { html: '<p>Hello\n  <a href="x <b>y</b>', line: 2, column: 11, detail: /quote is never closed/ },
  { html: '<p\n<b>x</b></p>', line: 1, column: 1, detail: /tag is never closed/ },
  { html: 'a\r\nb <!-- c', line: 2, column: 3, detail: /comment is never closed/ },
  { html: '<style>p { color: red</style>', line: 1, column: 10, detail: /\{ is never closed/ },
  { html: '<style>\np } </style>', line: 2, column: 3, detail: /closes nothing/ },
  { html: '<style>p { color: red }', line: 1, column: 1, detail: /<style> is never closed/ },
  { html: '<p>\n<b style="color:%REASON%">', line: 2, column: 17, detail: /token cannot stand/ },
  {
    html: '<style>p { color: %REASON% }</style>',
    line: 1,
    column: 19,
    detail: /token cannot stand/,
  },
  { html: '<div>'.repeat(300), line: 1, column: 1001, detail: /nested/ },
]

for (const { html, line, column, detail } of broken)
  test(`a template with invalid HTML is refused with line and column: ${html.slice(0, 30)}`, () => {
    const [fault] = markupFaults(html)
    assert.deepEqual([fault?.line, fault?.column], [line, column])
    assert.match(fault?.detail ?? '', detail)
  })

const sound = [
  'plain text, 3 < 4 and 5 > 4, I <3 you',
  "<p title=it's>don't</p>",
  '<p>one<p>two<br><img src="a.png"/>',
  '<!-- a > b --><p>x</p>',
  '<style>/* } */ p::before { content: "}" }</style>',
  '<a title="a > b" href=\'x\'>y</a>',
  '<td>'.repeat(5),
  '',
]

for (const html of sound)
  test(`a usual template is accepted: ${html.slice(0, 30)}`, () => {
    assert.deepEqual(markupFaults(html), [])
  })

test('all errors of a template are returned at once, each with field and position', () => {
  const faults = templateFaults({
    subject: 'Hello %NOBODY%',
    toAddress: '%BUSINESS_NAME%',
    ccAddress: 'a@b.example,c@d.example',
    bccAddress: '%UNKNOWN_TOKEN%',
    fromAddress: null,
  })
  assert.deepEqual(faults, [
    { pointer: '/subject', detail: 'line 1, column 7: there is no token %NOBODY%' },
    { pointer: '/bccAddress', detail: 'line 1, column 1: there is no token %UNKNOWN_TOKEN%' },
    {
      pointer: '/toAddress',
      detail: 'does not become one plain address when its tokens are filled in',
    },
    { pointer: '/ccAddress', detail: 'must be one plain address: local@domain' },
  ])
  const html = '<p>%CLIENT_FULLNAME%</p>\n<b %WHO_EVER%&#37;HIDDEN_ONE%'
  assert.deepEqual(HTML_TASKS.check(html).faults, [
    { pointer: '/emailBody', detail: 'line 2, column 4: there is no token %WHO_EVER%' },
    { pointer: '/emailBody', detail: 'line 2, column 1: this tag is never closed' },
  ])
})

test('a token hidden in entities is found too', () => {
  const { faults } = HTML_TASKS.check('<p>&#37;HIDDEN&#95;ONE%</p>')
  assert.deepEqual(faults, [{ pointer: '/emailBody', detail: 'there is no token %HIDDEN_ONE%' }])
})

test('at most twenty errors of a text are returned', () => {
  assert.equal(templateFaults({ emailBodyText: '%NO_SUCH% '.repeat(1_000) }).length, 20)
  assert.equal(markupFaults(`<p style="${'%REASON%'.repeat(1_000)}">`).length, 20)
})

test('a handler on a tag that browsers drop here is not stored, and is named', () => {
  for (const [html, removed] of [
    ['<body onload="x()"><p>Hello</p></body>', ['body onload']],
    ['<html onmouseover=x()><p>Hello</p></html>', ['html onmouseover']],
    ['<p>Hello</p><frameset onload="x()">', ['frameset', 'frameset onload']],
    ['<p>Hello</p><tr onclick="x()"><td>a</td></tr>', ['tr onclick']],
    ['<p>Hello</p><col title=">" onclick="x()">', ['col onclick']],
    ['<table><caption/onclick="x()">b</caption></table>', ['caption onclick']],
    ['<p>Hi</p><script>x()</script><a href="javascript:x()">y</a>', ['script', 'a href']],
  ] as const) {
    const prepared = prepareHtml(html)
    assert.deepEqual(removedParts(html, prepared), removed, html)
    assert.doesNotMatch(storedHtml(html, prepared), /\son\w+|\/on\w+|script/, html)
  }
})

test('a style that mails cannot have is named with its element', () => {
  for (const [html, removed] of [
    ['<p style="position: fixed; color: red">a</p>', ['p style="position"']],
    ['<p style="background: url(https://a.example/x)">a</p>', ['p style="background"']],
    ['<td style="color:red;color:blue;width:5px">a</td>', []],
    [
      '<style>p { color: blue }</style><p style="color: red; z-index: 5">a</p>',
      ['p style="z-index"'],
    ],
  ] as const) {
    assert.deepEqual(removedParts(html, prepareHtml(html)), removed, html)
  }
})

test('HTML of which nothing is removed is stored as its author wrote it', () => {
  for (const html of [
    '<table><tbody><tr><td style="color: red">a</td></tr></tbody></table>',
    '<html><body><P>Hello</P></body></html>',
  ]) {
    assert.deepEqual(removedParts(html, prepareHtml(html)), [])
    assert.equal(storedHtml(html, prepareHtml(html)), html)
  }
})
