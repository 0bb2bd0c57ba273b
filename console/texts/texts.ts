import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { en } from './en.ts'

/**
 * Every text of the console has a key in `en.ts`, or in `en-pages.ts`, which is loaded with the first
 * page. A language is one more pair of files of the same shape.
 */
export function startTexts() {
  void i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    defaultNS: 'console',
    resources: { en: { console: en } },
    interpolation: { escapeValue: false }, // React escapes
    initAsync: false,
  })
}

let pageTexts: Promise<void> | undefined

/** Adds the texts of the pages once. Retries after a failure. */
export function loadPageTexts() {
  pageTexts ??= addPageTexts().catch((error: unknown) => {
    pageTexts = undefined
    throw error
  })
  return pageTexts
}

async function addPageTexts() {
  const { enPages } = await import('./en-pages.ts')
  i18next.addResourceBundle('en', 'console', enPages, true)
}
