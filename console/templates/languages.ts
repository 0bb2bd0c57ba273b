const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' })

/** "German" for `de`; an invalid tag is shown unchanged. */
export function languageName(tag: string): string {
  try {
    return names.of(tag.replaceAll('_', '-')) ?? tag
  } catch {
    return tag
  }
}

/** `de` for `de-CH`. */
export const primaryLanguage = (tag: string) => tag.toLowerCase().split(/[-_]/)[0]!

/** Offered in addition to the languages of the clients. */
export const COMMON_LANGUAGES = ['en', 'de', 'fr', 'it', 'es', 'pt', 'nl', 'pl', 'uk', 'tr', 'ar']
