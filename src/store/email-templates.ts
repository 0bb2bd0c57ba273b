import type { Attachment } from '../contract/file-library.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { definitionKeys, type DefinitionKey } from './event-definitions.ts'
import { attachmentsOfTemplate } from './files.ts'

export type StoredTemplate = {
  businessId: number
  emailTemplateId: number
  version: number
  active: boolean
  templateName: string
  subject: string
  emailBody: string
  emailBodyText: string | null
  /** Why the recipient gets this email; shown below its text. */
  emailBecause: string | null
  emailCategoryId: number | null
  /** From its category; mail without one is transactional. */
  transactional: boolean
  fromName: string | null
  fromAddress: string | null
  toName: string | null
  toAddress: string | null
  ccAddress: string | null
  bccAddress: string | null
  replyToAddress: string | null
  language: string | null
  level: string | null
  location: string | null
  reasonIdList: number[]
  /** Whether it is sent without the layout. */
  noHeader: boolean
  sortOrder: number | null
  /** Null: none. */
  attachments: Attachment[] | null
}

/**
 * Locks the templates that actions name, and their variants, which have the same name, for share until
 * the transaction ends.
 */
export const lockTemplatesWithVariants = (
  tx: Db,
  keys: { businessId: number; emailTemplateId: number }[],
) =>
  tx.query<NamedTemplate>(sql`
    select ${namedColumns} ${namedWithVariants(sql`
      select distinct * from unnest(${keys.map((key) => key.businessId)}::bigint[],
                                    ${keys.map((key) => key.emailTemplateId)}::bigint[])
        as n (business_id, email_template_id)`)}
    for share of t`)

/**
 * The same for all active actions of these definitions. `lockedIds`: the named templates of which another
 * transaction has locked the template or a variant.
 */
export async function lockFreeTemplates(tx: Db, keys: DefinitionKey[]) {
  const names = sql`
    select distinct a.business_id, a.email_template_id
    from ${definitionKeys(keys)} join event_action a
      on a.business_id = k.business_id and a.event_defn_id = k.event_defn_id and a.active`
  // One round trip. The second statement also reads templates that another transaction has locked.
  const [free, templates] = await Promise.all([
    tx.query<{ id: number }>(sql`
      select t.email_template_id as id ${namedWithVariants(names)} for share of t skip locked`),
    tx.query<NamedTemplate>(sql`select ${namedColumns} ${namedWithVariants(names)}`),
  ])
  const isFree = new Set(free.map((row) => row.id))
  const locked = templates.filter(({ emailTemplateId }) => !isFree.has(emailTemplateId))
  return { rows: templates, lockedIds: new Set(locked.map(({ namedId }) => namedId)) }
}

export async function listTemplateNames(db: Db, businessId: number, ids: number[]) {
  const rows = await db.query<{ id: number; name: string }>(sql`
    select email_template_id as id, template_name as name from email_template
    where business_id = ${businessId} and email_template_id = any (${ids}::bigint[])`)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** `namedId`: the template that an action names: this one, or the one that this is a variant of. */
export type NamedTemplate = StoredTemplate & { namedId: number }

const namedColumns = sql`
  named.email_template_id as "namedId", t.business_id as "businessId",
  t.email_template_id as "emailTemplateId", t.version, t.active,
  t.template_name as "templateName", t.subject, t.email_body as "emailBody",
  t.email_body_text as "emailBodyText", t.email_because as "emailBecause",
  t.email_category_id as "emailCategoryId",
  -- A subquery, because a join would read the category that the template had before a save
  -- that this statement waited for.
  coalesce((select g.transactional from email_category g
            where (g.business_id, g.email_category_id)
                = (t.business_id, t.email_category_id)), true) as transactional,
  t.from_name as "fromName",
  t.from_address as "fromAddress", t.to_name as "toName", t.to_address as "toAddress",
  t.cc_address as "ccAddress", t.bcc_address as "bccAddress",
  t.reply_to_address as "replyToAddress", t.language, t.level, t.location,
  t.reason_id_list as "reasonIdList", t.sort_order as "sortOrder",
  t.no_header as "noHeader", ${attachmentsOfTemplate} as attachments`

const namedWithVariants = (names: Sql) => sql`
  from (${names}) n
  join email_template named using (business_id, email_template_id)
  join email_template t on t.business_id = named.business_id
    and (t.email_template_id = named.email_template_id
         or (t.template_name = named.template_name and t.active))
  order by t.email_template_id`

export async function listEventTypesOfTemplate(
  db: Db,
  businessId: number,
  emailTemplateId: number,
) {
  const rows = await db.query<{ id: number }>(sql`
    select distinct d.event_type_id as id
    from event_action a
    join event_definition d
      on (d.business_id, d.event_defn_id) = (a.business_id, a.event_defn_id) and d.active
    where a.business_id = ${businessId} and a.email_template_id = ${emailTemplateId} and a.active`)
  return rows.map((row) => row.id)
}
