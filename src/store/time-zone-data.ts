import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The version by whose rules pending triggers were planned; none in a new installation. */
export async function findTimeZoneVersion(engine: Db) {
  const [row] = await engine.query<{ version: string }>(sql`select version from time_zone_data`)
  return row?.version
}

export const saveTimeZoneVersion = (engine: Db, version: string, now: Temporal.Instant) =>
  engine.query(sql`
    insert into time_zone_data (version, modified_date) values (${version}, ${now})
    on conflict (only_one) do update set version = excluded.version, modified_date = ${now}`)
