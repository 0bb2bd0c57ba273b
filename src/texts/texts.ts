import { readReasons, type ReasonCode } from '../contract/reasons.ts'
import deCities from './cities/de.json' with { type: 'json' }
import enCities from './cities/en.json' with { type: 'json' }
import frCities from './cities/fr.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import deReasons from './reasons/de.json' with { type: 'json' }
import enReasons from './reasons/en.json' with { type: 'json' }
import frReasons from './reasons/fr.json' with { type: 'json' }

/**
 * The fixed texts of mails, of the pages behind their links and of reports: one file for each language,
 * which a translator can edit. `{name}` stands for a value. Reports name their texts in English where they
 * use them, so `reports` of the other languages has the English text as its key.
 */
export type Texts = typeof en

const TEXTS: Record<string, Texts> = { en, de, fr }

export const LANGUAGES = Object.keys(TEXTS)

/** The translated texts of reports. */
export const REPORT_TEXTS: Record<
  string,
  Record<keyof typeof de.reports, Record<string, string>>
> = { de: de.reports, fr: fr.reports }

/** The cities that a time zone is named after, if its name is not the city's; the console says them too. */
const CITY_NAMES: Record<string, Partial<Record<string, string>>> = {
  en: enCities,
  de: deCities,
  fr: frCities,
} satisfies Record<string, typeof enCities>

/** "Wien" for the `Vienna` of "Europe/Vienna" */
export const cityIn = (language: string, name: string) =>
  CITY_NAMES[supportedLanguage(language)]![name] ?? name.replaceAll('_', ' ')

/** The words of reasons, which reports and the console say. */
export const REASON_TEXTS: Record<string, Record<ReasonCode, string>> = {
  en: enReasons,
  de: deReasons,
  fr: frReasons,
}

/** The language of `textsFor`: that of a language tag such as `de-CH`; English if we do not support it. */
export const supportedLanguage = (tag: string | null | undefined) => {
  const base = (tag ?? 'en').slice(0, 2).toLowerCase()
  return base in TEXTS ? base : 'en'
}

export const textsFor = (tag: string | null | undefined): Texts => TEXTS[supportedLanguage(tag)]!

/** The text with these values in place of their names in braces. */
export const fillText = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

/** A text for one, and a text for `{count}`. */
export type Counted = { one: string; many: string }

export const fillCount = (
  { one, many }: Counted,
  count: number,
  values: Record<string, string | number> = {},
) => fillText(count === 1 ? one : many, { ...values, count })

/** The text of a stored reason in a language. The replies of mail servers stay as they are. */
export const sayReason = (language: string, text: string) =>
  readReasons(text)
    .map(({ code, params }, i) => {
      const before = i === 0 ? '' : code === 'words' ? ': ' : '; '
      return before + fillText(REASON_TEXTS[language]![code], params)
    })
    .join('')
