import { FEED_BODY, type FeedConnection, type FeedFields, type FeedTest } from '../contract/feed.ts'
import { findFaults } from '../contract/find-faults.ts'
import { isPlainObject, isSame } from '../contract/json.ts'
import type { Database, Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { findFeed } from '../store/feeds.ts'
import { requireFeed, saveFeed, type FeedSave } from './save-feed.ts'
import { accountOf, KeyMissing, readSecret } from './source-access.ts'
import { SourceError } from './source.ts'
import { failedTest } from './sources/sessions.ts'

const TEST_SECONDS = 30

/** Tries the connection of a feed that is stored, or that a body describes. Stores nothing. */
export async function testFeed(
  { db, database }: { db: Db; database: Database },
  body: unknown,
  saving: FeedSave,
): Promise<FeedTest> {
  const { businessId, now, access } = saving
  const given = isPlainObject(body) ? body : {}
  const isStored = given.feedId != null && given.name === undefined
  // A secret that is only tried needs no key.
  const notStored = { ...access, secrets: { ...access.secrets, encrypt: () => Buffer.alloc(0) } }
  const feed = isStored
    ? await requireFeed(db, businessId, Number(given.feedId))
    : await runAndRollBack(
        db,
        async (tx) => (await saveFeed(tx, body, { ...saving, access: notStored })).feed,
      )
  const signal = AbortSignal.timeout(TEST_SECONDS * 1_000)
  try {
    const secret =
      given.secret === undefined
        ? await readSecret(database.engine, access.secrets, feed)
        : (given.secret as string | null)
    const account = await accountOf(db, feed, { secret, now, signal })
    return await access.sources.find(feed.source).test(account)
  } catch (error) {
    if (signal.aborted)
      return failedTest('time', `The source took longer than ${TEST_SECONDS} s. Try again later.`)
    if (error instanceof KeyMissing) return failedTest('secret', `${error.message} Enter it again.`)
    if (error instanceof SourceError) return failedTest('answer', error.message)
    throw error
  }
}

const ASK_SECONDS = 10

const NEEDED = /^(\/(connection|secret|source|feedId)\b|$)/

/** What is needed of a body, if its schema allows it. */
type Given = { [F in 'source' | 'connection']?: FeedFields[F] | null } & {
  feedId?: number | null
  secret?: string | null
}

/**
 * Of newly chosen calendars those that the source does not have. If it cannot be asked, there are none:
 * the first pull says what is wrong.
 */
export async function findMissingCalendars(
  { db, database }: { db: Db; database: Database },
  body: unknown,
  { businessId, now, access }: Pick<FeedSave, 'businessId' | 'now' | 'access'>,
): Promise<string[]> {
  if (findFaults(FEED_BODY.schema, body).some(({ pointer }) => NEEDED.test(pointer))) return []
  const given = body as Given
  const current = given.feedId
    ? await findFeed(db, { businessId, feedId: given.feedId })
    : undefined
  const name = given.source ?? current?.source
  const source = name ? access.sources.find(name) : undefined
  const connection: FeedConnection = given.connection ?? {}
  const before = current?.connection ?? {}
  const isNew = (field: keyof FeedConnection) =>
    !isSame(connection[field] ?? null, before[field] ?? null)
  if (!source?.findMissingCalendars || !connection.calendars || !isNew('calendars')) return []
  // A stored credential goes to the address that it was entered for.
  const isElsewhere = isNew('url') || isNew('hosts')
  if (given.secret === undefined && isElsewhere && current) return []
  const signal = AbortSignal.timeout(ASK_SECONDS * 1_000)
  try {
    const secret =
      given.secret === undefined && current
        ? await readSecret(database.engine, access.secrets, current)
        : (given.secret ?? null)
    const account = { businessId, connection, secret, signal }
    const nothing = { zone: 'UTC', window: { from: now, to: now }, now }
    return await source.findMissingCalendars({ ...account, ...nothing })
  } catch (error) {
    if (signal.aborted || error instanceof KeyMissing || error instanceof SourceError) return []
    throw error
  }
}
