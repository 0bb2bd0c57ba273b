import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { PageAfter } from './pages.ts'

type ClientKey = { businessId: number; clientId: number }
type Counts = Record<string, number>
/** How many rows of each table a page overwrote, and its last row; null after the last page. */
export type ErasedPage = { lastId: number | null; counts: Counts }

/** Overwrites the client and its objects; undefined if there is no such client. */
export async function eraseClientRows(
  tx: Db,
  { businessId, clientId }: ClientKey,
  now: Temporal.Instant,
): Promise<Counts | undefined> {
  const row = await tx.findRow<{ counts: Counts | null }>(sql`
    select erase_client(${businessId}, ${clientId}, ${now}) as counts`)
  return row?.counts ?? undefined
}

export async function eraseMails(
  tx: Db,
  { businessId, clientId }: ClientKey,
  { after, limit }: PageAfter,
  now: Temporal.Instant,
): Promise<ErasedPage> {
  const page = await tx.getRow<{ lastId: number | null; email: number; eventTrigger: number }>(sql`
    select last_id as "lastId", mails as email, triggers as "eventTrigger"
    from erase_client_mails(${businessId}, ${clientId}, ${after}, ${limit}::int, ${now})`)
  const { lastId, ...counts } = page
  return { lastId, counts }
}

/** Erases errors and reasons of triggers, suppressed addresses, stored answers and printed reports. */
export async function eraseTraces(tx: Db, { businessId, clientId }: ClientKey): Promise<Counts> {
  const traces = await tx.getRow<{ counts: Counts }>(sql`
    select erase_client_traces(${businessId}, ${clientId}) as counts`)
  return traces.counts
}

/** Deletes the content of all mails with reports of the business, because reports name clients. */
export async function eraseReportMails(tx: Db, { businessId }: ClientKey): Promise<Counts> {
  const erased = await tx.getRow<{ email: number }>(sql`
    select erase_report_mails(${businessId}) as email`)
  return { email: erased.email }
}

/** Deletes the samples of dry runs of the business, because they name clients. */
export async function eraseFeedSamples(tx: Db, { businessId }: ClientKey): Promise<Counts> {
  const erased = await tx.getRow<{ feedRun: number }>(sql`
    select erase_feed_samples(${businessId}) as "feedRun"`)
  return { feedRun: erased.feedRun }
}

export async function eraseAudit(
  tx: Db,
  { businessId, clientId }: ClientKey,
  { after, limit }: PageAfter,
): Promise<ErasedPage> {
  const page = await tx.getRow<{ lastId: number | null; audit: number }>(sql`
    select last_id as "lastId", overwritten as audit
    from erase_client_audit(${businessId}, ${clientId}, ${after}, ${limit}::int)`)
  const { lastId, ...counts } = page
  return { lastId, counts }
}

/** Deletes a page of each table of a deactivated business, and the business last. Returns 0 when it is gone. */
export async function deleteBusinessRows(tx: Db, businessId: number, limit: number) {
  const page = await tx.getRow<{ deleted: number }>(sql`
    select delete_business_rows(${businessId}, ${limit}::int) as deleted`)
  return page.deleted
}
