import { isPlainObject } from '../contract/json.ts'
import type { Database, Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { requireFeed, saveFeed, type FeedSave } from './save-feed.ts'
import { accountOf, KeyMissing, readSecret } from './source-access.ts'
import { SourceError, type SourceTest } from './source.ts'

const TEST_SECONDS = 30

/** Tries the connection of a feed that is stored, or that a body describes. Stores nothing. */
export async function testFeed(
  { db, database }: { db: Db; database: Database },
  body: unknown,
  saving: FeedSave,
): Promise<SourceTest> {
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
      return failed('time', `The source took longer than ${TEST_SECONDS} s. Try again later.`)
    if (error instanceof KeyMissing) return failed('secret', `${error.message} Enter it again.`)
    if (error instanceof SourceError) return failed('answer', error.message)
    throw error
  }
}

const failed = (check: string, detail: string): SourceTest => ({
  ok: false,
  checks: [{ check, ok: false, detail }],
  calendars: [],
  otherHosts: [],
})
