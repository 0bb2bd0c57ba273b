import type { Role, Scope } from '../contract/credentials.ts'
import type { Db } from '../database/database.ts'
import type { SecurityFunction } from './permissions.ts'

/**
 * Who is asking, for one business. Everything here follows from the credential; nothing in it was
 * said by the request.
 */
export type Caller = {
  businessId: number
  /** What `createdUser`, `modifiedUser` and the audit say: a username, or `key:<name>`. */
  user: string
  /** The only way to the business's rows. */
  db: Db
  functions: ReadonlySet<SecurityFunction>
  /** The part of the business that the caller sees; `null` is all of it. */
  scope: CallerScope
  /** The key's scopes; every scope for a person, whose role is the limit. */
  keyScopes: readonly Scope[]
  /**
   * The user account that limits the caller's rights: the person's own, or the one whose holder made
   * the key. Null for a key that belongs to the business.
   */
  account: Account | null
  /** Set for a person who has signed in. */
  person: Person | null
  /** Names the credential for limits and idempotency keys: `key:7`, `user:3`. */
  credential: string
}

/** A LOCATION_SUPER_USER sees these locations, a USER the appointments of this professional. */
export type CallerScope = { locationIds: number[] } | { professionalId: number | null } | null

export type Account = { userId: number; role: Role }

export type Person = {
  userId: number
  username: string
  role: Role
  professionalId: number | null
  locationIdList: number[]
  sessionId: number
}
