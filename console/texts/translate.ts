import type { Session } from '../../src/client/client.ts'
import type { ReasonCode } from '../../src/contract/reasons.ts'
import type { TextKey, ValueArguments } from './keys.ts'

export const LANGUAGES = ['en', 'de', 'fr'] as const satisfies Session['language'][]
export type Language = (typeof LANGUAGES)[number]

/** The language tags for dates and numbers. */
const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de', fr: 'fr' }

export type TextTree = { readonly [name: string]: string | TextTree }

let language: Language = 'en'
let texts = new Map<string, string>()
let plurals = new Intl.PluralRules('en')
let numbers = new Intl.NumberFormat('en')

export const currentLanguage = () => language

/** For `Intl`. */
export const currentLocale = () => LOCALES[language]

/** Replaces all texts by those of a language. */
export function setTexts(chosen: Language, trees: TextTree[]) {
  language = chosen
  texts = new Map(trees.flatMap((tree) => entriesOf(tree)))
  plurals = new Intl.PluralRules(currentLocale())
  numbers = new Intl.NumberFormat(currentLocale())
}

const entriesOf = (tree: TextTree, path = ''): [string, string][] =>
  Object.entries(tree).flatMap(([name, text]) =>
    typeof text === 'string' ? [[path + name, text]] : entriesOf(text, `${path}${name}.`),
  )

export type Translate = typeof t

/** The text of a key in the language of the user, with its values. */
export function t<Key extends TextKey>(key: Key, ...[values]: ValueArguments<Key>): string {
  return fillText(findText(key, values), values)
}

/** The text of a key that is composed of a word of the service, which may be unknown here. */
export const textOr = (key: string, otherwise: string) => texts.get(key) ?? otherwise

export type Values = Record<string, string | number>

/** The text before its values are filled in. */
export function findText(key: string, { count }: Values = {}): string {
  const forms =
    typeof count === 'number'
      ? [...(count === 0 ? ['_zero'] : []), `_${plurals.select(count)}`, '_other', '']
      : ['']
  const form = forms.find((one) => texts.has(key + one))
  return form === undefined ? key : texts.get(key + form)!
}

/** `{{name}}` as it is, `{{name, number}}` as the language writes numbers. */
export const fillText = (text: string, values: Values = {}) =>
  text.replace(/\{\{(\w+)(, number)?\}\}/g, (whole, name: string, asNumber?: string) => {
    const value = values[name]
    if (value === undefined) return whole
    return asNumber && typeof value === 'number' ? formatNumber(value) : String(value)
  })

/** The words of a reason; `src/texts/reasons/` writes its values as `{name}`. */
export const sayReasonCode = (code: ReasonCode, values: Values) =>
  findText(`reasons.${code}`).replace(/\{(\w+)\}/g, (whole, name: string) =>
    typeof values[name] === 'number' ? formatNumber(values[name]) : (values[name] ?? whole),
  )

export const formatNumber = (value: number) => numbers.format(value)

/** "CHF 120.00" */
export const formatMoney = (amount: number, currency: string) =>
  amount.toLocaleString(currentLocale(), { style: 'currency', currency })

/** A label as a part of a sentence. German words keep their capital letter. */
export const insideSentence = (label: string) =>
  language === 'de' ? label : label.charAt(0).toLowerCase() + label.slice(1)

/** "Zürich, Basel or Bern" */
export const listAlternatives = (names: string[]) =>
  new Intl.ListFormat(currentLocale(), { type: 'disjunction' }).format(names)

const translation = { t }

/** The texts in the language of the user. The whole console is drawn again if it changes. */
export const useTranslation = () => translation
