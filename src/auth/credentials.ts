import type { Clock } from '../clock.ts'
import { SCOPES } from '../contract/credentials.ts'
import type { Database } from '../database/database.ts'
import {
  findLiveKeyByHash,
  findOperatorKeyHash,
  recordKeyUse,
  type KnownKey,
} from '../store/api-keys.ts'
import { findSessionByHash, recordSessionUse, type KnownSession } from '../store/sessions.ts'
import type { Caller, CallerScope } from './caller.ts'
import { FUNCTIONS_OF_ROLE, functionsOfScopes } from './permissions.ts'
import { digest, isSameDigest } from './secrets.ts'
import { hasEnded } from './sessions.ts'

/**
 * How long a node may go on trusting what it read. Half of what is promised for a revocation to
 * reach every node; on the node that revokes, `forget` makes it at once.
 */
const TRUSTED_MS = 500
const MOST_TRUSTED = 10_000

/** "Last used" is exact to the minute, so that reading seldom writes. */
const USE_NOTED_AFTER_MS = 60_000

type Parts = { database: Database; clock: Clock; adminApiKey: string | undefined }

/** Finds out who is asking from what they carry. */
export class Credentials {
  readonly #database: Database
  readonly #clock: Clock
  #operatorHash: Buffer | undefined
  /** One cache for each kind of credential: a session token is never taken for a key. */
  readonly #keys = new Trusted()
  readonly #sessions = new Trusted()

  constructor({ database, clock, adminApiKey }: Parts) {
    this.#database = database
    this.#clock = clock
    this.#operatorHash = adminApiKey === undefined ? undefined : digest(adminApiKey)
  }

  /** Every bad key takes the same road: hashed, looked for, not found. */
  async findByKey(key: string): Promise<Caller | 'operator' | undefined> {
    const hash = digest(key)
    const trusted = this.#keys.find(hash, this.#clock.now())
    if (trusted) return trusted
    const [operatorHash, found] = await Promise.all([
      this.#findOperatorHash(),
      findLiveKeyByHash(this.#database.operator, hash),
    ])
    if (operatorHash && isSameDigest(hash, operatorHash)) return 'operator'
    const now = this.#clock.now()
    if (!found || hasPassed(found.expiresTime, now)) return undefined
    if (isStale(found.lastUsedTime, now)) await recordKeyUse(this.#database.operator, found, now)
    return this.#keys.add(hash, this.#callerOfKey(found), this.#clock.now(), found.expiresTime)
  }

  async findBySession(token: string): Promise<Caller | undefined> {
    const hash = digest(token)
    const trusted = this.#sessions.find(hash, this.#clock.now())
    if (trusted) return trusted
    const found = await findSessionByHash(this.#database.operator, hash)
    const now = this.#clock.now()
    if (!found || hasEnded(found, now)) return undefined
    if (isStale(found.lastUsedTime, now)) {
      await recordSessionUse(this.#database.operator, found, now)
    }
    return this.#sessions.add(hash, this.#callerOfSession(found), this.#clock.now(), null)
  }

  /** Reads a key again, past the cache, without recording a use: for answers that last. */
  async rereadKey(key: string): Promise<Caller | undefined> {
    const found = await findLiveKeyByHash(this.#database.operator, digest(key))
    if (!found || hasPassed(found.expiresTime, this.#clock.now())) return undefined
    return this.#callerOfKey(found)
  }

  /** Reads a session again, past the cache. It does not last longer for it. */
  async rereadSession(token: string): Promise<Caller | undefined> {
    const found = await findSessionByHash(this.#database.operator, digest(token))
    if (!found || hasEnded(found, this.#clock.now())) return undefined
    return this.#callerOfSession(found)
  }

  /** Called after anything that takes a right away. */
  forget() {
    this.#keys.clear()
    this.#sessions.clear()
  }

  /** A key made at the first start, by whichever node was first, never changes after that. */
  async #findOperatorHash() {
    this.#operatorHash ??= await findOperatorKeyHash(this.#database.operator)
    return this.#operatorHash
  }

  #callerOfKey({ businessId, apiKeyId, name, scopes, maker }: KnownKey): Caller {
    const user = `key:${name}`
    const functions = functionsOfScopes(scopes)
    return {
      businessId,
      user,
      db: this.#database.forBusiness(businessId, user),
      functions: maker ? functions.intersection(new Set(FUNCTIONS_OF_ROLE[maker.role])) : functions,
      scope: null,
      keyScopes: scopes,
      account: maker,
      person: null,
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
      scope: scopeOf(session),
      keyScopes: SCOPES,
      account: session,
      person: session,
      credential: `user:${userId}`,
    }
  }
}

/** The callers whose credentials were read a moment ago. */
class Trusted {
  readonly #callers = new Map<string, { caller: Caller; until: number }>()

  find(hash: Buffer, now: Temporal.Instant) {
    const name = hash.toString('base64')
    const trusted = this.#callers.get(name)
    if (!trusted) return undefined
    if (trusted.until > now.epochMilliseconds) return trusted.caller
    this.#callers.delete(name)
    return undefined
  }

  add(hash: Buffer, caller: Caller, now: Temporal.Instant, expires: Temporal.Instant | null) {
    const until = now.epochMilliseconds + TRUSTED_MS
    if (this.#callers.size >= MOST_TRUSTED) this.#callers.clear()
    this.#callers.set(hash.toString('base64'), {
      caller,
      until: Math.min(until, expires?.epochMilliseconds ?? until),
    })
    return caller
  }

  clear() {
    this.#callers.clear()
  }
}

function scopeOf({ role, locationIdList, professionalId }: KnownSession): CallerScope {
  if (role === 'LOCATION_SUPER_USER') return { locationIds: locationIdList }
  if (role === 'USER') return { professionalId }
  return null
}

const hasPassed = (moment: Temporal.Instant | null, now: Temporal.Instant) =>
  moment !== null && Temporal.Instant.compare(moment, now) <= 0

const isStale = (noted: Temporal.Instant | null, now: Temporal.Instant) =>
  noted === null || now.epochMilliseconds - noted.epochMilliseconds >= USE_NOTED_AFTER_MS
