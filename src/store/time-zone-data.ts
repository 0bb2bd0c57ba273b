import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The version of the time zone rules by which triggers were planned; undefined in a new installation. */
export async function findTimeZoneVersion(engine: Db) {
  const row = await engine.findRow<{ version: string }>(sql`select version from time_zone_data`)
  return row?.version
}

/** Returns false if another node has stored the same version first. */
export async function saveTimeZoneVersion(tx: Db, version: string) {
  const rows = await tx.query(sql`
    insert into time_zone_data (version) values (${version})
    on conflict (only_one) do update set version = excluded.version
    where time_zone_data.version <> excluded.version
    returning version`)
  return rows.length > 0
}
