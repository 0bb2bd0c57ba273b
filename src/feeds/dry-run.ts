import { BulkTrial } from '../automation/approvals.ts'
import type { InletBody } from '../contract/feed.ts'
import type { Database, Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { conflict, RequestError } from '../errors.ts'
import { listEntries } from '../store/feed-entries.ts'
import { lockFeedState, type FeedRow } from '../store/feeds.ts'
import { SettingsCache } from '../store/settings.ts'
import { mirrorAgain, mirrorResources, type MirrorResult } from './mirror.ts'
import { openAccount, takeBatches, type PullParts } from './pull.ts'
import { correcting, feedUser, mirroringOf, receiveEntries } from './receive.ts'
import { KeyMissing } from './source-access.ts'
import { SourceError, type Resource } from './source.ts'
import { RunSummary } from './summary.ts'

const MAX_ENTRIES = 50_000
const PAGE = 500

/**
 * What entries would become: of a body that a source would send, or of the stored entries with the present
 * rules. Everything is saved in one transaction and rolled back.
 */
export const dryRun = (
  { database, feed, now }: { database: Database; feed: FeedRow; now: Temporal.Instant },
  body: InletBody | undefined,
) =>
  tryOut({ database, feed }, (tx, trial) =>
    body ? receiveTrial(tx, feed, body, { trial, now }) : mapTrial(tx, feed, { trial, now }),
  )

/** The reading of a source in a dry run. */
const MAX_READ_MINUTES = 5

/** All that a source has. */
export async function readSource(parts: PullParts, feed: FeedRow, stopping?: AbortSignal) {
  const db = parts.database.forBusiness(feed.businessId, feedUser(feed))
  const late = AbortSignal.timeout(MAX_READ_MINUTES * 60_000)
  const signal = AbortSignal.any(stopping ? [late, stopping] : [late])
  const resources: Resource[] = []
  try {
    const account = await openAccount(parts, db, feed, signal)
    const source = parts.access.sources.find(feed.source)!
    const nothing = { cursor: null, versionOf: () => undefined, again: new Set<string>() }
    for await (const part of source.pull!(account, nothing)) resources.push(...part.resources)
  } catch (error) {
    if (stopping?.aborted) throw conflict('The node stopped. Start the dry run again.')
    if (late.aborted) {
      throw conflict(`Reading the source took longer than ${MAX_READ_MINUTES} minutes.`)
    }
    const isExpected = error instanceof SourceError || error instanceof KeyMissing
    throw isExpected ? conflict(error.message) : error
  }
  return resources
}

/** What a pull that has read everything would do. */
export const dryRunOfSource = (
  { database, now }: Pick<PullParts, 'database' | 'now'>,
  feed: FeedRow,
  resources: Resource[],
) =>
  tryOut({ database, feed }, async (tx, bulkCall) => {
    const state = (await lockFeedState(tx, feed))!
    const settings = new SettingsCache()
    const mirroring = mirroringOf(feed, state, { settings, now: now(), bulkCall })
    const results: MirrorResult[] = []
    for (const some of takeBatches(resources, { all: true })) {
      results.push(await mirrorResources(tx, { resources: some, deleted: [] }, mirroring))
    }
    return results
  })

/** Saves in one transaction, counts, and rolls back. */
function tryOut(
  { database, feed }: { database: Database; feed: FeedRow },
  save: (tx: Db, trial: BulkTrial) => Promise<MirrorResult[]>,
) {
  const { businessId } = feed
  const db = database.forBusiness(businessId, feedUser(feed))
  return runAndRollBack(db, async (tx) => {
    const trial = new BulkTrial({ businessId, user: feedUser(feed) })
    const results = await save(tx, trial)
    const { triggers, mailsAtOnce } = await trial.count(tx)
    const byDefinition = [...trial.byDefinition].map(([eventDefnId, count]) => ({
      eventDefnId,
      triggers: count,
    }))
    const summary = new RunSummary()
    for (const result of results) summary.add(result)
    return { ...summary.show(), planned: { triggers, atOnce: mailsAtOnce, byDefinition } }
  })
}

type Trying = { trial: BulkTrial; now: Temporal.Instant }

async function receiveTrial(tx: Db, feed: FeedRow, body: InletBody, { trial, now }: Trying) {
  const settings = new SettingsCache()
  const receiving = { settings, now, bulkCall: trial, isDryRun: true }
  const { refused, results } = await receiveEntries(tx, feed, body, receiving)
  if (refused.length > 0)
    throw new RequestError(422, `${refused[0]!.pointer}: ${refused[0]!.detail}`)
  return results
}

async function mapTrial(tx: Db, feed: FeedRow, { trial, now }: Trying) {
  const results: MirrorResult[] = []
  await lockFeedState(tx, feed)
  const { saving, ...rest } = correcting(feed, { settings: new SettingsCache(), now })
  const mirroring = { ...rest, saving: { ...saving, bulkCall: trial } }
  for (let after = 0, read = 0; read < MAX_ENTRIES; read += PAGE) {
    const rows = await listEntries(tx, feed, { after, limit: PAGE })
    results.push(await mirrorAgain(tx, rows, mirroring))
    if (rows.length < PAGE) break
    after = rows.at(-1)!.feedEntryId
  }
  return results
}
