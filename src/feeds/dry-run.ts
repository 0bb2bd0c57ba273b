import { BulkTrial } from '../automation/approvals.ts'
import type { InletBody } from '../contract/feed.ts'
import type { Database, Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { conflict, RequestError } from '../errors.ts'
import { listEntries } from '../store/feed-entries.ts'
import { findFeed, lockFeedState, type FeedRow, type FeedState } from '../store/feeds.ts'
import { SettingsCache } from '../store/settings.ts'
import { mirrorAgain, mirrorResources, type MirrorResult } from './mirror.ts'
import { openAccount, takeBatches, type PullParts } from './pull.ts'
import { BATCH, correcting, feedUser, mirroringOf, receiveEntries } from './receive.ts'
import { KeyMissing } from './source-access.ts'
import { SourceError, type Resource } from './source.ts'
import { RunSummary } from './summary.ts'

const MAX_ENTRIES = 50_000

/**
 * What entries would become: of a body that a source would send, or of the stored entries with the present
 * rules.
 */
export async function dryRun(
  { database, feed, now }: { database: Database; feed: FeedRow; now: Temporal.Instant },
  body: InletBody | undefined,
) {
  const run = new DryRun(database, feed)
  if (!body) await addStored(run, feed, now)
  else {
    await run.add(async (tx, trying) => {
      const receiving = { ...trying, now, isDryRun: true }
      const { refused, results } = await receiveEntries(tx, feed, body, receiving)
      const [fault] = refused
      if (fault) throw new RequestError(422, `${fault.pointer}: ${fault.detail}`)
      return results
    })
  }
  return run.show()
}

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
export async function dryRunOfSource(
  { database, now }: Pick<PullParts, 'database' | 'now'>,
  feed: FeedRow,
  resources: Resource[],
) {
  const run = new DryRun(database, feed)
  for (const some of takeBatches(resources, { all: true })) {
    await run.add(async (tx, { state, ...trying }) => {
      const mirroring = mirroringOf(feed, state, { ...trying, now: now() })
      return [await mirrorResources(tx, { resources: some, deleted: [] }, mirroring)]
    })
  }
  return run.show()
}

type Trying = { settings: SettingsCache; bulkCall: BulkTrial; state: FeedState }

/** Saves batches, each in a transaction of its own that is rolled back: bookings wait for one of them at most. */
class DryRun {
  readonly db: Db
  readonly #feed: FeedRow
  readonly #summary = new RunSummary()
  readonly #planned = { triggers: 0, atOnce: 0 }
  readonly #byDefinition = new Map<number, number>()

  constructor(database: Database, feed: FeedRow) {
    this.#feed = feed
    this.db = database.forBusiness(feed.businessId, feedUser(feed))
  }

  async add(save: (tx: Db, trying: Trying) => Promise<MirrorResult[]>) {
    const { results, planned, byDefinition } = await runAndRollBack(this.db, async (tx) => {
      const { businessId } = this.#feed
      const state = await lockFeedState(tx, this.#feed)
      const current = await findFeed(tx, this.#feed)
      if (!state || !current?.active) throw conflict('The feed was deleted during the dry run.')
      const bulkCall = new BulkTrial({ businessId, user: feedUser(this.#feed) })
      const results = await save(tx, { settings: new SettingsCache(), bulkCall, state })
      return { results, planned: await bulkCall.count(tx), byDefinition: bulkCall.byDefinition }
    })
    for (const result of results) this.#summary.add(result)
    this.#planned.triggers += planned.triggers
    this.#planned.atOnce += planned.mailsAtOnce
    for (const [eventDefnId, count] of byDefinition) {
      this.#byDefinition.set(eventDefnId, (this.#byDefinition.get(eventDefnId) ?? 0) + count)
    }
  }

  show() {
    const byDefinition = [...this.#byDefinition].map(([eventDefnId, triggers]) => ({
      eventDefnId,
      triggers,
    }))
    return { ...this.#summary.show(), planned: { ...this.#planned, byDefinition } }
  }
}

/** Maps the stored entries with the rules of the feed. */
async function addStored(run: DryRun, feed: FeedRow, now: Temporal.Instant) {
  for (let after = 0, read = 0; read < MAX_ENTRIES; read += BATCH) {
    const rows = await listEntries(run.db, feed, { after, limit: BATCH })
    await run.add(async (tx, { settings, bulkCall }) => {
      const { saving, ...rest } = correcting(feed, { settings, now })
      return [await mirrorAgain(tx, rows, { ...rest, saving: { ...saving, bulkCall } })]
    })
    if (rows.length < BATCH) break
    after = rows.at(-1)!.feedEntryId
  }
}
