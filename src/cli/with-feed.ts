import { randomBytes } from 'node:crypto'
import { monotonicMs } from '../clock.ts'
import { readConfig } from '../config.ts'
import { StartError } from '../errors.ts'
import { claimPull, runPull, type FeedLoopParts, type Pulled } from '../feeds/loop.ts'
import { requirePulled } from '../feeds/runs.ts'
import { openSourceAccess } from '../feeds/source-access.ts'
import { findFeedById, type FeedRow } from '../store/feeds.ts'
import { findHold } from '../store/installation.ts'
import { SettingsCache } from '../store/settings.ts'
import { withDatabase } from './with-database.ts'

/** Runs a command with a feed, and with what this process needs to read its source. */
export const withFeed = (
  feedId: number,
  work: (feed: FeedRow, parts: FeedLoopParts) => Promise<void>,
) =>
  withDatabase(async ({ database, now }) => {
    const config = readConfig(process.env)
    const feed = await findFeedById(database.engine, feedId)
    if (!feed) throw new StartError(`There is no feed ${feedId}. bellwether feeds lists them.`)
    const startedMs = monotonicMs()
    return work(feed, {
      database,
      settings: new SettingsCache(),
      access: openSourceAccess(config),
      now: () => now.add({ milliseconds: Math.round(monotonicMs() - startedMs) }),
      random: randomBytes,
      leaseSeconds: config.leaseSeconds,
      onError: (error) => console.error(error),
    })
  })

type Wanted = { isFull?: boolean | undefined; isReconciling?: boolean }

/** Pulls a feed in this process, as a node does. Undefined if the source failed: the exit code is 1 then. */
export async function pullNow(
  feed: FeedRow,
  parts: FeedLoopParts,
  { isFull, isReconciling = false }: Wanted,
): Promise<Exclude<Pulled, { error: string }> | undefined> {
  requirePulled(feed)
  if (await findHold(parts.database.engine)) {
    throw new StartError('The database was restored and is held. Run bellwether release first.')
  }
  const claim = await claimPull(parts, feed)
  if (!claim) throw new StartError('A node pulls this feed now. Try again later.')
  const pulled = await runPull(parts, {
    ...claim,
    ...(isFull && { cursor: null }),
    isReconciling: isReconciling || claim.isReconciling,
  })
  if (!('error' in pulled)) return pulled
  console.error(pulled.error)
  process.exitCode = 1
  return undefined
}

export const show = (value: unknown) => console.log(JSON.stringify(value, null, 2))
