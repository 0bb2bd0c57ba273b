import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** Rows of each table that were overwritten; nothing where there is no such client. */
export async function eraseClient(
  tx: Db,
  businessId: number,
  clientId: number,
  now: Temporal.Instant,
): Promise<Record<string, number> | undefined> {
  const [row] = await tx.query<{ counts: Record<string, number> | null }>(sql`
    select erase_client(${businessId}, ${clientId}, ${now}) as counts`)
  return row?.counts ?? undefined
}

const PAGE = 20_000

/** The audit is long: page by page, each short enough for a statement. */
export async function eraseFromAudit(
  tx: Db,
  businessId: number,
  clientId: number,
  onPage?: (rows: number) => void,
): Promise<number> {
  let overwritten = 0
  for (let after = 0, seen = 0; ;) {
    const [page] = await tx.query<{ lastId: number | null; overwritten: number }>(sql`
      select last_id as "lastId", overwritten
      from erase_client_audit(${businessId}, ${clientId}, ${after}, ${PAGE}::int)`)
    if (page!.lastId === null) return overwritten
    overwritten += page!.overwritten
    after = page!.lastId
    onPage?.((seen += PAGE))
  }
}
