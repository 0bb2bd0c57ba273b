import { createHmac, timingSafeEqual } from 'node:crypto'

/*
 * Signatures of webhooks. Comparisons take as long for a wrong text as for the right one.
 */

type Header = string | string[] | undefined

const isEqual = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)

/** The HMAC-SHA256 of the body as hexadecimal digits, with or without `sha256=` before it. */
export function isHmacSigned(header: Header, body: Buffer, secrets: string[]) {
  const digits = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(String(header ?? ''))?.[1]
  if (digits === undefined) return false
  const signature = Buffer.from(digits, 'hex')
  return secrets.some((secret) =>
    isEqual(signature, createHmac('sha256', secret).update(body).digest()),
  )
}

/** A header that holds the secret itself. */
export function holdsSecret(header: Header, secrets: string[]) {
  const sent = hashOf(String(header ?? ''))
  return secrets.some((secret) => isEqual(sent, hashOf(secret)))
}

/** Hashes have the same length, so that the comparison does not tell the length of the secret. */
const hashOf = (text: string) => createHmac('sha256', 'webhook').update(text).digest()

const MAX_AGE_MS = 5 * 60_000

/** Standard Webhooks: signs the id, the time and the body. Each of the secrets may sign. */
export function isStandardSigned(
  headers: Record<string, Header>,
  body: Buffer,
  secrets: string[],
  now: Temporal.Instant,
) {
  const [id, seconds, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`] ?? ''),
  ) as [string, string, string]
  if (!/^[\x21-\x7e]{1,255}$/.test(id) || !/^\d{1,12}$/.test(seconds)) return false
  if (Math.abs(Number(seconds) * 1_000 - now.epochMilliseconds) > MAX_AGE_MS) return false
  const sent = signatures
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice(3), 'base64')] : []))
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const right = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest()
    return sent.some((one) => isEqual(one, right))
  })
}
