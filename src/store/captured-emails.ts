import { shadowReason } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { FeedKey } from './feeds.ts'

export type CapturedRow = {
  eventDefnId: number
  /** Of all captured mails of the automation. */
  count: number
  emailId: number
  eventTriggerId: number
  to: string
  subject: string
  createdDate: Temporal.Instant
}

/** The latest mails of each automation that the shadow mode of the feed captured, the latest first. */
export const listCapturedOfFeed = (
  db: Db,
  { businessId, feedId }: FeedKey,
  { from, limit }: { from: Temporal.Instant; limit: number },
) =>
  db.query<CapturedRow>(sql`
    select "eventDefnId", count, "emailId", "eventTriggerId", "to", subject, "createdDate"
    from (select a.event_defn_id as "eventDefnId", e.email_id as "emailId",
                 e.event_trigger_id as "eventTriggerId", e.to_address as "to", e.subject,
                 e.created_date as "createdDate",
                 count(*) over (partition by a.event_defn_id) as count,
                 row_number() over (partition by a.event_defn_id
                                    order by e.created_date desc, e.email_id desc) as place
          from email e join event_action a using (business_id, event_action_id)
          where e.business_id = ${businessId} and e.outcome = 'CAPTURED' and e.created_date >= ${from}
            and e.event_trigger_id is not null and e.status_reason like ${shadowReason('%')}
            and (e.object_type = 'CALENDAR'
                 and exists (select from calendar c
                             where (c.business_id, c.calendar_id) = (e.business_id, e.object_id)
                               and c.feed_id = ${feedId})
                 or e.object_type = 'CLASS_SCHEDULE'
                 and exists (select from class_schedule c
                             where (c.business_id, c.class_schedule_id) = (e.business_id, e.object_id)
                               and c.feed_id = ${feedId}))) found
    where place <= ${limit}
    order by "eventDefnId", place`)
