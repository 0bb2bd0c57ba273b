import { parseAddress } from '../contract/addresses.ts'

/** What a mail server reports about one recipient of one mail (RFC 3464). */
export type Bounce = {
  /** Of the mail that was sent, where the report quotes it. */
  messageId: string | null
  recipient: string
  /** Refused for good: not a delay, not a delivery. */
  permanent: boolean
  /** Refused for good because the mailbox does not exist: no other mail will reach it either. */
  isNoSuchMailbox: boolean
  /** `5.1.1` and the like. */
  status: string
  /** The other server's own words. */
  words: string
}

/**
 * Whether an enhanced status code (RFC 3463) says that the recipient's mailbox does not exist: the
 * codes 5.1.x, except 5.1.7 and 5.1.8, which are about the sender. All other refusals are about the
 * message, the sender or the moment; they say nothing about the next mail.
 */
export const isNoSuchMailbox = (status: string) =>
  /^5\.1\.\d{1,3}$/.test(status) && status !== '5.1.7' && status !== '5.1.8'

/** The enhanced status code at the beginning of an SMTP reply; empty if the reply has none. */
export const statusOfReply = (reply: string) =>
  /^[245]\d\d[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? ''

/** Reads a delivery status notification; a message that is none gives none. */
export function readBounces(raw: string): Bounce[] {
  const report = readPart(raw)
  const boundary = parameter(report.type, 'boundary')
  if (!/^multipart\/report\b/i.test(report.type) || !boundary) return []
  const parts = splitParts(report.body, boundary).map(readPart)
  const messageId = quotedMessageId(parts)
  return parts
    .filter(({ type }) => /^message\/(?:global-)?delivery-status\b/i.test(type))
    .flatMap(({ body }) => body.split(/\n(?:[ \t]*\n)+/).slice(1))
    .filter((block) => /-recipient:/i.test(block))
    .flatMap((block) => bounceOf(readHeaders(block), messageId))
}

type Part = { headers: Map<string, string>; type: string; body: string }

function bounceOf(fields: Map<string, string>, messageId: string | null): Bounce[] {
  const recipient = parseAddress(
    (fields.get('original-recipient') ?? fields.get('final-recipient') ?? '')
      .replace(/^[^;]*;/, '')
      .trim()
      .replace(/^<(.*)>$/, '$1'),
  )
  if (recipient === undefined) return []
  const words = (fields.get('diagnostic-code') ?? '').replace(/^[^;]*;\s*/, '').slice(0, 500)
  const given = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get('status') ?? '')?.[0] ?? ''
  // `5.0.0` says only that it failed; the reply of the other server may say why.
  const status = /^(?:[245]\.0\.0)?$/.test(given) ? statusOfReply(words) || given : given
  const failed = fields.get('action')?.toLowerCase() === 'failed'
  const permanent = failed && !status.startsWith('4')
  const isOfMailbox = permanent && isNoSuchMailbox(status)
  return [{ messageId, recipient, permanent, isNoSuchMailbox: isOfMailbox, status, words }]
}

/** The report ends with the mail itself, or with its headers. */
function quotedMessageId(parts: Part[]) {
  const original = parts.findLast(({ type }) =>
    /^(?:message\/rfc822|text\/rfc822-headers|message\/global)/i.test(type),
  )
  const id = original && readPart(original.body).headers.get('message-id')
  return id ? (/<[^<>\s]+>/.exec(id)?.[0] ?? null) : null
}

function readPart(raw: string): Part {
  // PostgreSQL stores no NUL, so it is removed here and from what an encoded part decodes to.
  const text = raw.replaceAll('\0', '').replace(/\r\n?/g, '\n')
  const end = text.startsWith('\n') ? 0 : text.indexOf('\n\n')
  const headers = readHeaders(end < 0 ? text : text.slice(0, end))
  const body = end < 0 ? '' : text.slice(end).replace(/^\n{1,2}/, '')
  return {
    headers,
    type: headers.get('content-type') ?? 'text/plain',
    body: decoded(body, headers.get('content-transfer-encoding') ?? '').replaceAll('\0', ''),
  }
}

function readHeaders(block: string) {
  const headers = new Map<string, string>()
  for (const line of block.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return headers
}

function splitParts(body: string, boundary: string) {
  const parts: string[] = []
  let current: string[] | undefined
  for (const line of body.split('\n')) {
    const mark = line.trimEnd()
    if (mark === `--${boundary}` || mark === `--${boundary}--`) {
      if (current) parts.push(current.join('\n'))
      current = mark === `--${boundary}` ? [] : undefined
    } else current?.push(line)
  }
  if (current) parts.push(current.join('\n'))
  return parts
}

const parameter = (value: string, name: string) =>
  new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;\\s]*))`, 'i').exec(value)?.slice(1).find(Boolean)

function decoded(body: string, encoding: string) {
  if (/^base64$/i.test(encoding))
    return Buffer.from(body, 'base64').toString().replace(/\r\n?/g, '\n')
  if (!/^quoted-printable$/i.test(encoding)) return body
  const bytes = body
    .replace(/=[ \t]*\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
