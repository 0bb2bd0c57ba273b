import type { Database } from '../database/database.ts'
import { getBusiness, type BusinessRow } from '../store/businesses.ts'
import { insertSession, type KnownSession } from '../store/sessions.ts'
import { findLiveUserByName, replacePasswordHash, type KnownUser } from '../store/users.ts'
import { hashPassword, isOutdated, isPassword } from './passwords.ts'
import { digest, makeSecret } from './secrets.ts'

const MAX_IDLE = Temporal.Duration.from({ hours: 8 })
export const MAX_SESSION = Temporal.Duration.from({ hours: 7 * 24 })

export const hasEnded = (session: KnownSession, now: Temporal.Instant) =>
  isOver(session.lastUsedTime, MAX_IDLE, now) || isOver(session.createdDate, MAX_SESSION, now)

const isOver = (since: Temporal.Instant, max: Temporal.Duration, now: Temporal.Instant) =>
  Temporal.Instant.compare(since.add(max), now) <= 0

type SignedIn = { user: KnownUser; business: BusinessRow; token: string }

/**
 * An unknown username and a wrong password give the same result after the same time. Hashing waits by
 * address for that reason: waiting by business would reveal whose business is busy, and so who exists.
 */
export async function signIn(
  database: Pick<Database, 'operator' | 'forBusiness'>,
  given: { username: string; password: string; address: string },
  now: Temporal.Instant,
): Promise<SignedIn | undefined> {
  const { operator } = database
  const { username, password, address } = given
  const user = await findLiveUserByName(operator, username)
  if (!(await isPassword(password, user?.passwordHash, { address })) || !user) return undefined
  if (isOutdated(user.passwordHash)) {
    const db = database.forBusiness(user.businessId, user.username)
    await replacePasswordHash(db, user, await hashPassword(password, { address }))
    return signIn(database, given, now)
  }
  const token = makeSecret('bws_')
  const session = { ...user, tokenHash: digest(token) }
  const [isInserted, business] = await Promise.all([
    insertSession(operator, session, { now, expired: now.subtract(MAX_SESSION) }),
    getBusiness(operator, user.businessId),
  ])
  return isInserted ? { user, business, token } : undefined
}
