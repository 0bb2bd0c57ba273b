import type { Database, Db } from '../database/database.ts'
import {
  eraseAudit,
  eraseClientRows,
  eraseFeedSamples,
  eraseMails,
  eraseReportMails,
  eraseTraces,
  type ErasedPage,
} from '../store/erasure.ts'
import type { PageAfter } from '../store/pages.ts'

/** One page is one short transaction. */
const PAGE = 5_000

/**
 * Overwrites the personal data of a client in steps that can be repeated after an interruption. The
 * audit comes last, because former names and addresses are read from it.
 */
export async function eraseClient(
  { maintenance }: Pick<Database, 'maintenance'>,
  client: { businessId: number; clientId: number },
  now: Temporal.Instant,
  onProgress?: (rows: number) => void,
): Promise<Record<string, number> | undefined> {
  // A transaction that loses a deadlock is run again.
  const inTransaction = <T>(step: (tx: Db) => Promise<T>) => maintenance.transaction(step)
  const erased = await inTransaction((tx) => eraseClientRows(tx, client, now))
  if (!erased) return undefined
  const totals: Record<string, number> = {}
  const add = (counts: Record<string, number>) => {
    for (const [table, count] of Object.entries(counts))
      totals[table] = (totals[table] ?? 0) + count
  }
  let rows = 0
  const inPages = async (erase: (page: PageAfter) => Promise<ErasedPage>) => {
    for (let after = 0; ;) {
      const { lastId, counts } = await erase({ after, limit: PAGE })
      if (lastId === null) return
      add(counts)
      after = lastId
      onProgress?.((rows += PAGE))
    }
  }
  add(erased)
  await inPages((page) => inTransaction((tx) => eraseMails(tx, client, page, now)))
  add(await inTransaction((tx) => eraseReportMails(tx, client)))
  add(await inTransaction((tx) => eraseTraces(tx, client)))
  add(await inTransaction((tx) => eraseFeedSamples(tx, client)))
  await inPages((page) => inTransaction((tx) => eraseAudit(tx, client, page)))
  return totals
}
