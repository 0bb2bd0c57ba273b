import { domainToASCII } from 'node:url'

/** A name and an address, as in a From or To header. */
export type Mailbox = { name: string; address: string }

/**
 * Accepts one plain `local@domain` only: no quotes, spaces, lists, comments or address literals. Every
 * address in an envelope or a header passes this check. Returns it with the domain in lower-case ASCII.
 */
export function parseAddress(text: string): string | undefined {
  if (text.length > MAX_ADDRESS) return undefined
  const at = text.indexOf('@')
  if (at < 1 || at !== text.lastIndexOf('@')) return undefined
  const local = text.slice(0, at)
  const domain = parseDomain(text.slice(at + 1))
  if (local.length > 64 || !LOCAL.test(local) || domain === undefined) return undefined
  // An encoded word: some mail programs decode it into a second address.
  if (local.includes('=?')) return undefined
  const address = `${local}@${domain}`
  return address.length > MAX_ADDRESS ? undefined : address
}

/** Whether both are addresses of one mailbox. Addresses are stored as they were given. */
export function isSameAddress(one: string | null | undefined, other: string | null | undefined) {
  if (!one || !other) return false
  const known = parseAddress(one)?.toLowerCase()
  return known !== undefined && known === parseAddress(other)?.toLowerCase()
}

/** The domain of an address, in lower case. */
export const domainOf = (address: string) => address.slice(address.indexOf('@') + 1).toLowerCase()

/** Parses `Name <local@domain>` or a bare address, such as MAIL_FROM. */
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
const DOMAIN_CHARACTERS = /^[\p{L}\p{M}\p{N}.-]+$/u

/** The domain in lower-case ASCII; undefined if it is not valid. */
export function parseDomain(domain: string): string | undefined {
  if (!DOMAIN_CHARACTERS.test(domain)) return undefined
  // ASCII domains are not converted: the URL rules would turn `1.2` into an IP address.
  const ascii = /^[\x20-\x7e]+$/.test(domain) ? domain.toLowerCase() : domainToASCII(domain)
  if (ascii === '' || ascii.length > 253) return undefined
  const labels = ascii.split('.')
  // With digits only in its last label it is an IP address, which email allows only in brackets.
  if (/^\d+$/.test(labels.at(-1) ?? '')) return undefined
  return labels.every((label) => LABEL.test(label)) ? ascii : undefined
}

/** The text without addresses, such as a reply of a mail server for people who must not see them. */
export const hideAddresses = (text: string) =>
  text.replace(/<?([^\s<>]+)>?/g, (whole, word: string) => (/^.+?@./u.test(word) ? '…' : whole))
