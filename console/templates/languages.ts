import { currentLocale } from '../texts/translate.ts'

/** "German" for `de`; an invalid tag is shown unchanged. */
export function languageName(tag: string): string {
  try {
    return namesIn(currentLocale()).of(tag.replaceAll('_', '-')) ?? tag
  } catch {
    return tag
  }
}

const names = new Map<string, Intl.DisplayNames>()

/** Cached, because a list names many languages. */
function namesIn(locale: string) {
  let known = names.get(locale)
  if (!known) {
    known = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' })
    names.set(locale, known)
  }
  return known
}

/** `de` for `de-CH`. */
export const primaryLanguage = (tag: string) => tag.toLowerCase().split(/[-_]/)[0]!

/** Offered in addition to the languages of the clients. */
export const COMMON_LANGUAGES = ['en', 'de', 'fr', 'it', 'es', 'pt', 'nl', 'pl', 'uk', 'tr', 'ar']
