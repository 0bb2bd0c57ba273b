import type { Db } from '../database/database.ts'
import {
  holdTemplatesWithVariants,
  type NamedTemplate,
  type StoredTemplate,
} from '../store/email-templates.ts'

/** The templates that actions name: by that id, the one itself first, then its variants. */
export async function listTemplates(
  tx: Db,
  actions: { businessId: number; emailTemplateId: number }[],
) {
  return actions.length === 0
    ? byNamedId([])
    : byNamedId(await holdTemplatesWithVariants(tx, actions))
}

export function byNamedId(rows: NamedTemplate[]): Map<number, StoredTemplate[]> {
  const byName = Map.groupBy(rows, (row) => row.namedId)
  for (const [namedId, some] of byName) {
    byName.set(
      namedId,
      some.toSorted((a, b) => rank(a, namedId) - rank(b, namedId)),
    )
  }
  return byName
}

const rank = (template: StoredTemplate, namedId: number) =>
  template.emailTemplateId === namedId ? 0 : template.emailTemplateId
