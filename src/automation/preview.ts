import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { mergeMail, type MergedMail } from '../email/merge.ts'
import { listMailContexts, type ContextRow } from '../store/mail-contexts.ts'
import { compiled } from './compose.ts'
import type { RenderedTemplate } from './templates.ts'

export type Preview = { mail: MergedMail; row: ContextRow }

/** What a template would make of an object: of a class, the mail to its first student. */
export async function previewMail(
  db: Db,
  template: RenderedTemplate,
  object: { objectType: ObjectType; objectId: number | string },
  unsubscribeLink: string,
): Promise<Preview | undefined> {
  const { businessId } = template
  const { objectType, objectId: id } = object
  const key = typeof id === 'string' ? { objectId: null, objectUUId: id } : byNumber(id)
  const rows = await listMailContexts(db, objectType, [{ businessId, ...key }])
  const row = rows.toSorted((a, b) => (a.clientId ?? 0) - (b.clientId ?? 0))[0]
  if (!row) return undefined
  const link = template.transactional ? null : unsubscribeLink
  return { mail: mergeMail(compiled(template), { ...row.context, unsubscribeLink: link }), row }
}

const byNumber = (objectId: number) => ({ objectId, objectUUId: null })
