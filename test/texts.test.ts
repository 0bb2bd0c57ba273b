import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  fillCount,
  LANGUAGES,
  REPORT_TEXTS,
  supportedLanguage,
  textsFor,
} from '../src/texts/texts.ts'

/** All texts of a section, by their place, with the names in braces that stand for values. */
const placeholdersOf = (texts: object, place = ''): [place: string, names: string][] =>
  Object.entries(texts).flatMap(([key, text]): [string, string][] =>
    typeof text === 'string'
      ? [[`${place}/${key}`, [...new Set(text.match(/\{\w+\}/g))].toSorted().join(' ')]]
      : placeholdersOf(text, `${place}/${key}`),
  )

test('every file of texts is a language that is used', () => {
  const files = readdirSync(join(import.meta.dirname, '../src/texts')).filter((name) =>
    name.endsWith('.json'),
  )
  assert.deepEqual(
    files.map((name) => name.slice(0, -5)),
    LANGUAGES.toSorted(),
  )
})

test('each language has the same texts with the same placeholders', () => {
  const english = placeholdersOf(textsFor('en'))
  assert.ok(english.length > 100)
  for (const language of LANGUAGES) {
    const own = placeholdersOf(textsFor(language))
    assert.deepEqual(
      own.filter(([place]) => !place.startsWith('/reports/')),
      english,
      language,
    )
  }
})

test('the texts of reports are the same in each language, with the placeholders of the English text', () => {
  const [first, ...others] = Object.values(REPORT_TEXTS)
  for (const other of others) {
    for (const [section, texts] of Object.entries(first!)) {
      assert.deepEqual(Object.keys(other[section as keyof typeof first]), Object.keys(texts))
    }
  }
  for (const [language, sections] of Object.entries(REPORT_TEXTS)) {
    for (const texts of Object.values(sections)) {
      const english = Object.fromEntries(Object.keys(texts).map((text) => [text, text]))
      assert.deepEqual(placeholdersOf(texts), placeholdersOf(english), language)
    }
  }
})

test('no text of a report is in two sections with different translations', () => {
  for (const { labels, definitions, sentences } of Object.values(REPORT_TEXTS)) {
    const texts = [labels, definitions, sentences].flatMap(Object.keys)
    assert.equal(new Set(texts).size, texts.length)
  }
})

test('a language tag finds the texts of its language, and English if there are none', () => {
  assert.equal(supportedLanguage('de-CH'), 'de')
  assert.equal(supportedLanguage('it'), 'en')
  assert.equal(supportedLanguage(null), 'en')
  assert.equal(textsFor('FR').mail.colon, '\u00a0:')
  const { hours } = textsFor('en').answerPages.tooLate
  assert.match(fillCount(hours, 1), /until 1 hour before/)
  assert.match(fillCount(hours, 24), /until 24 hours before/)
})
