import type { Config } from '../config.ts'
import type { Db } from '../database/database.ts'
import { findFeedSecret, type FeedKey, type FeedRow } from '../store/feeds.ts'
import { findTimeZone } from '../store/report-schedules.ts'
import { openSecrets, type Secrets } from './secrets.ts'
import type { SourceAccount } from './source.ts'
import { openSources, type Sources } from './sources/sources.ts'
import { windowOf } from './window.ts'

/** What a node needs to reach sources: from its settings. */
export type SourceAccess = {
  sources: Sources
  secrets: Secrets
  /** FEED_PRIVATE_HOSTS. */
  privateHosts: readonly string[]
}

type AccessConfig = Pick<Config, 'feedPrivateHosts' | 'secretKeys' | 'databaseUrl' | 'dataDir'>

export const openSourceAccess = (config: AccessConfig): SourceAccess => ({
  sources: openSources(config.feedPrivateHosts),
  secrets: openSecrets(config),
  privateHosts: config.feedPrivateHosts,
})

/** Where a secret of a feed is stored: the credential, or that of its webhook. */
export const secretPlace = ({ businessId, feedId }: FeedKey, field: 'secret' | 'hook') => ({
  businessId,
  feedId,
  field,
})

/** No key of this node can read the secret of a feed. */
export class KeyMissing extends Error {
  constructor() {
    super('The credential cannot be decrypted: SECRET_KEY is another one than when it was stored.')
  }
}

/** The secret of a feed in plain text; null if it has none. Only the engine's role can read it. */
export async function readSecret(engine: Db, secrets: Secrets, feed: FeedRow) {
  const sealed = await findFeedSecret(engine, feed)
  if (!sealed) return null
  const secret = secrets.decrypt(secretPlace(feed, 'secret'), sealed)
  if (secret === undefined) throw new KeyMissing()
  return secret
}

/** What the source of a feed needs to read its account. */
export async function accountOf(
  db: Db,
  feed: FeedRow,
  given: Pick<SourceAccount, 'secret' | 'now' | 'signal'>,
): Promise<SourceAccount> {
  const { businessId, connection, defaults } = feed
  const zone = await findTimeZone(db, businessId, defaults.locationId ?? null)
  return { ...given, businessId, connection, zone, window: windowOf(feed, given.now) }
}
