import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dePages } from '../console/texts/de-pages.ts'
import { de } from '../console/texts/de.ts'
import { enPages } from '../console/texts/en-pages.ts'
import { en } from '../console/texts/en.ts'
import { frPages } from '../console/texts/fr-pages.ts'
import { fr } from '../console/texts/fr.ts'
import type { TextTree } from '../console/texts/translate.ts'
import { APPROVAL_SOURCES } from '../src/contract/approval.ts'
import { CHECK_CODES } from '../src/contract/check.ts'
import { EMAIL_STATUSES, SUPPRESSION_REASONS } from '../src/contract/email.ts'
import { CHANGES, OBJECT_TYPES } from '../src/contract/event-type.ts'
import { HISTORY_CODES } from '../src/contract/event-trigger.ts'
import { ENTRY_STATES, FEED_MODES, FEED_SOURCES } from '../src/contract/feed.ts'
import { REASON_CODES, valuesOfReason } from '../src/contract/reasons.ts'
import { FREQUENCIES } from '../src/contract/report-delivery.ts'
import { COMPARED_PERIODS, DIMENSIONS } from '../src/contract/report.ts'
import { PAST_CHOICES } from '../src/contract/restore.ts'
import { ROLES } from '../src/contract/roles.ts'
import { CHECK_RESULTS } from '../src/contract/sender-domain.ts'
import { OUTCOMES } from '../src/contract/status.ts'
import { REASON_TEXTS } from '../src/texts/texts.ts'

/*
 * What the types of console/texts/keys.ts cannot find: texts that no source uses, and translations with
 * other values or tags than the English text. Also texts whose key is composed of a word of the service:
 * each section has a text for each word, and no other.
 */

const CONSOLE = join(import.meta.dirname, '../console')

type Texts = Map<string, string[]>

/** Every key with its texts: more than one if it has plural forms. */
function textsOf(...trees: TextTree[]): Texts {
  const texts: Texts = new Map()
  const add = (tree: TextTree, path: string) => {
    for (const [name, text] of Object.entries(tree)) {
      if (typeof text !== 'string') add(text, `${path}${name}.`)
      else {
        const key = path + name.replace(/_(zero|one|other)$/, '')
        texts.set(key, [...(texts.get(key) ?? []), text])
      }
    }
  }
  for (const tree of trees) add(tree, '')
  return texts
}

const english = textsOf(en, enPages)

/** The values and tags of a text. A plural form may leave out the count: "one message". */
const partsOf = (text: string) =>
  new Set((text.match(/\{\{[^}]*\}\}|<\/\w+>/g) ?? []).filter((part) => !/^\{\{count\b/.test(part)))

function wrongParts(translated: Texts, language: string): string[] {
  return [...english].flatMap(([key, texts]) => {
    const expected = [...partsOf(texts.at(-1)!)].toSorted().join(' ')
    return (translated.get(key) ?? []).flatMap((text) => {
      const found = [...partsOf(text)].toSorted().join(' ')
      return found === expected
        ? []
        : [`${language} ${key}: has "${found}", the English text has "${expected}"`]
    })
  })
}

/** The count of a text without plural forms cannot be left out. */
const missingCounts = (translated: Texts, language: string) =>
  [...english].flatMap(([key, texts]) =>
    texts.at(-1)!.includes('{{count') && !translated.get(key)?.at(-1)?.includes('{{count')
      ? [`${language} ${key}: does not show the count`]
      : [],
  )

/** `${…}` in a template string, with one pair of braces inside. */
const EXPRESSION = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g

/** Patterns for the keys that the sources name; `*` stands for one part of a key. */
function usedPatterns(): RegExp[] {
  const sources = globSync('**/*.{ts,tsx}', { cwd: CONSOLE, exclude: ['dist', 'texts'] })
  const found = new Set<string>()
  for (const file of sources) {
    const source = readFileSync(join(CONSOLE, file), 'utf8')
    for (const text of [source, source.replaceAll(EXPRESSION, '*')]) {
      for (const [, name] of text.matchAll(/['"`]([a-z]\w*\.[\w.*-]+)['"`]/g)) found.add(name!)
    }
  }
  const sections = new Set([...english.keys()].map((key) => key.replace(/\.[^.]*$/, '')))
  return [...found].map((name) => {
    // A section is passed to a form, which adds the names of its fields.
    const key = sections.has(name) && !english.has(name) ? `${name}.*` : name
    return new RegExp(`^${key.replaceAll('.', '\\.').replaceAll('*', '[\\w-]+')}$`)
  })
}

function unusedTexts(): string[] {
  const patterns = usedPatterns()
  return [...english.keys()]
    .filter((key) => !patterns.some((pattern) => pattern.test(key)))
    .map((key) => `${key}: no source uses it`)
}

/** The sections whose keys end with a word of the service, and the words. */
const COMPOSED: Record<string, readonly string[]> = {
  'why.codes': CHECK_CODES,
  'why.changes': CHANGES,
  'sentence.changes': CHANGES,
  'reports.groups': DIMENSIONS,
  'reports.compared': COMPARED_PERIODS,
  'message.history': [...HISTORY_CODES, 'none'],
  roles: ROLES,
  mailStatus: EMAIL_STATUSES,
  'today.approval.sources': APPROVAL_SOURCES,
  'restored.past': PAST_CHOICES,
  'settings.mail.domain.results': CHECK_RESULTS,
  ...forEach(['frequencies', 'when'], 'reports.mail', FREQUENCIES),
  ...forEach(['reasons', 'meanings', 'allowHints'], 'settings.suppressions', SUPPRESSION_REASONS),
  ...forEach(['sources', 'sourceHints'], 'settings.feeds', FEED_SOURCES),
  ...forEach(['modes', 'modeHints', 'go'], 'settings.feeds', FEED_MODES),
  ...forEach(['states', 'stateHints'], 'settings.feeds', ENTRY_STATES),
  ...forEach(['objects', 'objectsWithoutTime', 'every'], 'message', OBJECT_TYPES),
  ...forEach(['of', 'first', 'outcomeHint', 'inUse'], 'settings.statuses', OBJECT_TYPES),
  ...forEach(OBJECT_TYPES, 'settings.statuses.outcomes', OUTCOMES),
  'sentence.objects': OBJECT_TYPES,
  'editor.occasionGroups': OBJECT_TYPES,
  'template.about': OBJECT_TYPES,
}

/** Several sections of a place with the same words. */
function forEach(sections: readonly string[], place: string, words: readonly string[]) {
  return Object.fromEntries(sections.map((section) => [`${place}.${section}`, words]))
}

const differences = (place: string, found: string[], expected: readonly string[]) => [
  ...expected.filter((one) => !found.includes(one)).map((one) => `${place}.${one}: is missing`),
  ...found.filter((one) => !expected.includes(one)).map((one) => `${place}.${one}: no such word`),
]

const wrongSections = () =>
  Object.entries(COMPOSED).flatMap(([section, words]) => {
    const found = [...english.keys()].filter((key) => key.startsWith(`${section}.`))
    const names = found.map((key) => key.slice(section.length + 1))
    return differences(section, names, words)
  })

/** A reason is said with the values that its code has; a language may leave out what it can do without. */
const wrongReasons = () =>
  Object.entries(REASON_TEXTS).flatMap(([language, texts]) => [
    ...differences(`reasons/${language}`, Object.keys(texts), REASON_CODES),
    ...REASON_CODES.flatMap((code) =>
      [...(texts[code] ?? '').matchAll(/\{(\w+)\}/g)]
        .filter(([, name]) => !valuesOfReason(code).includes(name!))
        .map(([, name]) => `reasons/${language}.${code}: has no value ${name}`),
    ),
    ...REASON_CODES.filter(
      (code) => valuesIn(texts[code] ?? '') !== valuesIn(REASON_TEXTS.en![code]),
    ).map((code) => `reasons/${language}.${code}: has other values than the English text`),
  ])

const valuesIn = (text: string) =>
  [...text.matchAll(/\{(\w+)\}/g)]
    .map(([, name]) => name)
    .toSorted()
    .join(' ')

const problems = [
  ...unusedTexts(),
  ...wrongSections(),
  ...wrongReasons(),
  ...Object.entries({ German: textsOf(de, dePages), French: textsOf(fr, frPages) }).flatMap(
    ([language, texts]) => [...wrongParts(texts, language), ...missingCounts(texts, language)],
  ),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
