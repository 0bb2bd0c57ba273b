import { plainText } from './plain.ts'

/** A person as a file or another system names them. */
export type Person = { firstName: string; lastName: string; emailAddress: string }

/** Stands for the last name of somebody who is known by one word. */
export const NO_LAST_NAME = '–'

const SALUTATION = /^(?:herrn?|frau|mrs?|ms|miss|mme|mlle|madame|monsieur)(?:\.|\s)\s*/i
/** Some exports add the telephone number to the name. */
const PHONE = /\+?\d[\d ()/.-]{5,30}/g
/** No name is as long, and some patterns here take quadratic time. */
const MAX_NAME_TEXT = 1_000
const TITLE = /^(?:dr|prof)$/

/** Words before a last name that belong to it. */
const PARTICLE =
  /^(?:von|vom|van|de|del|della|der|den|di|du|da|dos|le|la|ten|ter|zu|zum|zur|af|av)$/i

/** Reads `Anna Keller`, `Keller, Anna`, `Anna Keller <a@example.com>` or an address alone. */
export function readPerson(text: string): Person {
  const { emailAddress, rest } = takeAddress(text)
  return { ...readName(rest.slice(0, MAX_NAME_TEXT)), emailAddress }
}

/** The first address in a text, and the text without it. */
function takeAddress(text: string) {
  const at = text.indexOf('@')
  if (at < 1) return { emailAddress: '', rest: text }
  let from = at
  while (from > 0 && isOfAddress(text[from - 1]!)) from -= 1
  let to = at + 1
  while (to < text.length && isOfAddress(text[to]!)) to += 1
  return {
    emailAddress: text.slice(from, to).replace(/^mailto:/i, ''),
    rest: `${text.slice(0, from)} ${text.slice(to)}`,
  }
}

const isOfAddress = (character: string) => !/[\s<>(),;"[\]|]/.test(character)

function readName(text: string): Omit<Person, 'emailAddress'> {
  const name = text
    .replace(PHONE, ' ')
    .replace(/[<>()[\]"|;]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s,]+|[\s,/-]+$/g, '')
    .replace(SALUTATION, '')
  const comma = name.indexOf(',')
  if (comma > 0) {
    return complete(name.slice(comma + 1).trim(), name.slice(0, comma).trim())
  }
  const words = name.split(' ').filter((word) => word !== '')
  let split = Math.max(1, words.length - 1)
  while (split > 1 && PARTICLE.test(words[split - 1]!)) split -= 1
  return complete(words.slice(0, split).join(' '), words.slice(split).join(' '))
}

function complete(firstName: string, lastName: string) {
  if (firstName === '' && lastName === '') return { firstName: '', lastName: '' }
  return {
    firstName: firstName || lastName,
    lastName: firstName ? lastName || NO_LAST_NAME : NO_LAST_NAME,
  }
}

export const fullName = ({ firstName, lastName }: Omit<Person, 'emailAddress'>) =>
  `${firstName} ${lastName === NO_LAST_NAME ? '' : lastName}`.trim()

/** Equal for `Anna Keller`, `KELLER Anna` and `Dr. Anna Keller`. */
export const nameKey = (name: string) =>
  plainText(name)
    .split(' ')
    .filter((word) => !TITLE.test(word))
    .toSorted()
    .join(' ')
