import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { definitionOf, mailOf, RECIPES } from '../../console/automations/recipes.ts'
import { dePages } from '../../console/texts/de-pages.ts'
import { enPages } from '../../console/texts/en-pages.ts'
import { frPages } from '../../console/texts/fr-pages.ts'
import { buttonHtml, buttonOf } from '../../console/templates/button-html.ts'
import { setTexts } from '../../console/texts/translate.ts'
import { DEMO_BUSINESS } from '../../src/demo/demo.ts'
import { templateLines } from '../../src/demo/messages.ts'
import { colorsFor } from '../../src/email/colors.ts'
import { compileTemplate, mergeMail } from '../../src/email/merge.ts'
import { HTML_TASKS } from '../../src/email/read-html.ts'
import { fullContext, plainTemplate } from '../support/mail-context.ts'
import { assertNoDebris, sparseContexts } from '../support/sparse-contexts.ts'

const PAGES = { en: enPages, de: dePages, fr: frPages }
const now = Temporal.Instant.from('2026-11-01T09:00:00Z')

after(() => setTexts('en', [enPages]))

/** The parts of a full context that the mail of a recipe has. */
const ABSENT: Record<string, object> = {
  CALENDAR: { classSchedule: null, invitation: null, recall: null, disclaimer: null },
  CLASS_SCHEDULE: {
    calendar: null,
    reason: null,
    invitation: null,
    recall: null,
    disclaimer: null,
  },
  RECALL: { calendar: null, classSchedule: null, invitation: null, disclaimer: null },
}

test('a recipe about answers waits for the statuses that the links of the business set', () => {
  const statusesOf = (
    name: string,
    business: { confirmStatus: string | null; cancelStatus: string | null },
  ) => {
    const { oldStatus, newStatus } = definitionOf(
      RECIPES.find((one) => one.name === name)!,
      business,
    ) as Record<string, unknown>
    return [oldStatus, newStatus]
  }
  const own = { confirmStatus: 'SURE', cancelStatus: 'CALLED_OFF' }
  assert.deepEqual(statusesOf('clientConfirmed', own), ['OPEN', 'SURE'])
  assert.deepEqual(statusesOf('clientCancelled', own), [undefined, 'CALLED_OFF'])
  assert.deepEqual(statusesOf('clientReturns', own), ['CALLED_OFF', undefined])
  assert.deepEqual(statusesOf('cancelled', own), [undefined, 'CANCELLED'])
  const usual = { confirmStatus: null, cancelStatus: null }
  assert.deepEqual(statusesOf('clientConfirmed', usual), ['OPEN', 'CONFIRMED'])
})

for (const [language, pages] of Object.entries(PAGES)) {
  test(`the mail of each recipe is complete in ${language}, also without optional values`, () => {
    setTexts(language as keyof typeof PAGES, [pages])
    for (const recipe of RECIPES) {
      const { subject, emailBody } = mailOf(recipe, '#2f5d50')
      const { rendered, faults } = HTML_TASKS.check(emailBody)
      const name = `${recipe.name} ${language}`
      assert.deepEqual(faults, [], name)
      const template = compileTemplate(
        plainTemplate({ ...rendered, subject, language, hasLayout: true }),
      )
      const context = fullContext({
        ...ABSENT[recipe.definition.objectType],
        ...(recipe.name === 'form' ? { disclaimer: fullContext().disclaimer, calendar: null } : {}),
      })
      const reader = recipe.recipients ? 'staff' : 'client'
      const mail = mergeMail(template, context, reader, now)
      assert.deepEqual(mail.emptyTokens, [], name)
      const action = /confirmIt|bookOnline|sign/.test(String(recipe.paragraphs))
      const cell = '<td style="background-color:#2f5d50;color:#ffffff;[^"]*">'
      assert.equal(
        mail.html.match(new RegExp(`${cell}<a href="https?:`, 'g'))?.length,
        action ? 1 : undefined,
        name,
      )
      for (const less of [{}, ...sparseContexts(context)]) {
        const sparse = mergeMail(template, { ...context, ...less }, reader, now)
        assertNoDebris(sparse, `${name} without ${Object.keys(less)}`)
      }
    }
  })
}

test('the editor writes the buttons of the demo, with a legible text on every colour', () => {
  const { accentColor } = DEMO_BUSINESS
  const bodies = templateLines.map(({ emailBody }) => emailBody)
  const buttons = bodies.flatMap((body) =>
    [...body.matchAll(/<div>.*<\/div>/g)].map(([html]) => html),
  )
  assert.ok(buttons.length > 20)
  for (const html of buttons) {
    const [, address, text] = /href="([^"]*)"[^>]*>(.*)<\/a>/.exec(html)!
    assert.equal(buttonHtml(buttonOf(address!, accentColor), text!), html)
  }
  for (const color of ['#000000', '#2f5d50', '#ff0000', '#ffd400', '#7a7a7a', '#ffffff']) {
    assert.equal(buttonOf('%SIGN_URL%', color).textColor, colorsFor(color).onAccent, color)
  }
  const other = buttonHtml(buttonOf('https://a.example/?b="1"&c', null), 'Book')
  assert.match(
    other,
    /^<div><table .*href="https:\/\/a\.example\/\?b=&quot;1&quot;&amp;c".*<\/table><\/div>$/,
  )
})
