import { fillText, REPORT_TEXTS, sayReason } from '../texts/texts.ts'
import { cellDateWriter, dateWriter, type WriteDate } from './write-date.ts'

/** The fixed words of one language. A missing translation falls back to English. */
const dictionaryOf = ({ labels, definitions, sentences, states }: Translations) => ({
  words: new Map(Object.entries({ ...labels, ...definitions, ...sentences })),
  states: new Map(Object.entries(states)),
})

type Translations = (typeof REPORT_TEXTS)[string]

const DICTIONARIES = Object.fromEntries(
  Object.entries(REPORT_TEXTS).map(([language, texts]) => [language, dictionaryOf(texts)]),
)

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
  /** For the cells of a table. */
  writeCellDate: WriteDate
}

const known = new Map<string, Words>()

/** The words of a locale such as `fr-CH`; English for languages without words. */
export function wordsOf(locale: string): Words {
  const found = known.get(locale)
  if (found) return found
  const language = locale.split('-')[0]!.toLowerCase()
  const dictionary = DICTIONARIES[language]
  const say = (english: string) => dictionary?.words.get(english) ?? english
  const words: Words = {
    // English numbers have the same format for all regions.
    locale: dictionary ? locale : 'en',
    language: dictionary ? language : 'en',
    say: (english, values = {}) => fillText(say(english), values),
    sayStatus: (label) => dictionary?.states.get(label) ?? label,
    sayState: (english) => dictionary?.states.get(english) ?? say(english),
    sayReason: (english) => (dictionary ? sayReason(language, english) : english),
    writeDate: dateWriter(locale, dictionary ? language : 'en'),
    writeCellDate: cellDateWriter(locale, dictionary ? language : 'en'),
  }
  known.set(locale, words)
  return words
}

/** Whether the text has a German and a French form. */
export const isTranslated = (english: string) =>
  Object.values(DICTIONARIES).every(({ words }) => words.has(english))

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
