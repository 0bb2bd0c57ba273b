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
  readonly #trusted = new Map<string, { caller: Caller; until: number }>()

  constructor({ database, clock, adminApiKey }: Parts) {
    this.#database = database
    this.#clock = clock
    this.#operatorHash = adminApiKey === undefined ? undefined : digest(adminApiKey)
  }

  /** Every bad key takes the same road: hashed, looked for, not found. */
  async findByKey(key: string): Promise<Caller | 'operator' | undefined> {
    const hash = digest(key)
    const trusted = this.#findTrusted(hash)
    if (trusted) return trusted
    const [operatorHash, found] = await Promise.all([
      this.#findOperatorHash(),
      findLiveKeyByHash(this.#database.operator, hash),
    ])
    if (operatorHash && isSameDigest(hash, operatorHash)) return 'operator'
    const now = this.#clock.now()
    if (!found || hasPassed(found.expiresTime, now)) return undefined
    if (isStale(found.lastUsedTime, now)) await recordKeyUse(this.#database.operator, found, now)
    return this.#trust(hash, this.#callerOfKey(found), found.expiresTime)
  }

  async findBySession(token: string): Promise<Caller | undefined> {
    const hash = digest(token)
    const trusted = this.#findTrusted(hash)
    if (trusted) return trusted
    const found = await findSessionByHash(this.#database.operator, hash)
    const now = this.#clock.now()
    if (!found || hasEnded(found, now)) return undefined
    if (isStale(found.lastUsedTime, now)) {
      await recordSessionUse(this.#database.operator, found, now)
    }
    return this.#trust(hash, this.#callerOfSession(found), null)
  }

  /** Called after anything that takes a right away. */
  forget() {
    this.#trusted.clear()
  }

  /** A key made at the first start, by whichever node was first, never changes after that. */
  async #findOperatorHash() {
    this.#operatorHash ??= await findOperatorKeyHash(this.#database.operator)
    return this.#operatorHash
  }

  #findTrusted(hash: Buffer) {
    const name = hash.toString('base64')
    const trusted = this.#trusted.get(name)
    if (!trusted) return undefined
    if (trusted.until > this.#clock.now().epochMilliseconds) return trusted.caller
    this.#trusted.delete(name)
    return undefined
  }

  #trust(hash: Buffer, caller: Caller, expires: Temporal.Instant | null) {
    const until = this.#clock.now().epochMilliseconds + TRUSTED_MS
    if (this.#trusted.size >= MOST_TRUSTED) this.#trusted.clear()
    this.#trusted.set(hash.toString('base64'), {
      caller,
      until: Math.min(until, expires?.epochMilliseconds ?? until),
    })
    return caller
  }

  #callerOfKey({ businessId, apiKeyId, name, scopes }: KnownKey): Caller {
    const user = `key:${name}`
    return {
      businessId,
      user,
      db: this.#database.forBusiness(businessId, user),
      functions: functionsOfScopes(scopes),
      scope: null,
      keyScopes: scopes,
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
      person: session,
      credential: `user:${userId}`,
    }
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
