import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.ts'
import { RequestError } from '../errors.ts'

/*
 * Passwords and tokens of feeds, encrypted with AES-256-GCM under keys that are not in the database.
 * See docs/decisions/0004-credentials.md.
 */

/** Where a secret is stored. It is part of the encryption: moved to another place, it cannot be read. */
export type SecretPlace = { businessId: number; feedId: number; field: string }

export type Secrets = {
  /** Throws the problem `secret-key-missing` if there is no key. */
  encrypt(place: SecretPlace, text: string): Buffer
  /** Undefined if no key of this node can read it. */
  decrypt(place: SecretPlace, sealed: Buffer): string | undefined
}

type SecretsConfig = Pick<Config, 'secretKeys' | 'databaseUrl' | 'dataDir'>

export function openSecrets({ secretKeys, databaseUrl, dataDir }: SecretsConfig): Secrets {
  const file = path.join(dataDir, 'secret-key')
  /** SECRET_KEY counts alone. Only a node with the embedded database has a key of its own. */
  const keysOr = (ofFile: (file: string) => Buffer[]) =>
    secretKeys.length > 0 || databaseUrl ? secretKeys : ofFile(file)
  return {
    encrypt(place, text) {
      const [key] = keysOr(readOrMakeKey)
      if (!key) throw keyMissing()
      return seal(key, place, text)
    },
    decrypt(place, sealed) {
      const texts = keysOr(readKey).map((key) => open(key, place, sealed))
      return texts.find((text) => text !== undefined)
    },
  }
}

function keyMissing() {
  const detail = 'Passwords of feeds cannot be stored: the operator must set SECRET_KEY first.'
  return new RequestError(409, detail, undefined, {}, 'secret-key-missing')
}

const KEY_BYTES = 32
/** Before the content: nonce, tag. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

function seal(key: Buffer, place: SecretPlace, text: string) {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associatedData(place))
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), content])
}

function open(key: Buffer, place: SecretPlace, sealed: Buffer) {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  if (tag.length < TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(associatedData(place))
    .setAuthTag(tag)
  const content = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([content, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

const associatedData = ({ businessId, feedId, field }: SecretPlace) =>
  Buffer.from(JSON.stringify([businessId, feedId, field]))

function readKey(file: string) {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  const key = Buffer.from(text, 'base64')
  return key.length === KEY_BYTES ? [key] : []
}

/** A command and the service may make it at the same time: the first file counts, and is never replaced. */
function readOrMakeKey(file: string) {
  if (fs.existsSync(file)) return readKey(file)
  const draft = `${file}.${process.pid}`
  const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.rmSync(draft, { force: true })
  fs.writeFileSync(draft, text, { mode: 0o600, flush: true })
  try {
    fs.linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    fs.rmSync(draft)
  }
  return readKey(file)
}
