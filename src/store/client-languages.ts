import type { ClientLanguage } from '../contract/client-language.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

export const countClientLanguages = (db: Db, businessId: number) =>
  db.query<ClientLanguage>(sql`
    select nullif(lower(split_part(replace(language, '_', '-'), '-', 1)), '') as language,
           count(*) as clients
    from client
    where business_id = ${businessId} and active
    group by 1 order by clients desc, language nulls last`)
