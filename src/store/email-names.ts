import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { StoredEmail } from './emails.ts'
import { readObjectNames } from './object-names.ts'

export async function nameEmails(db: Db, businessId: number, emails: StoredEmail[]) {
  if (emails.length === 0) return []
  const clientIds = emails.map((email) => email.clientId)
  const templateIds = emails.map((email) => email.emailTemplateId)
  const [namesOf, clients, templates] = await Promise.all([
    readObjectNames(db, businessId, emails),
    // A mail about a class goes to one of its students; the class itself has no client.
    db.query<{ id: number; name: string }>(sql`
      select client_id as id, first_name || ' ' || last_name as name from client
      where business_id = ${businessId} and client_id = any (${clientIds}::bigint[])`),
    db.query<{ id: number; name: string }>(sql`
      select email_template_id as id, template_name as name from email_template
      where business_id = ${businessId} and email_template_id = any (${templateIds}::bigint[])`),
  ])
  const nameIn = (rows: { id: number; name: string }[]) => {
    const names = new Map(rows.map(({ id, name }) => [id, name]))
    return (id: number | null) => (id === null ? null : (names.get(id) ?? null))
  }
  const [clientName, templateName] = [nameIn(clients), nameIn(templates)]
  return emails.map((email) => ({
    ...namesOf(email),
    ...email,
    clientName: clientName(email.clientId),
    templateName: templateName(email.emailTemplateId),
  }))
}
