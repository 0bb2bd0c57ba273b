import { domainToASCII } from 'node:url'

/** A name and an address, as they stand in a From or To line. */
export type Mailbox = { name: string; address: string }

/**
 * One plain `local@domain` and nothing else: no quotes, spaces, lists, comments or address
 * literals. Every address that reaches an envelope or a header went through here, so that nothing
 * a business or a client typed is ever read by an address parser. Gives the form for the wire
 * (the domain as ASCII, in small letters), or undefined.
 */
export function parseAddress(text: string): string | undefined {
  if (text.length > MAX_ADDRESS) return undefined
  const at = text.indexOf('@')
  if (at < 1 || at !== text.lastIndexOf('@')) return undefined
  const local = text.slice(0, at)
  const domain = parseDomain(text.slice(at + 1))
  if (local.length > 64 || !LOCAL.test(local) || domain === undefined) return undefined
  // An encoded word: some readers decode it into a second address.
  if (local.includes('=?')) return undefined
  const address = `${local}@${domain}`
  return address.length > MAX_ADDRESS ? undefined : address
}

/** The part of an address that names its provider. */
export const domainOf = (address: string) => address.slice(address.indexOf('@') + 1).toLowerCase()

/** `Name <local@domain>` or a bare address: how an operator writes MAIL_FROM. */
export function parseMailbox(text: string): Mailbox | undefined {
  const named = /^([^<>\p{Cc}]*)<([^<>]*)>$/u.exec(text.trim())
  const address = parseAddress(named?.[2] ?? text.trim())
  if (address === undefined) return undefined
  const name = (named?.[1] ?? '').trim().replace(/^"(.*)"$/, '$1')
  return { name, address }
}

const MAX_ADDRESS = 254

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const LETTERS_OF_DOMAINS = /^[\p{L}\p{M}\p{N}.-]+$/u

/** The domain of an address in the form for the wire, or undefined if it cannot be one. */
export function parseDomain(domain: string): string | undefined {
  if (!LETTERS_OF_DOMAINS.test(domain)) return undefined
  // What is ASCII already keeps its letters: the URL rules would turn `1.2` into an IP address.
  const ascii = /^[\x20-\x7e]+$/.test(domain) ? domain.toLowerCase() : domainToASCII(domain)
  if (ascii === '' || ascii.length > 253) return undefined
  const labels = ascii.split('.')
  // An all-digit last label is an IP address, which needs brackets to be mail at all.
  if (/^\d+$/.test(labels.at(-1) ?? '')) return undefined
  return labels.every((label) => LABEL.test(label)) ? ascii : undefined
}
