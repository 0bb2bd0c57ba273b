import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { GAVE_UP } from '../../src/store/trigger-queue.ts'
import { REASONS, SUPPRESSED_REASONS } from '../../src/contract/reasons.ts'
import { DIMENSIONS } from '../../src/contract/report.ts'
import { REPORTS } from '../../src/reports/catalog/catalog.ts'
import { REMINDER_GROUPS } from '../../src/reports/catalog/reminder-rows.ts'
import { CHANGES } from '../../src/reports/formats/format-values.ts'
import { groupedColumns } from '../../src/reports/grouping.ts'
import { FILTER_WORDS } from '../../src/reports/meaningless.ts'
import { MEASURES } from '../../src/reports/measures.ts'
import { chooseLocale, isTranslated, readLocales, wordsOf } from '../../src/reports/words.ts'

const FOLDER = join(import.meta.dirname, '../../src/reports')

const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('words'))
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'))

/** The first group of all matches in the sources. */
const textsLike = (pattern: RegExp) =>
  sources.flatMap((source) => [...source.matchAll(pattern)].map(([, text]) => text!))

test('every name, label and definition of the reports is in German and French', () => {
  const words = [
    ...REPORTS.flatMap(({ reportName, description, columns, kpis }) => [
      reportName,
      description,
      ...columns.map(({ label }) => label),
      ...columns.flatMap(({ fixedWords }) => (Array.isArray(fixedWords) ? fixedWords : [])),
      ...kpis.flatMap(({ label, definition }) => [label, definition]),
    ]),
    ...Object.values(MEASURES).flatMap(({ label, definition }) => [label, definition]),
    ...groupedColumns([...DIMENSIONS], {}).map(({ label }) => label),
    ...DIMENSIONS,
    ...Object.values(FILTER_WORDS),
    ...Object.values(REMINDER_GROUPS),
    ...Object.values(CHANGES).flatMap((phrases) => Object.values(phrases)),
  ]
  assert.ok(words.length > 300)
  assert.deepEqual(
    [...new Set(words)].filter((word) => !isTranslated(word)),
    [],
  )
})

test('no two columns of a report have the same label, in any language', () => {
  for (const { reportId, columns } of REPORTS) {
    for (const locale of ['de', 'fr']) {
      const labels = columns.map(({ label }) => wordsOf(locale).say(label))
      const repeated = labels.filter((label, i) => labels.indexOf(label) !== i)
      assert.deepEqual(repeated, [], `${reportId} ${locale}`)
    }
  }
})

test('every text that the layout and the sentences use is in German and French', () => {
  const used = textsLike(/\bsay\(\s*'([^']+)'/g)
  assert.ok(used.length > 40)
  // The pattern above does not find texts in constants.
  assert.deepEqual(textsLike(/\bsay\(\s*([A-Z_]{3,})\)/g), [])
  assert.deepEqual(
    [...new Set(used)].filter((word) => !isTranslated(word)),
    [],
  )
})

test('every title and series of a chart is in German and French', () => {
  // Titles over time end with a comma if “by day” follows as a new clause.
  const titles = textsLike(/\btitle: '([^']+?),?'/g)
  const series = textsLike(/\{\s*name: '([^']+)',\s*(?:tone|column|values|where)/g)
  assert.ok(titles.length > 20 && series.length > 30)
  const words = new Set([...titles, ...series])
  assert.deepEqual(
    [...words].filter((word) => !isTranslated(word)),
    [],
  )
})

test('every state that a report writes into its cells is in German and French', () => {
  const cells = [
    ...textsLike(/\b(?:then|else) '([A-Z][a-z][^']*)'/g),
    ...textsLike(/\bthen '([a-z]+)' end as/g),
  ]
  const states = [
    ...textsLike(/\b[A-Z_]{4,}: '([A-Z][a-z][^']*)'/g),
    ...textsLike(/\blabel: '([^']+)',?\s*outcome/g),
    ...textsLike(/\bstate: '[A-Z_]+',[^}]*?label: '([^']+)'/g),
  ]
  assert.ok(cells.length > 8 && states.length > 8)
  const words = new Set([...cells, ...states])
  assert.deepEqual(
    [...words].filter((word) => !isTranslated(word)),
    [],
  )
})

test('the reasons of triggers are in German and French, and replies of mail servers are not translated', () => {
  const reasons = [...Object.values(REASONS), ...Object.values(SUPPRESSED_REASONS)]
  const sayReason = (locale: string, text: string) => wordsOf(locale).sayReason(text)
  for (const locale of ['de', 'fr']) {
    const english = reasons.filter((reason) => sayReason(locale, reason) === reason)
    assert.deepEqual(english, [], locale)
  }
  assert.equal(
    sayReason('de-CH', "the appointment's status is NO_SHOW; it was deleted"),
    'der Status ist „NO_SHOW“; der Eintrag wurde gelöscht',
  )
  assert.equal(
    sayReason('fr', 'gave up after 3 attempts: 421 try later'),
    'abandonné après 3 tentatives: 421 try later',
  )
  assert.equal(
    sayReason('de', `${GAVE_UP}the worker died or lost its lease`),
    'nach 3 erfolglosen Versuchen aufgegeben; der Dienst wurde beendet oder war zu lange still',
  )
  assert.equal(sayReason('fr', 'cancelled by sofia'), 'annulé par sofia')
  assert.equal(
    sayReason('de', 'the definition does not select location 3'),
    'die Automation gilt nicht für den Standort 3',
  )
  assert.equal(
    sayReason('de', '550 5.1.1 mailbox unknown, it was deleted'),
    '550 5.1.1 mailbox unknown, it was deleted',
  )
  assert.equal(sayReason('en', reasons[0]!), reasons[0])
})

test('dates are written as in their language; in the cells of English tables they stay ISO dates', () => {
  const iso = [
    '2026-09-01',
    '2026-09',
    '09-01',
    '2026-09-01 14:05',
    '2026-09-01 14:05:06',
    '7',
    'x',
  ]
  const written = (locale: string) => iso.map(wordsOf(locale).writeDate)
  assert.deepEqual(iso.map(wordsOf('en-GB').writeCellDate), iso)
  assert.deepEqual(iso.map(wordsOf('de').writeCellDate), written('de'))
  assert.deepEqual(written('en-US'), [
    '1 September 2026',
    'Sept 2026',
    '1 Sept',
    '1 September 2026, 14:05',
    '1 September 2026, 14:05:06',
    '7',
    'x',
  ])
  const german = ['01.09.2026', '09.2026', '01.09.', '01.09.2026 14:05', '01.09.2026 14:05:06']
  assert.deepEqual(written('de'), [...german, '7', 'x'])
  assert.deepEqual(written('fr-CH'), [...german, '7', 'x'])
  const french = ['01/09/2026', '09/2026', '01/09', '01/09/2026 14:05', '01/09/2026 14:05:06']
  assert.deepEqual(written('fr'), [...french, '7', 'x'])
  assert.deepEqual(written('fr-CA'), iso)
})

test('the first supported language is chosen, else English', () => {
  assert.equal(chooseLocale(['*', 'ja', 'fr-CH', 'de']), 'fr-CH')
  assert.equal(chooseLocale([null, 'de-CH']), 'de-CH')
  assert.equal(chooseLocale(['it', undefined]), 'en')
  assert.equal(chooseLocale(['de_broken!']), 'en')
  assert.deepEqual(readLocales('en;q=0.5, fr-CH, de;q=0.9, ru;q=0'), ['fr-CH', 'de', 'en'])
  assert.deepEqual(readLocales(undefined), [])
  assert.equal(wordsOf('de-CH').say('Page'), 'Seite')
  assert.equal(wordsOf('fr').say('{count} rows.', { count: 3 }), '3 lignes.')
  assert.equal(wordsOf('it').say('Page'), 'Page')
})
