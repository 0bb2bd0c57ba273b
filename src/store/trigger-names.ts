import type { EmailStatus } from '../contract/email.ts'
import type { RecipientValue } from '../contract/event-action.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { shownStatus } from './emails.ts'
import type { StoredTrigger } from './event-triggers.ts'
import { readObjectNames } from './object-names.ts'

type TemplateName = { emailTemplateId: number | null; templateName: string | null }
type NamedDefinition = TemplateName & {
  eventDefnId: number
  description: string | null
  recipient: RecipientValue | null
}
type FirstEmail = TemplateName & {
  eventTriggerId: number
  emailId: number
  to: string
  subject: string
  status: EmailStatus
  attempts: number
}

/** A page of triggers with the names of definition, template, client, staff, service and location, and the first mail. */
export async function nameTriggers(db: Db, businessId: number, triggers: StoredTrigger[]) {
  if (triggers.length === 0) return []
  const eventDefnIds = [...new Set(triggers.map((trigger) => trigger.eventDefnId))]
  const triggerIds = triggers.map((trigger) => trigger.eventTriggerId)
  const [namesOf, definitions, emails] = await Promise.all([
    readObjectNames(db, businessId, triggers),
    db.query<NamedDefinition>(sql`
      select d.event_defn_id as "eventDefnId", d.description, a.recipient,
             a.email_template_id as "emailTemplateId", t.template_name as "templateName"
      from event_definition d
      left join lateral (
        select email_template_id, recipient from event_action
        where business_id = d.business_id and event_defn_id = d.event_defn_id and active
        order by event_action_id limit 1) a on true
      left join email_template t
        on (t.business_id, t.email_template_id) = (d.business_id, a.email_template_id)
      where d.business_id = ${businessId} and d.event_defn_id = any (${eventDefnIds}::bigint[])`),
    db.query<FirstEmail>(sql`
      select distinct on (event_trigger_id) event_trigger_id as "eventTriggerId",
             email_id as "emailId", to_address as "to", subject, ${shownStatus} as status,
             jsonb_array_length(attempts) as attempts,
             email_template_id as "emailTemplateId",
             (select t.template_name from email_template t
              where (t.business_id, t.email_template_id)
                  = (email.business_id, email.email_template_id)) as "templateName"
      from email
      where business_id = ${businessId} and event_trigger_id = any (${triggerIds}::bigint[])
      order by event_trigger_id, email_id`),
  ])
  const definitionOf = new Map(definitions.map((one) => [one.eventDefnId, one]))
  const emailOf = new Map(emails.map((email) => [email.eventTriggerId, email]))
  return triggers.map((trigger) => {
    const definition = definitionOf.get(trigger.eventDefnId)
    const email = emailOf.get(trigger.eventTriggerId)
    const { emailTemplateId = null, templateName = null } = email ?? definition ?? {}
    return {
      ...trigger,
      ...namesOf(trigger),
      description: definition?.description ?? null,
      emailTemplateId,
      templateName,
      recipient: definition?.recipient ?? null,
      email: email ? summaryOf(email) : null,
    }
  })
}

const summaryOf = ({ emailId, to, subject, status, attempts }: FirstEmail) => ({
  emailId,
  to,
  subject,
  status,
  attempts,
})
