import type { Db } from '../database/database.ts'
import { findRendered, renderHtml, type Unusable } from '../email/html-pool.ts'
import type { RenderedHtml } from '../email/read-html.ts'
import {
  holdTemplatesWithVariants,
  type NamedTemplate,
  type StoredTemplate,
} from '../store/email-templates.ts'

/** A template with its HTML as mails carry it, or why that could not be made. */
export type RenderedTemplate = StoredTemplate & { rendered: RenderedHtml | Unusable }

/** The templates that actions name: by that id, the one itself first, then its variants. */
export async function listTemplates(
  tx: Db,
  actions: { businessId: number; emailTemplateId: number }[],
) {
  const rows = actions.length === 0 ? [] : await holdTemplatesWithVariants(tx, actions)
  const rendering = new Rendering()
  await rendering.render(rows)
  return rendering.templates(rows)!
}

/**
 * The rendered HTML of the templates that one piece of work needs. Work that holds locks asks for
 * its `templates`; if there are none yet, it lets its locks go, awaits `render` and begins again.
 */
export class Rendering {
  readonly #rendered = new Map<string, RenderedHtml | Unusable>()

  async render(rows: StoredTemplate[]) {
    await Promise.all(
      rows.map(async ({ businessId, emailBody }) => {
        this.#rendered.set(emailBody, await renderHtml(businessId, emailBody))
      }),
    )
  }

  /** By the id that actions name; undefined if some of them are not rendered yet. */
  templates(rows: NamedTemplate[]): Map<number, RenderedTemplate[]> | undefined {
    const byName = new Map<number, RenderedTemplate[]>()
    for (const row of rows) {
      const rendered = this.#rendered.get(row.emailBody) ?? findRendered(row.emailBody)
      if (!rendered) return undefined
      const template = Object.assign(row, { rendered })
      const others = byName.get(row.namedId) ?? []
      byName.set(
        row.namedId,
        row.emailTemplateId === row.namedId ? [template, ...others] : [...others, template],
      )
    }
    return byName
  }
}
