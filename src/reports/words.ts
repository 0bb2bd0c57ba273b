import { FRENCH } from './words/french.ts'
import { GERMAN } from './words/german.ts'

/**
 * The fixed words of reports in the languages that they are printed in. The English text is the key, with
 * `{name}` for values. A text that a language lacks stays English; test/reports/words.test.ts finds it.
 */
const DICTIONARIES: Record<string, Record<string, string>> = { de: GERMAN, fr: FRENCH }

export const REPORT_LANGUAGES = ['en', 'de', 'fr'] as const

export type Words = {
  /** For numbers: `de-CH` writes other separators than `de`. */
  locale: string
  language: string
  say(english: string, values?: Record<string, string | number>): string
}

const known = new Map<string, Words>()

/** The words of a locale such as `fr-CH`; English for languages without words. */
export function wordsOf(locale: string): Words {
  const found = known.get(locale)
  if (found) return found
  const language = locale.split('-')[0]!.toLowerCase()
  const isKnown = language in DICTIONARIES
  const dictionary = DICTIONARIES[language] ?? {}
  const words: Words = {
    // Reports in English have always been written with the separators of en.
    locale: isKnown ? locale : 'en',
    language: isKnown ? language : 'en',
    say: (english, values) => fill(dictionary[english] ?? english, values),
  }
  known.set(locale, words)
  return words
}

const fill = (text: string, values: Record<string, string | number> | undefined) =>
  values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text

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
