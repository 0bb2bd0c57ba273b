import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../database/database.ts'
import { conflict, RequestError } from '../errors.ts'
import { requestReading } from '../store/feed-entries.ts'
import { findFeedOfHook, findHook, storeHook } from '../store/feed-hooks.ts'
import { lockFeedState, requestPull, type FeedKey, type FeedRow } from '../store/feeds.ts'
import { secretPlace, type SourceAccess } from './source-access.ts'

/** After a change, the former address and secret count for so long. */
const FORMER_HOURS = 24
const TOKEN_PREFIX = 'fh_'

/** A plain hash is enough, because 256 random bits cannot be guessed. */
const hashOf = (token: string) => hash('sha256', token, 'buffer')

type Making = {
  access: SourceAccess
  engine: Db
  now: Temporal.Instant
}

/** Makes a token and a secret, in the caller's transaction. Those before count for a day. */
export async function makeHook(tx: Db, feed: FeedRow, { access, engine, now }: Making) {
  if (!feed.active) throw conflict('The feed is deleted.')
  if (!access.sources.find(feed.source).hook) {
    throw conflict(`The source ${feed.source} sends no webhooks. It is read regularly.`)
  }
  // Two changes at the same time would lose the former secret of one.
  await lockFeedState(tx, feed)
  const former = await findHook(engine, feed)
  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const hook = {
    tokenHash: hashOf(token),
    secret: access.secrets.encrypt(secretPlace(feed, 'hook'), secret),
  }
  await storeHook(tx, feed, { hook, former, now })
  return { token, secret, formerUntil: former ? now.add({ hours: FORMER_HOURS }) : null }
}

export type OpenHook = { key: FeedKey; secrets: string[] }

/** The feed of a token and the secrets that count, in plain text; undefined if the token is not known. */
export async function openHook(
  token: string,
  { access, engine, now }: Making,
): Promise<OpenHook | undefined> {
  if (!token.startsWith(TOKEN_PREFIX)) return undefined
  const formerSince = now.subtract({ hours: FORMER_HOURS })
  const found = await findFeedOfHook(engine, hashOf(token), formerSince)
  if (!found) return undefined
  const place = secretPlace(found.key, 'hook')
  const secrets = found.secrets.flatMap((sealed) => access.secrets.decrypt(place, sealed) ?? [])
  if (secrets.length === 0) {
    const detail =
      'The secret of the webhook cannot be decrypted: the operator must restore SECRET_KEY.'
    throw new RequestError(503, detail)
  }
  return { key: found.key, secrets }
}

const HINT_SECONDS = 2
/** A source may answer from a replica that is behind. */
export const REPLICA_SECONDS = 30

/** Something changed in the source: the feed is pulled soon, and once more when replicas have followed. */
export async function hintPull(tx: Db, feed: FeedKey, keys: string[], now: Temporal.Instant) {
  const at = now.add({ seconds: HINT_SECONDS })
  await requestPull(tx, feed, { at, again: now.add({ seconds: REPLICA_SECONDS }) })
  if (keys.length > 0) await requestReading(tx, feed, keys, now)
}
