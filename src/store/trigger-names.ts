import type { EmailStatus } from '../contract/email.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { shownStatus } from './emails.ts'
import type { StoredTrigger } from './event-triggers.ts'
import { readObjectNames } from './object-names.ts'

type FirstEmail = {
  eventTriggerId: number
  emailId: number
  to: string
  subject: string
  status: EmailStatus
  attempts: number
}

/** A page of triggers with the names of definition, client, staff, service and location, and the first mail. */
export async function nameTriggers(db: Db, businessId: number, triggers: StoredTrigger[]) {
  if (triggers.length === 0) return []
  const eventDefnIds = [...new Set(triggers.map((trigger) => trigger.eventDefnId))]
  const triggerIds = triggers.map((trigger) => trigger.eventTriggerId)
  const [namesOf, definitions, emails] = await Promise.all([
    readObjectNames(db, businessId, triggers),
    db.query<{ eventDefnId: number; description: string | null }>(sql`
      select event_defn_id as "eventDefnId", description from event_definition
      where business_id = ${businessId} and event_defn_id = any (${eventDefnIds}::bigint[])`),
    db.query<FirstEmail>(sql`
      select distinct on (event_trigger_id) event_trigger_id as "eventTriggerId",
             email_id as "emailId", to_address as "to", subject, ${shownStatus} as status,
             jsonb_array_length(attempts) as attempts
      from email
      where business_id = ${businessId} and event_trigger_id = any (${triggerIds}::bigint[])
      order by event_trigger_id, email_id`),
  ])
  const descriptions = new Map(definitions.map((one) => [one.eventDefnId, one.description]))
  const emailOf = new Map(emails.map(({ eventTriggerId, ...email }) => [eventTriggerId, email]))
  return triggers.map((trigger) => ({
    ...trigger,
    ...namesOf(trigger),
    description: descriptions.get(trigger.eventDefnId) ?? null,
    email: emailOf.get(trigger.eventTriggerId) ?? null,
  }))
}
