import type { Mailbox } from '../contract/addresses.ts'
import { headerValue } from './merge.ts'

/** `Name: value`, folded, ASCII only, ending with CRLF. The value must be built by this file. */
export const header = (name: string, value: string) => `${name}: ${value}\r\n`

/** Free text such as a subject, encoded unless it is plain ASCII with short words. */
export function textHeader(name: string, text: string) {
  const value = headerValue(text)
  return header(name, isPlain(value) ? fold(value, name.length + 2) : encodedWords(value))
}

export const mailboxHeader = (name: string, mailbox: Mailbox) => header(name, mailboxText(mailbox))

/** `Tue, 03 Nov 2026 14:30:00 +0000`. */
export const dateText = (moment: Temporal.Instant) =>
  new Date(moment.epochMilliseconds).toUTCString().replace('GMT', '+0000')

/**
 * The name of a file as parameters of Content-Disposition or Content-Type (RFC 2231, 6266): in ASCII
 * for old mail programs, and in UTF-8.
 */
export function fileNameParameters(parameter: 'name' | 'filename', name: string) {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_')
  if (ascii === name) return `${parameter}="${name}"`
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${parameter}="${ascii}"; ${parameter}*=UTF-8''${encoded}`
}

function mailboxText({ name, address }: Mailbox) {
  const phrase = headerValue(name)
  if (phrase === '') return `<${address}>`
  return `${phraseText(phrase)}\r\n <${address}>`
}

function phraseText(phrase: string) {
  if (phrase.length > 60 || !isPlain(phrase)) return encodedWords(phrase)
  if (/^[\w!#$%&'*+/=?^`{|}~ -]+$/.test(phrase)) return phrase
  return `"${phrase.replace(/["\\]/g, '\\$&')}"`
}

/** Plain ASCII without long words, and without `=?`, which would be read as encoded. */
const isPlain = (text: string) =>
  /^[\x20-\x7e]*$/.test(text) && !text.includes('=?') && !/[^ ]{60}/.test(text)

function fold(text: string, start: number) {
  if (start + text.length <= 76) return text
  let folded = ''
  let column = start
  for (const word of text.split(' ')) {
    const first = folded === ''
    if (!first && column + 1 + word.length > 76) {
      folded += `\r\n ${word}`
      column = 1 + word.length
    } else {
      folded += first ? word : ` ${word}`
      column += word.length + (first ? 0 : 1)
    }
  }
  return folded
}

/** RFC 2047: encoded words of whole characters, each on a line of its own. */
function encodedWords(text: string) {
  const words: string[] = []
  let piece = ''
  let size = 0
  for (const character of text) {
    const bytes = Buffer.byteLength(character)
    if (size + bytes > 42) {
      words.push(piece)
      piece = ''
      size = 0
    }
    piece += character
    size += bytes
  }
  words.push(piece)
  return words
    .map((word) => `=?UTF-8?B?${Buffer.from(word, 'utf8').toString('base64')}?=`)
    .join('\r\n ')
}
