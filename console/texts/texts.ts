import { useSyncExternalStore } from 'react'
import { currentLanguage, LANGUAGES, setTexts, type Language, type TextTree } from './translate.ts'

type Part = () => Promise<TextTree>
type PartName = 'frame' | 'pages' | 'reasons' | 'cities'

/** All that is not loaded for the sign-in. */
const OF_PAGES = ['pages', 'reasons', 'cities'] as const

/**
 * Every text of the console has a key in `en.ts`, which is loaded first, or in `en-pages.ts`, which is
 * loaded with the first page. The other languages have files of the same shape. The words of reasons are
 * those of reports, and the names of cities those of mails.
 */
const FILES: Record<Language, Record<PartName, Part>> = {
  en: {
    frame: async () => (await import('./en.ts')).en,
    pages: async () => (await import('./en-pages.ts')).enPages,
    reasons: async () => (await import('../../src/texts/reasons/en.json')).default,
    cities: async () => (await import('../../src/texts/cities/en.json')).default,
  },
  de: {
    frame: async () => (await import('./de.ts')).de,
    pages: async () => (await import('./de-pages.ts')).dePages,
    reasons: async () => (await import('../../src/texts/reasons/de.json')).default,
    cities: async () => (await import('../../src/texts/cities/de.json')).default,
  },
  fr: {
    frame: async () => (await import('./fr.ts')).fr,
    pages: async () => (await import('./fr-pages.ts')).frPages,
    reasons: async () => (await import('../../src/texts/reasons/fr.json')).default,
    cities: async () => (await import('../../src/texts/cities/fr.json')).default,
  },
}

const STORED = 'language'
const listeners = new Set<() => void>()
let wanted: Language = 'en'
let trees: Partial<Record<PartName, TextTree>> = {}

/** Loads the texts of the frame, in the language of the last user or of the browser. */
export function startTexts() {
  wanted = preferredLanguage()
  return load('frame')
}

/** Adds the texts of the pages. */
export const loadPageTexts = () => load('frame', ...OF_PAGES)

/** Shows the console in another language, and remembers it for the next sign-in with this browser. */
export function chooseLanguage(language: Language) {
  localStorage.setItem(STORED, language)
  wanted = language
  return load('frame', ...OF_PAGES)
}

async function load(...parts: PartName[]) {
  const language = wanted
  const isKnown = language === currentLanguage() && parts.every((part) => trees[part])
  if (isKnown) return
  const loaded = await Promise.all(
    parts.map(async (part) => [part, await FILES[language][part]()] as const),
  )
  // Another language was chosen meanwhile.
  if (language !== wanted) return
  const kept = language === currentLanguage() ? trees : {}
  trees = { ...kept, ...Object.fromEntries(loaded) }
  const { frame = {}, pages = {}, reasons = {}, cities = {} } = trees
  setTexts(language, [frame, pages, { reasons, cities }])
  document.documentElement.lang = language
  for (const listener of listeners) listener()
}

const preferredLanguage = (): Language =>
  [localStorage.getItem(STORED) ?? '', ...navigator.languages]
    .map((tag) => LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language))
    .find((language) => language !== undefined) ?? 'en'

/** The language of the texts. A component that uses it is drawn again when another one is chosen. */
export const useLanguage = () => useSyncExternalStore(subscribe, currentLanguage)

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
