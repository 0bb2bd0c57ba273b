import { EVENT_TYPES } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { tableOf } from './object-tables.ts'

/** The postal address of a business `b`: its own, else that of its only active location. */
export const POSTAL_ADDRESS = sql`
  coalesce(nullif(b.postal_address, ''),
           (select nullif(max(l.address), '') from location l
            where l.business_id = b.business_id and l.active having count(*) = 1))`

export async function findPostalAddress(db: Db, businessId: number) {
  const found = await db.findRow<{ address: string | null }>(sql`
    select ${POSTAL_ADDRESS} as address from business b where b.business_id = ${businessId}`)
  return found?.address ?? null
}

/**
 * Active definitions with mails that are not transactional and can lack a postal address. Without
 * `businessId`: of all businesses.
 */
export const countWithoutPostalAddress = (db: Db, businessId?: number) =>
  db.query<{ businessId: number; definitions: number }>(
    withoutPostalAddress(sql`
      select d.business_id, d.event_defn_id, d.event_type_id, a.email_template_id
      from event_definition d
      join event_action a
        on (a.business_id, a.event_defn_id) = (d.business_id, d.event_defn_id) and a.active
      where d.active ${businessId === undefined ? empty : sql`and d.business_id = ${businessId}`}`),
  )

/** Whether a definition of this event type has such mails, if it sends these templates. */
export async function canLackPostalAddress(
  db: Db,
  businessId: number,
  { eventTypeId, emailTemplateIds }: { eventTypeId: number; emailTemplateIds: number[] },
) {
  const sent = sql`
    select ${businessId}::bigint, 0, ${eventTypeId}::int, unnest(${emailTemplateIds}::bigint[])`
  return (await db.query(withoutPostalAddress(sent))).length > 0
}

/** The footer shows the address of the location too, but mails about invitations have no location. */
const withoutPostalAddress = (sent: Sql) => sql`
  select s.business_id as "businessId", count(distinct s.event_defn_id) as definitions
  from (${sent}) s (business_id, event_defn_id, event_type_id, email_template_id)
  join email_template t using (business_id, email_template_id)
  join email_category c using (business_id, email_category_id)
  join business b using (business_id)
  where t.active and not c.transactional and b.active and ${POSTAL_ADDRESS} is null
    and (s.event_type_id = any (${WITHOUT_LOCATION}::int[])
      or not coalesce((select bool_and(coalesce(l.address, '') <> '') from location l
                       where l.business_id = s.business_id and l.active), false))
  group by s.business_id order by s.business_id`

const WITHOUT_LOCATION = EVENT_TYPES.filter(
  ({ objectType }) => !tableOf(objectType).hasLocation,
).map(({ eventTypeId }) => eventTypeId)
