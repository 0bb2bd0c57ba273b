import type { Role, KeyScope } from '../contract/roles.ts'
import type { Db } from '../database/database.ts'
import type { KnownUser } from '../store/users.ts'
import type { Visibility } from '../store/visibility.ts'
import type { SecurityFunction } from './permissions.ts'

/** The authenticated caller of a request. Everything comes from the credential, nothing from the request. */
export type Caller = {
  businessId: number
  /** The author in `createdUser`, `modifiedUser` and the audit: a username or `key:<name>`. */
  user: string
  /** Bound to the rows of the business by row-level security. */
  db: Db
  functions: ReadonlySet<SecurityFunction>
  /** The part of the business that the caller may see; `null`: all of it. */
  visibility: Visibility
  /** The scopes of the key; all scopes for a person, who is limited by the role. */
  keyScopes: readonly KeyScope[]
  /**
   * The account that limits the permissions: of the signed-in person, or of the one who created the key.
   * Null for a key that belongs to the business.
   */
  account: Account | null
  /** Set for a signed-in person. */
  person: Person | null
  /** Set for a key. */
  apiKeyId: number | null
  /** Identifies the credential for rate limits and idempotency keys: `key:7`, `user:3`. */
  credential: string
}

export type Account = { userId: number; role: Role }

export type Person = Omit<KnownUser, 'businessId'> & { sessionId: number }
