import { raw, sql, type Sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'

type Audited = { object: 'calendar' | 'disclaimer' | 'invitation'; id: string; statuses: string[] }

/**
 * When an object last got one of these statuses, from the audit; null if it was created with one. It is
 * the first change after the last record with another status.
 */
export const timeOfStatus = ({ object, id, statuses }: Audited, { businessId }: Scope): Sql => sql`
  (select min(u.time) from audit u
   where u.business_id = ${businessId} and u.object = ${object} and u.id = ${raw(id)}::text
     and u.audit_id > (select max(v.audit_id) from audit v
                       where v.business_id = ${businessId} and v.object = ${object} and v.id = ${raw(id)}::text
                         and not v.after ->> 'status' = any (${statuses}::text[])))`
