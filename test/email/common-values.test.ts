import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCommonValues } from '../../src/email/common-values.ts'
import { compileTemplate, isForEachClient, mergeContent } from '../../src/email/merge.ts'
import type { Segment } from '../../src/email/segments.ts'
import { renderDemoMails } from '../support/demo-mails.ts'
import { fullContext, plainTemplate } from '../support/mail-context.ts'

const before = Temporal.Instant.from('2026-01-01T00:00:00Z')
const after = Temporal.Instant.from('2030-01-01T00:00:00Z')

test('a mail is the same if what it has in common with others was filled in before', () => {
  const missing = [
    {},
    { client: null },
    { professional: null },
    { reason: null },
    { calendar: null },
    { location: null },
    { location: { ...fullContext().location!, address: null, phone: null, directions: ' ' } },
    { unsubscribeLink: null, calendarLink: null },
  ]
  for (const { templateName, compiled, context } of renderDemoMails()) {
    for (const recipient of ['client', 'staff'] as const) {
      const isForStaff = !isForEachClient(compiled, recipient)
      for (const [i, less] of missing.entries()) {
        const own = { ...context, ...less }
        const part = withCommonValues(compiled, own, isForStaff)
        for (const now of [before, after]) {
          assert.deepEqual(
            mergeContent(part, own, recipient, now),
            mergeContent(compiled, own, recipient, now),
            `${templateName} to ${recipient}, ${i}`,
          )
        }
      }
    }
  }
})

test('fallbacks, conditions and lines of common values have the same effect as in each mail', () => {
  const bodies = [
    '<p>%BUSINESS_PHONE%</p><p>x</p>',
    '<p>%BUSINESS_PHONE|none%</p>',
    '<p>%BUSINESS_PHONE|%</p>%BUSINESS_NAME|%<br>%LOCATION_PHONE|% <br>z',
    '%IF:BUSINESS_PHONE%<p>call %BUSINESS_PHONE%</p>%END:IF%<p>%CLIENT_FIRSTNAME%</p>',
    '%IF:CLIENT_FIRSTNAME%<p>%BUSINESS_NAME%: %LOCATION_PHONE|%</p>%END:IF%',
    '<p><a href="%RESCHEDULE_URL%">%BUSINESS_NAME%</a> <b>%LOCATION_NAME%</b></p>',
    '<ul><li>%LOCATION_PHONE|%</li><li>%CLIENT_PHONE|%</li></ul>',
  ]
  const plain = fullContext()
  for (const html of bodies) {
    for (const phone of [null, ' ', '+41 44 <1>']) {
      for (const language of ['en', 'ar']) {
        const compiled = compileTemplate(
          plainTemplate({ html, text: html.replace(/<[^>]*>/g, '\n'), subject: html, language }),
        )
        const context = fullContext({
          business: { ...plain.business, name: 'A & שלום', phone },
          location: { ...plain.location!, phone },
          client: { ...plain.client!, phone: null },
        })
        const part = withCommonValues(compiled, context, false)
        assert.deepEqual(
          mergeContent(part, context, 'client', before),
          mergeContent(compiled, context, 'client', before),
          `${html} ${phone} ${language}`,
        )
      }
    }
  }
})

test('what depends on the client, staff or appointment stays open', () => {
  const [{ compiled, context }] = renderDemoMails() as [ReturnType<typeof renderDemoMails>[0]]
  const part = withCommonValues(compiled, context, false)
  const names = new Set(tokensOf([...part.subject, ...part.html, ...part.text]))
  assert.ok(names.has('MAIL_DATE') && names.has('MAIL_PERSON') && names.has('MAIL_TITLE'))
  assert.deepEqual(
    [...names].filter((name) => /^(BUSINESS|LOCATION|WORD)_|MAIL_(ACCENT|ADDRESS)/.test(name)),
    [],
  )
})

const tokensOf = (segments: Segment[]): string[] =>
  segments.flatMap((segment) => {
    switch (segment.kind) {
      case 'token':
        return [segment.token.name]
      case 'block':
        return tokensOf([...segment.open, ...segment.content])
      case 'insert':
        return tokensOf(segment.segments)
      case 'link':
        return tokensOf(segment.address)
      default:
        return []
    }
  })
