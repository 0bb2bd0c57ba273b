import { Batcher } from '../batcher.ts'
import type { Clock } from '../clock.ts'
import { SCOPES } from '../contract/roles.ts'
import type { Database } from '../database/database.ts'
import {
  findOperatorKeyHash,
  listLiveKeysByHash,
  recordKeyUse,
  type KnownKey,
} from '../store/api-keys.ts'
import { RecentlyUsed } from '../recently-used.ts'
import { listSessionsByHash, recordSessionUse, type KnownSession } from '../store/sessions.ts'
import type { Visibility } from '../store/visibility.ts'
import type { Caller } from './caller.ts'
import { FUNCTIONS_OF_ROLE, functionsOfKey } from './permissions.ts'
import { digest, isSameDigest } from './secrets.ts'
import { hasEnded } from './sessions.ts'

/** A revocation must reach every node within a second, so credentials are cached for half of that. */
const CACHED_MS = 500
const MAX_CACHED = 10_000

/** `lastUsedTime` is exact to the minute, so that most requests do not write. */
const RECORD_USE_EVERY_MS = 60_000

type Parts = { database: Database; clock: Clock; adminApiKey: string | undefined }

/** Finds the caller by API key or session token. */
export class Credentials {
  readonly #database: Database
  readonly #clock: Clock
  /** The hash of ADMIN_API_KEY, which takes the place of the stored key. */
  readonly #givenOperatorHash: Buffer | undefined
  #operatorHash: { hash: Buffer; until: number } | undefined
  /** Two caches, so that a session token is never accepted as a key. */
  readonly #keys = new CallerCache()
  readonly #sessions = new CallerCache()
  /** Look-ups share a statement: those of a business with many keys do not delay the others. */
  readonly #keyLookUps: Batcher<Buffer, KnownKey | undefined>
  readonly #sessionLookUps: Batcher<Buffer, KnownSession | undefined>

  constructor({ database, clock, adminApiKey }: Parts) {
    this.#database = database
    this.#clock = clock
    this.#keyLookUps = new Batcher(async (hashes) => {
      const found = await listLiveKeysByHash(database.operator, hashes)
      return hashes.map((hash) => found.find(({ keyHash }) => keyHash.equals(hash)))
    })
    this.#sessionLookUps = new Batcher(async (hashes) => {
      const found = await listSessionsByHash(database.operator, hashes)
      return hashes.map((hash) => found.find(({ tokenHash }) => tokenHash.equals(hash)))
    })
    this.#givenOperatorHash = adminApiKey === undefined ? undefined : digest(adminApiKey)
  }

  /** All wrong keys take the same path, so that the response time reveals nothing about them. */
  async findByKey(key: string): Promise<Caller | 'operator' | undefined> {
    const hash = digest(key)
    const cached = this.#keys.find(hash, this.#clock.now())
    if (cached) return cached
    const [operatorHash, found] = await Promise.all([
      this.#findOperatorHash(),
      this.#keyLookUps.add(hash),
    ])
    if (operatorHash && isSameDigest(hash, operatorHash)) return 'operator'
    const now = this.#clock.now()
    if (!found || hasPassed(found.expiresTime, now)) return undefined
    if (isStale(found.lastUsedTime, now)) await recordKeyUse(this.#database.operator, found, now)
    return this.#keys.add(hash, this.#callerOfKey(found), this.#clock.now(), found.expiresTime)
  }

  async findBySession(token: string): Promise<Caller | undefined> {
    const hash = digest(token)
    const cached = this.#sessions.find(hash, this.#clock.now())
    if (cached) return cached
    const found = await this.#sessionLookUps.add(hash)
    const now = this.#clock.now()
    if (!found || hasEnded(found, now)) return undefined
    if (isStale(found.lastUsedTime, now)) {
      await recordSessionUse(this.#database.operator, found, now)
    }
    return this.#sessions.add(hash, this.#callerOfSession(found), this.#clock.now(), null)
  }

  /** Reads a key without the cache and without recording a use, for long-lived streams. */
  async rereadKey(key: string): Promise<Caller | undefined> {
    const found = await this.#keyLookUps.add(digest(key))
    if (!found || hasPassed(found.expiresTime, this.#clock.now())) return undefined
    return this.#callerOfKey(found)
  }

  /** Reads a session without the cache and without extending it. */
  async rereadSession(token: string): Promise<Caller | undefined> {
    const found = await this.#sessionLookUps.add(digest(token))
    if (!found || hasEnded(found, this.#clock.now())) return undefined
    return this.#callerOfSession(found)
  }

  /** Must be called after every change that revokes a permission. */
  forget() {
    this.#keys.clear()
    this.#sessions.clear()
  }

  /** The command create-operator-key replaces the stored key while the service runs. */
  async #findOperatorHash() {
    if (this.#givenOperatorHash) return this.#givenOperatorHash
    const now = this.#clock.now().epochMilliseconds
    if (this.#operatorHash && this.#operatorHash.until > now) return this.#operatorHash.hash
    const hash = await findOperatorKeyHash(this.#database.operator)
    this.#operatorHash = hash && { hash, until: now + CACHED_MS }
    return hash
  }

  #callerOfKey({ businessId, apiKeyId, name, scopes, maker }: KnownKey): Caller {
    const user = `key:${name}`
    return {
      businessId,
      user,
      db: this.#database.forBusiness(businessId, user),
      functions: functionsOfKey({ scopes, maker }),
      visibility: null,
      keyScopes: scopes,
      account: maker,
      person: null,
      apiKeyId,
      credential: `key:${apiKeyId}`,
    }
  }

  #callerOfSession(session: KnownSession): Caller {
    const { businessId, userId, username, role } = session
    return {
      businessId,
      user: username,
      db: this.#database.forBusiness(businessId, username),
      functions: new Set(FUNCTIONS_OF_ROLE[role]),
      visibility: visibilityOf(session),
      keyScopes: SCOPES,
      account: session,
      person: session,
      apiKeyId: null,
      credential: `user:${userId}`,
    }
  }
}

/** The callers of recently read credentials. */
class CallerCache {
  #callers = new RecentlyUsed<string, { caller: Caller; until: number }>(MAX_CACHED)

  find(hash: Buffer, now: Temporal.Instant) {
    const cached = this.#callers.get(hash.toString('base64'))
    return cached && cached.until > now.epochMilliseconds ? cached.caller : undefined
  }

  add(hash: Buffer, caller: Caller, now: Temporal.Instant, expires: Temporal.Instant | null) {
    const until = now.epochMilliseconds + CACHED_MS
    this.#callers.set(hash.toString('base64'), {
      caller,
      until: Math.min(until, expires?.epochMilliseconds ?? until),
    })
    return caller
  }

  clear() {
    this.#callers = new RecentlyUsed(MAX_CACHED)
  }
}

/** The part of the business that a person sees. */
export function visibilityOf({
  role,
  locationIdList,
  professionalId,
}: Pick<KnownSession, 'role' | 'locationIdList' | 'professionalId'>): Visibility {
  if (role === 'LOCATION_SUPER_USER') return { locationIds: locationIdList }
  if (role === 'USER') return { professionalId }
  return null
}

const hasPassed = (moment: Temporal.Instant | null, now: Temporal.Instant) =>
  moment !== null && Temporal.Instant.compare(moment, now) <= 0

const isStale = (recorded: Temporal.Instant | null, now: Temporal.Instant) =>
  recorded === null || now.epochMilliseconds - recorded.epochMilliseconds >= RECORD_USE_EVERY_MS
