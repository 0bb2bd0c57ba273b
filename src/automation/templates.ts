import type { Db } from '../database/database.ts'
import { holdTemplatesWithVariants, type StoredTemplate } from '../store/email-templates.ts'

/** The templates that actions name: by that id, the one itself first, then its variants. */
export async function listTemplates(
  tx: Db,
  actions: { businessId: number; emailTemplateId: number }[],
) {
  if (actions.length === 0) return new Map<number, StoredTemplate[]>()
  const rows = await holdTemplatesWithVariants(tx, actions)
  const byName = Map.groupBy(rows, (row) => row.namedId)
  for (const [namedId, some] of byName) {
    byName.set(
      namedId,
      some.toSorted((a, b) => rank(a, namedId) - rank(b, namedId)),
    )
  }
  return byName as Map<number, StoredTemplate[]>
}

const rank = (template: StoredTemplate, namedId: number) =>
  template.emailTemplateId === namedId ? 0 : template.emailTemplateId
