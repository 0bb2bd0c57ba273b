import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  hash,
  sign,
  type KeyObject,
} from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { domainOf } from '../contract/addresses.ts'
import { WorkQueue } from '../work-queue.ts'
import type { Message } from './message.ts'

export type DkimSigner = { domain: string; selector: string; key: KeyObject }

/** Reads the key once: parsing it for every mail costs more than signing. */
export function dkimSigner(domain: string, selector: string, privateKey: string): DkimSigner {
  const key = createPrivateKey(privateKey)
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyType !== 'ed25519') {
    throw new Error('the DKIM key must be RSA or Ed25519')
  }
  if ((key.asymmetricKeyDetails?.modulusLength ?? 2048) < 1024) {
    throw new Error('the DKIM key must have at least 1024 bits')
  }
  return { domain, selector, key }
}

/** The two keys of a sender domain: private as PEM, public as DNS publishes them. */
export type DkimKeys = {
  rsaKey: string
  ed25519Key: string
  rsaPublic: string
  ed25519Public: string
}

/** Makes new keys on a libuv thread, one pair at a time: DNS and files need the other threads. */
export const makeDkimKeys = (): Promise<DkimKeys> =>
  keyMaking.run({}, async () => {
    const rsa = await generateKeys('rsa', { modulusLength: 2048 })
    const ed25519 = await generateKeys('ed25519', {})
    return {
      rsaKey: pemOf(rsa.privateKey),
      ed25519Key: pemOf(ed25519.privateKey),
      rsaPublic: publishedKey(rsa.publicKey),
      ed25519Public: publishedKey(ed25519.publicKey),
    }
  })

const keyMaking = new WorkQueue({ total: 1 })

const generateKeys = promisify(generateKeyPair) as (
  type: 'rsa' | 'ed25519',
  options: { modulusLength?: number },
) => Promise<{ privateKey: KeyObject; publicKey: KeyObject }>

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string

/** The `p=` of the TXT record of a key. An Ed25519 key is published bare: its last 32 bytes. */
export function publishedKey(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const bytes = key.asymmetricKeyType === 'ed25519' ? spki.subarray(-32) : spki
  return bytes.toString('base64')
}

/**
 * Whether a signature of this domain is aligned with the sender (DMARC, RFC 7489, 3.1.1): the From
 * domain is the signer's, or a subdomain of it.
 */
export const isAligned = (fromDomain: string, { domain }: DkimSigner) =>
  fromDomain === domain.toLowerCase() || fromDomain.endsWith(`.${domain.toLowerCase()}`)

/**
 * Adds a DKIM-Signature (RFC 6376, RFC 8463) for each aligned signer. Signing runs off the event
 * loop. The signatures are deterministic and have no timestamp, so that a retry sends the same bytes.
 */
export async function signMessage(message: Message, known: DkimSigner[]): Promise<Message> {
  if (known.length === 0) return message
  const fields = signedFields(message.headers)
  const fromDomain = fromDomainOf(fields)
  const signers = known.filter((signer) => isAligned(fromDomain, signer))
  if (signers.length === 0) return message
  const names = fields.map(({ name }) => name)
  // Listed once more than they occur, so that adding a second From breaks the signature.
  const signed = [...names, ...OVERSIGNED].join(':')
  const canonical = fields.map(({ canonical }) => `${canonical}\r\n`).join('')
  const bodyHash = hash('sha256', relaxedBody(message.body), 'base64')

  const lines = await Promise.all(
    signers.map(async (signer) => {
      const line = signatureHeader(signer, bodyHash, signed)
      const signature = await signText(canonical + relaxedHeader(line), signer.key)
      return `${line}${folded(signature)}\r\n`
    }),
  )
  return { ...message, headers: lines.join('') + message.headers }
}

const SIGNED = new Set([
  'from',
  'to',
  'cc',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'mime-version',
  'content-type',
])
const OVERSIGNED = ['from', 'to', 'subject', 'date']

function signedFields(headers: string) {
  return headers
    .split(/\r\n(?![ \t])/)
    .filter((line) => line !== '')
    .map((line) => ({
      name: line.slice(0, line.indexOf(':')).toLowerCase(),
      canonical: relaxedHeader(line),
    }))
    .filter(({ name }) => SIGNED.has(name))
}

/** `buildMessage` writes one From with one mailbox. */
function fromDomainOf(fields: ReturnType<typeof signedFields>) {
  const from = fields.find(({ name }) => name === 'from')?.canonical ?? ''
  return domainOf(/[^\s<>:]+@[^\s<>]+(?=>?$)/.exec(from)?.[0] ?? '')
}

const signatureHeader = ({ domain, selector, key }: DkimSigner, bodyHash: string, signed: string) =>
  `DKIM-Signature: v=1; a=${key.asymmetricKeyType}-sha256; c=relaxed/relaxed;\r\n` +
  ` d=${domain}; s=${selector};\r\n h=${signed.replace(/.{60}[^:]*:(?=.)/g, '$&\r\n  ')};\r\n bh=${bodyHash};\r\n b=`

function relaxedHeader(line: string) {
  const colon = line.indexOf(':')
  const value = line
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim()
  return `${line.slice(0, colon).toLowerCase()}:${value}`
}

/** The relaxed body canonicalisation of RFC 6376, 3.4.4. */
function relaxedBody(body: string) {
  const relaxed = body.replace(/[ \t]{2,}|\t/g, ' ').replaceAll(' \r\n', '\r\n')
  let end = relaxed.length
  while (end > 4 && relaxed.startsWith('\r\n\r\n', end - 4)) end -= 2
  return relaxed.slice(0, end)
}

function folded(signature: string) {
  const lines: string[] = []
  for (let at = 0; at < signature.length; at += 72) lines.push(signature.slice(at, at + 72))
  return lines.join('\r\n ')
}

/** At most one for each core: more would delay the event loop, which sends the mails. */
const signatures = new WorkQueue({ total: availableParallelism() })

const signText = (text: string, key: KeyObject) =>
  signatures.run({}, () => makeSignature(Buffer.from(text, 'latin1'), key))

const makeSignature = (bytes: Buffer, key: KeyObject) =>
  new Promise<string>((resolve, reject) => {
    const done = (error: Error | null, signature: Buffer) =>
      error ? reject(error) : resolve(signature.toString('base64'))
    if (key.asymmetricKeyType === 'rsa') sign('sha256', bytes, key, done)
    else sign(null, hash('sha256', bytes, 'buffer'), key, done)
  })
