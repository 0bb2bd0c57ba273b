import type { Db } from '../database/database.ts'
import { deleteSessionsBefore, insertSession, type KnownSession } from '../store/sessions.ts'
import { findLiveUserByName, type KnownUser } from '../store/users.ts'
import { isPassword } from './passwords.ts'
import { digest, makeSecret } from './secrets.ts'

const MAX_IDLE = Temporal.Duration.from({ hours: 8 })
export const MAX_SESSION = Temporal.Duration.from({ hours: 7 * 24 })

export const hasEnded = (session: KnownSession, now: Temporal.Instant) =>
  isOver(session.lastUsedTime, MAX_IDLE, now) || isOver(session.createdDate, MAX_SESSION, now)

const isOver = (since: Temporal.Instant, max: Temporal.Duration, now: Temporal.Instant) =>
  Temporal.Instant.compare(since.add(max), now) <= 0

type SignedIn = { user: KnownUser; token: string }

/** An unknown username and a wrong password give the same result after the same time. */
export async function signIn(
  operator: Db,
  { username, password }: { username: string; password: string },
  now: Temporal.Instant,
): Promise<SignedIn | undefined> {
  const user = await findLiveUserByName(operator, username)
  if (!(await isPassword(password, user?.passwordHash)) || !user) return undefined
  const token = makeSecret('bws_')
  if (!(await insertSession(operator, { ...user, tokenHash: digest(token) }, now))) return undefined
  await deleteSessionsBefore(operator, now.subtract(MAX_SESSION))
  return { user, token }
}
