import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse, type DefaultTreeAdapterMap } from 'parse5'
import { colorsFor, contrast } from '../../src/email/colors.ts'
import {
  compileTemplate,
  mergeMail,
  type MailTemplate,
  type Recipient,
} from '../../src/email/merge.ts'
import { HTML_TASKS } from '../../src/email/read-html.ts'
import { renderDemoMails } from '../support/demo-mails.ts'
import { htmlAttacks } from '../support/html-attacks.ts'
import { fullContext, plainTemplate } from '../support/mail-context.ts'
import { assertNoDebris, sparseContexts } from '../support/sparse-contexts.ts'

type Node = DefaultTreeAdapterMap['node']
type Element = DefaultTreeAdapterMap['element']

const before = Temporal.Instant.from('2026-11-01T09:00:00Z')
const after = Temporal.Instant.from('2026-11-05T09:00:00Z')
const visit = { classSchedule: null, recall: null, disclaimer: null, invitation: null }

const laidOut = (changes: Partial<MailTemplate> = {}) =>
  compileTemplate(plainTemplate({ hasLayout: true, ...changes }))

const merge = (template: Partial<MailTemplate>, context = {}, now = before) =>
  mergeMail(laidOut(template), fullContext({ ...visit, ...context }), 'client', now)

function elementsOf(html: string): Element[] {
  const found: Element[] = []
  const walk = (node: Node) => {
    if ('tagName' in node) found.push(node)
    if ('childNodes' in node) node.childNodes.forEach(walk)
  }
  walk(parse(html))
  return found
}

const shapeOf = (html: string) =>
  elementsOf(html).map(({ tagName, attrs }) => `${tagName} ${attrs.map(({ name }) => name)}`)

test('every mail has the name of the business, the appointment and an address', () => {
  const { html, text } = merge({ html: '<p>Hello</p>', text: 'Hello' })
  for (const part of [html, text]) {
    assert.match(part, /Harbour Clinic/)
    assert.match(part, /Tuesday, 3 November 2026/)
    assert.match(part, /14:30–15:15, London time/)
    assert.match(part, /Your time: 09:30–10:15, New York time/)
    assert.match(part, /With: Maya Lindqvist/)
    assert.match(part, /Quayside, 4 Quay Street, Bristol/)
    assert.match(part, /maps\/search\/\?api=1&(?:amp;)?query=4%20Quay%20Street%2C%20Bristol/)
    assert.match(part, /Add to calendar/)
    assert.match(part, /addToCalendar\/7d1f/)
    assert.match(part, /unsubscribe\/7d1f/)
  }
})

test('a reader in the time zone of the location sees one time, without the zone', () => {
  const { client } = fullContext()
  const { text } = merge({}, { client: { ...client, timeZone: null } })
  assert.match(text, /^14:30–15:15$/m)
  assert.doesNotMatch(text, /Your time|London time/)
})

test('the reader’s own time has its date if the day differs', () => {
  const { client } = fullContext()
  const { text } = merge({}, { client: { ...client, timeZone: 'Pacific/Auckland' } })
  assert.match(text, /^Tuesday, 3 November 2026\n14:30–15:15, London time$/m)
  assert.match(text, /^Your time: Wednesday, 4 November 2026, 03:30–04:15, Auckland time$/m)
})

test('a subject names the clock of the location only for readers with another clock', () => {
  const { client } = fullContext()
  const subject = 'See you at %APPT_TIME_LOCATION%'
  const subjectIn = (timeZone: string | null, language = 'en') =>
    merge({ subject, language }, { client: { ...client, timeZone } }).subject
  assert.equal(subjectIn('America/New_York'), 'See you at 14:30, London time')
  assert.equal(subjectIn('Europe/Lisbon'), 'See you at 14:30')
  assert.equal(subjectIn(null), 'See you at 14:30')
  assert.equal(subjectIn('America/New_York', 'fr'), 'See you at 14:30, heure locale à Londres')
  assert.equal(subjectIn('America/New_York', 'de'), 'See you at 14:30, Ortszeit London')
})

test('a location whose zone names no city is told by the name of its zone', () => {
  const location = { ...fullContext().location!, timeZone: 'UTC' }
  assert.match(merge({}, { location }).text, /^2:30 – 3:15 PM, Coordinated Universal Time$/m)
})

test('a mail about no location has the postal address of the business', () => {
  const { html, text } = merge({}, { location: null, calendar: null })
  for (const part of [html, text]) assert.match(part, /1 Harbour Road, Bristol/)
})

test('a cancelled appointment has both of its times crossed out', () => {
  const { calendar } = fullContext()
  const cancelled = merge({}, { calendar: { ...calendar, isCancelled: true, isLive: false } })
  assert.match(cancelled.html, /line-through">Tuesday, 3 November 2026<br>/)
  assert.match(cancelled.html, /line-through">Your time: 09:30–10:15, New York time</)
  assert.match(merge({}).html, /text-decoration:none">Your time: 09:30–10:15/)
})

test('English without a region is written as at the place of the visit', () => {
  const { business, client, location } = fullContext()
  const timeIn = (timeZone: string, language: string | null = 'en') =>
    merge(
      { subject: '%APPT_DATE_TIME_LOCATION%', language: 'en' },
      {
        business: { ...business, language },
        client: { ...client, timeZone: null },
        location: { ...location, timeZone },
      },
    ).subject
  assert.equal(timeIn('Europe/Zurich'), 'Tuesday, 3 November 2026 at 15:30')
  assert.equal(timeIn('America/New_York'), 'Tuesday, November 3, 2026 at 9:30 AM')
  assert.equal(timeIn('Europe/Zurich', 'en-US'), 'Tuesday, November 3, 2026 at 3:30 PM')
  assert.equal(timeIn('America/New_York', 'en-GB'), 'Tuesday, 3 November 2026 at 09:30')
})

test('a mail about a move has the time before, crossed out; no other mail has it', () => {
  const moved = merge({}, {})
  assert.match(moved.html, /line-through">Monday, 2 November 2026 at 09:00, London time</)
  assert.match(moved.text, /^Before: Monday, 2 November 2026 at 09:00, London time$/m)
  const other = merge({}, { movedFrom: null })
  assert.doesNotMatch(other.html + other.text, /2 November/)
})

test('the directions are in the card, unless the author has placed them', () => {
  const { html, text } = merge({ html: '<p>Hello</p>', text: 'Hello' })
  for (const part of [html, text]) assert.equal(part.split('Second floor.').length, 2)
  const directions = '%LOCATION_DIRECTIONS%'
  const own = merge({ html: `<p>${directions}</p>`, text: directions })
  for (const part of [own.html, own.text]) assert.equal(part.split('Second floor.').length, 2)
})

test('beside the calendar file there are links for Google and Outlook, each on its own line of text', () => {
  const { html, text } = merge({ html: '', text: '' })
  for (const part of [html, text]) {
    assert.match(part, /addToCalendar\/7d1f\?to=google/)
    assert.match(part, /addToCalendar\/7d1f\?to=outlook/)
    for (const to of ['calendar', 'Google Calendar', 'Outlook.com'])
      assert.match(part, new RegExp(`Add to ${to}\\b`))
  }
  for (const line of text.split('\n')) assert.ok(line.split('https://').length <= 2, line)
})

test('no line of a mail has two links', () => {
  for (const { templateName, html } of renderDemoMails()) {
    const lines = html.split(/<br|<\/?(?:p|div|td|tr|table|li)\b/)
    for (const line of lines) assert.ok(line.split('<a ').length <= 2, `${templateName}: ${line}`)
  }
})

test('lists of mails show when and where, or what an invitation, a recall or a form is about', () => {
  for (const { templateName, subject, html } of renderDemoMails()) {
    const [, preheader] = /mso-hide:all[^>]*>([^&<]+)/.exec(html) ?? []
    assert.ok(preheader?.trim(), templateName)
    assert.notEqual(preheader, subject)
  }
})

test('the card is where the author puts it, else below the text', () => {
  const body = '<p>Before</p><p>%APPT_CARD%</p><p>After</p>'
  const { rendered } = HTML_TASKS.check(body)
  const placed = merge(rendered)
  for (const part of [placed.html, placed.text]) {
    assert.ok(part.indexOf('Before') < part.indexOf('3 November'))
    assert.ok(part.indexOf('3 November') < part.indexOf('After'))
    assert.equal(part.split('3 November').length, 2)
  }
  assert.doesNotMatch(placed.html, /<p>\s*<table/)
})

test('a mail after the visit has no card and no calendar button unless the author places the card', () => {
  assert.doesNotMatch(merge({ html: '', text: '' }, {}, after).text, /3 November|Add to/)
  const placed = merge({ html: '%APPT_CARD%', text: '%APPT_CARD%' }, {}, after)
  assert.match(placed.text, /3 November/)
  assert.doesNotMatch(placed.html, /Add to calendar/)
})

test('a cancelled appointment is shown as cancelled, without a calendar button or a map', () => {
  const calendar = { ...fullContext().calendar!, isCancelled: true, isLive: false }
  const { html, text } = merge({ language: 'de' }, { calendar })
  assert.match(html, /Abgesagt/)
  assert.match(html, /line-through/)
  assert.match(text, /^Abgesagt$/m)
  assert.doesNotMatch(html + text, /Kalender|maps/)
})

test('staff read the client’s name, and their own time below that of the location', () => {
  const mail = mergeMail(laidOut(), fullContext(visit), 'staff', before)
  assert.match(mail.text, /Client: Ada Okafor/)
  assert.match(mail.text, /Phone: \+44 7700 900123/)
  assert.match(mail.html, /Phone: <a [^>]*href="tel:\+447700900123"/)
  assert.match(mail.text, /^14:30–15:15, London time$/m)
  assert.match(mail.text, /^Your time: 15:30–16:15, Stockholm time$/m)
  assert.doesNotMatch(mail.text, /With:/)
})

test('the business reads its own time below that of a location in another zone', () => {
  const business = { ...fullContext().business, timeZone: 'Europe/Zurich' }
  const location = { ...fullContext().location!, timeZone: 'Europe/London' }
  const read = (recipient: Recipient, toAddress: string | null = null) =>
    mergeMail(
      laidOut({ subject: '%APPT_DATE_TIME_LOCATION%', toAddress }),
      fullContext({ ...visit, business, location }),
      recipient,
      before,
    )
  for (const mail of [read('business'), read('template', 'desk@harbour.example')]) {
    assert.match(mail.subject, /at 14:30, London time$/)
    assert.match(mail.text, /^14:30–15:15, London time$/m)
    assert.match(mail.text, /^Your time: 15:30–16:15, Zürich time$/m)
    assert.match(mail.text, /Client: Ada Okafor/)
  }
  const atLocation = read('template', '%LOCATION_EMAILADDRESS%')
  assert.match(atLocation.subject, /at 14:30$/)
  assert.doesNotMatch(atLocation.text, /Your time/)
})

test('a mail is in one language: dates, labels and links follow the template', () => {
  const client = { ...fullContext().client!, language: 'en' }
  const german = merge({ language: 'de', html: '', text: '' }, { client }).text
  for (const words of [
    'Dienstag, 3. November 2026',
    'Bei: Maya',
    'Ort: ',
    'Ortszeit London',
    'Ihre Zeit: ',
    'In den Kalender',
    'abbestellen',
  ])
    assert.ok(german.includes(words), words)
  const french = merge({ language: 'fr', html: '', text: '' }, { client }).text
  for (const words of [
    'Mardi 3 novembre 2026',
    'Avec\u00a0: Maya',
    'Lieu\u00a0: ',
    'heure locale à Londres',
    'Votre heure\u00a0: ',
    'Ajouter au calendrier',
    'Ne plus recevoir',
  ])
    assert.ok(french.includes(words), words)
  for (const text of [german, french]) assert.doesNotMatch(text, /Where|With|Add to|3 November/)
})

test('noHeader sends the mail as the author wrote it', () => {
  const { html, text } = mergeMail(compileTemplate(plainTemplate()), fullContext(visit))
  assert.doesNotMatch(html, /<table|<style/)
  assert.doesNotMatch(text, /Add to calendar|-- /)
})

test('an unsubscribe link in the body is not repeated in the footer', () => {
  const { html, text } = merge({
    html: '<a href="%UNSUBSCRIBE_LINK%">stop</a>',
    text: 'stop: %UNSUBSCRIBE_LINK%',
  })
  assert.equal(html.split('unsubscribe/7d1f').length, 2)
  assert.equal(text.split('unsubscribe/7d1f').length, 2)
})

test('the author’s media rules are kept, limited to the mail’s body and its classes', () => {
  const html = `<style>p { color: red } .wide { width: 600px }
@media (max-width: 600px) { .wide { width: 100% } #x { color: red } p { background: url(https://evil.example/) } td { padding: 0; position: fixed } }
@media print { </style><script>alert(1)</script> }
@font-face { src: url(https://evil.example/) }</style><p class="wide other">Hello</p>`
  const { faults } = HTML_TASKS.check(html)
  assert.match(faults[0]?.detail ?? '', /never closed/)
  const sound = html.replace(/@media print[^\n]*\n/, '')
  const { rendered, stored } = HTML_TASKS.check(sound)
  assert.equal(
    rendered.styles,
    '@media (max-width: 600px){\n.bw-body .wide{width:100%!important}\n.bw-body td{padding:0!important}\n}\n',
  )
  assert.equal(rendered.html.trim(), '<p class="wide" style="color:red;width:600px">Hello</p>')
  // The stored HTML renders the same mail, and saving it again does not change it.
  const again = HTML_TASKS.check(stored)
  assert.deepEqual(again.rendered.styles, rendered.styles)
  assert.equal(again.stored, stored)
  const mail = merge({ ...rendered })
  assert.equal(mail.html.split('<style>').length, 2)
  assert.ok(mail.html.indexOf('.wide{') < mail.html.indexOf('</head>'))
})

test('every demo mail is complete in three languages, without empty tokens or faults', () => {
  const mails = renderDemoMails()
  assert.equal(mails.length, 57)
  for (const { templateName, language, faults, emptyTokens, html, text } of mails) {
    const name = `${templateName} ${language}`
    assert.deepEqual(faults, [], name)
    assert.deepEqual(emptyTokens, [], name)
    assert.doesNotMatch(html + text, /%[A-Z_]{3,}|undefined|null/, name)
    assert.match(html, new RegExp(`<html lang="${language}"`), name)
    assert.ok(html.length < 8_000, `${name}: ${html.length}`)
  }
})

test('a demo mail without an optional value shows no debris of it', () => {
  for (const { templateName, language, compiled, context } of renderDemoMails()) {
    const recipient = /staff|Client|Student/.test(templateName) ? 'staff' : 'client'
    for (const less of sparseContexts(context)) {
      const mail = mergeMail(compiled, { ...context, ...less }, recipient, before)
      assertNoDebris(mail, `${templateName} ${language} without ${Object.keys(less)}`)
    }
  }
})

test('mails use nothing that Outlook or Gmail drop', () => {
  for (const { html, templateName } of renderDemoMails()) {
    assert.equal(html.match(/<style>/g)?.length, 1)
    assert.ok(/<style>([^]*)<\/style>/.exec(html)![1]!.length < MAX_GMAIL_STYLE)
    assert.doesNotMatch(html, /<link|url\(|http-equiv|@import|<script|<form|<svg|<video/i)
    for (const { tagName, attrs } of elementsOf(html)) {
      assert.doesNotMatch(tagName, UNSUPPORTED_TAGS, templateName)
      const style = attrs.find(({ name }) => name === 'style')?.value ?? ''
      assert.doesNotMatch(
        style,
        UNSUPPORTED_STYLES,
        `${templateName}: <${tagName} style="${style}">`,
      )
      if (tagName === 'img') assert.ok(attrs.some(({ name }) => name === 'alt'))
      if (
        tagName === 'table' &&
        !attrs.some(({ name, value }) => name === 'role' && value === 'presentation')
      )
        assert.fail(`${templateName}: a table for layout has no role`)
    }
  }
})

test('every text sets its font within its own cell, because Outlook does not inherit it', () => {
  const withoutFont: string[] = []
  const walk = (node: Node, hasFont: boolean) => {
    const attrs = 'attrs' in node ? node.attrs : []
    const names = attrs.some(({ name, value }) => name === 'style' && /font-family/.test(value))
    const isCell = 'tagName' in node && /^(?:body|td)$/.test(node.tagName)
    if (node.nodeName === '#text' && 'value' in node && node.value.trim() !== '' && !hasFont)
      withoutFont.push(node.value.trim())
    if ('childNodes' in node)
      for (const child of node.childNodes) walk(child, names || (hasFont && !isCell))
  }
  for (const { html } of renderDemoMails()) {
    const body = elementsOf(html).find(({ tagName }) => tagName === 'body')!
    walk(body, false)
    // Outlook shows Times if it does not know the first font of a list.
    assert.doesNotMatch(html, /font-family:(?!Helvetica,Arial)/)
  }
  assert.deepEqual(withoutFont, [])
})

test('an address in the text is a link, and one within a link or an attribute is not another', () => {
  const { html } = merge({
    html: '<p>Answer: %CONFIRM_URL%</p><p><a href="%CANCEL_URL%"><b>Not</b> %CANCEL_URL%</a></p><p title="%SIGN_URL%">x</p>',
  })
  const linksTo = (name: string) =>
    html.split(`href="https://bellwether.example/answer/${name}.7d1f"`)
  assert.match(html, /<a [^>]*href="([^"]*confirm[^"]*)">\1<\/a><\/p>/)
  assert.deepEqual(
    ['confirm', 'cancel', 'sign'].map((name) => linksTo(name).length - 1),
    [1, 1, 0],
  )
})

test('a phone number in the text does not wrap', () => {
  const { rendered } = HTML_TASKS.check(
    '<p><a href="tel:+4144">+41 44</a> <a href="https://a.example">a</a></p>',
  )
  const { html } = merge(rendered)
  assert.match(html, /<a class="bw-link" style="color:#[0-9a-f]{6};white-space:nowrap" href="tel:/)
  assert.match(html, /<a class="bw-link" style="color:#[0-9a-f]{6}" href="https:\/\/a\.example/)
})

/** Gmail drops longer style sheets: caniemail.com/features/html-style. */
const MAX_GMAIL_STYLE = 8_192
/** Not in Outlook for Windows: caniemail.com/features, CSS, October 2026. */
const UNSUPPORTED_STYLES =
  /(?:^|;)\s*(?:position|float|display\s*:\s*(?:flex|grid)|gap|object-fit|background-image|box-shadow|transform|opacity|z-index|filter|inset|aspect-ratio|clip-path)\b|calc\(|var\(|rgba\(|\brem\b|\bvh\b|\bvw\b/
/** Not in Outlook for Windows or Gmail: caniemail.com/features, HTML. */
const UNSUPPORTED_TAGS =
  /^(?:button|input|select|textarea|form|iframe|object|embed|audio|video|svg|math|dialog|details|picture|template|base|link|script)$/

test('a hostile value never changes the structure of the layout', () => {
  const template = laidOut({ html: '<p>Dear %CLIENT_FULLNAME%</p>', because: 'For %CLIENT_TAGS%' })
  const context = fullContext(visit)
  const withValue = (value: string) => ({
    ...context,
    business: { ...context.business, name: value, phone: value, website: value },
    location: { ...context.location!, name: value, address: value, phone: value },
    client: { ...context.client!, firstName: value, lastName: '', tags: { level: [value] } },
    professional: { ...context.professional!, firstName: value },
    reason: { ...context.reason!, name: value },
  })
  const isInline = (shape: string) => !/^(?:br|bdi) /.test(shape)
  const expected = shapeOf(mergeMail(template, withValue('x'), 'client', before).html).filter(
    isInline,
  )
  for (const attack of [
    ...htmlAttacks,
    '"><table><tr>',
    '--><![endif]-->',
    '%END:IF%',
    '</style>',
  ]) {
    const { html } = mergeMail(template, withValue(attack), 'client', before)
    assert.deepEqual(shapeOf(html).filter(isInline), expected, attack)
    for (const { attrs } of elementsOf(html))
      for (const { name, value } of attrs)
        if (name === 'href') assert.match(value, /^(?:https?:|mailto:|tel:|[^:]*$)/i, attack)
  }
})

test('without pictures the name of the business is legible in place of its logo, also on the plate of dark mode', () => {
  const { business } = fullContext()
  const { html } = merge(
    {},
    { business: { ...business, logo: { fileUUId: 'x', name: 'x.png', type: 'image/png' } } },
  )
  const [, alt, color] = /<img class="bw-logo"[^>]* alt="([^"]+)"[^>]*;color:(#\w{6})"/.exec(html)!
  assert.equal(alt, business.name)
  assert.ok(contrast(color!, '#ffffff') >= 4.5, String(color))
  assert.doesNotMatch(html, /\.bw-logo\{[^}]*[{;]color:/)
})

test('text is legible on every accent colour', () => {
  for (const accent of [
    '#000000',
    '#ffffff',
    '#ffcc00',
    '#2f5d50',
    '#ff0000',
    '#777777',
    '#00ffaa',
  ]) {
    const { onAccent, link, linkOnDark } = colorsFor(accent)
    assert.ok(contrast(accent, onAccent) >= 3.8, `${onAccent} on ${accent}`)
    assert.ok(contrast(link, '#f6f5f0') >= 4.5, link)
    assert.ok(contrast(linkOnDark, '#22302b') >= 4.5, linkOnDark)
  }
})
