import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { By } from './rows.ts'

export type ImportMapping = {
  name: string
  kind: string
  choices: Record<string, unknown>
  keptDate: Temporal.Instant
  keptUser: string
}

const columns = sql`mapping_name as name, kind, choices, kept_date as "keptDate", kept_user as "keptUser"`

export const listImportMappings = (db: Db, businessId: number) =>
  db.query<ImportMapping>(sql`
    select ${columns} from import_mapping where business_id = ${businessId} order by mapping_name`)

export const findImportMapping = (db: Db, businessId: number, name: string) =>
  db.findRow<ImportMapping>(sql`
    select ${columns} from import_mapping where business_id = ${businessId} and mapping_name = ${name}`)

export const saveImportMapping = (
  db: Db,
  businessId: number,
  { name, kind, choices }: Pick<ImportMapping, 'name' | 'kind' | 'choices'>,
  { user, now }: By,
) =>
  db.query(sql`
    insert into import_mapping (business_id, mapping_name, kind, choices, kept_date, kept_user)
    values (${businessId}, ${name}, ${kind}, ${JSON.stringify(choices)}::jsonb, ${now}, ${user})
    on conflict (business_id, mapping_name) do update
    set kind = excluded.kind, choices = excluded.choices, kept_date = excluded.kept_date,
        kept_user = excluded.kept_user`)

export const deleteImportMapping = (db: Db, businessId: number, name: string) =>
  db.findRow<ImportMapping>(sql`
    delete from import_mapping where business_id = ${businessId} and mapping_name = ${name}
    returning ${columns}`)
