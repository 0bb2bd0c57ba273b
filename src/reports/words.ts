import { fillWords } from '../email/words.ts'
import { DEFINITIONS } from './words/definitions.ts'
import { LABELS } from './words/labels.ts'
import { REASON_WORDS } from './words/reasons.ts'
import { SENTENCES } from './words/sentences.ts'
import { STATES } from './words/statuses.ts'
import { dateWriter, type WriteDate } from './write-date.ts'

/**
 * The fixed words of reports in the languages that they are printed in. The English text is the key, with
 * `{name}` for values. A missing translation falls back to English; test/reports/words.test.ts reports it.
 */
const TABLE = [...LABELS, ...DEFINITIONS, ...SENTENCES]

const DICTIONARIES: Record<string, ReadonlyMap<string, string>> = {
  de: new Map(TABLE.map(([english, german]) => [english, german])),
  fr: new Map(TABLE.map(([english, , french]) => [english, french])),
}

const STATE_WORDS: Record<string, ReadonlyMap<string, string>> = {
  de: new Map(STATES.map(([english, german]) => [english, german])),
  fr: new Map(STATES.map(([english, , french]) => [english, french])),
}

type Replacement = [pattern: RegExp, by: string]

/** Replaces a reason that begins the text or follows another one; `{status}` is copied. */
const replaceReason = (english: string, other: string): Replacement => [
  new RegExp(`(?<=^|[;:] )${english.replace(/\{(\w+)\}/, '(?<$1>\\w+)')}`, 'g'),
  other.replace(/\{(\w+)\}/, '$<$1>'),
]

const REASONS_IN: Record<string, Replacement[]> = {
  de: REASON_WORDS.map(([english, german]) => replaceReason(english, german)),
  fr: REASON_WORDS.map(([english, , french]) => replaceReason(english, french)),
}

export const REPORT_LANGUAGES = ['en', 'de', 'fr'] as const

export type Words = {
  /** For numbers: `de-CH` writes other separators than `de`. */
  locale: string
  language: string
  say(english: string, values?: Record<string, string | number>): string
  /** The label of a status. Labels that the business has chosen are not translated. */
  sayStatus(label: string): string
  /** A state of one object. */
  sayState(english: string): string
  /** The reason why a trigger ended. Replies of mail servers are not translated. */
  sayReason(english: string): string
  writeDate: WriteDate
}

const known = new Map<string, Words>()

/** The words of a locale such as `fr-CH`; English for languages without words. */
export function wordsOf(locale: string): Words {
  const found = known.get(locale)
  if (found) return found
  const language = locale.split('-')[0]!.toLowerCase()
  const isKnown = language in DICTIONARIES
  const dictionary = DICTIONARIES[language]
  const states = STATE_WORDS[language]
  const reasons = REASONS_IN[language] ?? []
  const words: Words = {
    // English numbers have the same format for all regions.
    locale: isKnown ? locale : 'en',
    language: isKnown ? language : 'en',
    say: (english, values = {}) => fillWords(dictionary?.get(english) ?? english, values),
    sayStatus: (label) => states?.get(label) ?? label,
    sayState: (english) => states?.get(english) ?? dictionary?.get(english) ?? english,
    sayReason: (english) => reasons.reduce((text, [from, to]) => text.replace(from, to), english),
    writeDate: dateWriter(locale, isKnown ? language : 'en'),
  }
  known.set(locale, words)
  return words
}

/** Whether the text has a German and a French form. */
export const isTranslated = (english: string) =>
  Object.values(DICTIONARIES).every((dictionary) => dictionary.has(english))

/** The languages of an `Accept-Language` header, the preferred ones first. */
export const readLocales = (header: string | undefined): string[] =>
  (header ?? '')
    .slice(0, 300)
    .split(',')
    .map((part) => {
      const [locale = '', weight] = part.trim().split(/\s*;\s*q=/)
      return { locale, weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ locale, weight }) => locale !== '' && weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ locale }) => locale)

/** The first of these locales that reports are printed in; `en` if none is. */
export function chooseLocale(wanted: (string | null | undefined)[]): string {
  for (const locale of wanted) {
    if (!locale) continue
    const language = locale.split('-')[0]!.toLowerCase()
    if ((REPORT_LANGUAGES as readonly string[]).includes(language) && isLocale(locale)) {
      return locale
    }
  }
  return 'en'
}

function isLocale(text: string) {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}
