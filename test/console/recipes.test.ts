import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { mailOf, RECIPES } from '../../console/automations/recipes.ts'
import { dePages } from '../../console/texts/de-pages.ts'
import { enPages } from '../../console/texts/en-pages.ts'
import { frPages } from '../../console/texts/fr-pages.ts'
import { setTexts } from '../../console/texts/translate.ts'
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

for (const [language, pages] of Object.entries(PAGES)) {
  test(`the mail of each recipe is complete in ${language}, also without optional values`, () => {
    setTexts(language as keyof typeof PAGES, [pages])
    for (const recipe of RECIPES) {
      const { subject, paragraphs } = mailOf(recipe)
      const html = paragraphs.map((text) => `<p>${text}</p>`).join('\n')
      const { rendered, faults } = HTML_TASKS.check(html)
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
      if (/confirmIt/.test(String(recipe.paragraphs))) assert.match(mail.html, /answer\/confirm/)
      for (const less of [{}, ...sparseContexts(context)]) {
        const sparse = mergeMail(template, { ...context, ...less }, reader, now)
        assertNoDebris(sparse, `${name} without ${Object.keys(less)}`)
      }
    }
  })
}
