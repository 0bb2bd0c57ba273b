import { isLanguageTag } from '../contract/fields.ts'

const NAMED_IN = ['en', 'de', 'fr', 'it', 'es']

let tags: Map<string, string> | undefined

/** The tag of a language that a file names in words: `de` of "German", "Deutsch" or "allemand". */
export function readLanguage(cell: string): string {
  if (isLanguageTag(cell)) return cell
  tags ??= listNames()
  return tags.get(cell.trim().toLowerCase()) ?? cell
}

/** The names of the languages that have a tag of two letters, in several languages and in their own. */
function listNames() {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const all = letters.flatMap((first) => letters.map((second) => first + second))
  const names = new Map<string, string>()
  for (const tag of all) {
    for (const locale of [...NAMED_IN, tag]) {
      const name = namesIn(locale).of(tag)
      if (name && !names.has(name.toLowerCase())) names.set(name.toLowerCase(), tag)
    }
  }
  return names
}

const namesIn = (locale: string) =>
  new Intl.DisplayNames([locale], { type: 'language', fallback: 'none' })
